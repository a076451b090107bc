"""Campaigns can be drafts, paused and deleted, and their reports erased."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_TIMES = ("opened_at", "paused_at", "deleted_at", "erase_at")
_NUMBERS = ("retention_days", "erased", "redesign_after")
_REDESIGN_AFTER = 100  # the default; what was asked for was not stored


def upgrade() -> None:
    """Add the columns; campaigns from before are open since they were made."""
    for name in _TIMES:
        op.add_column("campaign", sa.Column(name, sa.BigInteger))
    for name in _NUMBERS:
        op.add_column("campaign", sa.Column(name, sa.Integer))
    names = ("created", "opened_at", "redesign_after")
    campaign = sa.table("campaign", *map(_column, names))
    filled = {"opened_at": campaign.c.created, "redesign_after": _REDESIGN_AFTER}
    op.execute(campaign.update().values(filled))


def _column(name: str) -> sa.ColumnClause[int]:
    return sa.column(name, sa.BigInteger)
