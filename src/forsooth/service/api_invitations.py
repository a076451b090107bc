"""Invitations for requesters: make them, see which are unused, revoke them, print them.

Who was invited stays with the requester. The service learns hashes, which it has, and counts.
"""

from __future__ import annotations

import io
import logging
from typing import Annotated, Literal

import segno
from fastapi import APIRouter, Query
from sqlalchemy import Connection
from starlette.responses import JSONResponse, Response

from forsooth.client.tokens import hashed, new_token
from forsooth.service import campaigns, exports, issuing, moves
from forsooth.service import invitations as stored
from forsooth.service.campaigns import StoredCampaign
from forsooth.service.context import BaseUrl, TheService, failures
from forsooth.service.failures import Refusal
from forsooth.service.own import Own
from forsooth.service.schemas_invitations import (
    CheckedInvitations,
    CodesOrder,
    CodesView,
    InvitationsView,
    InvitationView,
    NewInvitations,
    Revocation,
    RevokedView,
    StandingsView,
)
from forsooth.service.status import progress

router = APIRouter(prefix="/v1/campaigns/{campaign_id}", tags=["requesters"])
_log = logging.getLogger(__name__)


@router.post(
    "/invitations",
    status_code=201,
    response_model=InvitationsView,
    responses=failures(401, 404, 409, 410)
    | {201: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
def invitations(
    own: Own,
    body: NewInvitations,
    service: TheService,
    base: BaseUrl,
    wanted: Annotated[Literal["json", "csv"], Query(alias="format")] = "json",
) -> Response:
    """Make invitations. Tokens are shown this once; only their hashes are stored."""
    _require_invitations(own)
    issuing.check_invitations(own.batch, body.count)
    with service.store.writing() as connection:
        made = invite(connection, own, body.count, base)
    _log.info("invitations made", extra={"campaign": own.id, "count": body.count})
    if wanted == "csv":
        content = exports.invitations_csv(made).encode()
        return exports.attachment(content, exports.CSV, "invitations.csv", status=201)
    return JSONResponse(InvitationsView(invitations=made).model_dump(), 201)


@router.post("/invitations/check", responses=failures(401, 404, 410))
def check(own: Own, body: CheckedInvitations, service: TheService) -> StandingsView:
    """Which invitations of a list are unused, for reminders: asked for by the tokens' hashes."""
    hashes = [bytes.fromhex(each) for each in body.hashes]
    with service.store.reading() as connection:
        now = progress(connection, own).life
        return StandingsView(invitations=stored.standings(connection, now, hashes))


@router.post("/invitations/revoke", responses=failures(401, 404, 410))
def revoke(own: Own, body: Revocation, service: TheService) -> RevokedView:
    """Make unused invitations worth nothing: those of a list, or all. What was reported stays."""
    hashes = None if body.hashes is None else [bytes.fromhex(each) for each in body.hashes]
    with service.store.writing() as connection:
        count = stored.revoke(connection, moves.locked(connection, own.id), hashes)
    _log.info("invitations revoked", extra={"campaign": own.id, "count": count})
    return RevokedView(revoked=count)


@router.post("/codes", responses=failures(401, 404, 410))
def codes(own: Own, body: CodesOrder, base: BaseUrl) -> CodesView:
    """Links as QR codes, drawn here: of invitations, or of the campaign itself."""
    link = base + own.path
    links = [link] if body.tokens is None else [f"{link}#{token}" for token in body.tokens]
    return CodesView(codes=[_code(each) for each in links])


def invite(
    connection: Connection, own: StoredCampaign, count: int, base: str
) -> list[InvitationView]:
    """New invitations, with their tokens."""
    tokens = [new_token() for _ in range(count)]
    campaigns.invite(connection, own.id, [hashed(token) for token in tokens])
    return [InvitationView(token=token, link=f"{base}{own.path}#{token}") for token in tokens]


def _require_invitations(own: StoredCampaign) -> None:
    if own.draft:
        raise Refusal(409, "draft", "this campaign is a draft: open it before you invite people")
    if own.open:
        raise Refusal(409, "open", "this campaign is open: everybody with the link may report")


def _code(text: str) -> str:
    """An SVG that can be read from paper: black on white, with its quiet zone."""
    drawing = io.BytesIO()
    code = segno.make_qr(text, error="m")
    code.save(drawing, kind="svg", xmldecl=False, dark="#000", light="#fff")
    return drawing.getvalue().decode()
