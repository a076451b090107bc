"""The model with worker classes: a worker keeps one kind of error and one rate of answering.

A class k is a pair (σ, ρ). With q_j(θ) for tasks and q_i(k) for workers (mean field),

    ln q_j(θ) = ln π(θ) + Σ_k Σ_y N[j, y, k]·ln P_k(y | θ) + const,   N weighted by q_i(k)
    ln q_i(k) = ln ω_k + Σ_j Σ_θ q_j(θ)·ln P_k(y_ij | θ) + const

each round raises the evidence lower bound, which is compared with the pooled model's likelihood to
decide whether the data support classes at all. Rates of answering come from the symbols of each
worker's whole report: a mixture over a ladder of rates, cut into a few levels of equal weight.

Beside the kinds of error of the pooled model there are workers with a favourite: they give one
answer to nearly everything. Only whole reports can tell them from good workers on easy tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.posterior.kernels import weighted_counts, worker_scores
from forsooth.inference.posterior.model import Crowd, normalised_exp
from forsooth.inference.posterior.pooled import PRIOR_TASKS, Pooled, pin

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.inference.estimates import Rules
    from forsooth.inference.posterior.evidence import Evidence

_RATES = 25  # points of the ladder of participation rates
_LEVELS = 4  # levels that are kept of it
_ENOUGH = 2000  # so many workers show how rates are spread
_NATS = 1e-3  # a round that gains less evidence per worker changes nothing that matters
_PATIENCE = 20  # rounds like the last one within which a rival must be caught up with
_CLEARLY = 1.0  # nats per worker
_NEGLIGIBLE = 0.02  # kinds of error with a smaller share are left out
_PRIOR_WORKERS = 0.3  # every class counts as much as so many workers
_EMPTY = 1e-3  # a class goes if it has a smaller share, and fewer workers than count for it
_NOBODY = 1e-3  # a worker is not of a class with a smaller probability
_FAVOURITES = 10  # only a scale with so few answers has favourites
_FAVOURED = 0.9  # how often a worker with a favourite gives it
_SHARE_WITH_FAVOURITE = 0.1  # the share of such workers, to begin with


@dataclass(frozen=True, eq=False)
class ClassFit:
    """Posteriors of tasks and workers under the class model."""

    mass: NDArray[np.float64]  # tasks × grid
    kinds: list[NDArray[np.float64]]  # per part: workers × kinds of error
    bound: float
    history: tuple[float, ...]
    converged: bool


def fit_classes(pooled: Pooled, point: NDArray[np.float64], rules: Rules) -> ClassFit:
    """Coordinate ascent from two places.

    The pooled solution is one. Where many workers have a favourite it can be far off, so that the
    other assumes nothing: a flat prior, and kinds of workers in equal shares. It must lead clearly
    higher, for where reports say little of single tasks, favourites explain nearly everything.
    """
    first = _ascend(pooled, point, rules, pooled.posterior(point)[1])
    clearly = first.bound + sum(part.workers for part in pooled.parts) * _CLEARLY
    second = _ascend(pooled, pooled.unlearned(point), rules, clearly)
    return second if second.bound > clearly else first


def _ascend(pooled: Pooled, point: NDArray[np.float64], rules: Rules, rival: float) -> ClassFit:
    """Coordinate ascent; given up when it cannot reach the `rival` model's evidence."""
    crowd = pooled.crowd
    weights, kinds, _ = pooled.split(point)
    mass, _ = pooled.posterior(point)
    pinned = pooled.tally.pinned[pooled.tally.place]
    groups = [_Group(pooled, part, mass, kinds) for part in pooled.parts]
    workers = sum(part.workers for part in pooled.parts)
    history: list[float] = []
    converged = False
    while not converged and len(history) < rules.max_iterations:
        prior = np.maximum(weights @ crowd.shapes, 1e-300)
        bound, logs = 0.0, np.log(prior)[None, :]
        for group in groups:
            bound += group.update(mass)
            logs = logs + group.task_logs()
        mass, evidence = pin(*normalised_exp(logs), logs, pinned)
        counts = weights * (crowd.shapes @ (mass.sum(axis=0) / prior))
        weights = counts + PRIOR_TASKS * pooled.base
        weights = weights / weights.sum()
        history.append(float(evidence.sum()) + bound)
        gain = history[-1] - history[-2] if len(history) > 1 else np.inf
        hopeless = history[-1] + _PATIENCE * gain < rival
        smaller = [group.drop_empty() for group in groups]
        converged = (gain < _NATS * workers and not any(smaller)) or hopeless
    return ClassFit(
        mass,
        [group.errors() for group in groups],
        history[-1],
        tuple(history),
        converged,
    )


class _Group:
    """The workers of one part: their classes, and the tables of ln P_k(y | θ).

    Levels of participation come from the workers' symbols, the shares of the kinds of error from
    the pooled model; kinds with a negligible share are left out.
    """

    def __init__(
        self, pooled: Pooled, part: Evidence, mass: NDArray[np.float64], kinds: NDArray[np.float64]
    ) -> None:
        size = pooled.crowd.scale.size
        self.part, self.kinds = part, len(kinds)
        self.kept = np.flatnonzero(kinds >= _NEGLIGIBLE)
        self.rates, weight = _levels(pooled.crowd, part, mass, kinds)
        answers, shares = _with_favourites(pooled.crowd.answers[self.kept], kinds[self.kept])
        self.shares = np.outer(weight, shares).ravel()
        self.members = np.tile(self.shares, (part.workers, 1))
        answered = answers @ part.table[:size]
        absent = part.table[-1] if part.hidden else np.zeros(part.symbols)
        rate = self.rates[:, None, None, None]
        tables = np.maximum(rate * answered + (1 - rate) * absent, 1e-300)
        self.logs = np.log(tables).reshape(-1, *answered.shape[1:])
        self.column = np.tile(np.arange(len(shares)), len(self.rates))  # the kind of each class

    def update(self, mass: NDArray[np.float64]) -> float:
        """New posteriors of the workers; their share of the bound (prior and entropy)."""
        scores = np.einsum("jg,kgy->jyk", mass, self.logs, optimize=True)
        logs = worker_scores(self.part, scores) + np.log(self.shares)
        members, _ = normalised_exp(logs)
        members[members < _NOBODY] = 0
        self.members = members / members.sum(axis=1, keepdims=True)
        counts = self.members.sum(axis=0) + _PRIOR_WORKERS
        self.shares = counts / counts.sum()
        entropy = self.members * (np.log(self.shares) - np.log(np.maximum(self.members, 1e-300)))
        return float(entropy.sum())

    def task_logs(self) -> NDArray[np.float64]:
        """Σ_k Σ_y N[j, y, k]·ln P_k(y | θ): tasks × grid."""
        counts = weighted_counts(self.part, self.members)
        flat = counts.reshape(len(counts), -1)
        tables = self.logs.transpose(2, 0, 1).reshape(flat.shape[1], -1)
        logs: NDArray[np.float64] = flat @ tables
        return logs

    def drop_empty(self) -> bool:
        """Leave out classes that hardly anybody is of: they only cost time. Were there any?"""
        workers = len(self.members)
        crowded = self.members.sum(axis=0) >= min(_PRIOR_WORKERS, _EMPTY * workers)
        self.members, self.shares = self.members[:, crowded], self.shares[crowded]
        self.members /= np.maximum(self.members.sum(axis=1, keepdims=True), 1e-300)
        self.logs, self.column = self.logs[crowded], self.column[crowded]
        return not crowded.all()

    def errors(self) -> NDArray[np.float64]:
        """P(kind of error) of every worker; a favourite is as good as an answer at random."""
        kinds = np.zeros((len(self.members), self.kinds))
        for column, members in zip(self.column, self.members.T):
            kinds[:, self.kept[column] if column < len(self.kept) else -1] += members
        return kinds


def _with_favourites(
    answers: NDArray[np.float64], shares: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P(answer | θ, kind) and the shares, with one kind more for every answer of a short scale."""
    _, grid, size = answers.shape
    shares = shares / shares.sum()
    if size > _FAVOURITES:
        return answers, shares
    favourites = _FAVOURED * np.eye(size) + (1 - _FAVOURED) / size
    tables = np.repeat(favourites[:, None, :], grid, axis=1)
    few = np.full(size, _SHARE_WITH_FAVOURITE / size)
    return np.concatenate([answers, tables]), np.append((1 - few.sum()) * shares, few)


def _levels(
    crowd: Crowd, part: Evidence, mass: NDArray[np.float64], kinds: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A few participation rates and their shares; participation that is public has rate 1."""
    if not part.hidden:
        return np.ones(1), np.ones(1)
    answers = mass.mean(axis=0) @ np.tensordot(kinds, crowd.answers, 1)
    ladder = 0.999 * np.exp(np.linspace(np.log(min(0.3, 0.3 / part.tasks)), 0, _RATES))
    chance = np.outer(ladder, answers @ part.table[:-1]) + np.outer(1 - ladder, part.table[-1])
    some = part.per_worker()[:: max(1, part.workers // _ENOUGH)]
    logs, shares = some @ np.log(chance).T, np.full(_RATES, 1 / _RATES)
    for _ in range(2000):
        members, _ = normalised_exp(logs + np.log(shares))
        counts = members.sum(axis=0) + 0.02
        moved, shares = np.abs(counts / counts.sum() - shares).max(), counts / counts.sum()
        if moved < 1e-6:
            break
    weight = shares * np.sqrt(ladder)  # between counting workers and counting their answers
    middle = np.cumsum(weight) - weight / 2
    label = np.minimum(_LEVELS * middle / weight.sum(), _LEVELS - 1e-9).astype(int)
    groups = [np.flatnonzero(label == level) for level in range(_LEVELS)]
    kept = [group for group in groups if group.size]
    share = np.array([shares[group].sum() for group in kept])
    rates = np.array([shares[group] @ ladder[group] for group in kept]) / share
    return rates, share
