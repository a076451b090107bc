"""A campaign's life: a draft, open, paused, closed, deleted. Only the database knows.

See `moves` for how it goes from one to the other, and `erasure` for its end.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import false, func, select

from forsooth.service import models

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Row

State = Literal["draft", "open", "paused", "closed", "deleted"]
DAY = 86400  # seconds
_table = models.campaign
COLUMNS = (
    _table.c.id,
    _table.c.open,
    _table.c.opened_at,
    _table.c.paused_at,
    _table.c.closes_at,
    _table.c.closed_at,
    _table.c.max_reports,
    _table.c.deleted_at,
    _table.c.retention_days,
    _table.c.erase_at,
    _table.c.erased,
    _table.c.batch,
)


@dataclass(frozen=True)
class Life:
    """How a campaign stands at this moment."""

    row: Row[*tuple[Any, ...]]
    reports: int

    @property
    def state(self) -> State:
        """What has happened to it last."""
        row = self.row
        if row.deleted_at is not None:
            return "deleted"
        if row.opened_at is None:
            return "draft"
        if is_closed(row, self.reports):
            return "closed"
        return "open" if row.paused_at is None else "paused"

    @property
    def has_ended(self) -> bool:
        """Are no more reports taken, now and later?"""
        return self.state in ("closed", "deleted")

    @property
    def released(self) -> ColumnElement[bool]:
        """Which reports are shown: those whose batch is complete; at the end, all or none."""
        own: ColumnElement[bool] = models.report.c.campaign == self.row.id
        if not self.has_ended:
            return own & ~models.report.c.waiting
        return own if shown_at_the_end(self.row, self.reports) else false()

    @property
    def room(self) -> float:
        """How many more reports its maximum allows."""
        return (self.row.max_reports or inf) - self.reports

    @property
    def promised_erasure(self) -> int | None:
        """When reports must be erased: so many days after the first midnight in UTC."""
        row = self.row
        if row.retention_days is None or row.opened_at is None:
            return None
        now = int(time.time())
        ended = row.closed_at or min(row.closes_at or now, now)
        return int((ended // DAY + 1 + row.retention_days) * DAY)


def is_closed(campaign: Row[*tuple[Any, ...]], received: int) -> bool:
    """Are no more reports taken? By the campaign's row, and how many it has."""
    return (
        campaign.closed_at is not None
        or (campaign.closes_at is not None and campaign.closes_at <= time.time())
        or (campaign.max_reports is not None and received >= campaign.max_reports)
    )


def shown_at_the_end(campaign: Row[*tuple[Any, ...]], received: int) -> int:
    """How many reports are shown at the end: all, or none if an anonymous batch is not full."""
    return received if campaign.batch is None or received >= campaign.batch else 0


def life_of(connection: Connection, campaign: str, *, lock: bool = False) -> Life | None:
    """How a campaign stands; with `lock`, nobody changes that before the transaction ends."""
    wanted = select(*COLUMNS).where(_table.c.id == campaign)
    row = connection.execute(wanted.with_for_update() if lock else wanted).one_or_none()
    return None if row is None else Life(row, received(connection, campaign))


def received(connection: Connection, campaign: str) -> int:
    """How many reports there are."""
    design = models.design
    counted = select(func.sum(design.c.reports)).where(design.c.campaign == campaign)
    return connection.scalar(counted) or 0
