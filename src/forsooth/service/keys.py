"""Requesters' keys. Only hashes are stored; a lost key is replaced, not recovered.

A key has 256 random bits and cannot be guessed, so that one SHA-256 is as good as a slow hash.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from sqlalchemy import insert, select

from forsooth.client.tokens import hashed, new_token
from forsooth.errors import ForsoothError
from forsooth.service.models import requester

if TYPE_CHECKING:
    from sqlalchemy import Connection

FIRST = "requester"  # the name of the one who is there from the start


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
        raise ForsoothError(f"there is no requester {name!r}")
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
