"""The pooled model: every cell is answered by a worker of a random kind.

Sufficient statistics are the counts of report symbols per task, so that an iteration costs the
same for a thousand workers and for a million. With ρ the share of answered cells, ω the shares of
the kinds and W the channel,

    P(y | θ) = (1 − ρ)·W[NULL, y] + ρ·Σ_a Σ_k ω_k P_k(a | θ)·W[a, y]        (hidden participation)

and the log-likelihood is Σ_j ln Σ_θ π(θ) ∏_y P(y | θ)^N[j, y]. Parameters (the prior's weights, ω,
ρ) are fitted by SQUAREM from moments: first the distribution of all answers and ρ are recovered
through the channel, a small concave problem.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.posterior.model import Crowd, normalised_exp
from forsooth.inference.posterior.squarem import Ascent, squarem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from forsooth.inference.estimates import Rules
    from forsooth.inference.posterior.evidence import Evidence

PRIOR_TASKS = 5.0  # the base of the prior's weights counts as much as so many tasks
_PRIOR_CELLS = 0.5  # and every kind of worker as much as so many cells
_SMALLEST = 1e-9
_STILL = 1e-5  # a round that moves and gains less than this has arrived
_FREEDOM = 2.0  # of the learned prior: where it lies and how wide it is


@dataclass(frozen=True, eq=False)
class Moments:
    """The distribution of all answers and the share of answered cells, through the channel."""

    answers: NDArray[np.float64]
    participation: float


def recover_moments(crowd: Crowd, parts: Sequence[Evidence], rules: Rules) -> Moments:
    """Maximum likelihood of (answers, NULL) from all symbols together; concave, so it arrives."""
    size = crowd.scale.size
    totals = [part.per_task().sum(axis=0) for part in parts]
    hidden = any(part.hidden for part in parts)

    def likelihoods(point: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        given = point[:size] / point[:size].sum()
        return [(point if part.hidden else given) @ part.table for part in parts]

    def step(point: NDArray[np.float64]) -> NDArray[np.float64]:
        given, counts = point[:size] / point[:size].sum(), np.full(len(point), 0.5)
        for part, total, chance in zip(parts, totals, likelihoods(point)):
            rows = point if part.hidden else given
            counts[: len(rows)] += rows * (part.table @ (total / chance))
        shares: NDArray[np.float64] = counts / counts.sum()
        return shares

    def objective(point: NDArray[np.float64]) -> float:
        each = (total @ np.log(chance) for total, chance in zip(totals, likelihoods(point)))
        return float(sum(each) + 0.5 * np.log(point).sum())

    def project(point: NDArray[np.float64]) -> NDArray[np.float64]:
        positive = np.maximum(point, _SMALLEST)
        inside: NDArray[np.float64] = positive / positive.sum()
        return inside

    start = np.full(size + hidden, 1 / (size + hidden))
    point = squarem(
        step, objective, project, start,
        tolerance=_STILL, max_iterations=rules.max_iterations,
    ).point  # fmt: skip
    share = float(point[:size].sum())
    return Moments(point[:size] / share, share)


@dataclass(frozen=True, eq=False)
class Pooled:
    """The pooled model of one campaign; a point is (weights of the shapes, ω, ρ, 1 − ρ)."""

    crowd: Crowd
    parts: tuple[Evidence, ...]
    moments: Moments
    pinned: NDArray[np.intp]  # the grid point of a gold task, −1 elsewhere

    @cached_property
    def counts(self) -> list[NDArray[np.float64]]:
        """Symbols per task, for every part."""
        return [part.per_task() for part in self.parts]

    @cached_property
    def answered(self) -> list[NDArray[np.float64]]:
        """P(symbol | θ, kind, answered): kinds × grid × symbols, for every part."""
        size = self.crowd.scale.size
        return [self.crowd.answers @ part.table[:size] for part in self.parts]

    @cached_property
    def base(self) -> NDArray[np.float64]:
        """The prior weights of the shapes."""
        return self.crowd.base(self.moments.answers)

    def split(
        self, point: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """Weights of the shapes, shares of the kinds, participation."""
        shapes, kinds = len(self.base), len(self.crowd.deviations)
        return point[:shapes], point[shapes : shapes + kinds], float(point[-2])

    def start(self) -> NDArray[np.float64]:
        """From the moments; all kinds of workers alike."""
        kinds = len(self.crowd.deviations)
        share = float(np.clip(self.moments.participation, 1e-6, 1 - 1e-6))
        return np.concatenate([self.base, np.full(kinds, 1 / kinds), [share, 1 - share]])

    def project(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """Positive, and each of the three groups summing to one."""
        weights, kinds, _ = self.split(np.maximum(point, _SMALLEST))
        rest = np.maximum(point[-2:], _SMALLEST)
        return np.concatenate([weights / weights.sum(), kinds / kinds.sum(), rest / rest.sum()])

    def likelihoods(
        self, point: NDArray[np.float64]
    ) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """For every part P(y | θ, answered) and P(y | θ), grid × symbols."""
        _, kinds, share = self.split(point)
        found = []
        for part, answered in zip(self.parts, self.answered):
            given = np.tensordot(kinds, answered, 1)
            whole = share * given + (1 - share) * part.table[-1] if part.hidden else given
            found.append((given, whole))
        return found

    def posterior(self, point: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """P(θ | reports) for every task, and the log-likelihood."""
        weights, _, _ = self.split(point)
        logs = np.log(np.maximum(weights @ self.crowd.shapes, 1e-300))[None, :]
        for counts, (_, whole) in zip(self.counts, self.likelihoods(point)):
            logs = logs + counts @ np.log(whole).T
        return pin(*normalised_exp(logs), logs, self.pinned)

    def objective(self, point: NDArray[np.float64]) -> float:
        """The log-likelihood with the weak priors of the parameters."""
        weights, kinds, _ = self.split(point)
        prior = PRIOR_TASKS * self.base @ np.log(weights) + _PRIOR_CELLS * np.log(kinds).sum()
        return self.posterior(point)[1] + float(prior + 0.5 * np.log(point[-2:]).sum())

    def step(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """One EM step: expected counts of shapes, kinds and answered cells."""
        weights, kinds, share = self.split(point)
        mass, _ = self.posterior(point)
        shapes = self.crowd.shapes
        prior = np.maximum(weights @ shapes, 1e-300)
        new_weights = weights * (shapes @ (mass.sum(axis=0) / prior)) + PRIOR_TASKS * self.base
        new_kinds, new_share = np.full(len(kinds), _PRIOR_CELLS), np.full(2, 0.5)
        pieces = zip(self.parts, self.counts, self.answered, self.likelihoods(point))
        for part, counts, answered, (given, whole) in pieces:
            expected = (mass.T @ counts) / whole  # expected cells per unit of probability
            present = expected * share if part.hidden else expected
            new_kinds += kinds * np.tensordot(answered, present, ([1, 2], [0, 1]))
            if part.hidden:
                absent = (1 - share) * float((expected @ part.table[-1]).sum())
                new_share += float((present * given).sum()), absent
        groups = (new_weights, new_kinds, new_share)
        return np.concatenate([group / group.sum() for group in groups])

    def shrunk(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """The prior drawn back to the flat one by as much as chance alone could have moved it.

        If nothing but chance is at work, twice the gain in log-likelihood over the flat prior is
        about chi-square, with degrees of freedom for the prior's place and width. So the learned
        prior keeps the share 1 − freedom / (2·gain), as James and Stein would have it.
        """
        weights, kinds, _ = self.split(point)
        flat = np.zeros(len(weights))
        flat[-1] = 1.0
        unlearned = np.concatenate([flat, kinds, point[-2:]])
        gain = self.posterior(point)[1] - self.posterior(unlearned)[1]
        kept = max(0.0, 1 - _FREEDOM / (2 * gain)) if gain > 0 else 0.0
        mixed = kept * weights + (1 - kept) * flat
        return self.project(np.concatenate([mixed, kinds, point[-2:]]))

    def fit(self, rules: Rules) -> Ascent:
        """Climb from the moments until nothing moves."""
        return squarem(
            self.step, self.objective, self.project, self.start(),
            tolerance=_STILL, max_iterations=rules.max_iterations,
        )  # fmt: skip


def pin(
    mass: NDArray[np.float64],
    evidence: NDArray[np.float64],
    logs: NDArray[np.float64],
    pinned: NDArray[np.intp],
) -> tuple[NDArray[np.float64], float]:
    """Gold tasks have all of their mass on the known truth."""
    gold = np.flatnonzero(pinned >= 0)
    if gold.size:
        mass, evidence = mass.copy(), evidence.copy()
        mass[gold] = 0
        mass[gold, pinned[gold]] = 1
        evidence[gold] = logs[gold, pinned[gold]]
    return mass, float(evidence.sum())
