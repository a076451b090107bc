"""Anonymous campaigns, the worker's side in Python: check the announced key, get a token, wait.

The link has the digest of the campaign's document. What the document says is the same for everybody
who has a link with this digest: the questions, the mechanism, and the one key that signs tokens.
"""

from __future__ import annotations

import base64
import json
import secrets
import time
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from forsooth.client import blind
from forsooth.client.blind import IssuingKey
from forsooth.client.memory import Blinding, Kept
from forsooth.client.transport import fetch
from forsooth.errors import ForsoothError
from forsooth.io import strict

if TYPE_CHECKING:
    from collections.abc import Mapping

DELAY = 600.0  # seconds: a report is sent at a random time within the ten minutes after its token


@dataclass(frozen=True)
class Announced:
    """What an anonymous campaign announces to everybody."""

    digest: str
    key: IssuingKey
    batch: int


def digest_in(url: str) -> str | None:
    """The digest of the campaign's document, which the link of an anonymous campaign has."""
    return next(iter(parse_qs(urlsplit(url).query).get("d", [])), None)


def announced(
    view: Mapping[str, Any], address: str, digest: str | None
) -> tuple[Mapping[str, Any], Announced | None]:
    """A campaign with what its document says in place of what its service says."""
    given = view.get("anonymous")
    if given is None and digest is None:
        return view, None
    if given is None or digest is None:
        missing = "its service does not say so" if given is None else "the link has no ?d=…"
        raise ForsoothError(
            f"this campaign is anonymous, but {missing}: use the whole link. Nothing was sent"
        )
    text = strict.string(given["document"], "document")
    if sha256(text.encode()).hexdigest() != digest:
        raise ForsoothError(
            "the campaign or its issuing key is not the one that the link names: the digest of its "
            "document differs. Nothing was sent"
        )
    document = strict.loads(text)
    if document["id"] != address.rpartition("/")[2]:
        raise ForsoothError("the document is that of another campaign: nothing was sent")
    batch = strict.integer(document["batch"], "batch", 1, 2**31)
    key = IssuingKey.from_json(document["issuing_key"])
    return {**view, **document}, Announced(digest, key, batch)


def blinding(campaign: Announced, serial: str, invitation: str) -> Blinding:
    """A token, blinded; it is kept before anything is sent, so that there is one only."""
    blinded, inverse = blind.blind(campaign.key, blind.prepare(serial, campaign.digest))
    return Blinding(invitation, base64.b64encode(blinded).decode(), f"{inverse:x}")


def with_token(address: str, campaign: Announced, kept: Kept, delay: float) -> Kept:
    """The report with its signed token, to be sent at a random time."""
    own = kept.anonymous
    assert own is not None
    assert kept.body is not None
    if own.blinded is None or own.inverse is None:
        return kept
    asked = {"invitation": own.invitation, "blinded": own.blinded}
    answer = strict.loads(fetch(f"{address}/signatures", json.dumps(asked).encode()))
    try:
        signed = base64.b64decode(strict.string(answer["signature"], "signature"), validate=True)
    except (KeyError, TypeError, ValueError) as error:
        raise ForsoothError(f"the service did not sign the token ({error!r})") from None
    prepared = blind.prepare(kept.invitation, campaign.digest)
    signature = blind.finalize(campaign.key, prepared, signed, int(own.inverse, 16))
    body = {**json.loads(kept.body), "signature": base64.b64encode(signature).decode()}
    due = int(time.time() + secrets.SystemRandom().uniform(0, delay))
    return replace(kept, body=json.dumps(body), anonymous=Blinding(own.invitation, None, None, due))


def seconds_left(kept: Kept) -> float:
    """How long a report still waits for its random time."""
    due = kept.anonymous.due if kept.anonymous else None
    return 0 if due is None else max(0.0, due - time.time())
