"""When the reports of an anonymous campaign are shown: a pool that is never emptied before the end.

As soon as two batches wait, all but one batch leave the pool, chosen at random. So every release
has at least a batch of reports, the last one included, and a report may leave early or late: when
it is shown says little of when it came in.
"""

from __future__ import annotations

from random import SystemRandom
from typing import TYPE_CHECKING

from sqlalchemy import select, update

from forsooth.service import models

if TYPE_CHECKING:
    from sqlalchemy import Connection


def release_some(connection: Connection, campaign: str, batch: int) -> None:
    """Show what may be shown after new reports have come in."""
    table = models.report
    mine = table.c.campaign == campaign, table.c.waiting
    waiting = connection.scalars(select(table.c.invitation).where(*mine)).all()
    if len(waiting) >= 2 * batch:
        chosen = SystemRandom().sample(waiting, len(waiting) - batch)
        found = update(table).where(*mine, table.c.invitation.in_(chosen))
        connection.execute(found.values(waiting=False))
