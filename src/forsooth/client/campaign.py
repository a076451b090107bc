"""A worker's client in Python: verify, perturb here, send, and send the same again.

    WorkerCampaign("https://survey.example.org/c/ID#TOKEN", limit=1.0).submit({"q1": 3, "q7": 0})

The service is not trusted. The exact text of the mechanism is checked against its digest, read and
verified (a table that breaks its own promise is refused), and held against what the campaign
promises and against the worker's own limit. Noise comes from the operating system. What leaves is
one report; it is kept, so that asking again sends the same bytes and spends nothing. What was sent
for a question is remembered over all campaigns: asked again by the same rule, the same value is
sent.
"""

from __future__ import annotations

import base64
import io
import json
import os
import tempfile
import time
import zipfile
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forsooth.answers import Answers
from forsooth.client import anonymous, blind
from forsooth.client.memory import Kept, Memory, MemoryFile
from forsooth.client.permanent import permanent_report, places_of
from forsooth.client.question import AskedQuestion, cells, draw_name
from forsooth.client.tokens import OPEN, is_open, is_token, new_token, worker_name
from forsooth.client.transport import campaign_address, fetch
from forsooth.errors import ForsoothError
from forsooth.io import packing, strict
from forsooth.mechanisms.base import Mechanism
from forsooth.mechanisms.sampled import SampledTasks
from forsooth.privacy import check_epsilon, check_protects, check_unit
from forsooth.promise import Promise, promise
from forsooth.reports import Reports
from forsooth.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forsooth.client.anonymous import Announced
    from forsooth.privacy import Protects, Unit


@dataclass(frozen=True)
class Asked:
    """What a campaign asks and promises, as its service says."""

    title: str
    tasks: tuple[str, ...]
    questions: tuple[AskedQuestion, ...]
    scale: Scale
    labels: tuple[str, ...]
    epsilon: float
    unit: Unit
    protects: Protects
    design: str
    open: bool
    state: str
    introduction: str
    consent: str  # to be agreed to, if there is one
    thanks: str
    announced: Announced | None = None

    @property
    def tasks_digest(self) -> str:
        """A fingerprint of the list of tasks."""
        listed = json.dumps(self.tasks, ensure_ascii=False, separators=(",", ":"))
        return sha256(listed.encode()).hexdigest()


class WorkerCampaign:
    """One campaign, as one worker sees it.

    `limit` is the most ε per cell that this worker accepts, `total_limit` the most for everything
    that they say in this campaign, `protects` what must be protected at least.

    What is sent is remembered over all campaigns in `folder`, by default FORSOOTH_HOME or
    ~/.local/share/forsooth; one folder is one person. `question_cap` is the most ε for one question
    in that memory, `cap` the most for everything. By default these are `QUESTION_CAP` and
    `TOTAL_CAP` of `forsooth.client.ledger`; the first answer to a question and the first campaign
    may exceed them.

    The invitation may stand after the # of the address; an open link needs none. An anonymous
    campaign needs its whole link, with the digest (`?d=`). Its report is sent at a random time, at
    most `delay` seconds after the token was signed.
    """

    def __init__(
        self,
        url: str,
        *,
        invitation: str | None = None,
        limit: float | None = None,
        total_limit: float | None = None,
        protects: Protects = "answers+participation",
        question_cap: float | None = None,
        cap: float | None = None,
        folder: str | Path | None = None,
        delay: float = anonymous.DELAY,
    ) -> None:
        self._address, fragment = campaign_address(url)
        self._digest, self._delay = anonymous.digest_in(url), delay
        self._invitation = invitation or fragment or None
        if self._invitation is not None and not is_token(self._invitation):
            raise ForsoothError("the invitation is not whole: it has 43 letters, digits, - or _")
        self._limit = None if limit is None else check_epsilon(limit)
        self._total_limit = None if total_limit is None else check_epsilon(total_limit)
        self._protects = check_protects(protects)
        self._question_cap = None if question_cap is None else check_epsilon(question_cap)
        self._cap = None if cap is None else check_epsilon(cap)
        self._file = MemoryFile(Path(folder) if folder else _home())

    @cached_property
    def asked(self) -> Asked:
        """What the campaign asks and promises."""
        return _asked(strict.loads(fetch(self._address)), self._address, self._digest)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism for this worker, verified: the campaign's, or the one already used."""
        kept = self._file.read().campaigns.get(self._address)
        return self._verified(self._design(kept.design if kept else self.asked.design))

    @property
    def promise(self) -> Promise:
        """What the verified mechanism promises this worker, in words."""
        return promise(self.mechanism.guarantee, len(self.asked.tasks), you=True)

    def submit(
        self, answers: Mapping[str, object], *, agree: bool = False, wait: bool = True
    ) -> str:
        """Perturb the answers here and send the report; a task that is left out was skipped.

        Where only some tasks are sampled (unit = worker), answers to the others are ignored.
        If this worker has reported before, that report is sent, whatever the answers are now. If a
        question was answered in another campaign by the same rule, so is its value.
        A campaign with a text of consent (`asked.consent`) wants agree=True.
        The result is "accepted", or "already-accepted" where the service had it.

        In an anonymous campaign this waits until the report may be sent; without `wait`, the result
        is "waiting" before that, and the next call sends the report if it is due. Call it from
        another network if the service shall not see the same address twice.
        """
        with self._file.locked():
            memory = self._file.read()
            kept = memory.campaigns.get(self._address)
            if kept is None:
                if self.asked.consent and not agree:
                    raise ForsoothError(
                        "this campaign asks for consent: read asked.consent, and submit(…, "
                        "agree=True) if you agree; nothing was sent"
                    )
                kept, memory = self._answered(memory, answers)
                self._file.write(memory)
        if kept.anonymous is not None:
            kept = self._token_signed(kept)
            if left := anonymous.seconds_left(kept):
                if not wait:
                    return "waiting"
                time.sleep(left)
        answer = fetch(f"{self._address}/reports", self._body(kept))
        status = strict.string(strict.loads(answer)["status"], "status")
        if not kept.accepted:
            with self._file.locked():
                memory = self._file.read()
                self._file.write(_with(memory, self._address, replace(kept, accepted=True)))
        return status

    def _token_signed(self, kept: Kept) -> Kept:
        """An anonymous report with its token, which is kept."""
        self._body(kept)  # is it still the campaign that was answered?
        assert self.asked.announced is not None
        kept = anonymous.with_token(self._address, self.asked.announced, kept, self._delay)
        with self._file.locked():
            self._file.write(_with(self._file.read(), self._address, kept))
        return kept

    def _answered(self, memory: Memory, answers: Mapping[str, object]) -> tuple[Kept, Memory]:
        """The report on these answers, and the memory with it; nothing is written or sent."""
        asked = self.asked
        if asked.state != "open":
            state = "not open yet" if asked.state == "draft" else asked.state
            raise ForsoothError(f"this campaign is {state}: nothing was drawn and nothing was sent")
        design, token = self._design(asked.design), self._token()
        mechanism = self._verified(design)
        worker = worker_name(token)
        table = Answers.of({worker: answers}, asked.scale, tasks=asked.tasks)
        table = mechanism.eligible(table)
        if not table.size and mechanism.layout == "cells":
            raise ForsoothError("no task was answered: there is nothing to send")
        draw = draw_name(_rule(mechanism, design), asked.labels)
        # A sketch cannot be sent in another campaign. A value that was sent before could be, but
        # would show that an anonymous report is by the same person.
        if not mechanism.independent or asked.announced is not None:
            draw = f"{draw}/{self._address}"
        places, epsilon = places_of(mechanism, table), mechanism.guarantee.epsilon
        named = cells(asked.questions, places, draw, epsilon)
        report, values = permanent_report(mechanism, table, named, memory.ledger)
        ledger = memory.ledger.spend(values, cap=self._cap, question_cap=self._question_cap)
        body = _message(token, asked.design, report)
        blinding = None
        if asked.announced is not None:
            blinding = anonymous.blinding(asked.announced, token, self._invited())
        kept = Kept(
            token, asked.design, asked.tasks_digest, body, accepted=False, anonymous=blinding
        )
        return kept, _with(replace(memory, ledger=ledger), self._address, kept)

    def _body(self, kept: Kept) -> bytes:
        """What is sent, and sent again, if the campaign is still the one that was answered."""
        if kept.body is None:
            raise ForsoothError(
                "this campaign was answered, and its report is gone; a second report would be a "
                "second spend"
            )
        own = kept.anonymous.invitation if kept.anonymous else kept.invitation
        if self._invitation not in (None, own) and not self.asked.open:
            raise ForsoothError(
                "this folder holds a report under another invitation to this campaign; one folder "
                "is one person: folder=…"
            )
        if kept.tasks != self.asked.tasks_digest:
            raise ForsoothError(
                "this campaign was answered with other tasks; a second report would be a second "
                "spend"
            )
        return kept.body.encode()

    # What the service says, checked

    def _design(self, digest: str) -> str:
        """The text of a mechanism, which must be the one that was announced."""
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
        if (self._protects, guarantee.protects) == ("answers+participation", "answers"):
            raise ForsoothError(
                "the campaign protects answers only: everybody sees which questions you answered. "
                'If you agree to that: protects="answers". Nothing was sent'
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
        """The invitation; by an open link, and where nobody is to be recognised, one made here."""
        if self.asked.open:
            return OPEN + new_token()
        return self._invited() if self.asked.announced is None else blind.new_serial()

    def _invited(self) -> str:
        if self._invitation is None or is_open(self._invitation):
            raise ForsoothError("this campaign needs an invitation: invitation=TOKEN")
        return self._invitation


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


def _asked(view: Any, address: str, digest: str | None) -> Asked:
    try:
        data, announced = anonymous.announced(view, address, digest)
        texts = data.get("presentation", {})
        return Asked(
            title=strict.string(data["title"], "title"),
            tasks=strict.strings([task["id"] for task in data["tasks"]], "tasks"),
            questions=tuple(_question(task) for task in data["tasks"]),
            scale=Scale(strict.strings(data["scale"]["values"], "scale")),
            labels=tuple(strict.string(label, "a label") for label in data["scale"]["labels"]),
            epsilon=check_epsilon(strict.number(data["epsilon"], "ε")),
            unit=check_unit(strict.string(data.get("unit", "cell"), "unit")),
            protects=check_protects(strict.string(data["protects"], "protects")),
            design=strict.string(data["design"], "design"),
            open=data["invitation_required"] is False,
            state=strict.string(data.get("state", "open"), "state"),
            introduction=strict.string(texts.get("introduction", ""), "introduction"),
            consent=strict.string(texts.get("consent", ""), "consent"),
            thanks=strict.string(texts.get("thanks", ""), "thanks"),
            announced=announced,
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ForsoothError(f"the service does not describe a campaign ({error!r})") from error


def _question(task: Any) -> AskedQuestion:
    image = task.get("image")
    text = strict.string(task["text"], "a task's text")
    return AskedQuestion(text, None if image is None else strict.string(image, "a task's image"))


def _rule(mechanism: Mechanism, design: str) -> str:
    """The exact text of the mechanism of one cell."""
    if not isinstance(mechanism, SampledTasks):
        return design
    return strict.string(strict.loads(design)["parameters"]["inner"], "inner")


def _message(token: str, design: str, report: Reports) -> str:
    """What is sent: the token, the design's digest, the report's bytes."""
    packed = packing.pack(report.values.reshape(1, -1), report.mechanism.bits)
    body: dict[str, object] = {
        "invitation": token,
        "design": design,
        "report": base64.b64encode(packed.tobytes()).decode(),
    }
    if report.answered is not None:
        body["tasks"] = report.answered[1].tolist()
    return json.dumps(body)


def _with(memory: Memory, address: str, kept: Kept) -> Memory:
    return replace(memory, campaigns={**memory.campaigns, address: kept})


def _home() -> Path:
    return Path(os.environ.get("FORSOOTH_HOME") or Path.home() / ".local" / "share" / "forsooth")
