"""What the collection service bears: python -m benchmarks.service [--json].

A real server with two processes on this machine, 200-task reports under invitations, SQLite and a
real PostgreSQL. All share this machine's processors: server, database, analyst, and the load
itself. Every report that was answered 201 is looked up in the database afterwards. Prints a table
in Markdown; exits with 1 if a target is missed.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.service.harness import Made, Server, Shot, Tally, fire, load_and_kill, shots, stored

TASKS, PROCESSES = 200, 2
FASTEST, SECONDS, KILLED = 8_000, 10, 6_000  # reports; seconds at a rate; reports
KILLS = 10
MANY, CAMPAIGNS = 10_000, 4  # reports that inference works on while others come in
TARGETS = {"SQLite": 800.0, "PostgreSQL": 600.0}  # accepted reports per second
LATENCY = 0.25  # seconds, the 99th percentile


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    database: str
    what: str
    found: str
    target: str
    met: bool


def campaign(server: Server, reports: int) -> tuple[Made, list[Shot]]:
    """A campaign with so many invitations, and a report for each."""
    tasks = [{"text": f"Question {number}?"} for number in range(TASKS)]
    made = server.make(tasks=tasks, scale="0..9")
    while len(made.tokens) < reports:
        count = min(10_000, reports - len(made.tokens))
        reply = server.as_requester("POST", f"/{made.id}/invitations", {"count": count})
        made.tokens += [invitation["token"] for invitation in reply.json["invitations"]]
    return made, shots(made, made.tokens, TASKS)


def is_stored(server: Server, made: Made, tally: Tally) -> bool:
    """Is what was accepted in the database, once each, and nothing else?"""
    return stored(server.database, made.id) == tally.accepted


def load(name: str, database: str, folder: Path) -> list[Row]:
    """As fast as it goes; then at the target's rate, each report at its time."""
    target = TARGETS[name]
    server = Server(database, folder, processes=PROCESSES).start()
    try:
        made, every = campaign(server, FASTEST)
        flat_out = fire(server.port, every, connections=64)
        other, others = campaign(server, round(target * SECONDS))
        paced = fire(server.port, others, connections=64, rate=target)
        clean = set(flat_out.statuses) | set(paced.statuses) == {201}
        kept = is_stored(server, made, flat_out) and is_stored(server, other, paced)
    finally:
        server.stop()
    return [
        Row(
            name,
            f"{FASTEST:,} reports as fast as they go",
            f"{flat_out.rate:,.0f}/s, {latencies(flat_out)}",
            f"≥ {target:.0f}/s",
            flat_out.rate >= target,
        ),
        Row(
            name,
            f"{target:.0f} reports/s for {SECONDS} s",
            f"{paced.rate:,.0f}/s, {latencies(paced)}",
            f"p99 < {LATENCY * 1e3:.0f} ms",
            paced.quantile(0.99) < LATENCY,
        ),
        Row(
            name,
            "all answered 201, and stored once each",
            "yes" if clean and kept else f"NO: {flat_out.statuses}, {paced.statuses}",
            "yes",
            clean and kept,
        ),
    ]


def inference(name: str, database: str, folder: Path) -> list[Row]:
    """Reports at a quarter of the target's rate while the analyst works on many others."""
    rate = TARGETS[name] / 4
    count = round(rate * SECONDS)
    server = Server(database, folder, processes=PROCESSES, analysis_seconds=3600).start()
    try:
        made, every = campaign(server, count)
        others = [campaign(server, MANY) for _ in range(CAMPAIGNS)]
        for _, reports in others:
            assert fire(server.port, reports, connections=32).statuses == {201: MANY}
    finally:
        server.stop()
    server = Server(database, folder, processes=PROCESSES).start()
    server.key = made.server.key
    try:
        with ThreadPoolExecutor() as pool:
            begun = time.perf_counter()
            waiting = [pool.submit(_inferred, server, other) for other, _ in others]
            tally = fire(server.port, every, connections=16, rate=rate)
            shared = min(tally.seconds, max(each.result() for each in waiting) - begun)
        Made(server, made.id, made.link, []).truths(count)
    finally:
        server.stop()
    return [
        Row(
            name,
            f"{rate:.0f} reports/s for {SECONDS} s, {shared:.0f} s of them beside inferences from "
            f"{MANY:,} reports each",
            latencies(tally),
            f"p99 < {LATENCY * 1e3:.0f} ms",
            tally.statuses == {201: count} and tally.quantile(0.99) < LATENCY and shared > 3,
        )
    ]


def _inferred(server: Server, made: Made) -> float:
    """When the analyst has inferred from all of a campaign's reports."""
    Made(server, made.id, made.link, []).truths(MANY)
    return time.perf_counter()


def kills(name: str, database: str, folder: Path) -> list[Row]:
    """`kill -9` of all processes at once, during load, again and again."""
    server = Server(database, folder, processes=PROCESSES).start()
    try:
        made, every = campaign(server, KILLED)
        tally = asyncio.run(load_and_kill(server, made, every, KILLS))
    finally:
        server.kill()
    whole = is_stored(server, made, tally) and len(tally.accepted) == KILLED
    again = tally.statuses.get(200, 0)
    return [
        Row(
            name,
            f"{KILLS} × kill -9 during {KILLED:,} reports ({tally.broken:,} requests broken, "
            f"{again:,} had been stored unanswered)",
            "every 201 stored, once" if whole else "NO",
            "every 201 stored, once",
            whole,
        )
    ]


def latencies(tally: Tally) -> str:
    return f"p50 {tally.quantile(0.5) * 1e3:.0f} ms, p99 {tally.quantile(0.99) * 1e3:.0f} ms"


def main() -> int:
    warnings.simplefilter("ignore")  # pgserver warns where it keeps its sockets
    from pgserver.postgres_server import get_server

    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="bench") as base:
        postgresql = get_server(Path(base) / "postgresql")
        for name in TARGETS:
            for work in (load, inference, kills):
                folder = Path(base) / f"{name}-{work.__name__}"
                folder.mkdir()
                database = f"sqlite:///{folder}/forsooth.db"
                if name == "PostgreSQL":
                    postgresql.psql(f"CREATE DATABASE {work.__name__}")
                    database = postgresql.get_uri(work.__name__)
                rows += work(name, database, folder)
        postgresql.cleanup()
    if "--json" in sys.argv:
        print(json.dumps({"benchmarks": [asdict(row) for row in rows]}, indent=2))
    else:
        print("| database | what | found | target | met |\n|---|---|---|---|---|")
        for row in rows:
            met = "yes" if row.met else "NO"
            print(f"| {row.database} | {row.what} | {row.found} | {row.target} | {met} |")
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
