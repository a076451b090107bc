"""Dawid–Skene's pass over all votes and its pass over all tasks, compiled if numba is there.

    π_i[k, l] ∝ s + d·[k = l] + Σ_{j: a_ij = l} T_j[k]         L_j[k] = Σ_i log π_i[k, a_ij]

A worker's confusion matrix needs their own votes only, and votes stand in the order of workers. So
it is one sweep: counts, their logarithms, and at once the worker's share of the likelihoods.
Of an answer that they never gave nothing but the pseudo-counts is known: it costs nothing. Then

    T_j[k] = p_k exp(L_j[k]) / Σ_k' p_k' exp(L_j[k'])          for every task.

Both are compiled for a fixed number of classes: loops of known length need no loop, and a vote
costs half as much.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SMOOTHING, DIAGONAL = 0.01, 1.0


@dataclass(frozen=True, eq=False)
class Votes:
    """Who said what of which task, ordered by worker."""

    tasks: int
    classes: int
    starts: NDArray[np.uint64]  # where each worker's votes begin; one more number than workers
    task: NDArray[np.uint32]
    code: NDArray[np.uint32]  # the answer's place on the scale

    @cached_property
    def rows(self) -> _Rows:
        """What only the twin needs."""
        return _Rows.of(self)


def likelihoods(votes: Votes, posterior: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """L, tasks × classes, and the log prior density Σ_i Σ_kl (s + d·[k = l]) log π_i[k, l]."""
    compiled = _compiled(votes.classes)
    if compiled is None:
        return likelihoods_twin(votes, posterior)
    total = np.zeros((votes.tasks, votes.classes))
    cells = (votes.starts, votes.task, votes.code)
    return total, compiled[0](*cells, np.ascontiguousarray(posterior), total)


def normalised(joint: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms (one row per task) become shares, in place; returns the log of each row's sum."""
    compiled = _compiled(joint.shape[1])
    if compiled is None:
        return normalised_twin(joint)
    evidence = np.empty(len(joint))
    compiled[1](joint, evidence)
    return evidence


def normalised_twin(joint: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same, column by column."""
    highest = joint.max(axis=1, keepdims=True)  # so that the exponentials do not all vanish
    np.exp(joint - highest, out=joint)
    total = joint.sum(axis=1, keepdims=True)
    joint /= total
    evidence: NDArray[np.float64] = (highest + np.log(total))[:, 0]
    return evidence


def likelihoods_twin(
    votes: Votes, posterior: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """The same as products with a sparse matrix."""
    rows, workers = votes.rows, len(votes.starts) - 1
    counts = rows.said @ posterior
    total = np.full((workers, votes.classes), DIAGONAL + votes.classes * SMOOTHING)
    np.add.at(total, rows.worker, counts)
    log_total = np.log(total)
    log_rows = np.log(rows.pseudo + counts) - log_total[rows.worker]
    log_prior = float((rows.pseudo * log_rows).sum()) + _unsaid_log_prior(rows.unsaid, log_total)
    return rows.heard @ log_rows, log_prior


@dataclass(frozen=True, eq=False)
class _Rows:
    """A row is a worker together with an answer that they gave at least once."""

    said: Any  # scipy's CSR matrix of ones, rows × tasks
    heard: Any  # its transpose, CSR as well: both products then run along memory
    worker: NDArray[np.intp]
    pseudo: NDArray[np.float64]  # rows × classes: the pseudo-counts
    unsaid: NDArray[np.bool_]  # workers × answers: never given, hence without a row

    @classmethod
    def of(cls, votes: Votes) -> _Rows:
        from scipy import sparse

        counts = (votes.starts[1:] - votes.starts[:-1]).astype(np.intp)
        pair = np.repeat(np.arange(len(counts)), counts) * votes.classes + votes.code
        given, row = np.unique(pair, return_inverse=True)
        worker, answer = np.divmod(given, votes.classes)
        unsaid = np.ones((len(counts), votes.classes), dtype=np.bool_)
        unsaid[worker, answer] = False
        places = (row, votes.task.astype(np.intp))
        said = sparse.csr_matrix((np.ones(len(row)), places), shape=(len(given), votes.tasks))
        pseudo = SMOOTHING + DIAGONAL * (answer[:, None] == np.arange(votes.classes))
        return cls(said, said.T.tocsr(), worker, pseudo, unsaid)


def _unsaid_log_prior(unsaid: NDArray[np.bool_], log_total: NDArray[np.float64]) -> float:
    """Of the answers never given: all that is known of them is their pseudo-count."""
    others = unsaid.sum(axis=1, keepdims=True) - unsaid  # per class, those off the diagonal
    right = SMOOTHING + DIAGONAL
    off_diagonal = SMOOTHING * others * (np.log(SMOOTHING) - log_total)
    diagonal = right * unsaid * (np.log(right) - log_total)
    return float((off_diagonal + diagonal).sum())


@cache
def _compiled(classes: int) -> tuple[Callable[..., Any], Callable[..., Any]] | None:
    try:
        from numba import njit
    except ImportError:
        return None
    own, right = DIAGONAL + classes * SMOOTHING, DIAGONAL + SMOOTHING
    never = float(right * np.log(right) + (classes - 1) * SMOOTHING * np.log(SMOOTHING))

    # In one piece: numba finds nothing in its cache that calls another compiled function from here.
    @njit(cache=True, nogil=True)
    def sweep(starts: Any, task: Any, code: Any, posterior: Any, total: Any) -> Any:
        counts, given = np.zeros((classes, classes)), np.zeros(classes, np.bool_)
        totals, log_prior = np.zeros(classes), 0.0
        for worker in range(len(starts) - 1):
            for cell in range(starts[worker], starts[worker + 1]):
                answer, of = code[cell], task[cell]
                given[answer] = True
                for k in range(classes):
                    counts[answer, k] += posterior[of, k]
            # Counts n[l, k] become log π[k, l], in place. With pseudo-counts α their log prior is
            # Σ_kl α_kl log(α_kl + n_lk) − Σ_k (Σ_l α_kl) log Σ_l (α_kl + n_lk).
            totals[:] = own
            for row in range(classes):
                if given[row]:
                    for k in range(classes):
                        totals[k] += counts[row, k]
            for k in range(classes):
                totals[k] = np.log(totals[k])
                log_prior -= own * totals[k]
            for row in range(classes):
                if not given[row]:
                    log_prior += never
                    continue
                for k in range(classes):
                    pseudo = right if k == row else SMOOTHING
                    log = np.log(pseudo + counts[row, k])
                    log_prior += pseudo * log
                    counts[row, k] = log - totals[k]
            for cell in range(starts[worker], starts[worker + 1]):
                answer, of = code[cell], task[cell]
                for k in range(classes):
                    total[of, k] += counts[answer, k]
            for row in range(classes):
                if given[row]:  # the others are zero still
                    counts[row] = 0.0
                    given[row] = False
        return log_prior

    # Nor can several numbers of classes return arrays from the cache within one process.
    @njit(cache=True, nogil=True)
    def normalise(joint: Any, evidence: Any) -> None:
        for task in range(len(joint)):
            highest = joint[task, 0]
            for k in range(1, classes):
                highest = max(highest, joint[task, k])
            total = 0.0
            for k in range(classes):
                joint[task, k] = np.exp(joint[task, k] - highest)
                total += joint[task, k]
            for k in range(classes):
                joint[task, k] /= total
            evidence[task] = highest + np.log(total)

    return sweep, normalise
