"""What the service leaves on the disk, and what it lets others keep open."""

from __future__ import annotations

import os
import random
import socket
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest

from forsooth.service import backup
from forsooth.service.store import Store
from tests.service.harness import Server, wait_for
from tests.service.test_writer import PLAN, commit, make, report

COUNT = 60


def arrived(store: Store) -> list[bytes]:
    """Reports that come in one after the other; their payloads in this order."""
    campaign = make(store, replace(PLAN, open=True))
    payloads = [sha256(bytes([number])).digest() * 2 for number in range(COUNT)]
    order = random.Random(1).sample(range(COUNT), COUNT)
    for number, payload in zip(order, payloads):
        commit(store, report(campaign, number, payload), batch=1)
    return payloads


def is_tidy(path: Path, payloads: list[bytes]) -> bool:
    """Do rows lie in the order of their keys, forwards or, as within a page, backwards?"""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT payload FROM report ORDER BY campaign, invitation")
        keys = [payload for (payload,) in rows]
    content = path.read_bytes()
    assert sorted(keys) == sorted(payloads)
    lying = sorted(range(COUNT), key=lambda key: content.rfind(keys[key]))
    neighbours = sum(abs(later - earlier) == 1 for earlier, later in pairwise(lying))
    return neighbours > 0.8 * COUNT  # at random about 2


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[tuple[Store, list[bytes]]]:
    store = Store(f"sqlite:///{tmp_path}/forsooth.db")
    store.migrate()
    yield store, arrived(store)
    store.close()


def test_tidying_leaves_the_order_of_keys_and_an_empty_log(
    filled: tuple[Store, list[bytes]], tmp_path: Path
) -> None:
    store, payloads = filled
    log, database = tmp_path / "forsooth.db-wal", tmp_path / "forsooth.db"
    assert not store.is_tidy
    first = [log.read_bytes().find(payload) for payload in payloads]
    assert first == sorted(first)  # the log has the order
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint")
    assert not is_tidy(database, payloads)  # and so has the table
    store.tidy()
    assert store.is_tidy
    assert log.stat().st_size == 0
    assert is_tidy(database, payloads)


def test_a_backup_has_the_order_of_keys(filled: tuple[Store, list[bytes]], tmp_path: Path) -> None:
    _, payloads = filled
    copy = tmp_path / "copy.db"
    backup.backup(f"sqlite:///{tmp_path}/forsooth.db", copy)
    assert is_tidy(copy, payloads)


def test_files_are_the_owners_alone(tmp_path: Path) -> None:
    """Whatever the umask; also what a start, a stop and a backup leave."""
    server = Server(f"sqlite:///{tmp_path}/forsooth.db", tmp_path, tidy_seconds=0.2)
    old = os.umask(0)
    try:
        server.start()
        server.make(open=True)
        names = {path.name for path in tmp_path.glob("forsooth.db*")}
        assert names >= {"forsooth.db", "forsooth.db-wal", "forsooth.db-shm", "forsooth.db-turn"}
        backup.backup(server.database, tmp_path / "forsooth.db.copy")
        wait_for(lambda: (tmp_path / "forsooth.db-wal").stat().st_size == 0, 30)  # the timer
        _assert_private(tmp_path)
    finally:
        server.stop()
        os.umask(old)
    _assert_private(tmp_path)


def _assert_private(folder: Path) -> None:
    for path in folder.glob("forsooth.db*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path.name


def test_what_a_crash_leaves_is_tidied_at_the_next_start(
    filled: tuple[Store, list[bytes]], tmp_path: Path
) -> None:
    _, payloads = filled
    server = Server(f"sqlite:///{tmp_path}/forsooth.db", tmp_path, analysis_seconds=60).start()
    server.kill()
    assert is_tidy(tmp_path / "forsooth.db", payloads)


# Connections


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("impatient")
    server = Server(f"sqlite:///{folder}/forsooth.db", folder, receive_seconds=1).start()
    yield server
    server.stop()


HEAD = b"POST /v1/campaigns/x/reports HTTP/1.1\r\nHost: x\r\n"
GET = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
HALVES = {
    "nothing at all": b"",
    "half a header": HEAD,
    "half a body": HEAD + b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    "half of a second request": GET + HEAD,
}


@pytest.mark.parametrize("drip", [b"", b"x"])
@pytest.mark.parametrize("name", HALVES)
def test_half_a_request_keeps_no_connection(impatient: Server, name: str, drip: bytes) -> None:
    """Nor if a byte comes now and then."""
    with socket.create_connection(("127.0.0.1", impatient.port), 20) as connection:
        connection.sendall(HALVES[name])
        assert _is_closed(connection, drip)


def _is_closed(connection: socket.socket, drip: bytes) -> bool:
    """Does the other side end it? The time limit is far beyond the server's."""
    connection.settimeout(0.2)
    for _ in range(100):
        try:
            connection.send(drip)
            if not connection.recv(65536):
                return True
        except TimeoutError:
            continue
        except OSError:
            return True
    return False


def test_a_request_that_comes_in_time_is_answered(impatient: Server) -> None:
    with socket.create_connection(("127.0.0.1", impatient.port), 20) as connection:
        connection.sendall(GET[:20])
        connection.sendall(GET[20:])
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
