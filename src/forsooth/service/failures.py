"""Refusals in one shape: {"detail": {"error": a short code, "message": for people}}."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from forsooth.errors import ForsoothError
from forsooth.service.schemas import IN_WORDS
from forsooth.service.store import UNAVAILABLE, reason
from forsooth.service.writer import Unavailable

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request

_RETRY_SECONDS = 2
_CODES = {401: "not-signed-in", 404: "not-found", 405: "not-allowed", 413: "too-large"}
_log = logging.getLogger(__name__)


class Refusal(HTTPException):
    """A request that is not granted, and why."""

    def __init__(
        self, status: int, error: str, message: str, *, retry_after: int | None = None
    ) -> None:
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        if status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        super().__init__(status, {"error": error, "message": message}, headers)  # type: ignore[arg-type]


def refuse(refusal: HTTPException) -> JSONResponse:
    """A refusal as a response; those of the framework are put into our shape."""
    detail: object = refusal.detail
    status = refusal.status_code
    if status == 400:  # how the framework says that a body cannot be read at all
        status, detail = 422, "the body is not valid JSON"
    if not isinstance(detail, dict):
        detail = {"error": _CODES.get(status, "bad-request"), "message": str(detail)}
    return JSONResponse({"detail": detail}, status, refusal.headers)


def install(app: FastAPI) -> None:
    """Let every failure end in such a refusal."""

    async def refused(request: Request, error: Exception) -> JSONResponse:
        del request
        assert isinstance(error, HTTPException)
        return refuse(error)

    async def malformed(request: Request, error: Exception) -> JSONResponse:
        """The place and the complaint, never what was sent."""
        del request
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        said = IN_WORDS.get(first.get("ctx", {}).get("pattern"), first["msg"])
        said = said.removeprefix("Value error, ")
        return refuse(Refusal(422, "bad-request", f"{place}: {said}"))

    async def mistaken(request: Request, error: Exception) -> JSONResponse:
        del request
        return refuse(Refusal(422, "bad-request", str(error)))

    async def unavailable(request: Request, error: Exception) -> JSONResponse:
        del request
        if not isinstance(error, Unavailable):  # the writer has said it once for all
            _log.error("database unavailable", extra={"reason": reason(error)})
        message = "the service cannot reach its database just now: send the same again later"
        return refuse(Refusal(503, "unavailable", message, retry_after=_RETRY_SECONDS))

    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(RequestValidationError, malformed)
    app.add_exception_handler(ForsoothError, mistaken)
    for kind in (*UNAVAILABLE, Unavailable):
        app.add_exception_handler(kind, unavailable)
