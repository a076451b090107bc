"""Erasing what is due: the reports of campaigns with a retention period, and deleted campaigns.

Rows are deleted and overwritten, then the database's files are written anew without them.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from sqlalchemy import delete, select, update

from forsooth.service import issuing, models
from forsooth.service.life import life_of

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from forsooth.service.store import Store

_log = logging.getLogger(__name__)
_PERSONAL = (
    models.report,
    models.signed,
    models.invitation,
)  # deleted in this order, for one refers to the next
_REST = (models.analysis, models.issuer, models.design)


class Eraser:
    """Looks for what is due, again and again."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._left_in_files = False  # what earlier processes left, the service's start removes

    def sweep(self) -> None:
        """Erase what is due by now."""
        table = models.campaign
        unplanned = table.c.retention_days.is_not(None) & table.c.erase_at.is_(None)
        with self._store.reading() as connection:
            plan = connection.scalars(select(table.c.id).where(unplanned)).all()
            due = connection.scalars(select(table.c.id).where(_is_due())).all()
            has_keys = bool(issuing.ended_with_key(connection))
        if has_keys:
            with self._store.writing() as connection:
                issuing.erase_keys(connection)
            self._left_in_files = True
        for campaign in plan:
            with self._store.writing() as connection:
                _plan(connection, campaign)
        for campaign in due:
            with self._store.writing() as connection:
                _erase(connection, campaign)
            self._left_in_files = True
        if self._left_in_files:
            self._store.shred()
            self._left_in_files = False


def _is_due() -> ColumnElement[bool]:
    table = models.campaign
    is_whole = table.c.deleted_at.is_not(None)
    return (table.c.erase_at <= int(time.time())) & (is_whole | table.c.erased.is_(None))


def _plan(connection: Connection, campaign: str) -> None:
    """A campaign with a retention period, if it has ended: set the time of its erasure."""
    now, table = life_of(connection, campaign, lock=True), models.campaign
    if now is not None and now.state == "closed":
        planned = update(table).where(table.c.id == campaign)
        connection.execute(planned.values(erase_at=now.promised_erasure))


def _erase(connection: Connection, campaign: str) -> None:
    """Reports and invitations; of a deleted campaign everything. Results and counts may stay."""
    now, table = life_of(connection, campaign, lock=True), models.campaign
    if now is None or now.row.erase_at is None or now.row.erase_at > time.time():
        return  # erased or restored by now
    for own in _PERSONAL:
        connection.execute(delete(own).where(own.c.campaign == campaign))
    if now.state == "deleted":
        for own in _REST:
            connection.execute(delete(own).where(own.c.campaign == campaign))
        connection.execute(delete(table).where(table.c.id == campaign))
    else:
        design = models.design
        connection.execute(update(design).where(design.c.campaign == campaign).values(reports=0))
        closed = now.row.closed_at or int(time.time())
        erased = update(table).where(table.c.id == campaign)
        connection.execute(erased.values(erased=now.reports, closed_at=closed))
    _log.info("reports erased", extra={"campaign": campaign, "count": now.reports})
