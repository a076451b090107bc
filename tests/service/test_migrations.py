"""A database that an older service has filled is migrated, and its reports stay readable."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import insert, select

from forsooth import Scale
from forsooth.service import campaigns, keys, models, payload
from forsooth.service.campaigns import CampaignRequest, Task
from forsooth.service.life import life_of
from forsooth.service.store import Store
from forsooth.service.writer import Submission, record

TASKS = tuple(Task(name, "?") for name in "abc")
PLAN = CampaignRequest("t", TASKS, Scale.parse("0..4"), 1.0, "answers+participation", open=True)
LIFE = ["opened_at", "paused_at", "deleted_at", "erase_at"]
LIFE += ["retention_days", "erased", "redesign_after", "presentation"]


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_a_database_of_the_first_version(
    backend: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    address = f"sqlite:///{tmp_path}/forsooth.db"
    if backend == "postgresql":
        address = request.getfixturevalue("new_postgresql")()
    store = Store(address)
    store.migrate()
    sent = {bytes([worker]) * 32: [worker, 5 - worker, 2] for worker in range(5)}
    with store.writing() as connection:
        requester = keys.requester_of(connection, keys.add_requester(connection, "r"))
        assert requester is not None
        campaign = campaigns.create(connection, requester, PLAN, PLAN.first_mechanism())
        record(
            connection,
            [Submission(campaign, name, 1, None, bytes(row), 3.0) for name, row in sent.items()],
            batch=10,
        )
        old = {"campaign": campaign, "reports": 5, "document": {"truths": []}, "page": ""}
        connection.execute(insert(models.analysis).values(old))
        for change in (
            "DROP TABLE issuer",
            "DROP TABLE signed",
            "ALTER TABLE campaign DROP COLUMN batch",
            "ALTER TABLE analysis DROP COLUMN page",
            *(f"ALTER TABLE campaign DROP COLUMN {name}" for name in ("estimand", *LIFE)),
            "ALTER TABLE campaign DROP COLUMN panel",
            "DROP INDEX ix_report_waiting",
            "ALTER TABLE report DROP COLUMN waiting",
            "ALTER TABLE report ADD COLUMN hour BIGINT",
        ):
            connection.exec_driver_sql(change)
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
    assert not store.is_current()
    store.migrate()
    assert store.is_current()
    with store.reading() as connection:
        found = campaigns.load(connection, campaign)
        assert found is not None
        assert found.estimand is None
        assert not found.draft
        now = life_of(connection, campaign)
        assert now is not None
        assert now.state == "open"
        (reports,) = payload.all_reports(connection, found)
        assert connection.execute(select(models.analysis)).all() == []  # to be inferred again
    store.close()
    assert reports.estimand is None
    assert dict(zip(reports.workers, reports.values.tolist())) == {
        name.hex(): row for name, row in sent.items()
    }
