"""Pages of other sites may use what workers' clients use (CORS), without credentials.

So a page that somebody else hosts, or that was opened as a file, can be the worker's client. These
addresses know no cookie and no key: a page gets and does here what every other program can, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.middleware.cors import CORSMiddleware

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_FOR_WORKERS = re.compile(
    r"/v1/campaigns/[^/]+(?:/(?:designs|logos)/[^/]+|/(?:check|reports|signatures))?"
)


class FromElsewhere:
    """Allow other origins the workers' addresses, and no others."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._allowing = CORSMiddleware(
            app,
            allow_origins=["*"],
            allow_methods=["GET", "POST"],
            allow_headers=["Content-Type"],
            expose_headers=["Retry-After"],
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, by way of CORS where it is for workers."""
        allowed = scope["type"] == "http" and _FOR_WORKERS.fullmatch(scope["path"])
        await (self._allowing if allowed else self._app)(scope, receive, send)
