"""Headers that every response carries: nothing from elsewhere, no frames, no referrer, no cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders

from forsooth.service.pages import import_map_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_API = "default-src 'none'; frame-ancestors 'none'"


class SecurityHeaders:
    """Add them to whatever the application answers."""

    def __init__(self, app: ASGIApp, *, images_from: Sequence[str]) -> None:
        self._app = app
        images = " ".join(("'self'", "data:", *images_from))
        self._page = (
            f"default-src 'none'; script-src 'self' '{import_map_hash()}'; style-src 'self'; "
            f"img-src {images}; connect-src 'self'; font-src 'self'; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, dress the response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        api = scope["path"].startswith("/v1/")

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_ALWAYS)
                headers["Content-Security-Policy"] = _API if api else self._page
                headers.setdefault("Cache-Control", "no-store" if api else "no-cache")
            await send(message)

        await self._app(scope, receive, dressed)
