"""What one transaction makes of a group of reports, on either database."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from forsooth import Scale
from forsooth.service import campaigns, keys
from forsooth.service.campaigns import CampaignRequest, Task
from forsooth.service.store import Store
from forsooth.service.writer import GroupWriter, Outcome, Submission, Unavailable, record
from tests.service.harness import stored

PLAN = CampaignRequest("t", (Task("a", "?"),), Scale.parse("0..4"), 1.0, "answers+participation")


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "sqlite":
        store = Store(f"sqlite:///{tmp_path}/forsooth.db")
    else:
        store = Store(request.getfixturevalue("new_postgresql")())
    store.migrate()
    yield store
    store.close()


def make(store: Store, plan: CampaignRequest = PLAN, *, invited: int = 0) -> str:
    with store.writing() as connection:
        requester = keys.requester_of(connection, keys.add_requester(connection, "r"))
        assert requester is not None
        campaign = campaigns.create(connection, requester, plan, plan.first_mechanism())
        campaigns.invite(connection, campaign, [name(number) for number in range(invited)])
    return campaign


def name(number: int) -> bytes:
    return bytes([number]) * 32


def report(campaign: str, number: int, payload: bytes = b"\0") -> Submission:
    return Submission(campaign, name(number), 1, None, payload, 1.0)


def commit(store: Store, *submissions: Submission, batch: int = 10) -> list[Outcome]:
    with store.writing() as connection:
        return record(connection, submissions, batch)


def test_one_report_per_invitation_within_a_group_and_between_groups(store: Store) -> None:
    campaign = make(store, invited=2)
    group = (
        report(campaign, 0),
        report(campaign, 0),
        report(campaign, 0, b"\1"),
        report(campaign, 9),
        report(campaign, 1),
    )
    expected = [Outcome.ACCEPTED, Outcome.ALREADY, Outcome.DIFFERENT, Outcome.UNINVITED]
    assert commit(store, *group) == [*expected, Outcome.ACCEPTED]
    assert commit(store, *group) == [Outcome.ALREADY, *expected[1:], Outcome.ALREADY]
    other_design = replace(report(campaign, 0), tasks=b"\0\0\0\0")
    assert commit(store, other_design) == [Outcome.DIFFERENT]
    assert stored(_address(store), campaign) == {name(0).hex(): b"\0", name(1).hex(): b"\0"}


def test_the_number_of_reports_is_exact(store: Store) -> None:
    campaign = make(store, replace(PLAN, open=True, max_reports=3))
    outcomes = commit(store, *(report(campaign, number) for number in range(5)))
    assert outcomes == [Outcome.ACCEPTED] * 3 + [Outcome.CLOSED] * 2
    assert commit(store, report(campaign, 2), report(campaign, 4)) == [
        Outcome.ALREADY,
        Outcome.CLOSED,
    ]


def test_writers_in_parallel(store: Store) -> None:
    """Eight writers, the same fifty reports from each: each is accepted once, none beyond 40."""
    campaign = make(store, replace(PLAN, open=True, max_reports=40))
    writers = [GroupWriter(store, 10) for _ in range(8)]

    async def all_at_once() -> list[Outcome]:
        reports = [report(campaign, number) for number in range(50)]
        return await asyncio.gather(*(w.submit(each) for each in reports for w in writers))

    outcomes = asyncio.run(all_at_once())
    for writer in writers:
        writer.close()
    assert outcomes.count(Outcome.ACCEPTED) == 40
    assert set(outcomes) <= {Outcome.ACCEPTED, Outcome.ALREADY, Outcome.CLOSED}
    assert len(stored(_address(store), campaign)) == 40


def test_closing_a_writer_commits_what_waits(store: Store) -> None:
    campaign = make(store, replace(PLAN, open=True))
    writer = GroupWriter(store, 10)

    async def submit_and_close() -> list[Outcome]:
        waiting = [
            asyncio.create_task(writer.submit(report(campaign, number))) for number in range(20)
        ]
        await asyncio.sleep(0)
        await asyncio.to_thread(writer.close)
        return await asyncio.gather(*waiting)

    assert asyncio.run(submit_and_close()) == [Outcome.ACCEPTED] * 20
    assert not writer.is_alive


def test_a_failed_commit_stores_nothing_and_says_so(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/forsooth.db")
    store.migrate()
    campaign = make(store, replace(PLAN, open=True))
    with store.writing() as connection:
        connection.exec_driver_sql(
            "CREATE TRIGGER full BEFORE INSERT ON report WHEN NEW.payload = x'02' "
            "BEGIN SELECT RAISE(FAIL, 'no'); END"
        )
    writer = GroupWriter(store, 10)

    async def submit(*payloads: bytes) -> list[Outcome | BaseException]:
        reports = [report(campaign, number, payload) for number, payload in enumerate(payloads)]
        return await asyncio.gather(*map(writer.submit, reports), return_exceptions=True)

    outcomes = asyncio.run(submit(b"\0", b"\2"))
    assert all(isinstance(outcome, Exception) for outcome in outcomes)
    assert stored(_address(store), campaign) == {}
    assert asyncio.run(submit(b"\0", b"\1")) == [Outcome.ACCEPTED] * 2
    store.engine.dispose()
    (tmp_path / "forsooth.db").unlink()
    (tmp_path / "forsooth.db").mkdir()
    (failure,) = asyncio.run(submit(b"\0"))
    assert isinstance(failure, Unavailable)
    writer.close()
    store.close()


def _address(store: Store) -> str:
    return store.url.render_as_string(hide_password=False)
