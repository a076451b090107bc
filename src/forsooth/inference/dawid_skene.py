"""Dawid–Skene: every worker has a confusion matrix, every task a class, both by EM.

    P(class of j = k) = p_k        P(worker i says l | class k) = π_i[k, l]

    E   T_j[k] ∝ p_k Π_i π_i[k, a_ij]       over the workers who answered j
    M   p_k ∝ s + Σ_j T_j[k],               π_i[k, l] ∝ s + d·[k = l] + Σ_{j: a_ij = l} T_j[k]

started from each task's shares of votes. The classes are the scale's answers; noisy numbers count
for the nearest one. The pseudo-counts are Dirichlet priors: a little s, so that nothing is
impossible, and d = 1, as if every worker had been right about every class once. Without d the names
of the classes mean nothing, and a worker alone with their tasks may be read as answering at random.
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

from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.confusion import SMOOTHING, Votes, likelihoods, normalised
from forsooth.inference.estimates import Estimates, Rules, Ties, pinned, worker_deviation
from forsooth.truths import COVERAGE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.cells import Cells
    from forsooth.scale import Scale

_TIE = 1e-9  # accumulated shares closer than this to a half are a half


def dawid_skene(cells: Cells, scale: Scale, rules: Rules, gold: NDArray[np.float64]) -> Estimates:
    """Posterior median classes; a `gold` task is of the class nearest to its known truth."""
    code = _codes(cells.value, scale).astype(np.uint32)
    starts, task = cells.starts.astype(np.uint64), cells.task.astype(np.uint32)
    votes = Votes(cells.tasks, scale.size, starts, task, code)
    support, allowed = cells.per_task(), _allowed(gold, scale)
    counted = (support > 0) | ~np.isnan(gold)
    posterior = _vote_shares(votes, allowed)
    history: list[float] = []
    converged = cells.value.size == 0
    while not converged and len(history) < rules.max_iterations:
        previous = posterior
        posterior, objective = _round(votes, allowed, counted, posterior)
        history.append(objective)
        # The median jumps or stands still; it is the posterior that has to come to rest.
        converged = float(np.max(np.abs(posterior - previous))) <= rules.tolerance
    truth, low, high = _read_off(posterior, np.asarray(scale.values), rules.ties)
    truth[support == 0] = np.nan
    low[support < 2] = high[support < 2] = np.nan
    truth = pinned(truth, gold)
    deviation = worker_deviation(cells, truth)
    return Estimates(truth, low, high, deviation, tuple(history), converged, posterior)


def _codes(value: NDArray[np.float64], scale: Scale) -> NDArray[np.intp]:
    """The nearest answer of the scale."""
    values = np.asarray(scale.values)
    return np.searchsorted((values[1:] + values[:-1]) / 2, value)


def _allowed(gold: NDArray[np.float64], scale: Scale) -> NDArray[np.float64]:
    """Tasks × classes: 0, or −∞ for all but a known truth's class."""
    is_gold = ~np.isnan(gold)
    allowed = np.zeros((len(gold), scale.size))
    allowed[is_gold] = -np.inf
    allowed[is_gold, _codes(gold[is_gold], scale)] = 0
    return allowed


def _vote_shares(votes: Votes, allowed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where Dawid and Skene start; a known truth's class has all the votes."""
    cell = votes.task.astype(np.intp) * votes.classes + votes.code
    counts = np.bincount(cell, minlength=allowed.size).reshape(allowed.shape)
    shares: NDArray[np.float64] = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))
    known = np.isinf(allowed).any(axis=1)
    shares[known] = np.exp(allowed[known])
    return shares


def _round(
    votes: Votes,
    allowed: NDArray[np.float64],
    counted: NDArray[np.bool_],
    posterior: NDArray[np.float64],
) -> tuple[NDArray[np.float64], float]:
    """M and E: the next posteriors, and the log-likelihood (of known truths too) + log prior.

    `counted` are the tasks with a cell or a known truth: nothing is said of the others.
    """
    prior = SMOOTHING + counted @ posterior
    log_classes = np.log(prior / prior.sum())
    joint, log_prior = likelihoods(votes, posterior)
    joint += allowed
    joint += log_classes
    likelihood = float(normalised(joint)[counted].sum())
    return joint, likelihood + log_prior + SMOOTHING * float(log_classes.sum())


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
