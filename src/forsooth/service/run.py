"""Starting the service: tables made current, the first key, the analyst, the web server."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import sys
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

from forsooth.errors import ForsoothError
from forsooth.processes import interrupts_held
from forsooth.service import analyst, demo, keys, logs
from forsooth.service.metrics import exposed
from forsooth.service.settings import PREFIX
from forsooth.service.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forsooth.service.settings import Settings

_GRACE_SECONDS = 30
_log = logging.getLogger(__name__)


def prepare(settings: Settings) -> str | None:
    """Make the tables current; at the very first start, the first requester's key.

    After a crash, the files still have the order in which reports came in.
    """
    store = Store(settings.database)
    try:
        store.migrate()
        _tidy(store)
        with store.writing() as connection:
            return keys.first_key(connection)
    finally:
        store.close()


def prepare_demo(settings: Settings) -> str:
    """Make the demo's campaigns, the first requester's; the id of the one to answer."""
    store = Store(settings.database)
    try:
        with store.writing() as connection:
            return demo.fill(connection, keys.find_requester(connection, keys.FIRST).id)
    finally:
        store.close()


def serve(settings: Settings, *, host: str, port: int, workers: int) -> None:
    """Serve until told to stop; then answer what is under way, commit, and leave."""
    import uvicorn

    os.environ[f"{PREFIX}DATABASE"] = settings.database  # for the server's processes
    logs.configure()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # after the server has stopped
    with _tidied(settings), exposed(settings), _analyst(settings):
        uvicorn.run(
            "forsooth.service.app:from_environment",
            factory=True,
            http="forsooth.service.connections:TimedProtocol",
            host=host,
            port=port,
            workers=workers,
            ws="none",
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )


def check_free(host: str, port: int, change: str = "--port") -> None:
    """Say early, and plainly, that somebody else is listening there."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise ForsoothError(
            f"cannot listen on {host}:{port}: {error.strerror or error}; choose another {change}"
        ) from None


@contextmanager
def _tidied(settings: Settings) -> Iterator[None]:
    """The database tidied from time to time, and at the end."""
    stopping, store = Event(), Store(settings.database)

    def keep_tidy() -> None:
        while not stopping.wait(settings.tidy_seconds):
            if not store.is_tidy:
                _tidy(store)

    keeper = Thread(target=keep_tidy, name="tidier", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        stopping.set()
        keeper.join()
        _tidy(store)
        store.close()


def _tidy(store: Store) -> None:
    try:
        store.tidy()
    except OSError as error:  # no reason to take no reports
        _log.error("not tidied", extra={"reason": str(error)})


@contextmanager
def _analyst(settings: Settings) -> Iterator[None]:
    """The analyst's process, started again if it dies."""
    stopping = Event()
    context = multiprocessing.get_context("spawn")

    def keep_running() -> None:
        while not stopping.is_set():
            process = context.Process(target=analyst.run, args=(settings,), daemon=True)
            with interrupts_held():
                process.start()
            while process.is_alive() and not stopping.wait(0.2):
                pass
            if not stopping.is_set():
                _log.error("the analyst is started again", extra={"code": process.exitcode})
                stopping.wait(1)
        process.terminate()
        process.join()

    keeper = Thread(target=keep_running, name="keeper", daemon=True)
    keeper.start()
    try:
        yield
    finally:
        stopping.set()
        keeper.join()
