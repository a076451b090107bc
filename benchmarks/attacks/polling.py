"""A requester who asks again and again learns of no report more closely than of ten when it came.

The requester looks at everything the service shows, after every one of 47 reports: the status, the
list, the truths, the exported file, and which invitations of their list are used. They note when
something changes, and which reports are new in the file: those came in between this change and the
last one. A report is exposed if fewer than ten share such an interval. The campaign is still open;
there is no chance in it.
"""

from __future__ import annotations

import base64
import io
import tempfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from tests.service.harness import BLANK, Made, Server

from benchmarks.attacks import Outcome
from forsooth.client.tokens import hashed, new_token
from forsooth.service.settings import Settings

REPORTS, GROUP = 47, 10


def attack() -> Outcome:
    """The smallest group of reports that the requester can tell from the others by time."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Server(
            f"sqlite:///{folder}/forsooth.db", folder, rate_requester=1e4, batch=Settings.batch
        )
        server.start()
        try:
            looks = watch(server.make(open=True))
        finally:
            server.stop()
    changes = [at for at in range(1, len(looks)) if looks[at] != looks[at - 1]]
    groups = [later - earlier for earlier, later in zip([0, *changes], changes)]
    if not groups:
        return Outcome(False, "nothing was ever shown: this attack is broken")
    sizes = ", ".join(map(str, groups))
    shown = len(looks[-1][-1])
    return Outcome(
        min(groups) >= GROUP and shown == sum(groups),
        f"{REPORTS} reports, {shown} shown, in groups of {sizes}",
    )


def watch(made: Made) -> list[tuple[Any, ...]]:
    """What is to be seen before the first report and after each."""
    design = made.view["design"]
    tokens = [f"open-{new_token()}" for _ in range(REPORTS)]
    hashes = [hashed(token).hex() for token in tokens]
    looks = [look(made, hashes)]
    for token in tokens:
        body = {"design": design, "invitation": token}
        body["report"] = base64.b64encode(BLANK).decode()
        assert made.server.call("POST", f"/v1/campaigns/{made.id}/reports", body).status == 201
        looks.append(look(made, hashes))
    return looks


def look(made: Made, hashes: list[str]) -> tuple[Any, ...]:
    """Everything but how far the inference is, and the names in the exported file."""
    ask = made.server.as_requester
    status, listed = ask("GET", f"/{made.id}/status").json, ask("GET", "").json
    truths = ask("GET", f"/{made.id}/truths").json["received"]
    used = made.act("invitations/check", {"hashes": hashes}).json
    reply = ask("GET", f"/{made.id}/reports.parquet")
    names: frozenset[str] = frozenset()
    if reply.status == 200:
        names = frozenset(pq.read_table(io.BytesIO(reply.content))["worker"].to_pylist())
    return status, listed, truths, used, made.view, names
