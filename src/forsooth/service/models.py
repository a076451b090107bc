"""The tables. Times are whole seconds of UTC; of a report there is none.

There is no address, no user agent and no name of a worker anywhere; an invitation is known by the
hash of its token. In SQLite, reports are stored in the order of those hashes (see `Store.tidy`), so
that not even the order of their arrival is kept.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    text,
)

metadata = MetaData()

requester = Table(
    "requester",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("key_hash", LargeBinary, nullable=False),
)

campaign = Table(
    "campaign",
    metadata,
    Column("id", Text, primary_key=True),
    Column("requester", ForeignKey("requester.id"), nullable=False, index=True),
    Column("created", BigInteger, nullable=False),
    Column("title", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("tasks", JSON, nullable=False),  # [{"id", "text", "image", "section"}, …]
    Column("presentation", JSON),  # texts, logo, order and pages; null: none
    Column("labels", JSON, nullable=False),  # words for the answers of the scale
    Column("mechanism", Text, nullable=False),  # as asked for: rr, adaptive, mf:d=20 …
    Column("open", Boolean, nullable=False),
    Column("target_width", Float, nullable=False),
    Column("closes_at", BigInteger),
    Column("max_reports", Integer),
    Column("closed_at", BigInteger),
    Column("redesign_after", Integer),  # as asked for
    Column("redesign_at", Integer),  # the number of reports at which an adaptive one learns
    Column("estimand", Text),  # level, label or opinion; null: the default for the scale
    Column("opened_at", BigInteger),  # null: a draft
    Column("paused_at", BigInteger),
    Column("deleted_at", BigInteger),
    Column("retention_days", Integer),  # reports are erased so many days after the closing
    Column("erase_at", BigInteger),  # reports, or all of a deleted campaign
    Column("erased", Integer),  # how many reports were erased
    Column("panel", JSON(none_as_null=True)),  # see panel.py; null: nobody comes from a panel
    Column("batch", Integer),  # an anonymous campaign's own; null: not anonymous
)

design = Table(
    "design",
    metadata,
    Column("campaign", ForeignKey("campaign.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("digest", Text, nullable=False),  # SHA-256 of the text
    Column("text", Text, nullable=False),  # the mechanism's JSON, to the byte
    Column("reports", Integer, nullable=False),  # how many came in through it
)

invitation = Table(
    "invitation",
    metadata,
    Column("campaign", ForeignKey("campaign.id"), primary_key=True),
    Column("hash", LargeBinary, primary_key=True),
    sqlite_with_rowid=False,
)

issuer = Table(
    "issuer",
    metadata,
    Column("campaign", ForeignKey("campaign.id"), primary_key=True),
    Column("document", Text, nullable=False),  # what workers verify, to the byte
    Column("private_key", LargeBinary),  # PKCS #8; null: erased, because the campaign is closed
)

signed = Table(
    "signed",
    metadata,
    Column("campaign", ForeignKey("campaign.id"), primary_key=True),
    Column("invitation", LargeBinary, primary_key=True),  # the token's hash
    Column("blinded", LargeBinary, nullable=False),  # SHA-256 of the blinded message
    sqlite_with_rowid=False,
)

report = Table(
    "report",
    metadata,
    Column("campaign", Text, primary_key=True),
    Column("invitation", LargeBinary, primary_key=True),  # the token's hash; anonymous: serial's
    Column("design", Integer, nullable=False),
    Column("tasks", LargeBinary),  # int32 each, where participation is public
    Column("payload", LargeBinary, nullable=False),
    Column("spent", Float, nullable=False),  # the ledger: ε that this invitation has spent
    Column("waiting", Boolean, nullable=False),  # for the others of its batch
    ForeignKeyConstraint(["campaign", "design"], ["design.campaign", "design.number"]),
    sqlite_with_rowid=False,
)
Index(
    "ix_report_waiting",
    report.c.campaign,
    report.c.waiting,  # without it, SQLite reads all of the campaign's rows instead
    sqlite_where=text("waiting = 1"),  # as queries say it there: else it is not used
    postgresql_where=text("waiting"),
)

analysis = Table(
    "analysis",
    metadata,
    Column("campaign", ForeignKey("campaign.id"), primary_key=True),
    Column("reports", Integer, nullable=False),  # how many went into it
    Column("document", JSON, nullable=False),
    Column("page", Text, nullable=False),  # the report as one HTML page
)
