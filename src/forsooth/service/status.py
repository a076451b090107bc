"""How a campaign stands: open or closed, how many reports, what was spent."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from forsooth.service import models
from forsooth.service.schemas import DesignView, SpentView, StatusView, utc

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from forsooth.service.campaigns import StoredCampaign


@dataclass(frozen=True)
class Progress:
    """What changes in a campaign's life."""

    by_design: Mapping[int, int]
    closed: bool

    @property
    def reports(self) -> int:
        """How many reports came in."""
        return sum(self.by_design.values())


def progress(connection: Connection, campaign: StoredCampaign) -> Progress:
    """How many reports there are, and whether more are taken."""
    design = models.design
    counted = select(design.c.number, design.c.reports).where(design.c.campaign == campaign.id)
    by_design = {row.number: row.reports for row in connection.execute(counted)}
    table = models.campaign
    closed_by_hand = select(table.c.closed_at).where(table.c.id == campaign.id)
    closed = (
        connection.scalar(closed_by_hand) is not None
        or (campaign.closes_at is not None and campaign.closes_at <= time.time())
        or (campaign.max_reports is not None and sum(by_design.values()) >= campaign.max_reports)
    )
    return Progress(by_design, closed)


def status(connection: Connection, campaign: StoredCampaign, link: str) -> StatusView:
    """All that a requester is told of a campaign's progress."""
    now = progress(connection, campaign)
    invitation, report = models.invitation, models.report
    invitations = connection.scalar(
        select(func.count()).select_from(invitation).where(invitation.c.campaign == campaign.id)
    )
    largest, total = connection.execute(
        select(func.max(report.c.spent), func.sum(report.c.spent)).where(
            report.c.campaign == campaign.id
        )
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
