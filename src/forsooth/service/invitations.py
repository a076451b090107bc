"""Invitations by their hashes: which can still be used, and revoking them.

An invitation counts as used as soon as its report is shown (see `status`): otherwise somebody who
has the token and asks again and again would learn when the report came in. In an anonymous campaign
none counts as used before the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, false, func, select, true

from forsooth.service import models

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection, Select

    from forsooth.service.life import Life
    from forsooth.service.schemas_invitations import Standing

_invitation, _report, _signed = models.invitation, models.report, models.signed


def standings(connection: Connection, now: Life, hashes: Sequence[bytes]) -> list[Standing]:
    """How each invitation stands. The same two queries are made for all of them."""
    wanted = (
        select(_invitation.c.hash).where(_own(now), _invitation.c.hash.in_(hashes)),
        _used(now, hashes),
    )
    known, used = (set(connection.scalars(each)) for each in wanted)
    return ["used" if each in used else "unused" if each in known else "unknown" for each in hashes]


def revoke(connection: Connection, now: Life, hashes: Sequence[bytes] | None) -> int:
    """Forget unused invitations, these or all; how many that were."""
    chosen = _unused(now)
    if hashes is not None:
        chosen &= _invitation.c.hash.in_(hashes)
    return connection.execute(delete(_invitation).where(chosen)).rowcount


def unused(connection: Connection, now: Life) -> int:
    """How many invitations have not been used."""
    counted = select(func.count()).select_from(_invitation).where(_unused(now))
    return connection.scalar(counted) or 0


def _own(now: Life) -> ColumnElement[bool]:
    own: ColumnElement[bool] = _invitation.c.campaign == now.row.id
    return own


def _used(now: Life, hashes: Sequence[bytes] | None = None) -> Select[tuple[bytes]]:
    """Invitations whose use is shown. Of an anonymous campaign, those with a token, at the end."""
    if now.row.batch is None:
        column, shown = _report.c.invitation, now.released
    else:
        column, shown = _signed.c.invitation, _signed.c.campaign == now.row.id
        shown = shown if now.has_ended else false()
    return select(column).where(shown, true() if hashes is None else column.in_(hashes))


def _unused(now: Life) -> ColumnElement[bool]:
    return _own(now) & _invitation.c.hash.not_in(_used(now))
