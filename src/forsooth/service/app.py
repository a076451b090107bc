"""The application: routes, limits and headers put together. Documentation: /v1/openapi.json."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles

from forsooth.service import (
    api_invitations,
    api_issuing,
    api_life,
    api_plan,
    api_requester,
    api_worker,
    failures,
    logs,
    pages,
)
from forsooth.service.context import Service, TheService
from forsooth.service.elsewhere import FromElsewhere
from forsooth.service.failures import Refusal
from forsooth.service.headers import SecurityHeaders
from forsooth.service.limits import BodyLimit
from forsooth.service.metrics import CountRequests
from forsooth.service.schemas import Failure, HealthView
from forsooth.service.settings import Settings
from forsooth.version import __version__

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

operations = APIRouter(tags=["operations"])


@operations.get("/health")
def health() -> HealthView:
    """The process is alive."""
    return HealthView(status="alive")


@operations.get("/ready", responses={503: {"model": Failure, "description": "Not now."}})
def ready(service: TheService) -> HealthView:
    """Reports can be taken: the database answers, its tables are current, the writer is at work."""
    if not service.store.is_current():
        raise Refusal(503, "unavailable", "the database's tables are of another version")
    if not service.writer.is_alive:
        raise Refusal(503, "unavailable", "the writer has stopped")
    return HealthView(status="ready")


def from_environment() -> FastAPI:
    """The application as a server process makes it."""
    logs.configure()
    return create_app(Settings.from_environment())


def create_app(settings: Settings) -> FastAPI:
    """The application; the database is opened when it starts, and drained into when it stops."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service = Service.start(settings)
        app.state.service = service
        yield
        await run_in_threadpool(service.stop)

    app = FastAPI(
        title="forsooth",
        version=__version__,
        description="A collection service that never sees an answer.",
        lifespan=lifespan,
        openapi_url="/v1/openapi.json",
        docs_url=None,  # the usual pages load scripts from elsewhere
        redoc_url=None,
    )
    failures.install(app)
    parts = (api_worker, api_issuing, api_requester, api_life, api_invitations, api_plan, pages)
    for router in (*(part.router for part in parts), operations):
        app.include_router(router)
    files = StaticFiles(directory=pages.STATIC, check_dir=False)
    app.mount("/static", GZipMiddleware(files), "static")  # public: no secret to compress
    app.add_middleware(BodyLimit, max_report=settings.max_report, max_body=settings.max_body)
    app.add_middleware(FromElsewhere)
    app.add_middleware(SecurityHeaders, images_from=settings.images_from)
    if settings.metrics:
        app.add_middleware(CountRequests)
    return app
