"""Metrics for Prometheus, on an address of their own; off unless `FORSOOTH_METRICS` names one.

Whoever stores a count every few seconds stores times. So nothing here changes with a single report
or a single visit of a worker:

- Reports are counted as requesters see them, in batches, over all campaigns.
- Requests without a key, workers' among them, are counted per status in steps of `STEP`; a series
  begins with its first step. Failures of the service itself (5xx) are counted one by one.
- There are no latencies, no processor time, no memory, no open connections and no file sizes: each
  of them changes when somebody reports.
"""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from forsooth.service.keys import requesters
from forsooth.service.store import UNAVAILABLE, Store
from forsooth.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import Metric
    from prometheus_client.samples import Sample
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from forsooth.service.settings import Settings

STEP = 100  # requests: a visit of the worker's page makes about ten, and a batch has ten reports
_OPERATIONS = ("/health", "/ready")
_FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # where the server processes add up; read by prometheus_client


class CountRequests:
    """Count every response by the kind of its request and its status."""

    def __init__(self, app: ASGIApp) -> None:
        from prometheus_client import Counter

        self._app = app
        self._responses = Counter(
            "forsooth_requests", "Answered requests.", ["kind", "status"], registry=None
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, look at the status."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._responses.labels(_kind(scope), str(message["status"])).inc()
            await send(message)

        await self._app(scope, receive, counted)


@contextmanager
def exposed(settings: Settings) -> Iterator[None]:
    """Answer `/metrics` meanwhile, for all server processes together, if settings say where."""
    if settings.metrics_address is None:
        yield
        return
    host, port = settings.metrics_address
    with (
        TemporaryDirectory(prefix="forsooth-metrics-") as folder,
        closing(Store(settings.database)) as store,
    ):
        os.environ[_FOLDER] = folder  # before prometheus_client is imported, here and in children
        from prometheus_client import CollectorRegistry, start_http_server

        registry = CollectorRegistry()
        registry.register(_Coarse(folder, store))
        server, thread = start_http_server(port, host, registry)
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


class _Coarse:
    """What may be shown of the counts and of the database."""

    def __init__(self, folder: str, store: Store) -> None:
        self._folder, self._store = folder, store

    def collect(self) -> Iterator[Metric]:
        """All metrics, as they are now."""
        from prometheus_client.multiprocess import MultiProcessCollector

        counts = MultiProcessCollector(None, path=self._folder)  # type: ignore[no-untyped-call]
        for family in counts.collect():  # type: ignore[no-untyped-call]
            family.samples = [
                shown for sample in family.samples if (shown := _in_steps(sample)).value > 0
            ]
            yield family
        yield _gauge("forsooth_info", "The version of the service.", 1, version=__version__)
        yield from self._from_database()

    def _from_database(self) -> Iterator[Metric]:
        try:
            ready = self._store.is_current()
            with self._store.reading() as connection:
                found = requesters(connection) if ready else []
        except UNAVAILABLE:
            ready, found = False, []
        yield _gauge("forsooth_ready", "Does the database answer, with current tables?", ready)
        if ready:
            campaigns = sum(each.campaigns for each in found)
            reports = sum(each.reports for each in found)
            yield _gauge("forsooth_requesters", "Requesters.", len(found))
            yield _gauge("forsooth_campaigns", "Campaigns.", campaigns)
            yield _gauge("forsooth_reports", "Reports that are shown: in batches.", reports)


def _kind(scope: Scope) -> str:
    if scope["path"] in _OPERATIONS:
        return "operations"
    has_key = any(name == b"authorization" for name, _ in scope["headers"])
    return "requester" if has_key else "public"


def _in_steps(sample: Sample) -> Sample:
    if sample.labels["kind"] != "public" or sample.labels["status"].startswith("5"):
        return sample
    return sample._replace(value=sample.value // STEP * STEP)


def _gauge(name: str, meaning: str, value: float, **labels: str) -> Metric:
    from prometheus_client.core import GaugeMetricFamily

    family = GaugeMetricFamily(name, meaning, labels=list(labels))
    family.add_metric(list(labels.values()), value)
    return family
