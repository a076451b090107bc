"""The pooled model: every cell is answered by a worker of a random kind.

Sufficient statistics are the counts of report symbols per task, so that an iteration costs the
same for a thousand workers and for a million. With ρ the share of answered cells, ω the shares of
the kinds and W the channel,

    P(y | θ) = (1 − ρ)·W[NULL, y] + ρ·Σ_a Σ_k ω_k P_k(a | θ)·W[a, y]        (hidden participation)

and the log-likelihood is Σ_j ln Σ_θ π(θ) ∏_y P(y | θ)^N[j, y]. Parameters (the prior's weights, ω,
ρ) are fitted from moments: first the distribution of all answers and ρ are recovered through the
channel, a small concave problem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.posterior.ascent import SMALLEST, Ascent, climb
from forsooth.inference.posterior.model import Crowd, normalised_exp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from forsooth.inference.estimates import Rules
    from forsooth.inference.posterior.evidence import Evidence

PRIOR_TASKS = 5.0  # the base of the prior's weights counts as much as so many tasks
_PRIOR_CELLS = 0.5  # and every kind of worker as much as so many cells
_MANY = 4000  # with more different tasks than this, the ascent begins with a part of them
_FREEDOM = 1.0  # of the learned prior: where it lies


@dataclass(frozen=True, eq=False)
class Moments:
    """The distribution of all answers and the share of answered cells, through the channel."""

    answers: NDArray[np.float64]
    participation: float


def recover_moments(crowd: Crowd, parts: Sequence[Evidence], rules: Rules) -> Moments:
    """Maximum likelihood of (answers, NULL) from all symbols together; concave, so it arrives."""
    size = crowd.scale.size
    totals = [part.per_task.sum(axis=0) for part in parts]
    hidden = any(part.hidden for part in parts)

    def expected(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        given = point[:size] / point[:size].sum()
        objective, counts = 0.5 * float(np.log(point).sum()), np.full(len(point), 0.5)
        for part, total in zip(parts, totals):
            rows = point if part.hidden else given
            chance = rows @ part.table
            objective += float(total @ np.log(chance))
            counts[: len(rows)] += rows * (part.table @ (total / chance))
        return objective, counts

    start = np.full(size + hidden, 1 / (size + hidden))
    point = climb(expected, (len(start),), start, max_iterations=rules.max_iterations).point
    share = float(point[:size].sum())
    return Moments(point[:size] / share, share)


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of symbols per task; tasks with the same counts are one, with a multiplicity."""

    counts: list[NDArray[np.float64]]  # for every part, different tasks × symbols
    pinned: NDArray[np.intp]  # the grid point of a gold task, −1 elsewhere
    times: NDArray[np.float64]  # how many tasks are like this
    place: NDArray[np.intp]  # where each task of the campaign stands

    @cached_property
    def together(self) -> NDArray[np.float64]:
        """A one for the prior, and the counts of all parts: one product gives all likelihoods."""
        return np.column_stack([np.ones(len(self.times)), *self.counts])

    @staticmethod
    def of(parts: Sequence[Evidence], pinned: NDArray[np.intp]) -> Tally:
        """Count, and merge what is the same."""
        counts = [part.per_task for part in parts]
        rows, place, times = np.unique(
            np.column_stack([*counts, pinned]), axis=0, return_inverse=True, return_counts=True
        )
        *merged, pins = np.split(rows, np.cumsum([each.shape[1] for each in counts]), axis=1)
        return Tally(merged, pins[:, 0].astype(np.intp), times.astype(float), place.ravel())

    def thinned(self, number: int) -> Tally:
        """About `number` of the different tasks, evenly chosen."""
        every = slice(None, None, max(1, len(self.times) // number))
        counts = [each[every] for each in self.counts]
        return Tally(counts, self.pinned[every], self.times[every], self.place[:0])


@dataclass(frozen=True, eq=False)
class Pooled:
    """The pooled model of one campaign; a point is (weights of the shapes, ω, ρ, 1 − ρ)."""

    crowd: Crowd
    parts: tuple[Evidence, ...]
    moments: Moments
    tally: Tally

    @property
    def cells(self) -> float:
        """How many cells have been reported."""
        return sum(float(part.per_task.sum()) for part in self.parts)

    def every(self, step: int) -> Pooled:
        """The same model on the reports of about one worker in `step`."""
        parts = tuple(part.every(step) for part in self.parts)
        return replace(self, parts=parts, tally=Tally.of(parts, self.pinned))

    @property
    def pinned(self) -> NDArray[np.intp]:
        """The grid point of every gold task of the campaign, −1 elsewhere."""
        return self.tally.pinned[self.tally.place]

    @cached_property
    def answered(self) -> list[NDArray[np.float64]]:
        """P(symbol | θ, kind, answered): kinds × grid × symbols, for every part."""
        size = self.crowd.scale.size
        return [self.crowd.answers @ part.table[:size] for part in self.parts]

    @cached_property
    def base(self) -> NDArray[np.float64]:
        """The prior weights of the shapes."""
        return np.maximum(self.crowd.base(self.moments.answers), SMALLEST)

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

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Of the groups that a point consists of; each sums to one."""
        return len(self.base), len(self.crowd.deviations), 2

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
        mass, likelihood = self._posterior(point)
        return mass[self.tally.place], likelihood

    def _posterior(self, point: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """The same, for different tasks only."""
        weights, _, _ = self.split(point)
        prior = np.log(np.maximum(weights @ self.crowd.shapes, 1e-300))
        symbols = [np.log(whole).T for _, whole in self.likelihoods(point)]
        logs = self.tally.together @ np.concatenate([prior[None, :], *symbols])
        mass, evidence = pin(*normalised_exp(logs), logs, self.tally.pinned)
        return mass, float(evidence @ self.tally.times)

    def expected(self, point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The log-likelihood with the weak priors of the parameters, and its E step.

        Expected counts of shapes, of kinds, and of cells that were and were not answered.
        """
        weights, kinds, share = self.split(point)
        mass, likelihood = self._posterior(point)
        times, shapes = self.tally.times, self.crowd.shapes
        prior = np.maximum(weights @ shapes, 1e-300)
        of_shapes = weights * (shapes @ (times @ mass / prior)) + PRIOR_TASKS * self.base
        of_kinds, of_cells = np.full(len(kinds), _PRIOR_CELLS), np.full(2, 0.5)
        pieces = zip(self.parts, self.tally.counts, self.answered, self.likelihoods(point))
        for part, counts, answered, (given, whole) in pieces:
            cells = (mass.T @ (times[:, None] * counts)) / whole  # per unit of probability
            present = cells * share if part.hidden else cells
            of_kinds += kinds * np.tensordot(answered, present, ([1, 2], [0, 1]))
            if part.hidden:
                absent = (1 - share) * float((cells @ part.table[-1]).sum())
                of_cells += float((present * given).sum()), absent
        log_prior = PRIOR_TASKS * self.base @ np.log(weights) + _PRIOR_CELLS * np.log(kinds).sum()
        objective = likelihood + float(log_prior + 0.5 * np.log(point[-2:]).sum())
        return objective, np.concatenate([of_shapes, of_kinds, of_cells])

    def shrunk(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """The prior drawn back to the flat one by as much as chance alone could have moved it.

        If nothing but chance is at work, twice the gain in log-likelihood over the flat prior is
        about chi-square, with a degree of freedom for the prior's place. So the learned
        prior keeps the share 1 − freedom / (2·gain), as James and Stein would have it.
        """
        weights, kinds, _ = self.split(point)
        flat = self._flat()
        unlearned = np.concatenate([flat, kinds, point[-2:]])
        gain = self._posterior(point)[1] - self._posterior(unlearned)[1]
        kept = max(0.0, 1 - _FREEDOM / (2 * gain)) if gain > 0 else 0.0
        mixed = kept * weights + (1 - kept) * flat
        return np.concatenate([mixed, kinds, point[-2:]])

    def unlearned(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """A flat prior and kinds in equal shares; participation is kept."""
        kinds = len(self.crowd.deviations)
        return np.concatenate([self._flat(), np.full(kinds, 1 / kinds), point[-2:]])

    def _flat(self) -> NDArray[np.float64]:
        size = self.crowd.scale.size
        return np.maximum(self.crowd.base(np.full(size, 1 / size)), SMALLEST)

    def fit(self, rules: Rules) -> Ascent:
        """Climb from the moments until nothing moves.

        Of very many tasks a part shows the way up, and all of them lead to the top.
        """
        start = self.start()
        if len(self.tally.times) > _MANY:
            start = replace(self, tally=self.tally.thinned(_MANY // 4)).fit(rules).point
        return climb(self.expected, self.sizes, start, max_iterations=rules.max_iterations)


def pin(
    mass: NDArray[np.float64],
    evidence: NDArray[np.float64],
    logs: NDArray[np.float64],
    pinned: NDArray[np.intp],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gold tasks have all of their mass on the known truth; mass and evidence of every task."""
    gold = np.flatnonzero(pinned >= 0)
    if gold.size:
        mass, evidence = mass.copy(), evidence.copy()
        mass[gold] = 0
        mass[gold, pinned[gold]] = 1
        evidence[gold] = logs[gold, pinned[gold]]
    return mass, evidence
