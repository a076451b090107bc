"""The model for the estimands `level` and `label`.

    scale      D = highest − lowest, middle = their mean, step = max(median gap, D/20)
    globals    independent
      level    m ~ Uniform(middle ± place_reach·D)
               ln s ~ N(ln(spread·D), spread_sd²)
               u ~ N(ln(error·D), error_sd²)
      label    h_a ~ N(0, truth_sd²), for every answer a
               u ~ N(logit accuracy, accuracy_sd²)
      both     ln d ~ N(ln dispersion, dispersion_sd²)
               logit g ~ N(logit other_kinds, unknown_sd²)
               logit ρ ~ N(logit participation, unknown_sd²), if participation is hidden
    truth      θ_j ~ π, of task j
      level    π = w·N(m, s²) clipped to the scale + (1 − w)·Uniform(scale)
               w ~ Beta(normal_weight, uniform_weight)
      label    π ~ Dirichlet(truth_weight·softmax(h) + uniform_weight/K), over the answers
    kind       c_i ~ ω, of worker i;  ω ~ Dirichlet(kinds_weight·ω₀)
               ω₀: rung k of the ladder has (1 − g)·exp(−(x_k − u)²/(2d²)) / Σ over the rungs;
               the other kinds share g equally; the variants of a kind share its part equally
      level    x_k = ln σ_k;  σ_k = smallest_error·step·error_ratio^k, k = 0, 1, … to the first ≥ D
      label    x_k = logit ψ_k = logit accuracy + accuracy_step·k, k = −3…3
    rate       r_i ~ χ, r = −2…2, if participation is hidden;  χ ~ Dirichlet(rates_weight·χ₀)
               χ₀ in proportion to exp(−rate_step·|r|/rate_spread)
    answered   each task with probability ρ_r;  logit ρ_r = ν + rate_step·r,
               ν such that Σ_r χ_r·ρ_r = ρ
               if participation is public, the answered cells are given: ρ_r = 1 there
    answer     a_ij ~ R_c(· | θ_j)
      level    rung k: θ_j + N(0, σ_k²), rounded to the nearest answer
      label    R_c(· | θ) ~ Dirichlet(row_weight·row) for every kind c, θ; the row of rung k is
               ψ_k·own + (1 − ψ_k)·(neighbours·near + (1 − neighbours)·popular)
    report     y_ij ~ W[a_ij, ·], or W[NULL, ·] if not answered: the known rows of the channel

    p_{c,r}(y | θ) = (1 − ρ_r)·W[NULL, y] + ρ_r·Σ_a R_c(a | θ)·W[a, y]

The named numbers are in `priors`, the other kinds, `near` and `popular` in `kinds`. In the code
every global number is a function of its own z ~ N(0, 1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit, ndtr

from forsooth.inference.posterior import kinds
from forsooth.inference.posterior.kernels import softmax
from forsooth.inference.posterior.kinds import Setting, rounded_normal
from forsooth.inference.posterior.priors import PRIORS, Priors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.scale import Scale

    Array = NDArray[np.float64]

_PER_STEP = 8  # nodes between two answers: the likelihood is smooth on them
_STEPS = 20  # a finer scale counts as one of twenty steps
_REACH, _ACROSS = 2.4, 9  # points of place and of spread, and how far they reach in deviations
_REFINED = 6  # times at most that these are moved to where the evidence is
RATES = np.arange(-2, 3)  # rungs of the ladder of participation rates, in rate steps
RUNGS = np.arange(-3, 4)  # of the ladder of accuracies, in accuracy steps


class TruthPrior(ABC):
    """π; its weights are learned round by round."""

    weights: Array

    @abstractmethod
    def beliefs(self, likelihood: Array, grid: Array | None = None) -> Array:
        """P(θ_j | everything) of ln likelihoods, tasks × grid (default: the nodes)."""


class Crowd(ABC):
    """The model of one campaign's crowd; z are its global numbers, one row per point."""

    learns: bool  # are the kinds' responses learned?
    nodes: Array  # the possible truths
    base: Array  # P(answer | truth): kinds × nodes × answers
    others: Array  # shares of the kinds beside the ladder, among themselves
    placed = False  # are place and spread those of the point? `mf` alone couples all tasks

    def __init__(self, scale: Scale, popular: Array, hidden: bool, priors: Priors) -> None:
        self.scale, self.popular, self.hidden, self.priors = scale, popular, hidden, priors
        self.values = np.asarray(scale.values, float)
        median = float(np.median(np.diff(self.values)))
        self.step = max(median, scale.range / _STEPS)

    @property
    @abstractmethod
    def dimensions(self) -> int:
        """The number of global numbers."""

    @abstractmethod
    def truths(self, z: Array) -> TruthPrior:
        """π at one point of the global numbers, to be learned from the tasks' likelihoods."""

    @abstractmethod
    def ladder_shares(self, z: Array) -> Array:
        """Points × rungs: shares of workers who follow the ladder, summing to 1."""

    @abstractmethod
    def prior(self, z: Array, grid: Array) -> Array:
        """Points × grid: π before any task is seen."""

    def shares(self, z: Array) -> Array:
        """ω₀, points × kinds."""
        p = self.priors
        other = expit(logit(p.other_kinds) + p.unknown_sd * z[:, self._other])[:, None]
        return np.hstack([(1 - other) * self.ladder_shares(z), other * self.others])

    def participation(self, z: Array) -> Array:
        """The mean participation rate of every point."""
        if not self.hidden:
            return np.ones(len(z))
        p = self.priors
        mean: Array = expit(logit(p.participation) + p.unknown_sd * z[:, -1])
        return mean

    def rates(self, mean: float, shares: Array) -> Array:
        """ρ: a ladder in logits whose mean, with these shares, is the mean participation."""
        if not self.hidden:
            return np.ones(1)
        low, high = -40.0, 40.0
        for _ in range(60):
            middle = (low + high) / 2
            rates: Array = expit(middle + self.priors.rate_step * RATES)
            low, high = (middle, high) if shares @ rates < mean else (low, middle)
        return rates

    @cached_property
    def rate_shares(self) -> Array:
        """χ before any report is seen."""
        if not self.hidden:
            return np.ones(1)
        weights: Array = np.exp(-self.priors.rate_step / self.priors.rate_spread * np.abs(RATES))
        shares: Array = weights / weights.sum()
        return shares

    @property
    @abstractmethod
    def _other(self) -> int:
        """Which global number is the share of workers of other kinds."""

    def mean_answers(self, z: Array) -> tuple[Array, Array]:
        """Mean and variance over tasks of the mean answer to a task, for every point."""
        expected = np.tensordot(self.shares(z), self.base, 1) @ self.values
        prior = self.prior(z, self.nodes)
        mean = (prior * expected).sum(axis=1)
        return mean, (prior * expected**2).sum(axis=1) - mean**2

    def deviations(self, responses: Array, truths: Array) -> Array:
        """Of every kind the root mean square distance of answers from truths with these shares."""
        squares = (self.values - self.nodes[:, None]) ** 2
        distance: Array = np.sqrt((responses * squares).sum(axis=2) @ truths / truths.sum())
        return distance


def _lognormal(ladder: Array, centre: Array, width: Array) -> Array:
    weights = np.exp(-0.5 * ((ladder - centre[:, None]) / width[:, None]) ** 2) + 1e-9
    shares: Array = weights / weights.sum(axis=1, keepdims=True)
    return shares


class Level(Crowd):
    """One true value on the ordered scale. z: place, spread, error, dispersion, other kinds."""

    learns = False
    _other = 4

    def __init__(self, scale: Scale, popular: Array, hidden: bool, priors: Priors = PRIORS) -> None:
        super().__init__(scale, popular, hidden, priors)
        steps = scale.range / self.step
        self.nodes = np.linspace(scale.low, scale.high, round(steps * _PER_STEP) + 1)
        smallest = priors.smallest_error * self.step
        rungs = int(np.ceil(np.log(scale.range / smallest) / np.log(priors.error_ratio))) + 1
        self.errors = smallest * priors.error_ratio ** np.arange(rungs)
        self.base = self.responses(self.nodes)
        self.others = kinds.shares(kinds.LEVEL, self._setting(self.nodes))
        self.weights = np.array([priors.normal_weight, priors.uniform_weight])

    def _setting(self, grid: Array) -> Setting:
        error = self.priors.error * self.scale.range
        typical = rounded_normal(self.values, grid, error)
        return Setting(self.values, grid, typical, self.priors.favourite)

    def responses(self, grid: Array) -> Array:
        """P(answer | truth) of every kind on a grid."""
        ladder = [rounded_normal(self.values, grid, error) for error in self.errors]
        return kinds.tables(ladder, kinds.LEVEL, self._setting(grid))

    @property
    def dimensions(self) -> int:
        """Five, and participation."""
        return 5 + self.hidden

    def place(self, z: Array) -> tuple[Array, Array]:
        """Centre and spread of the normal part of π."""
        p, width = self.priors, self.scale.range
        place = self.scale.middle + p.place_reach * width * (2 * ndtr(z[:, 0]) - 1)
        return place, width * p.spread * np.exp(p.spread_sd * z[:, 1])

    def ladder_shares(self, z: Array) -> Array:
        """Log-normal in the error."""
        p = self.priors
        centre = np.log(self.scale.range * p.error) + p.error_sd * z[:, 2]
        width = p.dispersion * np.exp(p.dispersion_sd * z[:, 3])
        return _lognormal(np.log(self.errors), centre, width)

    def prior(self, z: Array, grid: Array) -> Array:
        """The mixture with its expected weights."""
        normal, uniform = self.weights / self.weights.sum()
        mixed: Array = normal * self.normal(grid, *self.place(z)) + uniform / len(grid)
        return mixed

    def truths(self, z: Array) -> LevelPrior:
        """Place and spread are integrated given the likelihoods, unless they are `placed`."""
        return LevelPrior(self, z[:2] if self.placed else None)

    @staticmethod
    def normal(grid: Array, place: Array, spread: Array) -> Array:
        """N(place, spread²) clipped to the scale, as masses on the grid."""
        cuts = (grid[1:] + grid[:-1]) / 2
        below = ndtr((cuts - place[:, None]) / spread[:, None])
        padded = np.pad(below, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1)))
        return np.maximum(np.diff(padded), 1e-300)


class Label(Crowd):
    """One of the answers is right. z: their shares, accuracy, dispersion, other kinds."""

    learns = True

    def __init__(
        self, scale: Scale, popular: Array, hidden: bool, priors: Priors = PRIORS, *, ordered: bool
    ) -> None:
        super().__init__(scale, popular, hidden, priors)
        self.nodes, self.ordered = self.values, ordered
        size, ranked = scale.size, ordered and scale.size > 2
        apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(float)
        near = np.where(apart == 0, 0, np.exp(-apart * ranked))  # any other, without an order
        near /= near.sum(axis=1, keepdims=True)
        neighbours = priors.neighbours if ranked else 0.0
        wrong = neighbours * near + (1 - neighbours) * popular
        self.accuracies = expit(logit(priors.accuracy) + priors.accuracy_step * RUNGS)
        ladder = [q * np.eye(size) + (1 - q) * wrong for q in self.accuracies]
        at = Setting(self.values, self.nodes, ladder[len(ladder) // 2], priors.favourite)
        self.base = kinds.tables(ladder, kinds.LABEL, at)
        self.others = kinds.shares(kinds.LABEL, at)

    def deviations(self, responses: Array, truths: Array) -> Array:
        """Without an order, the share of wrong answers."""
        if self.ordered:
            return super().deviations(responses, truths)
        wrong: Array = 1 - np.diagonal(responses, axis1=1, axis2=2) @ truths / truths.sum()
        return wrong

    @property
    def _other(self) -> int:
        return self.scale.size + 2

    @property
    def dimensions(self) -> int:
        """One per answer, three, and participation."""
        return self.scale.size + 3 + self.hidden

    def ladder_shares(self, z: Array) -> Array:
        """Normal in the logit of the accuracy."""
        p, size = self.priors, self.scale.size
        centre = logit(p.accuracy) + p.accuracy_sd * z[:, size]
        width = p.dispersion * np.exp(p.dispersion_sd * z[:, size + 1])
        return _lognormal(logit(self.accuracies), centre, width)

    def prior(self, z: Array, grid: Array) -> Array:
        """Softmax."""
        weights = np.exp(self.priors.truth_sd * z[:, : self.scale.size])
        shares: Array = weights / weights.sum(axis=1, keepdims=True)
        return shares

    def truths(self, z: Array) -> LabelPrior:
        """The shares of the labels, around those of the point."""
        p, shares = self.priors, self.prior(z[None], self.nodes)[0]
        return LabelPrior(p.truth_weight * shares + p.uniform_weight / len(shares))


class LabelPrior(TruthPrior):
    """Shares of the labels: the mean of their Dirichlet posterior."""

    def __init__(self, firmness: Array) -> None:
        self.firmness = firmness
        self.weights = firmness / firmness.sum()

    def beliefs(self, likelihood: Array, grid: Array | None = None) -> Array:
        """One step of expectation maximisation."""
        found = softmax(likelihood + np.log(self.weights))
        counts = self.firmness + found.sum(axis=0)
        self.weights = counts / counts.sum()
        return found


class LevelPrior(TruthPrior):
    """Place and spread integrated by adaptive quadrature; weights of both parts learned."""

    def __init__(self, crowd: Level, point: Array | None = None) -> None:
        self.crowd, self.point = crowd, point
        self.weights = crowd.weights / crowd.weights.sum()

    def beliefs(self, likelihood: Array, grid: Array | None = None) -> Array:
        """Σ_g w_g·P(θ_j | place and spread g), w_g by the evidence of all tasks."""
        grid = self.crowd.nodes if grid is None else grid
        evidence = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
        normal, chance, total = self._quadrature(evidence, grid)
        part = chance / total  # tasks × points: w_g / Z_jg
        uniform = self.weights[1] / len(grid) * (evidence.sum(axis=1) * part.sum(axis=1)).sum()
        counts = self.crowd.weights + np.array([len(evidence) - uniform, uniform])
        found: Array = evidence * (part @ self._mixed(normal))
        self.weights = counts / counts.sum()
        return found

    def _mixed(self, normal: Array) -> Array:
        mixed: Array = self.weights[0] * normal + self.weights[1] / normal.shape[1]
        return mixed

    def _quadrature(self, evidence: Array, grid: Array) -> tuple[Array, Array, Array]:
        """Points of place and spread: their normals, weights and every task's evidence."""
        centre, width = np.zeros(2), np.ones(2)
        axis = np.linspace(-_REACH, _REACH, _ACROSS)
        if self.point is not None:
            centre, axis = self.point, np.zeros(1)
        for _ in range(_REFINED):
            z = centre + width * np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
            normal = self.crowd.normal(grid, *self.crowd.place(z))
            total = np.maximum(evidence @ self._mixed(normal).T, 1e-300)
            logs = np.log(total).sum(axis=0) - 0.5 * (z**2).sum(axis=1)
            chance = np.exp(logs - logs.max())
            chance /= chance.sum()
            centre = chance @ z
            spread = np.sqrt(np.maximum(chance @ (z - centre) ** 2, 0))
            spacing = width * np.ptp(axis) / max(1, len(axis) - 1)
            if (spread >= 0.7 * spacing).all():
                break
            width = np.maximum(spread, 0.5 * spacing)
        return normal, chance, total
