"""An inference keeps the report that is made from it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the column, and delete stored inferences, which have no page.

    The analyst infers again from the reports, which stay. SQLite wants a default for the column.
    """
    op.execute(sa.table("analysis").delete())
    op.add_column("analysis", sa.Column("page", sa.Text, nullable=False, server_default=""))
