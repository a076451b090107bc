"""Runs of many minutes: what is left to do, how long that takes, and how it goes."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Protocol

from forsooth.cli.console import notice, progress_bar
from forsooth.plural import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sized


class LongRun(Protocol):
    """Cells of work, of which some may be finished."""

    @property
    def cells(self) -> Sized:
        """All of them."""

    def unfinished(self) -> int:
        """How many are still to be computed."""

    def forecast(self, processes: int) -> float:
        """About how many seconds that takes."""

    def measure(self, processes: int, progress: Callable[[float], None]) -> None:
        """Compute them; `progress` gets the share that is done."""


def finish(run: LongRun, words: str, processes: int | None) -> None:
    """Compute what is left of a run, and say how much that is and how long it takes."""
    workers = processes or os.cpu_count() or 1
    if not (left := run.unfinished()):
        return
    notice(
        f"{left:,} of {len(run.cells):,} {words}, about {_minutes(run.forecast(workers))} with "
        f"{counted(workers, 'process', 'processes')} on an idle machine. You can stop at any time: "
        "the same command continues"
    )
    with progress_bar("measuring", percent=True) as advance:
        run.measure(workers, Announcer(advance))


class Announcer:
    """Moves the progress bar, and says now and then how long the rest takes at this pace."""

    def __init__(self, advance: Callable[[int, int], None]) -> None:
        self._advance = advance
        self._start = time.monotonic()
        self._marks = [0.1, 0.25, 0.5, 0.75]

    def __call__(self, share: float) -> None:
        """A share of the work is done, by the seconds that its cells were expected to take."""
        self._advance(round(100 * share), 100)
        if not self._marks or share < self._marks[0]:
            return
        self._marks = [each for each in self._marks if each > share]
        elapsed = time.monotonic() - self._start
        if (left := elapsed * (1 - share) / share) >= 60:
            notice(f"{share:.0%} done after {_minutes(elapsed)}, about {_minutes(left)} left")


def _minutes(seconds: float) -> str:
    return counted(max(1, round(seconds / 60)), "minute")
