"""Connections that a request does not come in through in time are closed.

uvicorn waits without limit for the rest of a request. Somebody who opens connections and sends a
byte now and then could keep all of them, and their memory, for themselves.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from forsooth.service.settings import Settings

if TYPE_CHECKING:
    from asyncio import TimerHandle, Transport


class TimedProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """A request has `receive_seconds` from the first byte to the last one.

    A connection without any byte has the same time; after an answer it is uvicorn that waits, for
    five seconds, for the next request to begin.
    """

    _deadline: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:
        """The clock starts."""
        super().connection_made(transport)
        self._start_clock()

    def data_received(self, data: bytes) -> None:
        """It goes on until the request is complete."""
        super().data_received(data)
        if not self._is_receiving():
            self._stop_clock()
        elif self._deadline is None:
            self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        """There is nothing to wait for."""
        self._stop_clock()
        super().connection_lost(exc)

    def _is_receiving(self) -> bool:
        """Is something missing of the request, or of the next one, which has begun?"""
        cycle = self.cycle
        return cycle is None or cycle.more_body or cycle.response_complete

    def _start_clock(self) -> None:
        self._deadline = self.loop.call_later(_receive_seconds(), self.transport.abort)

    def _stop_clock(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


@cache
def _receive_seconds() -> float:
    return Settings.from_environment().receive_seconds
