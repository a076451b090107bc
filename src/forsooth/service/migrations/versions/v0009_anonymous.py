"""Anonymous campaigns: a key, what invitations have signed, and a batch of their own."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add what they need; campaigns from before are not anonymous."""
    op.add_column("campaign", sa.Column("batch", sa.Integer))
    op.create_table(
        "issuer",
        sa.Column("campaign", sa.Text, sa.ForeignKey("campaign.id"), primary_key=True),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("private_key", sa.LargeBinary),
    )
    op.create_table(
        "signed",
        sa.Column("campaign", sa.Text, sa.ForeignKey("campaign.id"), primary_key=True),
        sa.Column("invitation", sa.LargeBinary, primary_key=True),
        sa.Column("blinded", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
    )
