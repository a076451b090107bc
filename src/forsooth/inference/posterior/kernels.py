"""The two passes over all cells, compiled if numba is there, and their readable twins.

N[j, y, k] = Σ_i q_i(k)·[worker i reported y on task j]          (how often, weighted by kinds)
s[i, k]    = Σ_j T[j, y_ij, k]                                   (how well kind k explains worker i)

A worker belongs to few kinds, so the first pass visits only those with q_i(k) > 0 if they are few.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from forsooth.inference.posterior.evidence import Evidence


def weighted_counts(evidence: Evidence, kinds: NDArray[np.float64]) -> NDArray[np.float64]:
    """N: tasks × symbols × kinds."""
    shape = (evidence.tasks, evidence.symbols, kinds.shape[1])
    cells = (evidence.worker, evidence.task, evidence.symbol)
    count = (_compiled() or (counts_twin, scores_twin))[0]
    total: NDArray[np.float64] = count(*cells, np.ascontiguousarray(kinds), np.zeros(shape))
    return total


def worker_scores(evidence: Evidence, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """s: workers × kinds. The table in single precision: half the memory, sums in double."""
    shape = (evidence.workers, scores.shape[2])
    cells = (evidence.worker, evidence.task, evidence.symbol)
    score = (_compiled() or (counts_twin, scores_twin))[1]
    total: NDArray[np.float64] = score(
        *cells, np.ascontiguousarray(scores, np.float32), np.zeros(shape)
    )
    return total


def counts_twin(
    worker: NDArray[Any],
    task: NDArray[Any],
    symbol: NDArray[Any],
    kinds: NDArray[np.float64],
    total: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Kind by kind with bincount."""
    tasks, symbols, _ = total.shape
    flat = task.astype(np.int64) * symbols + symbol
    for kind, weight in enumerate(kinds.T):
        counts = np.bincount(flat, weight[worker], minlength=tasks * symbols)
        total[:, :, kind] = counts.reshape(tasks, symbols)
    return total


def scores_twin(
    worker: NDArray[Any],
    task: NDArray[Any],
    symbol: NDArray[Any],
    scores: NDArray[np.float64],
    total: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Kind by kind with bincount."""
    for kind in range(total.shape[1]):
        each = scores[:, :, kind][task, symbol]
        total[:, kind] = np.bincount(worker, each, minlength=len(total))
    return total


@cache
def _compiled() -> tuple[Callable[..., Any], Callable[..., Any]] | None:
    try:
        from numba import njit
    except ImportError:
        return None

    @njit(cache=True)
    def counts(worker: Any, task: Any, symbol: Any, kinds: Any, total: Any) -> Any:
        active, number, last = np.zeros(kinds.shape[1], np.int64), 0, -1
        for cell in range(len(worker)):
            who = worker[cell]
            if who != last:  # cells stand in the order of workers
                last, number = who, 0
                for kind in range(kinds.shape[1]):
                    if kinds[who, kind] > 0:
                        active[number] = kind
                        number += 1
            into, mine = total[task[cell], symbol[cell]], kinds[who]
            if 3 * number > len(mine):  # slices, so that the compiler sees one vector addition
                for kind in range(len(mine)):
                    into[kind] += mine[kind]
            else:
                for place in range(number):
                    into[active[place]] += mine[active[place]]
        return total

    @njit(cache=True)
    def scores(worker: Any, task: Any, symbol: Any, table: Any, total: Any) -> Any:
        for cell in range(len(worker)):
            into, row = total[worker[cell]], table[task[cell], symbol[cell]]
            for kind in range(len(into)):
                into[kind] += row[kind]
        return total

    return counts, scores
