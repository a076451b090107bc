"""Which campaign a requester means: one of their own, or none that they are told of."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends
from sqlalchemy import Connection

from forsooth.service import campaigns, issuing
from forsooth.service.api_worker import view
from forsooth.service.campaigns import StoredCampaign
from forsooth.service.context import Service, TheRequester, TheService
from forsooth.service.failures import Refusal
from forsooth.service.life import life_of
from forsooth.service.schemas import StatusView
from forsooth.service.status import status


def _own(campaign_id: str, service: TheService, requester: TheRequester) -> StoredCampaign:
    with service.store.reading() as connection:
        found = campaigns.load(connection, campaign_id, requester=requester)
    if found is None:
        raise Refusal(404, "unknown-campaign", "you have no such campaign")
    return found


OwnInAnyState = Annotated[StoredCampaign, Depends(_own)]


def _kept(own: OwnInAnyState, service: TheService) -> StoredCampaign:
    with service.store.reading() as connection:
        now = life_of(connection, own.id)
    if now is None or now.state == "deleted":
        raise Refusal(410, "deleted", "this campaign is deleted: restore it first")
    return own


Own = Annotated[StoredCampaign, Depends(_kept)]


def announced(connection: Connection, campaign: str) -> StoredCampaign:
    """A campaign that was changed; an anonymous one announces its key as soon as it is opened."""
    found, now = campaigns.load(connection, campaign), life_of(connection, campaign)
    assert found is not None  # its row is locked
    assert now is not None
    if found.batch is None or found.draft or found.document is not None:
        return found
    issuing.announce(connection, view(found, now), found.batch)
    return announced(connection, campaign)


def shown(connection: Connection, own: StoredCampaign, service: Service, base: str) -> StatusView:
    """How it stands, for its requester."""
    return status(connection, own, base + own.path, service.settings.batch)
