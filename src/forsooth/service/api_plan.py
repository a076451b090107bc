"""What to expect of a campaign, while its requester still fills in the form."""

from __future__ import annotations

from threading import Lock

from fastapi import APIRouter

from forsooth.service.context import TheRequester, TheService, failures
from forsooth.service.forecast import forecast
from forsooth.service.schemas_plan import ForecastView, PlannedOrder

router = APIRouter(prefix="/v1", tags=["requesters"])
_one_at_a_time = Lock()  # reports come first: plans share one of the process's cores


@router.post("/plan", responses=failures(401))
def plan(body: PlannedOrder, service: TheService, requester: TheRequester) -> ForecastView:
    """The expected error and the total ε of a campaign; nothing is stored."""
    service.plans.take(requester)
    with _one_at_a_time:
        return forecast(body)
