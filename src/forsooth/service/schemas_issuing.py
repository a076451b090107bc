"""What goes over the wire to get a blind signature."""

from __future__ import annotations

from pydantic import Field

from forsooth.service.schemas import Message


class NewSignature(Message):
    """What an invitation to an anonymous campaign is used for."""

    invitation: str = Field(max_length=100, description="The invitation's token.")
    blinded: str = Field(
        max_length=1000, description="Base64 of the blinded message of RFC 9474, as long as n."
    )


class SignatureView(Message):
    """The blind signature; only who has made the request can take the blinding away."""

    signature: str = Field(description="Base64, as long as n.")
