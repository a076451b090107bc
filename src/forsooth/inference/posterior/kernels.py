"""The two passes over all cells, compiled if numba is there, and their readable twins.

N[j, y, k] = Σ_i q_i(k)·[worker i reported y on task j]          (how often, weighted by kinds)
s[i, k]    = Σ_j T[j, y_ij, k]                                   (how well kind k explains worker i)
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
    total: NDArray[np.float64] = count(*cells, kinds, np.zeros(shape))
    return total


def worker_scores(evidence: Evidence, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """s: workers × kinds."""
    shape = (evidence.workers, scores.shape[2])
    cells = (evidence.worker, evidence.task, evidence.symbol)
    score = (_compiled() or (counts_twin, scores_twin))[1]
    total: NDArray[np.float64] = score(*cells, np.ascontiguousarray(scores), np.zeros(shape))
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
        for cell in range(len(worker)):
            for kind in range(kinds.shape[1]):
                total[task[cell], symbol[cell], kind] += kinds[worker[cell], kind]
        return total

    @njit(cache=True)
    def scores(worker: Any, task: Any, symbol: Any, table: Any, total: Any) -> Any:
        for cell in range(len(worker)):
            for kind in range(total.shape[1]):
                total[worker[cell], kind] += table[task[cell], symbol[cell], kind]
        return total

    return counts, scores
