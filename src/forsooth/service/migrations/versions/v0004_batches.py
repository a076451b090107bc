"""Reports are released in batches, and the hour of their arrival is no longer kept."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """All reports from before are released: their requesters have seen them."""
    op.drop_column("report", "hour")
    no = sa.false()
    op.add_column("report", sa.Column("waiting", sa.Boolean, nullable=False, server_default=no))
    op.create_index(
        "ix_report_waiting",
        "report",
        ["campaign", "waiting"],
        sqlite_where=sa.text("waiting = 1"),
        postgresql_where=sa.text("waiting"),
    )
