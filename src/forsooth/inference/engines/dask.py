"""The same passes on a Dask cluster: pieces are read where there is room, sums come back.

A pass sends one function with its tables (which grow with the tasks, not with the workers) and maps
it over groups of pieces; what comes out is added up in a tree, on the cluster. The function is a
task of its own, so that Dask computes the parts of a lost worker again.
"""

from __future__ import annotations

import os
import warnings
from contextlib import contextmanager
from functools import partial, reduce
from itertools import pairwise
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar

from forsooth.errors import ForsoothError
from forsooth.processes import interrupts_held
from forsooth.version import exact_version

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from forsooth.io.report_files import Piece

T = TypeVar("T")
_PATIENCE = 20  # seconds within which a cluster must answer
_FAN_IN = 8  # partial sums that are added at once
_GROUPS = 4  # groups of pieces per process: enough to even out, few enough to cost nothing
_TOGETHER = 8  # pieces that one task goes through
_AHEAD = 16  # tasks whose results may wait at the same time


class Cluster:
    """An engine: every pass runs on the workers of a cluster."""

    def __init__(self, client: Any, progress: Callable[[float], None]) -> None:
        self._client, self._progress = client, progress

    def each(self, work: Callable[[Piece], T], pieces: Sequence[Piece]) -> Iterator[T]:
        """In order, a few at a time, so that results do not pile up."""
        shared = self._client.submit(_same, partial(_map, work), pure=False)
        for start in range(0, len(pieces), _TOGETHER * _AHEAD):
            some = pieces[start : start + _TOGETHER * _AHEAD]
            groups = [some[place : place + _TOGETHER] for place in range(0, len(some), _TOGETHER)]
            for results in self._gather([self._submit(_apply, shared, group) for group in groups]):
                yield from results
            self._progress((start + len(some)) / len(pieces))

    def total(self, work: Callable[[Sequence[Piece]], Any], pieces: Sequence[Piece]) -> Any:
        """Groups of neighbours on the workers, then a tree of sums."""
        shared = self._client.submit(_same, work, pure=False)
        groups = _groups(pieces, _GROUPS * max(1, len(self._client.scheduler_info()["workers"])))
        sums = [self._submit(_apply, shared, group) for group in groups]
        self._watch(sums)
        while len(sums) > 1:
            some = (sums[place : place + _FAN_IN] for place in range(0, len(sums), _FAN_IN))
            sums = [self._submit(_sum, each) for each in some]
        return self._gather(sums)[0]

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self._client.submit(function, *arguments, pure=False, retries=2)

    def _watch(self, futures: Sequence[Any]) -> None:
        done: list[Any] = []

        def finished(future: Any) -> None:
            done.append(future)
            self._progress(len(done) / len(futures))

        for future in futures:
            future.add_done_callback(finished)

    def _gather(self, futures: Sequence[Any]) -> list[Any]:
        from distributed import KilledWorker

        try:
            found: list[Any] = self._client.gather(list(futures))
            return found
        except KilledWorker as error:
            raise ForsoothError(
                f"the cluster lost its workers again and again at the same work ({error}); "
                "they may have too little memory"
            ) from error


@contextmanager
def connect(
    address: str, progress: Callable[[float], None] = lambda share: None
) -> Iterator[Cluster]:
    """The cluster whose scheduler is at `address`, or one process per core if it is ``local``."""
    try:
        import distributed
    except ImportError as error:
        raise ForsoothError("a cluster needs Dask: pip install forsooth[cluster]") from error
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")  # tables, once a pass
        here = None
        try:
            if address == "local":
                with interrupts_held():
                    here = distributed.LocalCluster(
                        n_workers=os.cpu_count(), threads_per_worker=1, dashboard_address=None
                    )
            client = distributed.Client(here or address, timeout=_PATIENCE)
        except (OSError, ValueError, TimeoutError) as error:
            raise ForsoothError(
                f"no cluster answers at {address!r} within {_PATIENCE} s "
                "(give a scheduler's address, like tcp://host:8786, or local)"
            ) from error
        try:
            _check_workers(client, address)
            yield Cluster(client, progress)
        finally:
            client.close()
            if here is not None:
                here.close()


def _check_workers(client: Any, address: str) -> None:
    """There must be some, and all of them must run this version and source."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE // 2)
    except TimeoutError as error:
        raise ForsoothError(f"the cluster at {address} has no workers") from error
    found = client.run(exact_version, on_error="return")
    for worker, version in found.items():
        if version != exact_version():
            raise ForsoothError(
                f"worker {worker} of the cluster has forsooth {version}, here is "
                f"{exact_version()}: install the same version there, with [cluster,fast]"
            )


def _groups(pieces: Sequence[Piece], number: int) -> list[Sequence[Piece]]:
    """At most `number` groups of neighbours, of about the same size."""
    number = min(number, len(pieces))
    edges = [len(pieces) * place // number for place in range(number + 1)]
    return [pieces[begin:end] for begin, end in pairwise(edges)]


def _same(work: T) -> T:
    return work


def _apply(work: Callable[[Any], T], argument: Any) -> T:
    return work(argument)


def _map(work: Callable[[Piece], T], pieces: Sequence[Piece]) -> list[T]:
    return [work(piece) for piece in pieces]


def _sum(parts: Sequence[Any]) -> Any:
    return reduce(add, parts)
