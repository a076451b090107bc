"""What a requester does with a campaign: open it, pause it, close it, delete it, restore it.

Once a campaign has been opened, nothing that workers were promised changes any more: there is no
way back to a draft. A deleted campaign can be restored until it is erased.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from sqlalchemy import update

from forsooth.plural import counted
from forsooth.service import issuing, models
from forsooth.service.failures import Refusal
from forsooth.service.life import DAY, Life, life_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from forsooth.service.life import State


def locked(connection: Connection, campaign: str) -> Life:
    """How a campaign stands, until the transaction ends."""
    now = life_of(connection, campaign, lock=True)
    if now is None:  # erased since the request began
        raise Refusal(404, "unknown-campaign", "you have no such campaign")
    return now


def begin(connection: Connection, campaign: str) -> None:
    """Take reports from now on, or again."""
    now = locked(connection, campaign)
    _require(now, "draft", "paused", "open")
    if now.state == "draft" and now.row.closes_at is not None and now.row.closes_at <= time.time():
        raise Refusal(409, "past", "the closing date of this draft has passed: edit it first")
    opened = now.row.opened_at or int(time.time())
    _set(connection, campaign, opened_at=opened, paused_at=None)


def pause(connection: Connection, campaign: str) -> None:
    """Take no reports until it is opened again."""
    now = locked(connection, campaign)
    _require(now, "open", "paused")
    _set(connection, campaign, paused_at=now.row.paused_at or int(time.time()))


def close(connection: Connection, campaign: str) -> None:
    """Take no reports any more."""
    now = locked(connection, campaign)
    _require(now, "open", "paused", "closed")
    if now.row.closed_at is None:
        _set(connection, campaign, closed_at=int(time.time()))
    issuing.erase_keys(connection)


def delete(connection: Connection, campaign: str, *, reports: int, days: int) -> None:
    """Let all of it be erased after some days; `reports` must be how many that erases."""
    now = locked(connection, campaign)
    _require(now, "draft", "closed")
    if reports != now.reports:
        has = counted(now.reports, "report")
        raise Refusal(409, "other-number", f"this campaign has {has}, not {reports:,}")
    at = int(time.time())
    times = (at + days * DAY, now.row.erase_at, now.promised_erasure)
    earliest = min(each for each in times if each is not None)
    _set(connection, campaign, deleted_at=at, erase_at=earliest)


def restore(connection: Connection, campaign: str) -> None:
    """Undo a deletion; what was promised about erasing is kept all the same."""
    _require(locked(connection, campaign), "deleted")
    _set(connection, campaign, deleted_at=None, erase_at=None)


def require_draft(connection: Connection, campaign: str) -> None:
    """Lock a campaign; refuse if it was ever opened."""
    if locked(connection, campaign).state != "draft":
        raise Refusal(
            409,
            "not-a-draft",
            "a campaign that was opened cannot be changed, since workers were promised what it "
            "says: duplicate it",
        )


def _require(now: Life, *states: State) -> None:
    if now.state not in states:
        allowed = " or ".join(dict.fromkeys(states))
        raise Refusal(409, "wrong-state", f"this campaign is {now.state}, it must be {allowed}")


def _set(connection: Connection, campaign: str, **values: int | None) -> None:
    table = models.campaign
    connection.execute(update(table).where(table.c.id == campaign).values(values))
