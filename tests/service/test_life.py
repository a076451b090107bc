"""A campaign's life: what can be done when, what can never be changed, and what is really gone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text, update

from forsooth import ForsoothError, Scale
from forsooth.client import WorkerCampaign
from forsooth.client.tokens import hashed, new_token
from forsooth.service import campaigns, keys, models
from forsooth.service.campaigns import CampaignRequest, Task
from forsooth.service.erasure import Eraser
from forsooth.service.store import Store
from tests.service.conftest import NewDatabase
from tests.service.harness import BLANK, Made, Server, stored, wait_for

PLAN = CampaignRequest("t", (Task("a", "?"),), Scale.parse("0..4"), 1.0, "answers+participation")
PROMISES: dict[str, object] = {
    "title": "Another title",
    "description": "Another message",
    "tasks": [{"id": f"q{j}", "text": f"Another question {j}?"} for j in range(3)],
    "scale": "0..5",
    "labels": ["a", "b", "c", "d", "e"],
    "epsilon": 2.0,
    "unit": "worker",
    "protects": "answers",
    "mechanism": "staircase",
    "open": True,
    "max_reports": 7,
    "estimand": "opinion",
    "retention_days": 30,
}


def order(made: Made) -> dict[str, object]:
    found = made.server.as_requester("GET", f"/{made.id}/order")
    assert found.status == 200, found.content
    return dict(found.json)


def change(made: Made, **fields: object) -> tuple[int, str]:
    """Ask for other fields; the status and, of a refusal, its code."""
    body = order(made) | fields
    reply = made.server.as_requester("PUT", f"/{made.id}", body)
    return reply.status, "" if reply.status < 300 else reply.error


def test_a_draft_can_be_changed_and_takes_no_reports(server: Server) -> None:
    made = server.make(draft=True)
    assert (made.status["state"], made.view["state"]) == ("draft", "draft")
    assert made.send(new_token(), BLANK).error == "draft"
    assert made.act("invitations", {"count": 1}).error == "draft"
    assert made.act("pause").error == made.act("close").error == "wrong-state"
    before = order(made)
    for name, value in PROMISES.items():
        assert change(made, **{name: value}) == (200, ""), name
        assert order(made)[name] != before[name]
        assert change(made, **{name: before[name]}) == (200, "")
    assert order(made) == before
    assert made.send(new_token(), BLANK).error == "draft"
    assert made.act("open").json["state"] == "open"
    (token,) = (each["token"] for each in made.act("invitations", {"count": 1}).json["invitations"])
    assert made.send(token, BLANK).status == 201


@pytest.mark.parametrize("reports", [0, 1])
@pytest.mark.parametrize("state", ["open", "pause", "close"])
def test_nothing_that_was_promised_can_change(
    sqlite_server: Server, state: str, reports: int
) -> None:
    """Not one field, in any state, from the opening on."""
    made = sqlite_server.make(invitations=1)
    for token in made.tokens[:reports]:
        assert made.send(token, BLANK).status == 201
    assert made.act(state).status == 200
    before, view = order(made), made.view
    for name, value in (PROMISES | {"draft": True}).items():
        assert change(made, **{name: value}) == (409, "not-a-draft"), name
    assert (order(made), made.view) == (before, view)


def test_an_old_version_of_a_draft_is_not_remembered(server: Server) -> None:
    """Who saw the draft cannot report under what it said then."""
    made = server.make(draft=True, open=True)
    seen = made.view["design"]
    assert made.send(f"open-{new_token()}", BLANK, design=seen).error == "draft"
    assert change(made, epsilon=2.0) == (200, "")
    assert made.act("open").status == 200
    assert made.send(f"open-{new_token()}", BLANK, design=seen).error == "unknown-design"
    assert made.send(f"open-{new_token()}", BLANK).status == 201


def test_a_campaign_that_is_duplicated(sqlite_server: Server) -> None:
    """An order that is sent again makes the same campaign: the same promise, the same order."""
    made = sqlite_server.make(**PROMISES | {"scale": "0..4", "redesign_after": 7})
    again = sqlite_server.make(**order(made))
    assert order(again) == order(made)
    for name in ("promise", "epsilon", "scale", "tasks", "retention_days"):
        assert again.view[name] == made.view[name]


def test_pause_and_open_again(server: Server) -> None:
    made = server.make(invitations=2)
    assert made.send(made.tokens[0], BLANK).status == 201
    assert made.act("pause").json["state"] == "paused"
    assert made.act("pause").status == 200
    assert (made.view["state"], made.view["closed"]) == ("paused", False)
    reply = made.send(made.tokens[1], BLANK)
    assert (reply.status, reply.error) == (409, "paused")
    assert made.send(made.tokens[0], BLANK).json["status"] == "already-accepted"
    assert made.act("open").json["state"] == "open"
    assert made.send(made.tokens[1], BLANK).status == 201
    assert made.act("close").json["state"] == "closed"
    assert made.act("open").error == made.act("pause").error == "wrong-state"


def test_the_python_client_draws_nothing_for_nothing(server: Server, tmp_path: Path) -> None:
    """No ε is spent on a report that would be refused."""
    made = server.make(invitations=1)
    worker = WorkerCampaign(f"{made.link}#{made.tokens[0]}", folder=tmp_path)
    made.act("pause")
    with pytest.raises(ForsoothError, match="is paused: nothing was drawn"):
        worker.submit({"q0": 1})
    assert not (tmp_path / "memory.json").exists()
    made.act("open")
    again = WorkerCampaign(f"{made.link}#{made.tokens[0]}", folder=tmp_path)
    assert again.submit({"q0": 1}) == "accepted"


def test_a_draft_whose_date_has_passed_is_not_opened(sqlite_server: Server) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=2)
    made = sqlite_server.make(draft=True, closes_at=soon.isoformat())
    wait_for(lambda: datetime.now(UTC) > soon, 10)
    assert made.act("open").error == "past"
    assert made.status["state"] == "draft"


def test_deleting_counts_what_it_erases(server: Server) -> None:
    made = server.make(invitations=2)
    assert made.send(made.tokens[0], BLANK).status == 201
    assert made.act("delete", {"reports": 1}).error == "wrong-state"  # it is still open
    made.act("close")
    refused = made.act("delete", {"reports": 2})
    assert (refused.status, refused.error) == (409, "other-number")
    assert "has 1 report, not 2" in refused.json["detail"]["message"]
    found = made.act("delete", {"reports": 1, "days": 7}).json
    assert found["state"] == "deleted"
    left = datetime.fromisoformat(found["erase_at"]) - datetime.now(UTC)
    assert timedelta(days=6.9) < left <= timedelta(days=7)
    assert made.view["closed"] is True
    for path in ("truths", "truths.csv", "reports.parquet", "report.html", "order"):
        assert server.as_requester("GET", f"/{made.id}/{path}").error == "deleted"
    assert made.id in [each["id"] for each in server.as_requester("GET", "").json["campaigns"]]

    assert made.act("restore").json["state"] == "closed"
    assert made.act("restore").error == "wrong-state"
    assert len(stored(server.database, made.id)) == 1
    assert made.act("delete", {"reports": 1, "days": 0}).status == 200
    wait_for(lambda: made.server.as_requester("GET", f"/{made.id}/status").status == 404, 30)
    assert server.call("GET", f"/v1/campaigns/{made.id}").status == 404
    assert stored(server.database, made.id) == {}


def test_reports_to_an_erased_campaign_harm_no_others(server: Server) -> None:
    """Processes remember campaigns; the database does not know this one any more."""
    other, made = server.make(invitations=1), server.make(invitations=1)
    design = made.view["design"]
    assert made.send(made.tokens[0], BLANK, design=design).status == 201
    made.act("close")
    made.act("delete", {"reports": 1, "days": 0})
    wait_for(lambda: made.server.as_requester("GET", f"/{made.id}/status").status == 404, 30)
    assert made.send(made.tokens[0], BLANK, design=design).error == "unknown-campaign"
    assert other.send(other.tokens[0], BLANK).status == 201


def test_after_the_retention_period_results_stay_and_reports_are_gone(
    sqlite_server: Server, tmp_path: Path
) -> None:
    made = sqlite_server.make(invitations=3, retention_days=2, max_reports=2)
    assert made.view["retention_days"] == 2
    for token in made.tokens[:2]:
        assert made.send(token, BLANK).status == 201
    truths = made.truths(2)
    wait_for(lambda: made.status["erase_at"] is not None, 30)  # it is full: the period begins
    at = datetime.fromisoformat(made.status["erase_at"])
    now = datetime.now(UTC)
    assert timedelta(days=2) < at - now <= timedelta(days=3)
    assert (at.hour, at.minute, at.second) == (0, 0, 0)  # it does not tell when the last one came
    make_due(sqlite_server.database, made)
    wait_for(lambda: made.status["erased"] == 2, 30)
    assert stored(sqlite_server.database, made.id) == {}
    status = made.status
    assert (status["state"], status["reports"], status["invitations"]) == ("closed", 0, 0)
    found = sqlite_server.as_requester("GET", f"/{made.id}/truths").json
    assert found["truths"] == truths["truths"]
    assert made.send(made.tokens[2], BLANK).status == 403
    assert sqlite_server.as_requester("GET", f"/{made.id}/reports.parquet").error == "erased"


def test_a_deletion_does_not_postpone_what_was_promised(sqlite_server: Server) -> None:
    made = sqlite_server.make(open=True, retention_days=2)
    made.act("close")
    found = made.act("delete", {"reports": 0, "days": 300}).json
    assert datetime.fromisoformat(found["erase_at"]) - datetime.now(UTC) <= timedelta(days=3)


def make_due(database: str, made: Made) -> None:
    store = Store(database)
    with store.writing() as connection:
        table = models.campaign
        connection.execute(update(table).where(table.c.id == made.id).values(erase_at=1))
    store.close()


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """One whose files are in the test's folder."""
    server = Server(f"sqlite:///{tmp_path}/forsooth.db", tmp_path).start()
    yield server
    server.stop()


def test_erased_bytes_are_in_no_file(own_server: Server, tmp_path: Path) -> None:
    """Neither in SQLite's file nor in its write-ahead log, while the service goes on."""
    server = own_server
    tasks = [{"id": f"q{j}", "text": f"Question {j}?"} for j in range(64)]
    made = server.make(tasks=tasks, invitations=20, title="A title that is erased")
    kept = server.make(tasks=tasks, invitations=1, title="A title that stays")
    marks = [b"A title that is erased"]
    for number, token in enumerate(made.tokens):
        payload = _possible(number)
        marks += [payload, hashed(token)]
        assert made.send(token, payload).status == 201
    stays = _possible(100)
    assert kept.send(kept.tokens[0], stays).status == 201
    made.truths(20)
    assert all(found(tmp_path, mark) for mark in marks)
    made.act("close")
    made.act("delete", {"reports": 20, "days": 0})
    wait_for(lambda: server.as_requester("GET", f"/{made.id}/status").status == 404, 30)
    wait_for(lambda: not any(found(tmp_path, mark) for mark in marks), 30)
    assert found(tmp_path, stays)


def test_postgresql_writes_its_tables_anew(new_postgresql: NewDatabase) -> None:
    """Each table is a new file, which has no deleted rows."""
    store = Store(new_postgresql())
    store.migrate()
    where = text("SELECT pg_relation_filenode('report'), pg_relation_filenode('invitation')")
    with store.reading() as connection:
        before = connection.execute(where).one()
    store.shred()
    with store.reading() as connection:
        after = connection.execute(where).one()
    assert not set(before) & set(after)
    store.close()


def _possible(number: int) -> bytes:
    """A report on 64 questions at three bits each that no other report equals."""
    symbols = [(number >> bit) & 1 for bit in range(8)] + [1, 2, 3, 4, 0, 2, 4, 1] * 7
    bits = "".join(f"{symbol:03b}"[::-1] for symbol in symbols)
    return bytes(int(bits[place : place + 8][::-1], 2) for place in range(0, len(bits), 8))


def found(folder: Path, mark: bytes) -> bool:
    return any(mark in path.read_bytes() for path in folder.glob("forsooth.db*"))


def test_an_eraser_that_cannot_empty_the_log_tries_again(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/forsooth.db")
    store.migrate()
    with store.writing() as connection:
        requester = keys.requester_of(connection, keys.add_requester(connection, "r"))
        assert requester is not None
        campaigns.create(connection, requester, PLAN, PLAN.first_mechanism())
        connection.execute(update(models.campaign).values(deleted_at=1, erase_at=1))
    eraser = Eraser(store)
    calls = 0

    def shred() -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise OSError("in use")

    store.shred = shred  # type: ignore[method-assign]
    with pytest.raises(OSError, match="in use"):
        eraser.sweep()
    eraser.sweep()
    eraser.sweep()
    assert calls == 2
    store.close()
