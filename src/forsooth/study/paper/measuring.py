"""Doing the work: every unfinished cell once, on several processes, each kept when it is done."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import parent_process
from typing import TYPE_CHECKING

from forsooth.errors import ForsoothError
from forsooth.processes import Pool
from forsooth.study.paper.store import Finished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from forsooth.study.paper.cells import Cell, RunSetting
    from forsooth.study.paper.store import ResultStore


def unfinished(cells: Sequence[Cell], store: ResultStore) -> list[Cell]:
    """The cells that are not in the store."""
    return [cell for cell in cells if store.get(cell) is None]


def forecast(cells: Sequence[Cell], store: ResultStore, processes: int) -> float:
    """Seconds until all is done; by what the finished cells took where there are some."""
    waiting, expected, taken = 0.0, 0.0, 0.0
    for cell in cells:
        if finished := store.get(cell):
            expected += cell.seconds
            taken += finished.seconds
        else:
            waiting += cell.seconds
    pace = taken / expected if expected > 0 else 1.0
    return waiting * pace / processes


def measure(
    cells: Sequence[Cell],
    setting: RunSetting,
    store: ResultStore,
    *,
    processes: int = 1,
    progress: Callable[[float], None] | None = None,
) -> None:
    """Run what is unfinished; `progress` gets the share of this work that is done, by the seconds
    that the cells are expected to take.
    """
    waiting = unfinished(cells, store)
    done, total = 0.0, sum(cell.seconds for cell in waiting)
    for cell, finished in _run_all(waiting, setting, min(processes, len(waiting))):
        store.put(cell, finished)
        done += cell.seconds
        if progress:
            progress(done / total)


def _run_all(
    cells: Sequence[Cell], setting: RunSetting, processes: int
) -> Iterator[tuple[Cell, Finished]]:
    if processes <= 1:
        for cell in cells:
            yield cell, _run(cell, setting)
        return
    with Pool(processes, _prepare_process) as pool:
        try:
            futures = {pool.submit(_run, cell, setting): cell for cell in cells}
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool as error:
            raise ForsoothError(
                "a process was ended from outside, perhaps because memory ran out. What is "
                "finished is kept: run the same command again, with --processes 1 if memory is "
                "short"
            ) from error


def _run(cell: Cell, setting: RunSetting) -> Finished:
    start = time.process_time()
    result = cell.run(setting)
    return Finished(result, time.process_time() - start)


def _prepare_process() -> None:
    """One thread per process; and an end to it when the parent is killed and cannot say so."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
