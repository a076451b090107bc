"""The issuer of an anonymous campaign: one announced key, one blind signature per invitation.

The key is made with the campaign and stands in its document, whose digest is part of the link: the
same key for everybody, or clients refuse. The issuer signs without seeing what (RFC 9474), so that
nothing that it has links a token to an invitation. With the private key one could forge tokens, but
link nothing; it is erased when the campaign is closed.

Of a signature, the hash of the blinded message is kept: the same message is signed again for a
client that has lost the answer, another one is refused.
"""

from __future__ import annotations

import hmac
import json
import secrets
from hashlib import sha256
from math import gcd
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
)
from sqlalchemy import insert, select, update

from forsooth.client.blind import EXPONENT, IssuingKey
from forsooth.errors import ForsoothError
from forsooth.planning.adaptive import ADAPTIVE
from forsooth.service import models
from forsooth.service.failures import Refusal
from forsooth.service.life import life_of

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from forsooth.service.campaigns import CampaignRequest
    from forsooth.service.schemas import CampaignView

# 128 bits of security (NIST SP 800-57). Only forging depends on it, and only until the key is
# erased; that nobody can link does not depend on any key.
KEY_BITS = 3072
BATCH = 20  # reports that are shown together: twice the service's own default
# What workers verify: these fields of the campaign, its batch and its key.
_DOCUMENT = {
    "id",
    "title",
    "description",
    "tasks",
    "scale",
    "epsilon",
    "unit",
    "sampled",
    "protects",
    "design",
    "invitation_required",
    "presentation",
}


def check(plan: CampaignRequest, invitations: int, smallest: int) -> None:
    """Refuse an anonymous campaign whose reports could be told apart."""
    if plan.batch is None:
        return
    if plan.open:
        raise ForsoothError(
            "an anonymous campaign needs invitations: a signed token shows that its holder was "
            "invited, and by an open link nobody is"
        )
    if plan.mechanism == ADAPTIVE:
        raise ForsoothError(
            "an adaptive campaign cannot be anonymous: a report would show which of the tables it "
            "was made with, hence when; choose another mechanism, for example rr"
        )
    if plan.protects == "answers":
        raise ForsoothError(
            "an anonymous campaign protects participation, too: which questions were answered "
            "could show whose report it is (protects = answers+participation)"
        )
    if plan.batch < smallest:
        raise ForsoothError(
            f"this service shows reports in batches of at least {smallest}: a batch of "
            f"{plan.batch} is too small"
        )
    if plan.max_reports is not None and plan.max_reports < plan.batch:
        raise ForsoothError(
            f"a batch of {plan.batch} reports cannot be complete with at most {plan.max_reports}"
        )
    check_invitations(plan.batch, invitations or plan.batch)


def check_invitations(batch: int | None, count: int) -> None:
    """Those who are invited together hide each other."""
    if batch is not None and count < batch:
        raise ForsoothError(
            f"an anonymous campaign with batches of {batch} needs at least {batch} invitations "
            f"at a time, got {count}: so few people could be told apart"
        )


def announce(connection: Connection, view: CampaignView, batch: int) -> None:
    """Fix what workers verify, with a new key, and keep the key."""
    key = rsa.generate_private_key(EXPONENT, KEY_BITS)
    public = IssuingKey(key.public_key().public_numbers().n).to_json()
    content = view.model_dump(mode="json", include=_DOCUMENT)
    document = {"forsooth": 1} | content | {"batch": batch, "issuing_key": public}
    row = {
        "campaign": view.id,
        "document": json.dumps(document, ensure_ascii=False, separators=(",", ":")),
        "private_key": key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()),
    }
    connection.execute(insert(models.issuer).values(row))


def register(connection: Connection, campaign: str, invitation: bytes, blinded: bytes) -> bytes:
    """Note what an invitation has signed; the private key to do it with.

    Whoever signs for the same campaign waits: an invitation has one signature, however many ask.
    """
    table, issuer = models.campaign, models.issuer
    connection.execute(select(table.c.id).where(table.c.id == campaign).with_for_update())
    key = connection.scalar(select(issuer.c.private_key).where(issuer.c.campaign == campaign))
    if key is None:
        raise Refusal(410, "closed", "this campaign is closed")
    known, signed = models.invitation, models.signed
    mine = known.c.campaign == campaign, known.c.hash == invitation
    if connection.scalar(select(known.c.hash).where(*mine)) is None:
        raise Refusal(403, "unknown-invitation", "there is no such invitation to this campaign")
    same = signed.c.campaign == campaign, signed.c.invitation == invitation
    before, now = connection.scalar(select(signed.c.blinded).where(*same)), sha256(blinded).digest()
    if before is None:
        row = {"campaign": campaign, "invitation": invitation, "blinded": now}
        connection.execute(insert(signed).values(row))
    elif not hmac.compare_digest(before, now):
        raise Refusal(
            409, "already-signed", "this invitation has a token already, made by another device"
        )
    return bytes(key)


def blind_signature(private_key: bytes, blinded: bytes) -> bytes:
    """What RFC 9474 calls BlindSign.

    The message is multiplied by a random number first, so that the time that this takes tells
    nothing of the key to those who choose messages; the result is checked, so that no fault does.
    """
    key = load_der_private_key(private_key, None, unsafe_skip_rsa_key_validation=True)
    assert isinstance(key, rsa.RSAPrivateKey)
    return signed_with(key.private_numbers(), blinded)


def signed_with(numbers: rsa.RSAPrivateNumbers, blinded: bytes) -> bytes:
    """The same with the key's numbers."""
    n, size = numbers.public_numbers.n, (numbers.public_numbers.n.bit_length() + 7) // 8
    message = int.from_bytes(blinded)
    if len(blinded) != size or not 0 < message < n:
        raise ForsoothError(f"a blinded message here has {size} bytes, and is a number below n")
    while gcd(r := 1 + secrets.randbelow(n - 1), n) != 1:
        pass
    hidden = message * pow(r, EXPONENT, n) % n
    by_p = pow(hidden % numbers.p, numbers.dmp1, numbers.p)
    by_q = pow(hidden % numbers.q, numbers.dmq1, numbers.q)
    whole = by_q + numbers.q * ((by_p - by_q) * numbers.iqmp % numbers.p)
    signature = whole * pow(r, -1, n) % n
    if pow(signature, EXPONENT, n) != message:
        raise ArithmeticError("a fault in signing")
    return signature.to_bytes(size)


def ended_with_key(connection: Connection) -> list[str]:
    """Campaigns that take no more reports and whose private key is still there."""
    table = models.issuer
    kept = connection.scalars(select(table.c.campaign).where(table.c.private_key.is_not(None)))
    lives = [(each, life_of(connection, each)) for each in kept.all()]
    return [each for each, now in lives if now is not None and now.has_ended]


def erase_keys(connection: Connection) -> None:
    """Forget the private keys of campaigns that have ended."""
    if ended := ended_with_key(connection):
        table = models.issuer
        connection.execute(
            update(table).where(table.c.campaign.in_(ended)).values(private_key=None)
        )
