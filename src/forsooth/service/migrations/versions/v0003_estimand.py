"""Campaigns state what the truth of a task is: level, label or opinion."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column; campaigns from before have null, the default for their scale.

    Stored inferences are deleted: they lack the estimand, and the analyst infers again from the
    reports, which stay.
    """
    op.add_column("campaign", sa.Column("estimand", sa.Text))
    op.execute(sa.table("analysis").delete())
