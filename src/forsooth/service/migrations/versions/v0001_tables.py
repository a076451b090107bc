"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "requester",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("key_hash", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "campaign",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("requester", sa.Integer, sa.ForeignKey("requester.id"), nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("description", sa.Text, nullable=False),
        sa.Column("tasks", sa.JSON, nullable=False),
        sa.Column("labels", sa.JSON, nullable=False),
        sa.Column("mechanism", sa.Text, nullable=False),
        sa.Column("open", sa.Boolean, nullable=False),
        sa.Column("target_width", sa.Float, nullable=False),
        sa.Column("closes_at", sa.BigInteger),
        sa.Column("max_reports", sa.Integer),
        sa.Column("closed_at", sa.BigInteger),
        sa.Column("redesign_at", sa.Integer),
    )
    op.create_index("ix_campaign_requester", "campaign", ["requester"])
    op.create_table(
        "design",
        sa.Column("campaign", sa.Text, sa.ForeignKey("campaign.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("reports", sa.Integer, nullable=False),
    )
    op.create_table(
        "invitation",
        sa.Column("campaign", sa.Text, sa.ForeignKey("campaign.id"), primary_key=True),
        sa.Column("hash", sa.LargeBinary, primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "report",
        sa.Column("campaign", sa.Text, primary_key=True),
        sa.Column("invitation", sa.LargeBinary, primary_key=True),
        sa.Column("design", sa.Integer, nullable=False),
        sa.Column("tasks", sa.LargeBinary),
        sa.Column("payload", sa.LargeBinary, nullable=False),
        sa.Column("spent", sa.Float, nullable=False),
        sa.Column("hour", sa.BigInteger, nullable=False),
        sa.ForeignKeyConstraint(["campaign", "design"], ["design.campaign", "design.number"]),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "analysis",
        sa.Column("campaign", sa.Text, sa.ForeignKey("campaign.id"), primary_key=True),
        sa.Column("reports", sa.Integer, nullable=False),
        sa.Column("document", sa.JSON, nullable=False),
    )
