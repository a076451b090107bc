"""What is answered 201 is stored, whatever happens; what cannot be stored is answered 503."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from forsooth.client.tokens import new_token, worker_name
from tests.service.harness import (
    BLANK,
    Made,
    Server,
    Tally,
    fire,
    fire_at,
    load_and_kill,
    shots,
    stored,
    wait_for,
)

KILLS = 3
TASKS = [{"text": f"Question {j}?"} for j in range(200)]


def open_tokens(count: int) -> list[str]:
    return [f"open-{new_token()}" for _ in range(count)]


def send(made: Made, token: str, report: bytes = BLANK) -> int:
    return made.send(token, report).status


@pytest.mark.parametrize(("backend", "workers"), [("sqlite", 2), ("postgresql", 1)])
def test_kill_during_load(
    backend: str, workers: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if backend == "sqlite":
        database = f"sqlite:///{tmp_path}/forsooth.db"
    else:
        database = request.getfixturevalue("new_postgresql")()
    server = Server(database, tmp_path, processes=workers, analysis_seconds=60).start()
    try:
        made = server.make(tasks=TASKS, open=True)
        every = shots(made, open_tokens(1200), len(TASKS))
        tally = asyncio.run(load_and_kill(server, made, every, KILLS))
    finally:
        server.kill()
    assert set(tally.statuses) <= {200, 201, 503}
    assert tally.broken > 0
    assert len(tally.accepted) == len(every)
    assert stored(database, made.id) == {shot.worker: shot.payload for shot in every}


def children(pid: int) -> list[int]:
    """The processes that it has started with Python's multiprocessing, and that are alive."""
    found = " ".join(path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))
    return [int(child) for child in found.split() if b"spawn_main" in _command(child)]


def _command(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""  # it has just ended


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    server = Server(f"sqlite:///{tmp_path}/forsooth.db", tmp_path, analysis_seconds=60).start()
    yield server.make(open=True, tasks=TASKS)
    server.kill()


def test_a_full_disk(made: Made, tmp_path: Path) -> None:
    """No file may grow, as on a full disk; then there is room again."""
    server, report = made.server, bytes(75)
    tokens = open_tokens(60)
    log = tmp_path / "forsooth.db-wal"
    assert send(made, tokens[0], report) == 201
    _, hard = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (log.stat().st_size + 20_000, hard))
    answers = {token: made.send(token, report) for token in tokens[1:]}
    refused = [token for token, reply in answers.items() if reply.status == 503]
    assert refused
    assert {reply.status for reply in answers.values()} <= {201, 503}
    assert answers[refused[0]].headers["retry-after"]
    assert answers[refused[0]].error == "unavailable"
    assert server.call("GET", "/health").status == 200
    kept = {tokens[0], *(token for token, reply in answers.items() if reply.status == 201)}
    assert stored(server.database, made.id).keys() == set(map(worker_name, kept))

    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (hard, hard))
    assert {send(made, token, report) for token in refused} == {201}
    assert stored(server.database, made.id).keys() == set(map(worker_name, tokens))


def test_a_really_full_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a small disk can be mounted by root only; see test_a_full_disk")
    server = Server(f"sqlite:///{disk}/forsooth.db", tmp_path, analysis_seconds=60)
    try:
        made = server.start().make(open=True, tasks=TASKS)
        every = shots(made, open_tokens(1500), len(TASKS))
        tally = fire(server.port, every, connections=8)
        assert tally.statuses[503] > 0
        assert set(tally.statuses) == {201, 503}
        assert stored(server.database, made.id) == tally.accepted
        assert made.status["reports"] == len(tally.accepted)
        subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], check=True)
        again = fire(server.port, every, connections=8)
        assert set(again.statuses) == {200, 201}
        assert len(stored(server.database, made.id)) == len(every)
    finally:
        server.kill()
        subprocess.run(["umount", "--lazy", str(disk)], check=True)  # they are still ending


def start_again(postgresql: Any) -> None:
    """Once the killed one is gone: while it still ends its children it passes for running."""

    def runs() -> bool:
        try:
            postgresql.ensure_postgres_running()
        except (subprocess.TimeoutExpired, AssertionError):  # a busy machine; it is starting
            return False
        return True

    wait_for(lambda: not (postgresql.pgdata / "postmaster.pid").exists(), 30)
    wait_for(runs, 60)


def test_a_lost_connection_and_a_crashed_database(
    postgresql: Any, postgresql_server: Server
) -> None:
    """First all connections are cut, then PostgreSQL is gone, then it is back."""
    server = postgresql_server
    made = server.make(open=True)
    design = made.view["design"]
    tokens = open_tokens(3)
    report = BLANK
    assert made.send(tokens[0], report, design=design).status == 201
    with psycopg.connect(postgresql.get_uri(), autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
    wait_for(lambda: made.send(tokens[1], report, design=design).status in (200, 201), 20)
    os.kill(postgresql.get_pid(), signal.SIGQUIT)
    try:
        wait_for(lambda: server.call("GET", "/ready").status == 503, 20)
        reply = made.send(tokens[2], report, design=design)
        assert (reply.status, reply.error) == (503, "unavailable")
        assert reply.headers["retry-after"]
        assert server.as_requester("GET", f"/{made.id}/status").error == "unavailable"
        assert server.call("GET", "/health").status == 200
    finally:
        start_again(postgresql)
    wait_for(server.is_ready, 20)
    assert made.send(tokens[2], report, design=design).status == 201
    assert stored(server.database, made.id).keys() == set(map(worker_name, tokens))


def test_killed_processes_are_replaced_and_a_polite_stop_loses_nothing(tmp_path: Path) -> None:
    server = Server(f"sqlite:///{tmp_path}/forsooth.db", tmp_path, processes=2).start()
    made = server.make(open=True, tasks=TASKS)
    for pid in children(server.pid):
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: len(children(server.pid)) == 3, 60)  # two that serve, and the analyst
    wait_for(server.is_ready, 60)
    every = shots(made, open_tokens(3000), len(TASKS))

    async def load_and_stop() -> Tally:
        tally, stop = Tally(), asyncio.Event()
        load = asyncio.create_task(
            fire_at(server.port, every, connections=16, tally=tally, stop=stop)
        )
        while len(tally.accepted) < 300:
            await asyncio.sleep(0.01)
        assert await asyncio.to_thread(server.stop) == 0
        stop.set()
        await load
        return tally

    tally = asyncio.run(load_and_stop())
    assert set(tally.statuses) <= {201, 503}
    assert stored(server.database, made.id) == tally.accepted
    assert 300 <= len(tally.accepted) < len(every)


def test_inference_does_not_keep_reports_waiting(tmp_path: Path) -> None:
    """While the analyst works on thousands of reports, others are taken as before."""
    server = Server(f"sqlite:///{tmp_path}/forsooth.db", tmp_path).start()
    try:
        made = server.make(open=True, tasks=TASKS)
        every = shots(made, open_tokens(1250), len(TASKS))
        fire(server.port, every[:1000], connections=16)
        made.truths(1)  # of the first few; there is more to do
        tally = fire(server.port, every[1000:], connections=4, rate=100)
        assert tally.statuses == {201: 250}
        assert tally.quantile(0.99) < 1.0
    finally:
        server.kill()
