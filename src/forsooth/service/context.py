"""What one process of the service holds, and how a request reaches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from forsooth.service.campaigns import Campaigns
from forsooth.service.failures import Refusal
from forsooth.service.keys import requester_of
from forsooth.service.limits import RateLimit
from forsooth.service.schemas import Failure
from forsooth.service.settings import Settings
from forsooth.service.sign_in import SignIns
from forsooth.service.store import Store
from forsooth.service.writer import GroupWriter

_REASONS = {
    401: "No key, or not a requester's.",
    403: "No such invitation.",
    404: "No such campaign, or not yours.",
    409: "Not possible in this state.",
    410: "The campaign is closed or deleted.",
    413: "The request is too large.",
    422: "The request is malformed; the message says where.",
    429: "Too many requests; Retry-After says when to come again.",
    503: "The database cannot be reached; nothing was stored, send the same again.",
}


@dataclass(frozen=True)
class Service:
    """The parts that requests share."""

    settings: Settings
    store: Store
    writer: GroupWriter
    campaigns: Campaigns
    by_campaign: RateLimit
    by_invitation: RateLimit
    by_requester: RateLimit
    plans: RateLimit
    sign_ins: SignIns

    @classmethod
    def start(cls, settings: Settings) -> Service:
        """Open the database and set the writer to work."""
        store = Store(settings.database)
        return cls(
            settings,
            store,
            GroupWriter(store, settings.batch),
            Campaigns(store),
            RateLimit(settings.rate_campaign),
            RateLimit(settings.rate_invitation),
            RateLimit(settings.rate_requester),
            RateLimit(settings.rate_plan),
            SignIns(settings.rate_sign_in),
        )

    def stop(self) -> None:
        """Commit what waits, then let go."""
        self.writer.close()
        self.store.close()


async def _service(request: Request) -> Service:  # async: no thread is needed to look it up
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


TheService = Annotated[Service, Depends(_service)]
_bearer = HTTPBearer(auto_error=False, description="The requester's key.")


def _requester(
    request: Request,
    service: TheService,
    given: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> int:
    """Who asks, by the key; all who have none share one rate."""
    found = None
    if given and given.credentials:
        address = request.client.host if request.client else ""
        found = _signed_in(service, address, given.credentials)
    service.by_requester.take(found)
    if found is None:
        raise Refusal(401, "not-signed-in", "this is not the key of a requester of this service")
    return found


def _signed_in(service: Service, address: str, key: str) -> int | None:
    service.sign_ins.check(address)
    with service.store.reading() as connection:
        found = requester_of(connection, key)
    if found is None:
        service.sign_ins.failed(address)
    else:
        service.sign_ins.succeeded(address)
    return found


async def _base(request: Request, service: TheService) -> str:
    """The address that links begin with."""
    return (service.settings.public_url or str(request.base_url)).rstrip("/")


TheRequester = Annotated[int, Depends(_requester)]
BaseUrl = Annotated[str, Depends(_base)]


def failures(*statuses: int) -> dict[int | str, dict[str, object]]:
    """The documentation of what can go wrong; 413, 422, 429 and 503 always can."""
    return {
        status: {"model": Failure, "description": _REASONS[status]}
        for status in sorted({*statuses, 413, 422, 429, 503})
    }
