"""The pooled model: every cell is answered by a worker of a random kind.

Sufficient statistics are the counts of report symbols per task, so that an iteration costs the
same for a thousand workers and for a million. With ρ the share of answered cells, ω the shares of
the kinds and W the channel,

    P(y | θ, φ) = (1 − ρ_φ)·W[NULL, y] + ρ_φ·Σ_a Σ_k ω_k P_k(a | θ)·W[a, y]

where participation is hidden, and the log-likelihood is

    Σ_j ln Σ_θ Σ_φ π(θ) χ(φ) ∏_y P(y | θ, φ)^N[j, y].

Here φ is how popular a task is: ρ_φ has φ times the odds of ρ. All tasks are alike (φ = 1) unless
the reports speak clearly against it; then φ is one of a ladder. Where participation is public, it
may tell of the truths: if tasks with few answers clearly have other truths than those with many,
π(θ) is learned for groups of tasks by how many answers they have. Parameters (the prior's weights,
ω, ρ, χ) are fitted from moments: first the distribution of all answers and ρ are recovered through
the channel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from forsooth.inference.posterior.ascent import SMALLEST, Ascent, climb, shares
from forsooth.inference.posterior.model import EARNED, Crowd, normalised_exp
from forsooth.inference.posterior.picture import Picture
from forsooth.inference.posterior.tally import Moments, Tally, recover_moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.inference.estimates import Rules
    from forsooth.inference.posterior.evidence import Evidence

PRIOR_TASKS = 5.0  # the base of the prior's weights counts as much as so many tasks
PRIOR_POPULARITY = 0.5  # and every step of the ladder of popularity as much as so many
_MANY = 4000  # with more different tasks than this, the ascent begins with a part of them
_LADDER = tuple(2.5**step for step in range(-3, 4))  # how popular a task may be
_GROUPS = 6  # of tasks, by their number of answers
_PER_GROUP = 2  # what a further group of tasks is free in: where its truths lie, and how spread
_CLEARLY = 5.0  # standard deviations of what chance gives


class Parameters(NamedTuple):
    """A point of the ascent, taken apart."""

    weights: NDArray[np.float64]  # of the prior's shapes, for every group of tasks
    kinds: NDArray[np.float64]  # ω
    share: float  # ρ
    popularity: NDArray[np.float64]  # χ


def fit_pooled(
    crowd: Crowd, parts: tuple[Evidence, ...], pinned: NDArray[np.intp], rules: Rules
) -> tuple[Pooled, Ascent]:
    """The pooled model at the top of its likelihood; tasks differ if they must."""
    pooled = Pooled(crowd, parts, recover_moments(crowd, parts, rules), Tally.of(parts, pinned))
    ascent = pooled.fit(rules)
    if pooled.popularity_differs(ascent.point):
        pooled = replace(pooled, ladder=_LADDER)
        ascent = pooled.fit(rules)
    grouped = pooled.tally.grouped(pooled.public_answers, _GROUPS)
    if crowd.ordered and pooled.truths_differ(ascent.point, grouped.group):
        pooled = replace(pooled, tally=grouped)
        ascent = pooled.fit(rules)
    return pooled, ascent


@dataclass(frozen=True, eq=False)
class Pooled:
    """The pooled model of one campaign; a point is (weights of the shapes, ω, ρ, 1 − ρ, χ)."""

    crowd: Crowd
    parts: tuple[Evidence, ...]
    moments: Moments
    tally: Tally
    ladder: tuple[float, ...] = (1.0,)

    @property
    def cells(self) -> float:
        """How many cells have been reported."""
        return sum(float(part.per_task.sum()) for part in self.parts)

    def every(self, step: int) -> Pooled:
        """The same model on the reports of about one worker in `step`."""
        parts = tuple(part.every(step) for part in self.parts)
        return replace(self, parts=parts, tally=Tally.of(parts, self.pinned, self.group))

    def on_some_tasks(self, number: int) -> Pooled:
        """The same model on about so many different tasks, if there are more."""
        many = len(self.tally.times) > number
        return replace(self, tally=self.tally.thinned(number)) if many else self

    def of(self, crowd: Crowd) -> Pooled:
        """The same reports in the model of another crowd on the same scale."""
        pinned = self.tally.pinned
        moved = np.where(pinned < 0, -1, crowd.nearest(self.crowd.grid[pinned]))
        return replace(self, crowd=crowd, tally=replace(self.tally, pinned=moved))

    @property
    def pinned(self) -> NDArray[np.intp]:
        """The grid point of every gold task of the campaign, −1 elsewhere."""
        return self.tally.pinned[self.tally.place]

    @cached_property
    def group(self) -> NDArray[np.intp]:
        """The group of every task of the campaign."""
        found: NDArray[np.intp] = self.tally.group.argmax(axis=1)[self.tally.place]
        return found

    @cached_property
    def answered(self) -> list[NDArray[np.float64]]:
        """P(symbol | θ, kind, answered): kinds × grid × symbols, for every part."""
        size = self.crowd.scale.size
        return [self.crowd.answers @ part.table[:size] for part in self.parts]

    @cached_property
    def base(self) -> NDArray[np.float64]:
        """The prior weights of the shapes."""
        return np.maximum(self.crowd.base(self.moments.answers), SMALLEST)

    @property
    def groups(self) -> int:
        """How many groups of tasks have a prior of their own."""
        return int(self.tally.group.shape[1])

    @property
    def public_answers(self) -> NDArray[np.float64]:
        """How many answers each of the different tasks has, as far as everybody knows."""
        public = [
            counts.sum(axis=1)
            for part, counts in zip(self.parts, self.tally.counts)
            if not part.hidden
        ]
        return sum(public, np.zeros(len(self.tally.times)))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of the sets of shares that a point consists of; each set sums to one."""
        of_priors = (len(self.base),) * self.groups
        return *of_priors, *self.crowd.choices, 2, len(self.ladder)

    def split(self, point: NDArray[np.float64]) -> Parameters:
        """A point, taken apart."""
        pieces = self.groups * len(self.base), sum(self.crowd.choices), 2
        weights, kinds, cells, popularity = np.split(point, np.cumsum(pieces))
        weights = weights.reshape(self.groups, -1)
        return Parameters(weights, kinds, float(cells[0]), popularity)

    @property
    def price(self) -> float:
        """What all free shares together must add to the likelihood, to be worth their freedom.

        The prior's, the workers', ρ and those of the ladder; each set has one less than it is long.
        """
        chosen = sum(self.crowd.choices) - len(self.crowd.choices)
        free = len(self.base) - 1 + (self.groups - 1) * _PER_GROUP + len(self.ladder)
        return EARNED * free + self.crowd.price * chosen

    def start(self) -> NDArray[np.float64]:
        """From the moments, and what is known beforehand of workers."""
        share = float(np.clip(self.moments.participation, 1e-6, 1 - 1e-6))
        alike = np.full(len(self.ladder), 1 / len(self.ladder))
        priors = np.tile(self.base, self.groups)
        return np.concatenate([priors, self._any_kinds(), [share, 1 - share], alike])

    def rates(self, share: float) -> NDArray[np.float64]:
        """ρ_φ for every step of the ladder."""
        odds = np.array(self.ladder) * share / (1 - share)
        return odds / (1 + odds)

    def participation(self, point: NDArray[np.float64]) -> float:
        """The share of answered cells."""
        parameters = self.split(point)
        return float(parameters.popularity @ self.rates(parameters.share))

    def likelihoods(
        self, point: NDArray[np.float64]
    ) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """For every part P(y | θ, answered), grid × symbols, and P(y | θ, φ), ladder × both."""
        parameters = self.split(point)
        rates = self.rates(parameters.share)[:, None, None]
        found = []
        for part, answered in zip(self.parts, self.answered):
            given = np.tensordot(parameters.kinds, answered, 1)
            whole = rates * given + (1 - rates) * part.table[-1]
            found.append((given, whole if part.hidden else np.repeat(given[None], len(rates), 0)))
        return found

    def posterior(self, point: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """P(φ, θ | reports) for every task, tasks × ladder × grid, and the log-likelihood."""
        mass, likelihood = self._posterior(point)
        return mass[self.tally.place], likelihood

    def likelihood(self, point: NDArray[np.float64]) -> float:
        """The log-likelihood."""
        return self._posterior(point)[1]

    def evidence(self, point: NDArray[np.float64]) -> float:
        """The log-likelihood of the best point, less what it owes to freedom."""
        return self.likelihood(point) - self.price

    def picture(self, ascent: Ascent) -> Picture:
        """What the model says, with a prior that is drawn back to the flat one."""
        point = self.shrunk(ascent.point)
        return Picture(
            mass=self.posterior(point)[0].sum(axis=1),
            answers=np.tensordot(self.split(point).kinds, self.crowd.answers, 1),
            participation=self.participation(point),
            evidence=self.evidence(ascent.point),
            iterations=len(ascent.history),
            converged=ascent.converged,
        )

    def _posterior(self, point: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """The same, for different tasks only."""
        parameters = self.split(point)
        prior = log_prior(self.crowd, parameters.weights, parameters.popularity)
        symbols = [np.log(whole).transpose(2, 0, 1) for _, whole in self.likelihoods(point)]
        tables = np.concatenate([prior, *symbols])
        logs = tables.reshape(len(tables), -1).T @ self.tally.together.T  # sums over planes: fast
        shape = (*tables.shape[1:], -1)
        pin(logs.reshape(shape).transpose(2, 0, 1), self.tally.pinned)
        mass, evidence = normalised_exp(logs, axis=0)
        return mass.reshape(shape).transpose(2, 0, 1), float(evidence @ self.tally.times)

    def expected(self, point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The log-likelihood with the weak priors of the parameters, and its E step.

        Expected counts of shapes, of kinds, of answered and other cells, and of popularity. Cells
        of tasks with different popularity count such that the gradient in the odds of ρ is right.
        """
        weights, kinds, share, popularity = self.split(point)
        mass, likelihood = self._posterior(point)
        rates = self.rates(share)
        members = self.tally.group.T * self.tally.times
        per_group = np.tensordot(members, mass, 1)  # groups × ladder × grid
        of_shapes = expected_shapes(self.crowd, weights, per_group.sum(axis=1))
        of_kinds, of_cells = self.crowd.beforehand.copy(), np.full(2, 0.5)
        pieces = zip(self.parts, self.tally.counts, self.answered, self.likelihoods(point))
        for part, counts, answered, (given, whole) in pieces:
            met = self._met(mass, counts)
            present = _present(part, met / whole, rates)
            of_kinds += kinds * np.tensordot(answered, present, ([1, 2], [0, 1]))
            if part.hidden:
                all_cells = met.sum(axis=(1, 2))
                surplus = float((present * given).sum() - rates @ all_cells)
                of_cells += (
                    share * all_cells.sum() + surplus,
                    ((1 - share) * all_cells.sum() - surplus),
                )
        objective = likelihood + float(
            PRIOR_TASKS * (np.log(weights) @ self.base).sum()
            + self.crowd.beforehand @ np.log(kinds)
            + 0.5 * np.log([share, 1 - share]).sum()
            + PRIOR_POPULARITY * np.log(popularity).sum()
        )
        of_popularity = per_group.sum(axis=(0, 2)) + PRIOR_POPULARITY
        of_priors = (of_shapes + PRIOR_TASKS * self.base).ravel()
        return objective, np.concatenate([of_priors, of_kinds, of_cells, of_popularity])

    def behind(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """The expected answers behind the reports: kinds × grid × answers."""
        parameters, (mass, _) = self.split(point), self._posterior(point)
        rates, size = self.rates(parameters.share), self.crowd.scale.size
        per_chance = np.zeros((len(self.crowd.grid), size))
        for part, counts, (_, whole) in zip(self.parts, self.tally.counts, self.likelihoods(point)):
            met = self._met(mass, counts)
            per_chance += _present(part, met / whole, rates) @ part.table[:size].T
        return parameters.kinds[:, None, None] * self.crowd.answers * per_chance

    def _met(self, mass: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """How often each symbol of a part was met: ladder × grid × symbols."""
        met: NDArray[np.float64] = np.tensordot(mass.T, self.tally.times[:, None] * counts, 1)
        return met.swapaxes(0, 1)

    def popularity_differs(self, point: NDArray[np.float64]) -> bool:
        """Do the reports say that some tasks are answered more often than others?

        A score test. If all tasks have the same ρ, the derivative s_j of a task's log-likelihood
        in the log odds of its own ρ has mean 0 and variance I_j at most, the information about it.
        """
        share = self.split(point).share
        mass, _ = self._posterior(point)
        score, information = np.zeros(len(mass)), np.zeros(len(mass))
        pieces = zip(self.parts, self.tally.counts, self.likelihoods(point))
        for part, counts, (given, whole) in pieces:
            if part.hidden:
                slope = share * (1 - share) * (given - part.table[-1]) / whole[0]
                score += np.einsum("jg,gy,jy->j", mass[:, 0], slope, counts, optimize=True)
                each = (slope**2 * whole[0]).sum(axis=1)
                information += counts.sum(axis=1) * (mass[:, 0] @ each)
        times = self.tally.times
        excess = float(times @ (score**2 - information))
        deviation = float(np.sqrt(2 * times @ information**2))
        return bool(excess > _CLEARLY * deviation > 0)

    def truths_differ(self, point: NDArray[np.float64], group: NDArray[np.float64]) -> bool:
        """Do some groups of tasks (different tasks × groups) have other truths than the rest?

        If all have the same prior, posterior means have the same expectation in all groups, and n_g
        times the squared deviation of a group's mean, over their variance, sums to chi-square.
        """
        freedom = group.shape[1] - 1
        if not freedom:
            return False
        members = group * self.tally.times[:, None]
        means = self._posterior(point)[0].sum(axis=1) @ self.crowd.grid
        mean = np.average(means, weights=self.tally.times)
        variance = np.average((means - mean) ** 2, weights=self.tally.times)
        off = means @ members / members.sum(axis=0) - mean
        excess = members.sum(axis=0) @ off**2 - freedom * variance
        return bool(excess > _CLEARLY * np.sqrt(2 * freedom) * variance)

    def shrunk(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """The prior drawn back to the flat one by as much as chance alone could have moved it.

        If nothing but chance is at work, twice the gain in log-likelihood over the flat prior is
        about chi-square, with a degree of freedom for every group's place. So the learned
        prior keeps the share 1 − freedom / (2·gain), as James and Stein would have it.
        """
        flat = self._flat()
        weights, others = np.split(point, [len(flat)])
        gain = self.likelihood(point) - self.likelihood(np.concatenate([flat, others]))
        kept = max(0.0, 1 - self.groups / (2 * gain)) if gain > 0 else 0.0
        return np.concatenate([kept * weights + (1 - kept) * flat, others])

    def unlearned(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """A flat prior, and of workers what was known beforehand; participation is kept."""
        unlearned = np.concatenate([self._flat(), self._any_kinds()])
        return np.concatenate([unlearned, point[len(unlearned) :]])

    def _any_kinds(self) -> NDArray[np.float64]:
        return shares(np.log(self.crowd.beforehand), self.crowd.choices)

    def _flat(self) -> NDArray[np.float64]:
        size = self.crowd.scale.size
        flat = np.maximum(self.crowd.base(np.full(size, 1 / size)), SMALLEST)
        return np.tile(flat, self.groups)

    def fit(self, rules: Rules, start: NDArray[np.float64] | None = None) -> Ascent:
        """Climb from the moments, or a better start, until nothing moves.

        Of very many tasks a part shows the way up, and all of them lead to the top.
        """
        if len(self.tally.times) > _MANY:
            start = self.on_some_tasks(_MANY // 4).fit(rules, start).point
        start = self.start() if start is None else start
        return climb(self.expected, self.sizes, start, max_iterations=rules.max_iterations)


def _present(
    part: Evidence, cells: NDArray[np.float64], rates: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Of cells per unit of probability, ladder × grid × symbols, the answered: grid × symbols."""
    present: NDArray[np.float64] = (
        np.tensordot(rates, cells, 1) if part.hidden else cells.sum(axis=0)
    )
    return present


def log_prior(
    crowd: Crowd, weights: NDArray[np.float64], popularity: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Ln π(θ) χ(φ): groups × ladder × grid."""
    truth = np.log(np.maximum(weights @ crowd.shapes, 1e-300))
    both: NDArray[np.float64] = np.log(np.maximum(popularity, 1e-300))[:, None] + truth[:, None]
    return both


def expected_shapes(
    crowd: Crowd, weights: NDArray[np.float64], met: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How many of the truths, of which groups × grid were `met`, come from each shape."""
    prior = np.maximum(weights @ crowd.shapes, 1e-300)
    counts: NDArray[np.float64] = weights * (met / prior @ crowd.shapes.T)
    return counts


def pin(logs: NDArray[Any], pinned: NDArray[np.intp]) -> NDArray[Any]:
    """Gold tasks can be nothing but their known truth; tasks × ladder × grid."""
    gold = np.flatnonzero(pinned >= 0)
    if gold.size:
        known = logs[gold, :, pinned[gold]]
        logs[gold] = -np.inf
        logs[gold, :, pinned[gold]] = known
    return logs
