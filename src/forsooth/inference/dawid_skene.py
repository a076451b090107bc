"""Dawid–Skene: every worker has a confusion matrix, every task a class, both by EM.

    P(class of j = k) = p_k        P(worker i says l | class k) = π_i[k, l]

    E   T_j[k] ∝ p_k Π_i π_i[k, a_ij]       over the workers who answered j
    M   p_k ∝ s + Σ_j T_j[k],               π_i[k, l] ∝ s + d·[k = l] + Σ_{j: a_ij = l} T_j[k]

started from each task's shares of votes. The classes are the scale's answers; noisy numbers count
for the nearest one. The pseudo-counts are Dirichlet priors: a little s, so that nothing is
impossible, and d = 1, as if every worker had been right about every class once. Without d the names
of the classes mean nothing, and a worker alone with his tasks may be read as answering at random.
The history is log-likelihood + log prior, which EM never lowers.

It has local maxima, and a confusion matrix needs many answers: on a sparse crowd with many classes
it is fitted to noise, the posteriors are too sure of themselves, and a plain majority is better.

The estimate is the median of T_j on the scale, which has the least expected absolute error of all
classes; unlike the mean it is never drawn to the middle by a little doubt. The interval runs
between the classes at which T_j has accumulated 5 % and 95 %.

A. P. Dawid, A. M. Skene: Maximum Likelihood Estimation of Observer Error-Rates Using the EM
Algorithm. Applied Statistics 28(1), 1979. https://doi.org/10.2307/2346806
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.inference.estimates import Estimates, Rules, Ties, pinned, worker_deviation
from forsooth.truths import COVERAGE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.cells import Cells
    from forsooth.scale import Scale

SMOOTHING, DIAGONAL = 0.01, 1.0
_TIE = 1e-9  # accumulated shares closer than this to a half are a half


@dataclass(frozen=True, eq=False)
class _Votes:
    """Who said what, in the shape of EM.

    A row of `said` is a worker together with an answer that he gave at least once, a column is a
    task. Answers that a worker never gave need no row.
    """

    said: Any  # scipy's CSR matrix of ones, rows × tasks
    heard: Any  # its transpose, CSR as well: both products then run along memory
    row_worker: NDArray[np.intp]
    pseudo: NDArray[np.float64]  # rows × classes: the pseudo-counts
    unsaid: NDArray[np.bool_]  # workers × answers: never given, hence without a row
    allowed: NDArray[np.float64]  # tasks × classes: 0, or −∞ for all but a known truth's class
    counted: NDArray[np.bool_]  # tasks with a cell or a known truth


@dataclass(frozen=True, eq=False)
class _Logs:
    """Logarithms of the class prior and of the confusion matrices' rows; the log prior of both."""

    classes: NDArray[np.float64]
    rows: NDArray[np.float64]
    prior: float


def dawid_skene(cells: Cells, scale: Scale, rules: Rules, gold: NDArray[np.float64]) -> Estimates:
    """Posterior median classes; a `gold` task is of the class nearest to its known truth."""
    votes = _votes(cells, scale, gold)
    posterior = _vote_shares(cells, scale, votes)
    history: list[float] = []
    converged = cells.value.size == 0
    while not converged and len(history) < rules.max_iterations:
        logs = _m_step(votes, posterior)
        previous = posterior
        posterior, likelihood = _e_step(votes, logs)
        history.append(likelihood + logs.prior)
        # The median jumps or stands still; it is the posterior that has to come to rest.
        converged = float(np.max(np.abs(posterior - previous))) <= rules.tolerance
    truth, low, high = _read_off(posterior, np.asarray(scale.values), rules.ties)
    support = cells.per_task()
    truth[support == 0] = np.nan
    low[support < 2] = high[support < 2] = np.nan
    truth = pinned(truth, gold)
    return Estimates(truth, low, high, worker_deviation(cells, truth), tuple(history), converged)


def _codes(value: NDArray[np.float64], scale: Scale) -> NDArray[np.intp]:
    """The nearest answer of the scale."""
    values = np.asarray(scale.values)
    return np.searchsorted((values[1:] + values[:-1]) / 2, value)


def _votes(cells: Cells, scale: Scale, gold: NDArray[np.float64]) -> _Votes:
    from scipy import sparse

    pair = cells.worker * scale.size + _codes(cells.value, scale)
    given, row = np.unique(pair, return_inverse=True)
    row_worker, row_answer = np.divmod(given, scale.size)
    unsaid = np.ones((cells.workers, scale.size), dtype=np.bool_)
    unsaid[row_worker, row_answer] = False
    ones = np.ones(cells.value.size)
    said = sparse.csr_matrix((ones, (row, cells.task)), shape=(len(given), cells.tasks))
    is_gold = ~np.isnan(gold)
    allowed = np.zeros((cells.tasks, scale.size))
    allowed[is_gold] = -np.inf
    allowed[is_gold, _codes(gold[is_gold], scale)] = 0
    return _Votes(
        said,
        said.T.tocsr(),
        row_worker,
        SMOOTHING + DIAGONAL * (row_answer[:, None] == np.arange(scale.size)),
        unsaid,
        allowed,
        (cells.per_task() > 0) | is_gold,
    )


def _vote_shares(cells: Cells, scale: Scale, votes: _Votes) -> NDArray[np.float64]:
    """Where Dawid and Skene start; a known truth's class has all the votes."""
    cell = cells.task * scale.size + _codes(cells.value, scale)
    counts = np.bincount(cell, minlength=cells.tasks * scale.size)
    counts = counts.reshape(cells.tasks, scale.size)
    shares: NDArray[np.float64] = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))
    known = np.isinf(votes.allowed).any(axis=1)
    shares[known] = np.exp(votes.allowed[known])
    return shares


def _m_step(votes: _Votes, posterior: NDArray[np.float64]) -> _Logs:
    """The smoothed class prior and confusion matrices, with their log prior density."""
    classes = posterior.shape[1]
    prior = SMOOTHING + posterior[votes.counted].sum(axis=0)
    log_classes = np.log(prior / prior.sum())
    counts = votes.said @ posterior
    total = np.full(votes.unsaid.shape, DIAGONAL + classes * SMOOTHING)
    np.add.at(total, votes.row_worker, counts)
    log_total = np.log(total)
    log_rows = np.log(votes.pseudo + counts) - log_total[votes.row_worker]
    log_prior = SMOOTHING * float(log_classes.sum()) + float((votes.pseudo * log_rows).sum())
    return _Logs(log_classes, log_rows, log_prior + _unsaid_log_prior(votes.unsaid, log_total))


def _unsaid_log_prior(unsaid: NDArray[np.bool_], log_total: NDArray[np.float64]) -> float:
    """Of the answers never given: all that is known of them is their pseudo-count."""
    others = unsaid.sum(axis=1, keepdims=True) - unsaid  # per class, those off the diagonal
    right = SMOOTHING + DIAGONAL
    off_diagonal = SMOOTHING * others * (np.log(SMOOTHING) - log_total)
    diagonal = right * unsaid * (np.log(right) - log_total)
    return float((off_diagonal + diagonal).sum())


def _e_step(votes: _Votes, logs: _Logs) -> tuple[NDArray[np.float64], float]:
    """Each task's posterior, and the log-likelihood of all votes (and known truths)."""
    joint: NDArray[np.float64] = votes.heard @ logs.rows + logs.classes + votes.allowed
    highest = joint.max(axis=1, keepdims=True)  # so that the exponentials do not all vanish
    posterior = np.exp(joint - highest)
    total = posterior.sum(axis=1, keepdims=True)
    likelihood = (highest + np.log(total))[votes.counted].sum()
    return posterior / total, float(likelihood)


def _read_off(
    posterior: NDArray[np.float64], values: NDArray[np.float64], ties: Ties
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The median class, and the classes between which at least 90 % of the posterior lies."""
    below = np.cumsum(posterior, axis=1)

    def reached(share: float) -> NDArray[np.float64]:
        # The first class at which this much has accumulated; rounding may leave the sum below 1.
        first: NDArray[np.intp] = np.count_nonzero(below < share, axis=1)
        return values[np.minimum(first, len(values) - 1)]

    lower, upper = reached(0.5 - _TIE), reached(0.5 + _TIE)
    median = {"low": lower, "high": upper, "middle": (lower + upper) / 2}[ties]
    tail = (1 - COVERAGE) / 2
    return median, reached(tail), reached(1 - tail)
