"""How a campaign stands: open or closed, how many reports, what was spent.

Who asks again and again must not learn when each report came in. So reports are released in
batches: one is shown, counted and read only when at least `batch` that came in since the last
release can be shown with it, or when the campaign is closed. See `writer` for the release.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from forsooth.service import invitations, models
from forsooth.service.failures import Refusal
from forsooth.service.life import Life, life_of, shown_at_the_end
from forsooth.service.schemas import DesignView, SpentView, StatusView, utc

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

    from forsooth.service.campaigns import StoredCampaign


@dataclass(frozen=True)
class Progress:
    """What changes in a campaign's life, as its requester may know it."""

    by_design: Mapping[int, int]
    life: Life

    @property
    def reports(self) -> int:
        """How many reports are shown."""
        return sum(self.by_design.values())


def progress(connection: Connection, campaign: StoredCampaign) -> Progress:
    """How many reports are shown, and whether more are taken."""
    now = life_of(connection, campaign.id)
    if now is None:  # erased since it was looked up
        raise Refusal(404, "unknown-campaign", "there is no such campaign")
    design, report = models.design, models.report
    numbers = select(design.c.number, design.c.reports).where(design.c.campaign == campaign.id)
    by_design = {row.number: row.reports for row in connection.execute(numbers)}
    if now.has_ended:
        shown = by_design if shown_at_the_end(now.row, now.reports) else dict.fromkeys(by_design, 0)
        return Progress(shown, now)
    waiting = select(report.c.design).where(report.c.campaign == campaign.id, report.c.waiting)
    for number in connection.scalars(waiting):
        by_design[number] -= 1
    return Progress(by_design, now)


def status(connection: Connection, campaign: StoredCampaign, link: str, batch: int) -> StatusView:
    """All that a requester is told of a campaign's progress."""
    now = progress(connection, campaign)
    invitation, report = models.invitation, models.report
    invited = connection.scalar(
        select(func.count()).select_from(invitation).where(invitation.c.campaign == campaign.id)
    )
    largest, total = connection.execute(
        select(func.max(report.c.spent), func.sum(report.c.spent)).where(now.life.released)
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
        state=now.life.state,
        closed=now.life.has_ended,
        closes_at=utc(campaign.closes_at),
        max_reports=campaign.max_reports,
        estimand=campaign.estimand,
        retention_days=campaign.retention_days,
        erase_at=utc(now.life.row.erase_at),
        erased=now.life.row.erased,
        invitations=invited or 0,
        unused=invitations.unused(connection, now.life),
        reports=now.reports,
        anonymous=campaign.batch is not None,
        batch=campaign.batch or batch,
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
