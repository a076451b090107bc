"""The model with worker classes: a worker keeps one kind of error and one rate of answering.

A class k is a pair (σ, ρ). With q_j(θ) for tasks and q_i(k) for workers (mean field),

    ln q_j(θ) = ln π(θ) + Σ_k Σ_y N[j, y, k]·ln P_k(y | θ) + const,   N weighted by q_i(k)
    ln q_i(k) = ln ω_k + Σ_j Σ_θ q_j(θ)·ln P_k(y_ij | θ) + const

each round raises the evidence lower bound, which is compared with the pooled model's likelihood to
decide whether the data support classes at all. Rates of answering come from the symbols of each
worker's whole report: a mixture over a ladder of rates, cut into a few levels of equal weight.
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
_NATS = 0.05  # a round that gains less evidence than this changes nothing that matters
_PATIENCE = 20  # rounds like the last one within which the pooled model must be caught up with
_NEGLIGIBLE = 0.02  # kinds of error with a smaller share are left out
_PRIOR_WORKERS = 0.3  # every class counts as much as so many workers


@dataclass(frozen=True, eq=False)
class ClassFit:
    """Posteriors of tasks and workers under the class model."""

    mass: NDArray[np.float64]  # tasks × grid
    kinds: list[NDArray[np.float64]]  # per part: workers × kinds of error
    bound: float
    history: tuple[float, ...]
    converged: bool


def fit_classes(pooled: Pooled, point: NDArray[np.float64], rules: Rules) -> ClassFit:
    """Coordinate ascent from the pooled solution."""
    crowd = pooled.crowd
    weights, kinds, _ = pooled.split(point)
    mass, likelihood = pooled.posterior(point)
    groups = [_Group(pooled, part, mass, kinds) for part in pooled.parts]
    history: list[float] = []
    converged = False
    while not converged and len(history) < rules.max_iterations:
        prior = np.maximum(weights @ crowd.shapes, 1e-300)
        bound, logs = 0.0, np.log(prior)[None, :]
        for group in groups:
            bound += group.update(mass)
            logs = logs + group.task_logs()
        mass, evidence = pin(*normalised_exp(logs), logs, pooled.pinned)
        counts = weights * (crowd.shapes @ (mass.sum(axis=0) / prior))
        weights = counts + PRIOR_TASKS * pooled.base
        weights = weights / weights.sum()
        history.append(evidence + bound)
        gain = history[-1] - history[-2] if len(history) > 1 else np.inf
        hopeless = history[-1] + _PATIENCE * gain < likelihood
        converged = gain < _NATS or hopeless
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
        self.part, self.kinds = part, len(kinds)
        self.kept = np.flatnonzero(kinds >= _NEGLIGIBLE)
        self.rates, weight = _levels(pooled.crowd, part, mass, kinds)
        self.shares = np.outer(weight, kinds[self.kept] / kinds[self.kept].sum()).ravel()
        self.members = np.tile(self.shares, (part.workers, 1))
        answered = pooled.crowd.answers[self.kept] @ part.table[: pooled.crowd.scale.size]
        absent = part.table[-1] if part.hidden else np.zeros(part.symbols)
        rate = self.rates[:, None, None, None]
        tables = np.maximum(rate * answered + (1 - rate) * absent, 1e-300)
        self.logs = np.log(tables).reshape(-1, *answered.shape[1:])

    def update(self, mass: NDArray[np.float64]) -> float:
        """New posteriors of the workers; their share of the bound (prior and entropy)."""
        scores = np.einsum("jg,kgy->jyk", mass, self.logs, optimize=True)
        logs = worker_scores(self.part, scores) + np.log(self.shares)
        self.members, _ = normalised_exp(logs)
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

    def errors(self) -> NDArray[np.float64]:
        """P(kind of error) of every worker."""
        kinds = np.zeros((len(self.members), self.kinds))
        by_level = self.members.reshape(len(self.members), len(self.rates), len(self.kept))
        kinds[:, self.kept] = by_level.sum(axis=1)
        return kinds


def _levels(
    crowd: Crowd, part: Evidence, mass: NDArray[np.float64], kinds: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A few participation rates and their shares; participation that is public has rate 1."""
    if not part.hidden:
        return np.ones(1), np.ones(1)
    answers = mass.mean(axis=0) @ np.tensordot(kinds, crowd.answers, 1)
    ladder = 0.999 * np.exp(np.linspace(np.log(min(0.3, 0.3 / part.tasks)), 0, _RATES))
    chance = np.outer(ladder, answers @ part.table[:-1]) + np.outer(1 - ladder, part.table[-1])
    logs, shares = part.per_worker() @ np.log(chance).T, np.full(_RATES, 1 / _RATES)
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
