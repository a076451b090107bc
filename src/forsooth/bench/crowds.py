"""Made-up answers for the benchmarks: quick to draw, in any number, with known truths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth.answers import Answers, code_dtype
from forsooth.cells import Cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.scale import Scale

_SHARE = 0.1  # of a table's cells are answered
_WORST, _BEST = 0.4, 0.9  # of the answers are known, the others guessed


@dataclass(frozen=True, eq=False)
class Known:
    """Answers to tasks whose truths are known."""

    cells: Cells
    truth: NDArray[np.int64]


def table(workers: int, tasks: int, scale: Scale) -> Answers:
    """A tenth of a table's cells, filled at random."""
    random = np.random.default_rng(0)
    cell = spaced(random, workers * tasks, round(_SHARE * workers * tasks))
    return Answers(
        scale,
        tuple(map(str, range(workers))),
        tuple(map(str, range(tasks))),
        (cell // tasks).astype(np.int32),
        (cell % tasks).astype(np.int32),
        random.integers(0, scale.size, len(cell)).astype(code_dtype(scale)),
    )


def known(workers: int, tasks: int, answers: int, scale: Scale) -> Known:
    """Workers who know between 40 and 90 % of the truths, and guess the others."""
    random = np.random.default_rng(0)
    cell = spaced(random, workers * tasks, answers)
    worker, task = cell // tasks, cell % tasks
    truth = random.integers(0, scale.size, tasks)
    knows = random.random(len(cell)) < random.uniform(_WORST, _BEST, workers)[worker]
    value = np.where(knows, truth[task], random.integers(0, scale.size, len(cell)))
    return Known(Cells(workers, tasks, worker, task, value.astype(np.float64)), truth)


def spaced(random: np.random.Generator, cells: int, some: int) -> NDArray[np.int64]:
    """About `some` different numbers below `cells`, in order, by random distances."""
    cell = np.cumsum(random.integers(1, round(2 * cells / some), some)) - 1
    return cell[cell < cells]
