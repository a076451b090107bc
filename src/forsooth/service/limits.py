"""How much and how often: the size of a request's body, and the rate of requests.

Rates are kept in memory, per process; of workers by campaign and by invitation's hash, never by
address.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from forsooth.service.failures import Refusal, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_BURST_SECONDS = 10.0
_REMEMBERED = 100_000


class RateLimit:
    """Token buckets: each key may do `rate` things a second, ten seconds' worth at once."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._room = max(1.0, rate * _BURST_SECONDS)
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def take(self, key: Hashable) -> None:
        """One more request under this key, or a refusal that says when to come again."""
        self.check(key)
        self.count(key)

    def check(self, key: Hashable) -> None:
        """Refuse if there is no room for one more."""
        left, _ = self._left(key)
        if left < 1:
            raise Refusal(
                429,
                "too-many-requests",
                "too many requests: come again a little later",
                retry_after=max(1, round((1 - left) / self._rate)),
            )

    def count(self, key: Hashable) -> None:
        """One more has happened."""
        left, now = self._left(key)
        self._buckets.pop(key, None)
        self._buckets[key] = (max(0.0, left - 1), now)
        while len(self._buckets) > _REMEMBERED:
            self._buckets.popitem(last=False)

    def _left(self, key: Hashable) -> tuple[float, float]:
        """How much room there is, and now."""
        now = self._clock()
        left, since = self._buckets.get(key, (self._room, now))
        return min(self._room, left + (now - since) * self._rate), now


class BodyLimit:
    """Refuse large bodies: by their announced length, or as soon as too much has come in."""

    def __init__(self, app: ASGIApp, *, max_report: int, max_body: int) -> None:
        self._app, self._max_report, self._max_body = app, max_report, max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count what comes in."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._max_report if scope["path"].endswith("/reports") else self._max_body
        too_large = Refusal(413, "too-large", f"a request here has at most {limit:,} bytes")
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if not announced.isdigit() or len(announced) > 15 or int(announced) > limit:
            await refuse(too_large)(scope, receive, send)
            return
        size = 0

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > limit:
                raise too_large
            return message

        await self._app(scope, counted, send)
