"""A campaign's life, for requesters: change a draft, open, pause, close, delete, restore."""

from __future__ import annotations

import logging
from collections.abc import Callable

from fastapi import APIRouter
from sqlalchemy import Connection

from forsooth.service import campaigns, moves
from forsooth.service.campaigns import StoredCampaign
from forsooth.service.context import BaseUrl, Service, TheService, failures
from forsooth.service.own import Own, OwnInAnyState, announced, shown
from forsooth.service.plans import order_of, plan_of
from forsooth.service.schemas import Deletion, NewCampaign, StatusView

router = APIRouter(prefix="/v1/campaigns/{campaign_id}", tags=["requesters"])
_log = logging.getLogger(__name__)


@router.get("/order", responses=failures(401, 404, 410))
def order(own: Own) -> NewCampaign:
    """What was asked for when the campaign was made: to change a draft, or to make another one."""
    return order_of(own)


@router.put("", responses=failures(401, 404, 409, 410))
def change(own: Own, body: NewCampaign, service: TheService, base: BaseUrl) -> StatusView:
    """Change a draft. A campaign that was ever opened cannot be changed."""
    plan = plan_of(body, service.settings)
    first = plan.first_mechanism()

    def make(connection: Connection, campaign: str) -> None:
        moves.require_draft(connection, campaign)
        campaigns.replace(connection, campaign, plan, first)

    return _move(own, service, base, make, "campaign changed")


@router.post("/open", responses=failures(401, 404, 409, 410))
def begin(own: Own, service: TheService, base: BaseUrl) -> StatusView:
    """Take reports from now on: of a draft, or after a pause."""
    return _move(own, service, base, moves.begin, "campaign opened")


@router.post("/pause", responses=failures(401, 404, 409, 410))
def pause(own: Own, service: TheService, base: BaseUrl) -> StatusView:
    """Take no reports until it is opened again: once this is answered, none is accepted."""
    return _move(own, service, base, moves.pause, "campaign paused")


@router.post("/close", responses=failures(401, 404, 409, 410))
def close(own: Own, service: TheService, base: BaseUrl) -> StatusView:
    """Take no more reports: once this is answered, none is accepted."""
    return _move(own, service, base, moves.close, "campaign closed")


@router.post("/delete", responses=failures(401, 404, 409, 410))
def delete(own: Own, body: Deletion, service: TheService, base: BaseUrl) -> StatusView:
    """Delete a draft or a closed campaign with all its reports, of which you state the number.

    It can be restored for some days. Then it is erased, with results, invitations and reports.
    """

    def make(connection: Connection, campaign: str) -> None:
        moves.delete(connection, campaign, reports=body.reports, days=body.days)

    return _move(own, service, base, make, "campaign deleted")


@router.post("/restore", responses=failures(401, 404, 409))
def restore(own: OwnInAnyState, service: TheService, base: BaseUrl) -> StatusView:
    """Undo a deletion that has not erased anything yet."""
    return _move(own, service, base, moves.restore, "campaign restored")


def _move(
    own: StoredCampaign,
    service: Service,
    base: str,
    make: Callable[[Connection, str], None],
    message: str,
) -> StatusView:
    """Do it in a transaction of its own, and say how the campaign stands then."""
    with service.store.writing() as connection:
        make(connection, own.id)
        found = shown(connection, announced(connection, own.id), service, base)
    _log.info(message, extra={"campaign": own.id})
    return found
