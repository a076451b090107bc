"""Invitation tokens: unguessable, and known to the service by their hashes only.

The service and its clients share this module. A worker's name, in public draws and in exports, is
the hash of the token: the same for everybody who knows the token, and nothing to anybody else.
"""

from __future__ import annotations

import re
import secrets
from hashlib import sha256

OPEN = "open-"  # what the token of an open link begins with, which the worker's client makes
TOKEN = "[A-Za-z0-9_-]{43}"  # of an invitation, as a regular expression
_TOKEN = re.compile(f"({OPEN})?{TOKEN}")


def new_token() -> str:
    """32 random bytes in base64url; never with a first character that a spreadsheet evaluates."""
    while (token := secrets.token_urlsafe(32))[0] in "-_":
        pass
    return token


def is_token(text: str) -> bool:
    """Does this look like a token at all?"""
    return _TOKEN.fullmatch(text) is not None


def is_open(token: str) -> bool:
    """Did a client make this token for an open link?"""
    return token.startswith(OPEN)


def hashed(token: str) -> bytes:
    """What is stored of a token."""
    return sha256(token.encode()).digest()


def worker_name(token: str) -> str:
    """The name under which a token's report is exported and public draws are made."""
    return hashed(token).hex()
