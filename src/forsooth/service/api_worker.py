"""What workers' clients use: the campaign, the exact designs, and the one way to report."""

from __future__ import annotations

import json
from dataclasses import asdict

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from forsooth.client.tokens import hashed, is_open, is_token, worker_name
from forsooth.errors import ForsoothError
from forsooth.service import invitations, payload
from forsooth.service.api_issuing import check_token
from forsooth.service.campaigns import StoredCampaign, StoredDesign, looks_like_id
from forsooth.service.context import Service, TheService, failures
from forsooth.service.failures import Refusal
from forsooth.service.life import Life, life_of
from forsooth.service.manifest import installed
from forsooth.service.pages import client_integrity
from forsooth.service.presentation import Presentation
from forsooth.service.schemas import (
    Accepted,
    AnonymousView,
    CampaignView,
    ClientView,
    NewReport,
    ScaleView,
    TaskView,
    utc,
)
from forsooth.service.schemas_invitations import CheckedInvitation, StandingView
from forsooth.service.schemas_presentation import LogoView, PresentationView
from forsooth.service.writer import Outcome, Submission

router = APIRouter(prefix="/v1/campaigns/{campaign_id}", tags=["workers"])
_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}  # a digest is in the address

_REFUSALS = {
    Outcome.DIFFERENT: (409, "this invitation or token has reported already, and not the same"),
    Outcome.UNINVITED: (403, "there is no such invitation to this campaign"),
    Outcome.CLOSED: (410, "this campaign is closed"),
    Outcome.PAUSED: (409, "this campaign is paused: send the same report again later"),
    Outcome.GONE: (404, "there is no such campaign"),
}


@router.get("", responses=failures(404))
def campaign(campaign_id: str, service: TheService) -> CampaignView:
    """A campaign as its workers see it: all of it is public."""
    service.by_campaign.take(campaign_id)
    found = _found(service.campaigns.look_up(campaign_id))
    with service.store.reading() as connection:
        now = life_of(connection, campaign_id)
    if now is None:
        raise _refusal(Outcome.GONE)
    return view(found, now)


@router.post("/check", responses=failures(404))
def check(campaign_id: str, body: CheckedInvitation, service: TheService) -> StandingView:
    """Can an invitation still be used? So that its holder learns it before they answer.

    It is named by the hash of its token, which is no invitation, and nothing is stored or logged.
    """
    service.by_campaign.take(campaign_id)
    if not looks_like_id(campaign_id):
        raise _refusal(Outcome.GONE)
    invitation = bytes.fromhex(body.hash)
    service.by_invitation.take((campaign_id, invitation, "check"))
    with service.store.reading() as connection:
        now = life_of(connection, campaign_id)
        if now is None:
            raise _refusal(Outcome.GONE)
        (found,) = invitations.standings(connection, now, [invitation])
    return StandingView(invitation=found)


@router.get(
    "/designs/{digest}",
    response_class=Response,
    responses=failures(404)
    | {200: {"content": {"application/json": {"schema": {"type": "object"}}}}},
)
def design(campaign_id: str, digest: str, service: TheService) -> Response:
    """The exact text of a mechanism; its SHA-256 is the digest. Verify it before you use it."""
    service.by_campaign.take(campaign_id)
    found = service.campaigns.known(campaign_id, digest) or _looked_up(service, campaign_id, digest)
    return Response(found[1].text, media_type="application/json", headers=_FOREVER)


@router.get(
    "/logos/{digest}",
    response_class=Response,
    responses=failures(404) | {200: {"content": {"image/*": {"schema": {"type": "string"}}}}},
)
def logo(campaign_id: str, digest: str, service: TheService) -> Response:
    """The campaign's logo, as it was uploaded; its SHA-256 is the digest."""
    service.by_campaign.take(campaign_id)
    found = _found(service.campaigns.look_up(campaign_id)).presentation.logo
    if found is None or found.digest != digest:
        raise Refusal(404, "unknown-logo", "this campaign has no logo with that digest")
    return Response(found.content, media_type=found.media_type, headers=_FOREVER)


@router.post(
    "/reports",
    status_code=201,
    response_model=Accepted,
    responses=failures(403, 404, 409, 410)
    | {200: {"model": Accepted, "description": "The same report is there already."}},
)
async def report(campaign_id: str, body: NewReport, service: TheService) -> JSONResponse:
    """One worker's report. It is stored when this is answered, and may be sent again as it is."""
    service.by_campaign.take(campaign_id)
    found = service.campaigns.known(campaign_id, body.design)
    if found is None:
        found = await run_in_threadpool(_looked_up, service, campaign_id, body.design)
    asked, used = found
    if asked.draft:
        raise Refusal(409, "draft", "this campaign has not begun")
    if not is_token(body.invitation) or is_open(body.invitation) != asked.open:
        raise _refusal(Outcome.UNINVITED)
    invitation = hashed(body.invitation)
    if asked.issuing_key is not None:  # no rate by serial: its times would stay in memory
        check_token(asked, body)
    elif body.signature is not None:
        raise Refusal(422, "bad-report", "this campaign is not anonymous: leave out the signature")
    else:
        service.by_invitation.take((campaign_id, invitation))
    outcome = await service.writer.submit(_checked(asked, used, invitation, body))
    if outcome in _REFUSALS:
        raise _refusal(outcome)
    return JSONResponse({"status": outcome.value}, 201 if outcome is Outcome.ACCEPTED else 200)


def view(found: StoredCampaign, now: Life) -> CampaignView:
    """The public side of a campaign, with the design for those who come now."""
    mechanism = found.current.mechanism
    guarantee, tasks = mechanism.guarantee, len(found.tasks)
    return CampaignView(
        id=found.id,
        title=found.title,
        description=found.description,
        presentation=_presentation(found.presentation),
        tasks=[TaskView(**asdict(task)) for task in found.tasks],
        scale=ScaleView(values=list(mechanism.scale.labels), labels=list(found.labels)),
        epsilon=found.epsilon,
        unit=mechanism.unit,
        sampled=guarantee.cells,
        protects=guarantee.protects,
        promise=guarantee.describe(tasks),
        worker_total=guarantee.worker_total(tasks),
        mechanism=json.loads(found.current.text),
        design=found.current.digest,
        invitation_required=not found.open,
        state="closed" if now.state == "deleted" else now.state,
        closed=now.has_ended,
        closes_at=utc(found.closes_at),
        retention_days=found.retention_days,
        panel=found.panel,
        client=ClientView(integrity=client_integrity(), digest=installed().digest),
        anonymous=_anonymous(found),
    )


def _anonymous(found: StoredCampaign) -> AnonymousView | None:
    if found.document is None or found.digest is None:
        return None
    return AnonymousView(digest=found.digest, document=found.document)


def _presentation(own: Presentation) -> PresentationView:
    logo = own.logo and LogoView(digest=own.logo.digest, media_type=own.logo.media_type)
    ends = own.ends and list(own.ends)
    return PresentationView(**own.to_json() | {"logo": logo, "ends": ends})


def _looked_up(
    service: Service, campaign_id: str, digest: str
) -> tuple[StoredCampaign, StoredDesign]:
    found = _found(service.campaigns.look_up(campaign_id))
    design = found.design(digest)
    if design is None:
        raise Refusal(404, "unknown-design", "this campaign has no design with that digest")
    return found, design


def _found(campaign: StoredCampaign | None) -> StoredCampaign:
    if campaign is None:
        raise Refusal(404, "unknown-campaign", "there is no such campaign")
    return campaign


def _checked(
    asked: StoredCampaign, used: StoredDesign, invitation: bytes, body: NewReport
) -> Submission:
    try:
        values = payload.decode(body.report)
        payload.check(asked, used, values, body.tasks, worker_name(body.invitation))
    except ForsoothError as error:
        raise Refusal(422, "bad-report", str(error)) from None
    tasks = payload.pack_tasks(body.tasks)
    cost = payload.spent(asked, used, body.tasks)
    signed = asked.issuing_key is not None
    return Submission(asked.id, invitation, used.number, tasks, values, cost, signed)


def _refusal(outcome: Outcome) -> Refusal:
    status, message = _REFUSALS[outcome]
    return Refusal(status, outcome.value, message)
