"""A worker's client in Python: verify, perturb here, send, and send the same again.

    WorkerCampaign("https://survey.example.org/c/ID#TOKEN", limit=1.0).submit({"q1": 3, "q7": 0})

The service is not trusted. The exact text of the mechanism is checked against its digest, read and
verified (a table that breaks its own promise is refused), and held against what the campaign
promises and against the worker's own limit. Noise comes from the operating system. What leaves is
one report; it is kept, so that asking again sends the same bytes and spends nothing.
"""

from __future__ import annotations

import base64
import io
import json
import os
import tempfile
import zipfile
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forsooth.answers import Answers
from forsooth.client.ledger import Ledger
from forsooth.client.permanent import PermanentReports
from forsooth.client.tokens import OPEN, is_open, is_token, new_token, worker_name
from forsooth.client.transport import campaign_address, fetch
from forsooth.errors import ForsoothError
from forsooth.io import packing, strict
from forsooth.io.files import read_text, replacing
from forsooth.mechanisms.base import Mechanism
from forsooth.privacy import MAX_EPSILON, check_epsilon, check_protects, check_unit
from forsooth.promise import Promise, promise
from forsooth.reports import Reports
from forsooth.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from forsooth.privacy import Protects, Unit


@dataclass(frozen=True)
class Asked:
    """What a campaign asks and promises, as its service says."""

    title: str
    tasks: tuple[str, ...]
    scale: Scale
    epsilon: float
    unit: Unit
    protects: Protects
    design: str
    open: bool


@dataclass(frozen=True)
class _Kept:
    """What a worker keeps of a campaign from the first report on: token and mechanism."""

    token: str
    design: str


class WorkerCampaign:
    """One campaign, as one worker sees it.

    `limit` is the most ε per cell that this worker accepts, `total_limit` the most for everything
    that they say in this campaign, `cap` the most for all campaigns whose ledger and reports are in
    `folder` (by default FORSOOTH_HOME or ~/.local/share/forsooth). The invitation may stand after
    the # of the address; an open link needs none.
    """

    def __init__(
        self,
        url: str,
        *,
        invitation: str | None = None,
        limit: float | None = None,
        total_limit: float | None = None,
        cap: float | None = None,
        folder: str | Path | None = None,
    ) -> None:
        self._address, fragment = campaign_address(url)
        self._invitation = invitation or fragment or None
        if self._invitation is not None and not is_token(self._invitation):
            raise ForsoothError("the invitation is not whole: it has 43 letters, digits, - or _")
        self._limit = None if limit is None else check_epsilon(limit)
        self._total_limit = None if total_limit is None else check_epsilon(total_limit)
        self._cap = None if cap is None else check_epsilon(cap)
        self._folder = Path(folder) if folder else _home()

    @cached_property
    def asked(self) -> Asked:
        """What the campaign asks and promises."""
        return _asked(strict.loads(fetch(self._address)))

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism for this worker, verified: the campaign's, or the one already used."""
        kept = self._kept()
        return self._verified(kept.design if kept else self._current_design())

    @property
    def promise(self) -> Promise:
        """What the verified mechanism promises this worker, in words."""
        return promise(self.mechanism.guarantee, len(self.asked.tasks), you=True)

    def submit(self, answers: Mapping[str, object]) -> str:
        """Perturb the answers here and send the report; a task that is left out was skipped.

        Where only some tasks are sampled (unit = worker), answers to the others are ignored.
        If this worker has reported before, that report is sent, whatever the answers are now.
        The result is "accepted", or "already-accepted" where the service had it.
        """
        with self._locked():
            kept = self._kept() or _Kept(self._token(), self._current_design())
            mechanism, asked = self._verified(kept.design), self.asked
            worker = worker_name(kept.token)
            table = Answers.of({worker: answers}, asked.scale, tasks=asked.tasks)
            table = mechanism.eligible(table)
            if not table.size and mechanism.layout == "cells":
                raise ForsoothError("no task was answered: there is nothing to send")
            self._spend(f"{self._address}#{worker}", mechanism, table)
            _write(self._place, json.dumps(asdict(kept)))
            store = PermanentReports(self._folder / "reports")
            report = store.report(self._address, mechanism, table)
        if report.simulation_seed is not None:
            raise ForsoothError("the report that is kept was made with a simulation seed")
        answer = fetch(f"{self._address}/reports", _body(kept, report))
        return strict.string(strict.loads(answer)["status"], "status")

    # What the service says, checked

    def _current_design(self) -> str:
        """The text of the campaign's mechanism, which must be the one that was announced."""
        digest = self.asked.design
        text = fetch(f"{self._address}/designs/{digest}")
        if sha256(text).hexdigest() != digest:
            raise ForsoothError("the mechanism is not the announced one: its digest differs")
        return text.decode()

    def _verified(self, design: str) -> Mechanism:
        """The mechanism, if it keeps its promise, the campaign's and the worker's limit."""
        mechanism, asked = Mechanism.from_json(design), self.asked
        guarantee = mechanism.guarantee
        if mechanism.scale != asked.scale:
            raise ForsoothError(
                f"the mechanism is made for {mechanism.scale}, the campaign asks on {asked.scale}"
            )
        if mechanism.unit != asked.unit:
            raise ForsoothError(
                f"the campaign promises ε per {asked.unit}, its mechanism gives ε per "
                f"{mechanism.unit}: nothing was sent"
            )
        epsilon = guarantee.epsilon if asked.unit == "cell" else mechanism.epsilon
        if epsilon > asked.epsilon:
            raise ForsoothError(
                f"the campaign promises ε = {asked.epsilon:g}, its mechanism gives "
                f"{epsilon:g} only: nothing was sent"
            )
        if (asked.protects, guarantee.protects) == ("answers+participation", "answers"):
            raise ForsoothError(
                "the campaign promises to protect participation, its mechanism does not: "
                "nothing was sent"
            )
        if self._limit is not None and guarantee.epsilon > self._limit:
            raise ForsoothError(
                f"the campaign asks for ε = {guarantee.epsilon:g} per cell, your limit is "
                f"{self._limit:g}: nothing was sent"
            )
        total = guarantee.worker_total(len(asked.tasks))
        if self._total_limit is not None and total > self._total_limit:
            raise ForsoothError(
                f"the campaign asks for ε = {total:g} for everything you say, your limit is "
                f"{self._total_limit:g}: nothing was sent"
            )
        return mechanism

    def _token(self) -> str:
        if self.asked.open:
            return OPEN + new_token()
        if self._invitation is None or is_open(self._invitation):
            raise ForsoothError("this campaign needs an invitation: invitation=TOKEN")
        return self._invitation

    # What the worker keeps

    @property
    def _place(self) -> Path:
        """The file of this campaign and invitation."""
        name = sha256(f"{self._address}#{self._invitation or ''}".encode()).hexdigest()
        return self._folder / f"{name}.json"

    def _kept(self) -> _Kept | None:
        if not self._place.exists():
            return None
        data = strict.loads(read_text(self._place))
        return _Kept(strict.string(data["token"], "token"), strict.string(data["design"], "design"))

    def _spend(self, campaign: str, mechanism: Mechanism, answers: Answers) -> None:
        """Enter the campaign into the ledger, before anything is drawn; once is enough."""
        path = self._folder / "ledger.json"
        ledger = Ledger.from_json(read_text(path)) if path.exists() else Ledger(MAX_EPSILON)
        if campaign in ledger.spent:
            return
        if self._cap is not None:
            ledger = Ledger(self._cap, ledger.spent)
        cells = answers.size if mechanism.layout == "cells" else len(answers.tasks)
        total = mechanism.guarantee.worker_total(cells)
        _write(path, ledger.spend(campaign, total).to_json())

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One process at a time, so that no spend is lost."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._folder / "lock").open("w") as file:
            if os.name == "posix":
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX)
            yield


def download_reports(url: str, key: str) -> list[Reports]:
    """All reports of a requester's campaign, one Reports per design."""
    content = fetch(f"{campaign_address(url)[0]}/reports.parquet", key=key)
    with tempfile.TemporaryDirectory() as folder:
        if not zipfile.is_zipfile(io.BytesIO(content)):
            (Path(folder) / "reports.parquet").write_bytes(content)
        else:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                archive.extractall(folder)
        return [Reports.read(path) for path in sorted(Path(folder).iterdir())]


def _asked(data: Any) -> Asked:
    try:
        return Asked(
            title=strict.string(data["title"], "title"),
            tasks=strict.strings([task["id"] for task in data["tasks"]], "tasks"),
            scale=Scale(strict.strings(data["scale"]["values"], "scale")),
            epsilon=check_epsilon(strict.number(data["epsilon"], "ε")),
            unit=check_unit(strict.string(data.get("unit", "cell"), "unit")),
            protects=check_protects(strict.string(data["protects"], "protects")),
            design=strict.string(data["design"], "design"),
            open=data["invitation_required"] is False,
        )
    except (KeyError, TypeError) as error:
        raise ForsoothError(f"the service does not describe a campaign ({error!r})") from error


def _body(kept: _Kept, report: Reports) -> bytes:
    """What is sent: the token, the design's digest, the report's bytes."""
    packed = packing.pack(report.values.reshape(1, -1), report.mechanism.bits)
    body: dict[str, object] = {
        "invitation": kept.token,
        "design": sha256(kept.design.encode()).hexdigest(),
        "report": base64.b64encode(packed.tobytes()).decode(),
    }
    if report.answered is not None:
        body["tasks"] = report.answered[1].tolist()
    return json.dumps(body).encode()


def _write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _home() -> Path:
    return Path(os.environ.get("FORSOOTH_HOME") or Path.home() / ".local" / "share" / "forsooth")
