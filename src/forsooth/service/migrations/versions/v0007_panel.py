"""Campaigns name the panel that sends their people, and the way back to it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the column; campaigns from before have no panel."""
    op.add_column("campaign", sa.Column("panel", sa.JSON))
