"""How things are measured: processor time on one core, and memory in a process of its own."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from forsooth.processes import Pool

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def race(
    *works: Callable[[], Any], rounds: int, clock: Callable[[], float] = time.process_time
) -> list[float]:
    """The least time of each, taking turns, so that all meet the same machine.

    Processor time leaves out what others did meanwhile; it is the time on one core for work that
    runs on one. A first round, which may compile something, does not count.
    """
    for work in works:
        work()
    times = [[_seconds(work, clock) for work in works] for _ in range(rounds)]
    return [min(of_one) for of_one in zip(*times)]


def _seconds(work: Callable[[], Any], clock: Callable[[], float]) -> float:
    start = clock()
    work()
    return clock() - start


def in_child(work: Callable[..., T], *arguments: Any) -> tuple[T, float]:
    """What `work` returns in a new process, and the most memory in bytes that it had there."""
    with Pool(1) as pool:
        found: tuple[T, float] = pool.submit(_with_peak, work, arguments).result()
    return found


def _with_peak(work: Callable[..., T], arguments: tuple[Any, ...]) -> tuple[T, float]:
    return work(*arguments), _peak_memory()


def _peak_memory() -> float:
    """Of this process, in bytes. getrusage would start from the parent's memory on Linux."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
