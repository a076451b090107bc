"""Several processes that do one thing, and that end quietly and at once on ctrl-C."""

from __future__ import annotations

import signal
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Processes and threads that are started here never see ctrl-C, which reaches a whole group.

    The calling thread sees it afterwards. They keep the blocked signal for as long as they live;
    their parent must end them.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # when it starts, it unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Pool(ProcessPoolExecutor):
    """Worker processes. If the `with` block ends by an exception, they are ended at once."""

    def __init__(self, processes: int, prepare: Callable[[], None] | None = None) -> None:
        super().__init__(processes, get_context("spawn"), prepare)

    def submit(self, work: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        """Start processes as they are needed, out of reach of ctrl-C."""
        with interrupts_held():
            return super().submit(work, *given, **named)

    def __exit__(self, kind: type[BaseException] | None, *about: object) -> bool | None:
        if kind is None:
            return super().__exit__(None, None, None)
        for process in list((self._processes or {}).values()):
            process.terminate()
        self.shutdown(wait=True, cancel_futures=True)
        return None
