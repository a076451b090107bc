"""Reports are released in batches: nobody learns from polling when a single one came in."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from forsooth.client.tokens import new_token
from forsooth.service import campaigns, payload
from forsooth.service.analyst import _due
from forsooth.service.status import progress
from forsooth.service.store import Store
from tests.service.harness import BLANK, Server
from tests.service.test_writer import PLAN, commit, make, report, store

__all__ = ["store"]  # the fixture: a database of either kind


def shown(store: Store, campaign: str) -> tuple[int, int, int]:
    """How many reports a requester can see: counted, exported, and due for the analyst."""
    with store.reading() as connection:
        found = campaigns.load(connection, campaign)
        assert found is not None
        now = progress(connection, found)
        exported = sum(len(part.workers) for part in payload.all_reports(connection, found))
    return now.reports, exported, dict(_due(store)).get(campaign, 0)


def one_by_one(store: Store, campaign: str, count: int) -> list[tuple[int, int, int]]:
    """What is shown after each report."""
    found = []
    for number in range(count):
        commit(store, report(campaign, number))
        found.append(shown(store, campaign))
    return found


def steps(*lengths: int) -> list[tuple[int, int, int]]:
    """So many looks at 0, at 10, and so on."""
    return [(10 * step,) * 3 for step, length in enumerate(lengths) for _ in range(length)]


def test_reports_are_shown_in_tens(store: Store) -> None:
    campaign = make(store, replace(PLAN, open=True))
    assert one_by_one(store, campaign, 23) == steps(9, 10, 4)


def test_what_comes_together_is_shown_together(store: Store) -> None:
    campaign = make(store, replace(PLAN, open=True))
    commit(store, *(report(campaign, number) for number in range(7)))
    assert shown(store, campaign) == (0, 0, 0)
    commit(store, *(report(campaign, number) for number in range(5, 29)))
    assert shown(store, campaign) == (29, 29, 29)


def test_closing_shows_all_and_leaves_no_small_last_batch(store: Store) -> None:
    campaign = make(store, replace(PLAN, open=True, max_reports=25))
    assert one_by_one(store, campaign, 24) == steps(9, 15)  # 20 would leave a batch of 5
    commit(store, report(campaign, 24))
    assert shown(store, campaign) == (25, 25, 25)


def test_a_small_campaign_is_shown_when_it_is_over(store: Store) -> None:
    plan = replace(PLAN, open=True, closes_at=int(time.time()) + 2)
    campaign = make(store, plan)
    assert one_by_one(store, campaign, 3) == steps(3)
    while time.time() < (plan.closes_at or 0):
        time.sleep(0.1)
    assert shown(store, campaign) == (3, 3, 3)


@pytest.mark.parametrize("batch", [1, 3])
def test_the_operator_chooses_the_size(store: Store, batch: int) -> None:
    campaign = make(store, replace(PLAN, open=True))
    counts = []
    for number in range(7):
        commit(store, report(campaign, number), batch=batch)
        counts.append(shown(store, campaign)[0])
    assert counts == [(number + 1) // batch * batch for number in range(7)]


def test_a_requester_sees_nothing_of_the_ninth_report(tmp_path: Path) -> None:
    server = Server(f"sqlite:///{tmp_path}/forsooth.db", tmp_path, batch=10).start()
    try:
        made = server.make(open=True)
        before = _seen(server, made.id)
        for _ in range(9):
            assert made.send(f"open-{new_token()}", BLANK).status == 201
        assert _seen(server, made.id) == before
        reply = server.as_requester("GET", f"/{made.id}/reports.parquet")
        assert (reply.status, reply.error) == (409, "not-ready")
        assert "in batches of at least 10" in reply.json["detail"]["message"]
        assert server.as_requester("POST", f"/{made.id}/close").json["reports"] == 9
        assert made.truths(9)["received"] == 9
    finally:
        server.stop()


def _seen(server: Server, campaign: str) -> str:
    """All that the interface says of a campaign."""
    paths = (f"/{campaign}/status", "", f"/{campaign}/truths", f"/{campaign}/reports.parquet")
    return json.dumps([server.as_requester("GET", path).json for path in paths])
