"""Invitations over the wire. To ask for one its hash is enough, with which nobody can report."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from forsooth.client.tokens import TOKEN
from forsooth.service.schemas import MAX_INVITATIONS, Message

MAX_CODES = 500  # on one sheet to print
Hash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Hashes = Annotated[list[Hash], Field(min_length=1, max_length=MAX_INVITATIONS)]
Standing = Literal["unused", "used", "unknown"]


class NewInvitations(Message):
    """More invitations."""

    count: int = Field(ge=1, le=MAX_INVITATIONS)


class InvitationView(Message):
    """An invitation; its token is shown this once and not stored."""

    token: str
    link: str


class InvitationsView(Message):
    """New invitations."""

    invitations: list[InvitationView]


class CreatedView(InvitationsView):
    """A campaign that was made."""

    id: str
    link: str


class CheckedInvitation(Message):
    """Which invitation is meant; not the token, since the hash is enough to ask."""

    hash: Hash = Field(description="SHA-256 of the token, in hexadecimal digits.")


class StandingView(Message):
    """Can this invitation still be used? It says nothing about who did."""

    invitation: Standing


class CheckedInvitations(Message):
    """Invitations of a list that the requester has; the tokens stay in the requester's browser."""

    hashes: Hashes


class StandingsView(Message):
    """How each of them stands, in their order."""

    invitations: list[Standing]


class Revocation(Message):
    """Invitations that are to be worth nothing; those that were used stay used."""

    hashes: Hashes | None = Field(None, description="Only these; by default all unused ones.")


class RevokedView(Message):
    """How many were revoked."""

    revoked: int


class CodesOrder(Message):
    """For which links a QR code is wanted."""

    tokens: (
        Annotated[
            list[Annotated[str, StringConstraints(pattern=f"^{TOKEN}$")]],
            Field(min_length=1, max_length=MAX_CODES),
        ]
        | None
    ) = Field(None, description="Of invitations; by default the campaign's own link.")


class CodesView(Message):
    """QR codes as SVG, in the order of the tokens."""

    codes: list[str]
