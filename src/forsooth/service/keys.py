"""Requesters and their keys. Only hashes are stored; a lost key is replaced, not recovered.

A key has 256 random bits and cannot be guessed, so that one SHA-256 is as good as a slow hash.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select

from forsooth.client.tokens import hashed, new_token
from forsooth.errors import ForsoothError
from forsooth.service import campaigns
from forsooth.service.models import campaign, metadata, requester
from forsooth.service.status import progress

if TYPE_CHECKING:
    from sqlalchemy import Connection

FIRST = "requester"  # the name of the one who is there from the start


@dataclass(frozen=True)
class Requester:
    """A requester, and how much is theirs."""

    id: int
    name: str
    campaigns: int
    reports: int  # that are shown; those that wait for their batch are not counted


def requesters(connection: Connection) -> list[Requester]:
    """All requesters, in the order in which they were added."""
    rows = connection.execute(select(requester.c.id, requester.c.name).order_by(requester.c.id))
    return [_counted(connection, row.id, row.name) for row in rows.all()]


def find_requester(connection: Connection, name: str) -> Requester:
    """The requester of this name."""
    number = connection.scalar(select(requester.c.id).where(requester.c.name == name))
    if number is None:
        raise _unknown(name)
    return _counted(connection, number, name)


def remove_requester(connection: Connection, number: int) -> None:
    """Erase a requester with all campaigns, invitations, reports and results."""
    own = select(campaign.c.id).where(campaign.c.requester == number)
    for table in reversed(metadata.sorted_tables):  # what refers to others goes first
        if "campaign" in table.c:
            connection.execute(delete(table).where(table.c.campaign.in_(own)))
    connection.execute(delete(campaign).where(campaign.c.requester == number))
    connection.execute(delete(requester).where(requester.c.id == number))


def add_requester(connection: Connection, name: str) -> str:
    """A new requester's key, to be shown once."""
    if not name.strip() or len(name) > 200 or not name.isprintable():
        raise ForsoothError(f"a requester's name is 1 to 200 printable characters, got {name!r}")
    if connection.scalar(select(requester.c.id).where(requester.c.name == name)) is not None:
        raise ForsoothError(f"there is a requester {name!r} already: choose another name")
    key = new_token()
    connection.execute(insert(requester).values(name=name, key_hash=hashed(key)))
    return key


def replace_key(connection: Connection, name: str) -> str:
    """A new key for a requester; the old one is worth nothing from now on."""
    key = new_token()
    changed = connection.execute(
        requester.update().where(requester.c.name == name).values(key_hash=hashed(key))
    )
    if not changed.rowcount:
        raise _unknown(name)
    return key


def first_key(connection: Connection) -> str | None:
    """At the very first start, the first requester's key; afterwards nothing."""
    if connection.scalar(select(requester.c.id).limit(1)) is not None:
        return None
    return add_requester(connection, FIRST)


def requester_of(connection: Connection, key: str) -> int | None:
    """Whose key this is; every stored hash is compared in full, so that time tells nothing."""
    given, found = hashed(key), None
    for number, stored in connection.execute(select(requester.c.id, requester.c.key_hash)):
        if hmac.compare_digest(given, stored):
            found = int(number)
    return found


def _counted(connection: Connection, number: int, name: str) -> Requester:
    ids = connection.scalars(select(campaign.c.id).where(campaign.c.requester == number)).all()
    found = (campaigns.load(connection, each) for each in ids)
    reports = sum(progress(connection, each).reports for each in found if each)
    return Requester(number, name, len(ids), reports)


def _unknown(name: str) -> ForsoothError:
    return ForsoothError(
        f"there is no requester {name!r}: forsooth serve list-requesters shows all"
    )
