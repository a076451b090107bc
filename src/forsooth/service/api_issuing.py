"""What workers' clients use in anonymous campaigns before they report: one blind signature each."""

from __future__ import annotations

import base64
import binascii

from fastapi import APIRouter
from starlette.responses import JSONResponse

from forsooth.client.blind import prepare
from forsooth.client.tokens import hashed, is_open, is_token
from forsooth.errors import ForsoothError
from forsooth.service import issuing
from forsooth.service.campaigns import StoredCampaign
from forsooth.service.context import TheService, failures
from forsooth.service.failures import Refusal
from forsooth.service.life import life_of
from forsooth.service.schemas import NewReport
from forsooth.service.schemas_issuing import NewSignature, SignatureView

router = APIRouter(prefix="/v1/campaigns/{campaign_id}", tags=["workers"])


@router.post("/signatures", response_model=SignatureView, responses=failures(403, 404, 409, 410))
def sign(campaign_id: str, body: NewSignature, service: TheService) -> JSONResponse:
    """Sign a blinded token for an invitation, once; the same one again as often as it is asked for.

    The connection ends with the answer: the report shall come by another one.
    """
    service.by_campaign.take(campaign_id)
    found = service.campaigns.look_up(campaign_id)
    if found is None:
        raise Refusal(404, "unknown-campaign", "there is no such campaign")
    if found.issuing_key is None:
        raise Refusal(409, "not-anonymous", "this campaign is not anonymous: it signs nothing")
    if not is_token(body.invitation) or is_open(body.invitation):
        raise Refusal(403, "unknown-invitation", "there is no such invitation to this campaign")
    invitation = hashed(body.invitation)
    service.by_invitation.take((campaign_id, invitation))
    blinded = _decoded(body.blinded, found.issuing_key.size, "the blinded message")
    if not 0 < int.from_bytes(blinded) < found.issuing_key.n:
        raise Refusal(422, "bad-token", "the blinded message is a number between 0 and n")
    with service.store.writing() as connection:
        now = life_of(connection, campaign_id)
        if now is not None and now.state == "paused":
            raise Refusal(409, "paused", "this campaign is paused: ask again later")
        if now is None or now.has_ended:
            raise Refusal(410, "closed", "this campaign is closed")
        key = issuing.register(connection, campaign_id, invitation, blinded)
    signature = base64.b64encode(issuing.blind_signature(key, blinded)).decode()
    return JSONResponse({"signature": signature}, headers={"Connection": "close"})


def check_token(asked: StoredCampaign, body: NewReport) -> None:
    """Refuse a report without a token, and one whose token was not signed for this campaign."""
    assert asked.issuing_key is not None
    assert asked.digest is not None
    if body.signature is None:
        raise Refusal(
            403,
            "unsigned",
            "this campaign is anonymous: a report is sent with a signed token instead of the "
            "invitation. Open the whole link with a newer client",
        )
    signature = _decoded(body.signature, asked.issuing_key.size, "the signature")
    try:
        prepared = prepare(body.invitation, asked.digest)
    except ForsoothError as error:
        raise Refusal(403, "forged", str(error)) from None
    if not asked.issuing_key.verifies(signature, prepared):
        raise Refusal(403, "forged", "this token was not signed for this campaign")


def _decoded(text: str, size: int, what: str) -> bytes:
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        content = b""
    if len(content) != size:
        raise Refusal(422, "bad-token", f"{what} is {size} bytes in base64")
    return content
