"""Nothing that the service leaves on the disk with SQLite tells in which order reports came in.

Sixty reports come in one after the other. The service is stopped politely, and somebody reads all
files that it leaves: database, write-ahead log, and its own log. They look for each report's bytes
and rank them by the place where they are found, in each file; then they compare with the order of
arrival. They also look in the log for the minute of anything. By chance, Spearman's correlation of
60 ranks goes beyond ±0.6 with a probability below 10⁻⁵.
"""

from __future__ import annotations

import base64
import json
import secrets
import tempfile
from datetime import datetime
from pathlib import Path

from scipy.stats import spearmanr
from tests.service.harness import Server

from benchmarks.attacks import Outcome
from forsooth.client.tokens import new_token

REPORTS, MOST = 60, 0.6
TASKS = [{"text": f"Question {number}?"} for number in range(40)]  # 30 bytes: found only once


def attack() -> Outcome:
    """The largest correlation over all files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reports = collect(folder)
        found = {
            path.name: correlation(path.read_bytes(), reports)
            for path in folder.glob("forsooth.db*")
        }
        log = [json.loads(line) for line in (folder / "service.log").read_text().splitlines()]
    shown = ", ".join(f"{each} {value:+.2f}" for each, value in found.items() if value is not None)
    if found["forsooth.db"] is None:
        return Outcome(False, "no report is found in the database: this attack is broken")
    if any(datetime.fromisoformat(line["time"]).minute for line in log):
        return Outcome(False, "the log tells the minute")
    worst = max(abs(value) for value in found.values() if value is not None)
    return Outcome(worst <= MOST, f"correlation of place and arrival: {shown}")


def collect(folder: Path) -> list[bytes]:
    """The reports in the order in which they came in."""
    server = Server(f"sqlite:///{folder}/forsooth.db", folder).start()
    try:
        made = server.make(open=True, tasks=TASKS, scale="0..14")  # 16 symbols: any bits are one
        design = made.view["design"]
        reports = [secrets.token_bytes(len(TASKS) // 2) for _ in range(REPORTS)]
        for report in reports:
            body = {"design": design, "invitation": f"open-{new_token()}"}
            body["report"] = base64.b64encode(report).decode()
            assert server.call("POST", f"/v1/campaigns/{made.id}/reports", body).status == 201
    finally:
        server.stop()
    return reports


def correlation(content: bytes, reports: list[bytes]) -> float | None:
    """Of the places in a file with the order of arrival; None if not all reports are there."""
    places = [content.rfind(report) for report in reports]
    if min(places) < 0:
        return None
    return float(spearmanr(places, range(len(places))).statistic)
