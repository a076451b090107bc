"""How a campaign stands: open or closed, how many reports, what was spent.

Who asks again and again must not learn when each report came in. So reports are released in
batches: one is shown, counted and read only when at least `batch` that came in since the last
release can be shown with it, or when the campaign is closed. See `writer` for the release.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from forsooth.service import models
from forsooth.service.schemas import DesignView, SpentView, StatusView, utc

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import ColumnElement, Connection, Row

    from forsooth.service.campaigns import StoredCampaign


@dataclass(frozen=True)
class Progress:
    """What changes in a campaign's life, as its requester may know it."""

    by_design: Mapping[int, int]
    closed: bool

    @property
    def reports(self) -> int:
        """How many reports are shown."""
        return sum(self.by_design.values())


def is_closed(campaign: Row[*tuple[Any, ...]], received: int) -> bool:
    """Are no more reports taken? By the campaign's row, and how many it has."""
    return (
        campaign.closed_at is not None
        or (campaign.closes_at is not None and campaign.closes_at <= time.time())
        or (campaign.max_reports is not None and received >= campaign.max_reports)
    )


def progress(connection: Connection, campaign: StoredCampaign) -> Progress:
    """How many reports are shown, and whether more are taken."""
    design, table, report = models.design, models.campaign, models.report
    own = connection.execute(select(table).where(table.c.id == campaign.id)).one()
    numbers = select(design.c.number, design.c.reports).where(design.c.campaign == campaign.id)
    by_design = {row.number: row.reports for row in connection.execute(numbers)}
    if is_closed(own, sum(by_design.values())):
        return Progress(by_design, closed=True)
    waiting = select(report.c.design).where(report.c.campaign == campaign.id, report.c.waiting)
    for number in connection.scalars(waiting):
        by_design[number] -= 1
    return Progress(by_design, closed=False)


def released(campaign: StoredCampaign, now: Progress) -> ColumnElement[bool]:
    """Which reports are shown."""
    own = models.report.c.campaign == campaign.id
    return own if now.closed else own & ~models.report.c.waiting


def status(connection: Connection, campaign: StoredCampaign, link: str, batch: int) -> StatusView:
    """All that a requester is told of a campaign's progress."""
    now = progress(connection, campaign)
    invitation, report = models.invitation, models.report
    invitations = connection.scalar(
        select(func.count()).select_from(invitation).where(invitation.c.campaign == campaign.id)
    )
    largest, total = connection.execute(
        select(func.max(report.c.spent), func.sum(report.c.spent)).where(released(campaign, now))
    ).one()
    mechanism = campaign.current.mechanism
    return StatusView(
        id=campaign.id,
        title=campaign.title,
        link=link,
        mechanism=campaign.asked,
        epsilon=campaign.epsilon,
        unit=mechanism.unit,
        protects=mechanism.guarantee.protects,
        open=campaign.open,
        tasks=len(campaign.tasks),
        closed=now.closed,
        closes_at=utc(campaign.closes_at),
        max_reports=campaign.max_reports,
        estimand=campaign.estimand,
        invitations=invitations or 0,
        reports=now.reports,
        batch=batch,
        designs=[
            DesignView(
                number=design.number,
                digest=design.digest,
                mechanism=design.mechanism.name,
                reports=now.by_design.get(design.number, 0),
                current=design is campaign.current,
            )
            for design in campaign.designs
        ],
        spent=SpentView(largest=largest or 0, total=total or 0),
    )
