"""Reports are packed: symbols take the bits that they need instead of whole bytes."""

from __future__ import annotations

import numpy as np
import sqlalchemy as sa
from alembic import op

from forsooth import Mechanism
from forsooth.io.packing import pack

revision = "0002"
down_revision = "0001"

_DESIGN = sa.table("design", sa.column("campaign"), sa.column("number"), sa.column("text"))
_REPORT = sa.table(
    "report",
    sa.column("campaign"),
    sa.column("invitation"),
    sa.column("design"),
    sa.column("payload", sa.LargeBinary),
)


def upgrade() -> None:
    """Pack what is stored, design by design: each says how its symbols were written."""
    for campaign, number, text in op.get_bind().execute(sa.select(_DESIGN)).all():
        _pack_reports(campaign, number, Mechanism.from_json(text))


def _pack_reports(campaign: str, number: int, mechanism: Mechanism) -> None:
    connection, key = op.get_bind(), _REPORT.c.invitation
    same = (_REPORT.c.campaign == campaign) & (_REPORT.c.design == number)
    for invitation, payload in connection.execute(
        sa.select(key, _REPORT.c.payload).where(same)
    ).all():
        values = np.frombuffer(payload, mechanism.dtype.newbyteorder("<"))
        packed = pack(values.astype(mechanism.dtype).reshape(1, -1), mechanism.bits).tobytes()
        connection.execute(
            sa.update(_REPORT).where(same & (key == invitation)).values(payload=packed)
        )
