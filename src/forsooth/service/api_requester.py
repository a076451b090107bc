"""What requesters use: make campaigns, invite, watch, close, take the results home.

Every query names the requester: another's campaign is as unknown as one that never was.
"""

from __future__ import annotations

import logging
import time
from typing import Annotated, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Query
from sqlalchemy import Connection, select, update
from starlette.responses import JSONResponse, Response

from forsooth.client.tokens import hashed, new_token
from forsooth.errors import ForsoothError
from forsooth.scale import Scale
from forsooth.service import analyst, campaigns, exports, models
from forsooth.service.campaigns import CampaignRequest, StoredCampaign, Task
from forsooth.service.context import BaseUrl, Service, TheRequester, TheService, failures
from forsooth.service.failures import Refusal
from forsooth.service.payload import all_reports
from forsooth.service.schemas import (
    CampaignsView,
    CreatedView,
    InvitationsView,
    InvitationView,
    NewCampaign,
    NewInvitations,
    StatusView,
    TruthsView,
)
from forsooth.service.settings import Settings
from forsooth.service.status import progress, status

router = APIRouter(prefix="/v1/campaigns", tags=["requesters"])
_log = logging.getLogger(__name__)
_IMAGES = tuple(f"data:image/{kind};base64," for kind in ("png", "jpeg", "gif", "webp"))


def _own(campaign_id: str, service: TheService, requester: TheRequester) -> StoredCampaign:
    with service.store.reading() as connection:
        found = campaigns.load(connection, campaign_id, requester=requester)
    if found is None:
        raise Refusal(404, "unknown-campaign", "you have no such campaign")
    return found


Own = Annotated[StoredCampaign, Depends(_own)]


@router.post("", status_code=201, responses=failures(401))
def create(
    body: NewCampaign, service: TheService, requester: TheRequester, base: BaseUrl
) -> CreatedView:
    """Make a campaign, and invitations to it if asked for. Tokens are shown this once."""
    plan = _plan(body, service.settings)
    if plan.open and body.invitations:
        raise ForsoothError("an open campaign needs no invitations")
    first = plan.first_mechanism()
    with service.store.writing() as connection:
        made = campaigns.create(connection, requester, plan, first)
        invitations = _invite(connection, made, body.invitations, base)
    _log.info("campaign made", extra={"campaign": made, "mechanism": plan.mechanism})
    return CreatedView(id=made, link=f"{base}/c/{made}", invitations=invitations)


@router.get("", responses=failures(401))
def listed(service: TheService, requester: TheRequester, base: BaseUrl) -> CampaignsView:
    """Your campaigns, the newest first."""
    table = models.campaign
    own = select(table.c.id).where(table.c.requester == requester).order_by(table.c.created.desc())
    with service.store.reading() as connection:
        found = (campaigns.load(connection, each) for each in connection.scalars(own).all())
        views = [_status(connection, each, service, base) for each in found if each]
    return CampaignsView(campaigns=views)


@router.get("/{campaign_id}/status", responses=failures(401, 404))
def standing(own: Own, service: TheService, base: BaseUrl) -> StatusView:
    """How a campaign stands."""
    with service.store.reading() as connection:
        return _status(connection, own, service, base)


@router.post("/{campaign_id}/close", responses=failures(401, 404))
def close(own: Own, service: TheService, base: BaseUrl) -> StatusView:
    """Take no more reports: once this is answered, none is accepted."""
    table = models.campaign
    with service.store.writing() as connection:
        connection.execute(
            update(table)
            .where(table.c.id == own.id, table.c.closed_at.is_(None))
            .values(closed_at=int(time.time()))
        )
    _log.info("campaign closed", extra={"campaign": own.id})
    return standing(own, service, base)


@router.post(
    "/{campaign_id}/invitations",
    status_code=201,
    response_model=InvitationsView,
    responses=failures(401, 404, 409)
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
    if own.open:
        raise Refusal(409, "open", "this campaign is open: everybody with the link may report")
    with service.store.writing() as connection:
        made = _invite(connection, own.id, body.count, base)
    _log.info("invitations made", extra={"campaign": own.id, "count": body.count})
    if wanted == "csv":
        text = exports.invitations_csv(made)
        return _attachment(text.encode(), "text/csv; charset=utf-8", "invitations.csv", status=201)
    return JSONResponse(InvitationsView(invitations=made).model_dump(), 201)


@router.get("/{campaign_id}/truths", responses=failures(401, 404))
def truths(own: Own, service: TheService) -> TruthsView:
    """The latest inference: every task's truth with its interval, and whether it is enough."""
    with service.store.reading() as connection:
        return _truths(connection, own)


@router.get("/{campaign_id}/truths.csv", response_class=Response, responses=failures(401, 404, 409))
def truths_csv(own: Own, service: TheService) -> Response:
    """The truths as CSV, safe to open in a spreadsheet."""
    with service.store.reading() as connection:
        found = _ready(_truths(connection, own))
    text = exports.truths_csv(found)
    return _attachment(text.encode(), "text/csv; charset=utf-8", "truths.csv")


@router.get(
    "/{campaign_id}/reports.parquet", response_class=Response, responses=failures(401, 404, 409)
)
def reports(own: Own, service: TheService) -> Response:
    """All released reports, for `forsooth infer`: Parquet, or a zip of one file per design."""
    with service.store.reading() as connection:
        found = all_reports(connection, own)
    if not found:
        raise Refusal(
            409,
            "not-ready",
            "no report can be shown yet: reports are shown in batches of at least "
            f"{service.settings.batch}, or when the campaign is closed",
        )
    try:
        content, media_type, ending = exports.parquet(found)
    except ForsoothError as error:  # there is no room for temporary files
        raise OSError(str(error)) from error
    return _attachment(content, media_type, f"reports.{ending}")


@router.get(
    "/{campaign_id}/report.html", response_class=Response, responses=failures(401, 404, 409)
)
def report_page(own: Own, service: TheService) -> Response:
    """The report of the latest inference: the page that `forsooth infer --report` writes."""
    with service.store.reading() as connection:
        page = analyst.report_page(connection, own)
    if page is None:
        raise _not_ready()
    return _attachment(page.encode(), "text/html; charset=utf-8", "report.html")


def _plan(body: NewCampaign, settings: Settings) -> CampaignRequest:
    """What is asked for, in our own words; refused where it makes no sense."""
    tasks = tuple(
        Task(task.id or str(number), task.text, _allowed_image(task.image, settings))
        for number, task in enumerate(body.tasks, 1)
    )
    return CampaignRequest(
        title=body.title,
        tasks=tasks,
        scale=Scale.parse(body.scale) if isinstance(body.scale, str) else Scale.of(body.scale),
        epsilon=body.epsilon,
        protects=body.protects,
        mechanism=body.mechanism,
        unit=body.unit,
        sampled=body.sampled,
        description=body.description,
        labels=None if body.labels is None else tuple(body.labels),
        open=body.open,
        closes_at=None if body.closes_at is None else int(body.closes_at.timestamp()),
        max_reports=body.max_reports,
        redesign_after=body.redesign_after,
        target_width=body.target_width,
        estimand=body.estimand,
    )


def _allowed_image(image: str | None, settings: Settings) -> str | None:
    """An image tells its server who looks at it, so only chosen servers may be named."""
    if image is None or image.startswith(_IMAGES):
        return image
    try:
        parts = urlsplit(image)
    except ValueError:
        parts = urlsplit("")
    if f"{parts.scheme}://{parts.netloc}" in settings.images_from:
        return image
    allowed = ", ".join(settings.images_from) or "nowhere"
    raise ForsoothError(
        f"images come from {allowed} (FORSOOTH_IMAGE_HOSTS says so), or stand in the task "
        "themselves as data:image/png;base64,… (png, jpeg, gif, webp)"
    )


def _invite(connection: Connection, campaign: str, count: int, base: str) -> list[InvitationView]:
    tokens = [new_token() for _ in range(count)]
    campaigns.invite(connection, campaign, [hashed(token) for token in tokens])
    return [InvitationView(token=token, link=f"{base}/c/{campaign}#{token}") for token in tokens]


def _status(
    connection: Connection, campaign: StoredCampaign, service: Service, base: str
) -> StatusView:
    return status(connection, campaign, f"{base}/c/{campaign.id}", service.settings.batch)


def _truths(connection: Connection, own: StoredCampaign) -> TruthsView:
    return analyst.latest(connection, own, progress(connection, own))


def _ready(found: TruthsView) -> TruthsView:
    if found.state != "ready":
        raise _not_ready()
    return found


def _not_ready() -> Refusal:
    return Refusal(409, "not-ready", "nothing is inferred yet: come again when reports are in")


def _attachment(content: bytes, media_type: str, name: str, *, status: int = 200) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, status, headers, media_type)
