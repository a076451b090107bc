"""What requesters use: make campaigns, watch them, take the results home.

Every query names the requester: another's campaign is as unknown as one that never was.
"""

from __future__ import annotations

import logging

from fastapi import APIRouter
from sqlalchemy import Connection, select
from starlette.responses import Response

from forsooth.errors import ForsoothError
from forsooth.report.documents import CampaignFacts, Form, Kind, campaign_document
from forsooth.service import analyst, campaigns, exports, models
from forsooth.service.api_invitations import invite
from forsooth.service.campaigns import StoredCampaign
from forsooth.service.context import BaseUrl, TheRequester, TheService, failures
from forsooth.service.failures import Refusal
from forsooth.service.manifest import installed
from forsooth.service.own import Own, OwnInAnyState, announced, shown
from forsooth.service.payload import all_reports
from forsooth.service.plans import plan_of
from forsooth.service.schemas import CampaignsView, NewCampaign, StatusView, utc
from forsooth.service.schemas_invitations import CreatedView
from forsooth.service.schemas_truths import TruthsView
from forsooth.service.status import progress

router = APIRouter(prefix="/v1/campaigns", tags=["requesters"])
_EXPORT = failures(401, 404, 409, 410)
_log = logging.getLogger(__name__)


@router.post("", status_code=201, responses=failures(401))
def create(
    body: NewCampaign, service: TheService, requester: TheRequester, base: BaseUrl
) -> CreatedView:
    """Make a campaign, and invitations to it if asked for. Tokens are shown this once."""
    plan = plan_of(body, service.settings)
    if plan.open and body.invitations:
        raise ForsoothError("an open campaign needs no invitations")
    first = plan.first_mechanism()
    with service.store.writing() as connection:
        made = campaigns.create(connection, requester, plan, first)
        own = announced(connection, made)
        invitations = invite(connection, own, body.invitations, base)
    _log.info("campaign made", extra={"campaign": made, "mechanism": plan.mechanism})
    return CreatedView(id=made, link=base + own.path, invitations=invitations)


@router.get("", responses=failures(401))
def listed(service: TheService, requester: TheRequester, base: BaseUrl) -> CampaignsView:
    """Your campaigns, the newest first."""
    table = models.campaign
    own = select(table.c.id).where(table.c.requester == requester).order_by(table.c.created.desc())
    with service.store.reading() as connection:
        found = (campaigns.load(connection, each) for each in connection.scalars(own).all())
        views = [shown(connection, each, service, base) for each in found if each]
    return CampaignsView(campaigns=views)


@router.get("/{campaign_id}/status", responses=failures(401, 404))
def standing(own: OwnInAnyState, service: TheService, base: BaseUrl) -> StatusView:
    """How a campaign stands."""
    with service.store.reading() as connection:
        return shown(connection, own, service, base)


@router.get("/{campaign_id}/truths", responses=failures(401, 404, 410))
def truths(own: Own, service: TheService) -> TruthsView:
    """The latest inference: every task's truth with its interval, and whether it is enough."""
    with service.store.reading() as connection:
        return _truths(connection, own)


@router.get("/{campaign_id}/truths.csv", response_class=Response, responses=_EXPORT)
def truths_csv(own: Own, service: TheService) -> Response:
    """The truths as CSV, safe to open in a spreadsheet."""
    with service.store.reading() as connection:
        found = _ready(_truths(connection, own))
    text = exports.truths_csv(found)
    return exports.attachment(text.encode(), exports.CSV, "truths.csv")


@router.get(
    "/{campaign_id}/reports.parquet",
    response_class=Response,
    responses=_EXPORT,
)
def reports(own: Own, service: TheService) -> Response:
    """All released reports, for `forsooth infer`: Parquet, or a zip of one file per design."""
    with service.store.reading() as connection:
        now = progress(connection, own).life
        found = all_reports(connection, own)
    if now.row.erased is not None:
        raise Refusal(409, "erased", "the reports of this campaign have been erased")
    if not found:
        raise Refusal(409, "not-ready", _nothing_yet(own, service.settings.batch))
    try:
        content, media_type, ending = exports.parquet(found)
    except ForsoothError as error:  # there is no room for temporary files
        raise OSError(str(error)) from error
    return exports.attachment(content, media_type, f"reports.{ending}")


@router.get("/{campaign_id}/report.html", response_class=Response, responses=_EXPORT)
def report_page(own: Own, service: TheService) -> Response:
    """The report of the latest inference: the page that `forsooth infer --report` writes."""
    with service.store.reading() as connection:
        page = analyst.report_page(connection, own)
    if page is None:
        raise _not_ready()
    return exports.attachment(page.encode(), "text/html; charset=utf-8", "report.html")


@router.get(
    "/{campaign_id}/documents/{kind}.{form}",
    response_class=Response,
    responses=failures(401, 404, 410),
)
def document(own: Own, kind: Kind, form: Form, service: TheService) -> Response:
    """A text filled in from the campaign: for participants, or for a board (protection)."""
    facts = CampaignFacts(
        title=own.title,
        tasks=len(own.tasks),
        answers=own.labels,
        mechanism=own.asked,
        guarantee=own.current.mechanism.guarantee,
        open=own.open,
        panel=own.panel is not None,
        consent=bool(own.presentation.consent),
        closes_at=None if own.closes_at is None else f"{utc(own.closes_at):%Y-%m-%d %H:%M}",
        max_reports=own.max_reports,
        retention_days=own.retention_days,
        batch=own.batch or service.settings.batch,
        page_digest=installed().digest,
    )
    media_type = {"md": "text/markdown", "html": "text/html"}[form]
    content = campaign_document(kind, facts, form).encode()
    return exports.attachment(content, f"{media_type}; charset=utf-8", f"{kind}.{form}")


def _nothing_yet(own: StoredCampaign, batch: int) -> str:
    if own.batch is None:
        why = f"in batches of at least {batch}, or when the campaign is closed"
    else:
        why = f"in batches of at least {own.batch}, and never fewer: this campaign is anonymous"
    return f"no report can be shown yet: reports are shown {why}"


def _truths(connection: Connection, own: StoredCampaign) -> TruthsView:
    return analyst.latest(connection, own, progress(connection, own))


def _ready(found: TruthsView) -> TruthsView:
    if found.state != "ready":
        raise _not_ready()
    return found


def _not_ready() -> Refusal:
    return Refusal(409, "not-ready", "nothing is inferred yet: come again when reports are in")
