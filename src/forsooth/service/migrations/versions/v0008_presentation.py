"""Campaigns have texts, a logo, an order of questions and pages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the column; campaigns from before have none of it."""
    op.add_column("campaign", sa.Column("presentation", sa.JSON))
