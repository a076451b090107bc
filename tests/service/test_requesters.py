"""Requesters: listed, removed with all that is theirs, and limited when their keys are wrong."""

from __future__ import annotations

import hmac
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from forsooth import ForsoothError, Truths, inference
from forsooth.client.tokens import new_token
from forsooth.service import keys
from forsooth.service.analyst import analyse
from forsooth.service.failures import Refusal
from forsooth.service.models import metadata
from forsooth.service.sign_in import SignIns
from forsooth.service.store import Store
from tests.conftest import Command
from tests.service.harness import BLANK, Server
from tests.service.test_writer import PLAN, commit, make, report, store

__all__ = ["store"]


def rows(store: Store) -> dict[str, int]:
    with store.reading() as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in metadata.sorted_tables
        }


def test_removing_erases_all_that_is_theirs_and_nothing_else(store: Store) -> None:
    with store.writing() as connection:
        keys.add_requester(connection, "ann")
    before = rows(store)
    campaign = make(store, replace(PLAN, title="Delicate"), invited=12)  # of the requester "r"
    commit(store, *(report(campaign, number) for number in range(12)))
    assert rows(store)["report"] == rows(store)["invitation"] == 12
    with store.writing() as connection:
        found = keys.find_requester(connection, "r")
        assert (found.campaigns, found.reports) == (1, 12)
        keys.remove_requester(connection, found.id)
        assert [each.name for each in keys.requesters(connection)] == ["ann"]
        with pytest.raises(ForsoothError, match="no requester 'r'"):
            keys.find_requester(connection, "r")
    assert rows(store) == before


def test_on_the_command_line(forsooth: Command, tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/x.db")
    store.migrate()
    campaign = make(store, replace(PLAN, title="Delicate matters"), invited=12)
    commit(store, *(report(campaign, number) for number in range(11)))
    commit(store, report(campaign, 11))  # waits for its batch: not counted
    store.close()
    database = ("--database", "sqlite:///x.db")
    listed = json.loads(forsooth("serve", "list-requesters", *database, "--json").stdout)
    assert listed == {"requesters": [{"name": "r", "campaigns": 1, "reports": 11}]}
    assert "11" in forsooth("serve", "list-requesters", *database).stdout
    asked = forsooth("serve", "remove-requester", "r", *database)
    assert asked.returncode == 2
    assert "1 campaign with 11 reports and those that wait for their batch" in asked.stderr
    assert b"Delicate matters" in (tmp_path / "x.db").read_bytes()
    done = forsooth("serve", "remove-requester", "r", "--yes", *database)
    assert done.returncode == 0, done.stderr
    assert "r is erased" in done.stdout
    assert b"Delicate matters" not in (tmp_path / "x.db").read_bytes()
    again = forsooth("serve", "remove-requester", "r", "--yes", *database)
    assert "no requester 'r'" in again.stderr
    assert again.returncode == 2


def test_somebody_at_a_terminal_is_asked(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty", reason="there are no terminals here")
    store = Store(f"sqlite:///{tmp_path}/x.db")
    store.migrate()
    make(store)
    store.close()
    command = [sys.executable, "-m", "forsooth", "serve", "remove-requester", "r"]
    for answer, code in (("n", 2), ("y", 0)):
        leader, follower = pty.openpty()
        os.write(leader, f"{answer}\n".encode())
        done = subprocess.run(
            [*command, "--database", f"sqlite:///{tmp_path}/x.db"],
            stdin=follower,
            capture_output=True,
            text=True,
            check=False,
        )
        os.close(leader)
        os.close(follower)
        assert done.returncode == code, done.stderr
        assert "This is final." in done.stdout
        assert ("nothing is erased" in done.stderr) == (answer == "n")


# Signing in


def refused(sign_ins: SignIns, address: str) -> bool:
    try:
        sign_ins.check(address)
    except Refusal:
        return True
    return False


def test_wrong_keys_are_limited_per_address_and_over_all() -> None:
    now = 0.0
    sign_ins = SignIns(1.0, lambda: now)
    sign_ins.succeeded("198.51.100.1")
    for _ in range(10):
        assert not refused(sign_ins, "203.0.113.1")
        sign_ins.failed("203.0.113.1")
    assert refused(sign_ins, "203.0.113.1")
    assert not refused(sign_ins, "203.0.113.2")
    now = 1.0
    assert not refused(sign_ins, "203.0.113.1")
    for number in range(100):
        sign_ins.failed(f"203.0.113.{number}")
    assert refused(sign_ins, "203.0.113.200")
    assert not refused(sign_ins, "198.51.100.1")  # a requester who was here is not kept out


def test_an_ipv6_network_counts_as_one_address() -> None:
    sign_ins = SignIns(1.0, lambda: 0.0)
    for number in range(10):
        sign_ins.failed(f"2001:db8::{number}")
    assert refused(sign_ins, "2001:db8::ffff")
    assert not refused(sign_ins, "2001:db8:0:1::1")


def test_right_keys_are_no_failures() -> None:
    sign_ins = SignIns(1.0, lambda: 0.0)
    for _ in range(200):
        sign_ins.check("203.0.113.1")
        sign_ins.succeeded("203.0.113.1")
    assert not refused(sign_ins, "203.0.113.1")


def test_every_hash_is_compared_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time does not tell which requester's key was right, nor how much of it."""
    compared = []
    compare = hmac.compare_digest

    def watched(given: bytes, stored: bytes) -> bool:
        compared.append((len(given), len(stored)))
        return compare(given, stored)

    monkeypatch.setattr(hmac, "compare_digest", watched)
    store = Store(f"sqlite:///{tmp_path}/x.db")
    store.migrate()
    with store.writing() as connection:
        first, *_ = [keys.add_requester(connection, name) for name in "abc"]
        assert keys.requester_of(connection, first) == 1
        assert keys.requester_of(connection, new_token()) is None
        assert keys.requester_of(connection, "short") is None
    assert compared == [(32, 32)] * 9
    store.close()


def test_a_server_limits_wrong_keys(tmp_path: Path) -> None:
    server = Server(f"sqlite:///{tmp_path}/x.db", tmp_path, rate_sign_in=0.1).start()

    def status(key: str, address: str) -> int:
        headers = {"X-Forwarded-For": address}  # as the proxy on this machine says
        return server.call("GET", "/v1/campaigns", key=key, headers=headers).status

    try:
        assert status("wrong", "203.0.113.1") == 401
        assert status("wrong", "203.0.113.1") == 429
        assert status(server.key, "203.0.113.1") == 429  # or guessing would go on unhindered
        assert status(server.key, "203.0.113.2") == 200
        made = server.make(open=True)  # from another address again
        assert made.view["id"] == made.id  # workers sign in nowhere
    finally:
        server.stop()


def test_removed_while_the_service_goes_on(tmp_path: Path, forsooth: Command) -> None:
    """Also where a server process remembers the campaign."""
    server = Server(f"sqlite:///{tmp_path}/x.db", tmp_path).start()
    try:
        made = server.make(open=True)
        design = made.view["design"]
        assert made.send(f"open-{new_token()}", BLANK, design=design).status == 201
        remove = ("serve", "remove-requester", "requester", "--yes")
        done = forsooth(*remove, "--database", server.database)
        assert done.returncode == 0, done.stderr
        assert made.send(f"open-{new_token()}", BLANK, design=design).status == 404
        assert server.call("GET", f"/v1/campaigns/{made.id}").status == 404
        assert server.as_requester("GET", "").status == 401
    finally:
        server.stop()
    assert "traceback" not in server.log.read_text().lower()


def test_removed_during_an_inference(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is kept of a campaign that has gone, and it is no failure."""
    campaign, infer = make(store, invited=12), inference.infer
    commit(store, *(report(campaign, number) for number in range(12)))

    def while_removed(*parts: Any, **options: Any) -> Truths:
        with store.writing() as connection:
            keys.remove_requester(connection, keys.find_requester(connection, "r").id)
        return infer(*parts, **options)

    monkeypatch.setattr(inference, "infer", while_removed)
    analyse(store, campaign)
    assert not any(rows(store).values())
