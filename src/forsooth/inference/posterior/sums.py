"""Sums over tasks (`mf`, `mf-safe`): a Gaussian factor on the crowd's mean answers μ_j.

    crowd      μ_j = Σ_c ω_c·Σ_a value(a)·R_c(a | θ_j)
    mf-safe    (t_j, e_j) ~ N((η_j·(μ_j − middle), η_j), V), independent
               η_j ~ N(η, τ²);  η: flat prior
    mf         f ~ N(B μ, C),   column j of B = E[A v_j·1(j is answered) | α, κ]
               A = (G + λI)⁻¹,   G = Σ v_j v_jᵀ and g = Σ v_j over the tasks that a worker answers
               worker i answers each task with probability ζ_i;  ln ζ_i ~ N(−α·ln n, κ²),
               truncated to −ln(2n) … 0;  n: number of tasks
               ln P(S | α, κ, γ, β) = −ν/2·(ln det M + tr(M⁻¹ S)) + constant
               M = E[2(D/ε)²A² + γ²AGA + β²·b bᵀ | α, κ] + μ̄²·Cov[A g | α, κ],   b = E[A g | ζ]
               α, κ ~ Uniform(0, 1);  γ, β ~ Uniform(0, D/2)

Numbers are clipped, so that one report has a bounded influence: see `plausible` of mf-safe, and
`clipped` for mf.
mf-safe: t_j and e_j are means over workers of the readings of a task's value and presence, V is
their covariance. Signs are random, so errors of different tasks are uncorrelated. Collisions of
tasks move t_j and e_j together, so e_j tells part of the error of t_j.
mf: f is the mean profile, S the profiles' covariance, v_j the profile of task j, λ the ridge. The
share ζ of tasks that a worker answers is not in the report, but the more are answered, the less
noise passes A. So ζ is learned from S, with γ and β the standard deviations of answers and of
workers' biases, and μ̄ the mean answer. α, κ, γ, β are drawn from their posterior given S.
E[A] is a deterministic equivalent (Couillet and Debbah 2011, Random Matrix Methods for Wireless
Communications, ch. 6), E[A²] its slope.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.special import ndtr, softmax

from forsooth.inference.posterior.integrate import sample
from forsooth.mechanisms import MatrixFactorization, SafeFactorization
from forsooth.mechanisms.base import BLOCK_CELLS
from forsooth.mechanisms.matrix_factorization import MIN_RIDGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forsooth.reports import Reports

Array = NDArray[np.float64]

_LARGEST = np.array(
    [  # of mf's unknowns, uniform from 0
        1.0,  # α: from all tasks to one answer per worker
        1.0,  # κ: from equal workers to a factor of e either way
        0.5,  # γ in ranges of the scale: the largest possible
        0.5,  # β, likewise
    ]
)
_RATES = 20  # points of ζ
_FREEDOM = 500.0  # degrees of freedom × d at most: no model of a covariance is exact
_TAILS = 2.0  # kurtosis of Laplace noise relative to the normal: W / 2 degrees of freedom
_FARTHEST = 12.0  # median deviations: 1 in 2¹² of Laplace noise is beyond
_STEP, _TOLERANCE, _ITERATIONS = 1e-3, 1e-10, 500  # of the derivative and of the fixed point


@dataclass(frozen=True, eq=False)
class Sums:
    """The factor of all sum-type reports of a campaign."""

    workers: tuple[str, ...]
    support: Array  # expected number of answers per task
    participation: float  # estimated share of answered cells
    sketches: Sequence[Sketches]
    profiles: Sequence[Profiles]

    @classmethod
    def of(cls, reports: Sequence[Reports]) -> Sums | None:
        """The factor of the reports of mf and mf-safe among these; None if there are none."""
        kinds = MatrixFactorization | SafeFactorization
        sums = [each for each in reports if isinstance(each.mechanism, kinds) and each.workers]
        if not sums:
            return None
        groups: dict[str, list[Reports]] = {}
        for each in sums:
            groups.setdefault(each.mechanism.to_json(), []).append(each)
        sketches, profiles = [], []
        for group in groups.values():
            if isinstance(mechanism := group[0].mechanism, SafeFactorization):
                sketches.append(Sketches.of(mechanism, group))
            elif isinstance(mechanism, MatrixFactorization):
                profiles.append(Profiles.of(mechanism, np.concatenate([x.values for x in group])))
        names = tuple(name for each in sums for name in each.workers)
        support = np.sum([s.support for s in sketches] + [p.support for p in profiles], axis=0)
        return cls(names, support, float(support.mean()) / len(names), sketches, profiles)

    def message(self, mean: Array, variance: Array) -> tuple[Array, Array, float]:
        """Location and precision of the message about every μ_j; log evidence, but for a constant.

        With a cavity N(mean_j, v = variance_j) the posterior marginal is N(mean_j + v g, v − v² a);
        their ratio has precision a / (1 − v a), location mean_j + g / a.
        """
        pull, precision, log = np.zeros_like(mean), np.zeros_like(mean), 0.0
        for gap, noise, share in (part.seen(mean, variance) for part in self.sketches):
            pull, precision = pull + share * gap / noise, precision + share**2 / noise
            log -= 0.5 * float((np.log(noise) + gap**2 / noise).sum())
        left = 1 / (1 + variance * precision)
        log += 0.5 * float((variance * left * pull**2 + np.log(left)).sum())
        g, a = left * pull, left * precision
        if self.profiles:
            gaps, noises, maps = zip(*(part.seen(mean) for part in self.profiles))
            rows = np.concatenate(maps)
            gap = np.concatenate(gaps) - rows @ (variance * g)
            total = (rows * variance * left) @ rows.T + block_diag(*noises)
            solved = np.linalg.solve(total, np.column_stack([rows, gap]))
            log -= 0.5 * float(gap @ solved[:, -1] + np.linalg.slogdet(total)[1])
            g = g + left * (gap @ solved[:, :-1])
            a = a + left**2 * (rows * solved[:, :-1]).sum(axis=0)
        a = np.maximum(a, np.finfo(float).tiny)
        return mean + g / a, a / np.maximum(1 - variance * a, np.finfo(float).eps), log


class Sketches(NamedTuple):
    """What the sums of `mf-safe` say: value_j = share_j (μ_j − middle) + noise."""

    support: Array
    centre: float  # the middle of the scale
    share: Array  # E[η_j | e_j]
    value: Array  # t_j − slope·(e_j − share_j)
    slope: float  # of the error of t_j on that of e_j
    noise: float  # variance of what the slope leaves of the error of t_j
    doubt: float  # variance of η_j, given e_j

    @staticmethod
    def of(mechanism: SafeFactorization, group: Sequence[Reports]) -> Sketches:
        """Means and covariance of the readings; the covariance is the same for all tasks."""
        workers, tasks = sum(len(each.workers) for each in group), len(group[0].tasks)
        means, squares, step = np.zeros((2, tasks)), np.zeros((2, 2)), 1 + BLOCK_CELLS // tasks
        for each, at in ((x, at) for x in group for at in range(0, len(x.workers), step)):
            names, values = each.workers[at : at + step], each.values[at : at + step]
            readings = np.stack(mechanism.sums(replace(each, workers=names, values=values)))
            means += readings.sum(axis=1) / workers
            squares += np.tensordot(readings, readings, ((1, 2), (1, 2))) / (workers * tasks)
        unit = mechanism.presence * 2.0**mechanism.grid
        noise = mechanism.noise_variance() / workers * np.diag([1, unit**-2])
        covariance = (squares - means @ means.T / tasks + noise) / workers  # noise: one more worker
        (first, both), (_, second) = covariance
        popularity = max(0.0, float(means[1].var()) - second)
        trust, rate = popularity / (popularity + second), means[1].mean()
        share = np.clip(rate + trust * (means[1] - rate), 1 / (workers * tasks), 1)
        value = means[0] - both / second * (means[1] - share)
        left, doubt = first - both**2 / second, second * (trust + (1 - trust) / tasks)
        return Sketches(workers * share, mechanism.centre, share, value, both / second, left, doubt)

    def seen(self, mean: Array, variance: Array) -> tuple[Array, Array, Array]:
        """Return value_j − share_j (mean_j − middle), its variance at μ_j = mean_j, and share_j."""
        along = mean - self.centre
        noise = self.noise + self.doubt * ((along - self.slope) ** 2 + variance)
        return self.value - self.share * along, noise, self.share


class Profiles(NamedTuple):
    """What the profiles of `mf` say."""

    support: Array
    mean: Array  # f
    covariance: Array  # C
    maps: Array  # B for every ζ: rates × d × tasks
    shares: Array  # of the rates, at every point of the unknowns' posterior

    @staticmethod
    def of(mechanism: MatrixFactorization, profiles: Array) -> Profiles:
        """Draw the unknowns given the covariance of the profiles."""
        profiles = clipped(profiles)
        (workers, d), mean, scale = profiles.shape, profiles.mean(axis=0), mechanism.scale
        squares, tasks = (profiles - mean).T @ (profiles - mean), len(mechanism.profiles)
        squares += _TOLERANCE * np.trace(squares) * np.eye(d)  # one outlier would be singular
        rates = np.geomspace(0.5 / tasks, 1, _RATES)
        maps, basis = _moments(mechanism, rates)
        freedom = min(_FREEDOM / d, (workers - 1) / _TAILS)

        def modelled(z: Array) -> tuple[Array, Array]:
            """Shares of the rates, and the covariance of a profile."""
            centre, width, *deviations = (ndtr(z) * _LARGEST).T
            distance = (np.log(rates) + centre[:, None] * np.log(tasks)) / width[:, None]
            shares = softmax(-0.5 * distance**2, axis=1)
            level = shares @ maps.sum(axis=2)
            mu = np.clip(mean.sum() / level.sum(axis=1), scale.low, scale.high)
            sizes = np.column_stack([np.ones(len(z)), *deviations, mu]) ** 2
            models = np.tensordot(sizes[:, :, None] * shares[:, None], basis, 2)
            return shares, models - np.einsum("p,pi,pj->pij", mu**2, level, level)

        def loglik(z: Array) -> Array:
            models = modelled(z)[1]
            traces = np.trace(np.linalg.solve(models, squares[None]), axis1=1, axis2=2)
            logs: Array = np.linalg.slogdet(models)[1] + traces / max(1, workers - 1)
            scaled: Array = -0.5 * freedom * logs
            return scaled

        shares, models = modelled(sample(loglik, len(_LARGEST), np.random.default_rng(0)))
        covariance = squares + 2 * d * models.mean(axis=0)  # the model: 2d more workers
        covariance /= (workers - 1 + 2 * d) * workers
        support = np.full(tasks, workers * (shares.mean(axis=0) @ rates))
        return Profiles(support, mean, covariance, maps, shares)

    def seen(self, mean: Array) -> tuple[Array, Array, Array]:
        """Return f − B·mean, its covariance (C and what the uncertainty of B adds), and B."""
        expected = self.shares @ (self.maps @ mean)
        apart = expected - expected.mean(axis=0)
        noise = self.covariance + apart.T @ apart / len(apart)
        rows = np.tensordot(self.shares.mean(axis=0), self.maps, 1)
        return self.mean - rows @ mean, noise, rows


def clipped(profiles: Array) -> Array:
    """Numbers as far as they are within _FARTHEST median deviations of their median."""
    middle = np.median(profiles, axis=0)
    most = _FARTHEST * np.median(np.abs(profiles - middle), axis=0)
    return profiles.clip(middle - most, middle + most)


def _moments(mechanism: MatrixFactorization, rates: Array) -> tuple[Array, Array]:
    """Return B for every ζ, and what 1, γ², β² and μ̄² are multiplied with in the covariance."""
    v, unit, noise = mechanism.matrix, mechanism.scale.range**2, 2 / mechanism.epsilon**2
    steps = mechanism.steps if mechanism.solver == "gradient-descent" else np.inf  # early stopping
    ridge = np.maximum(mechanism.ridge + rates * (v**2).sum() / steps, MIN_RIDGE)[:, None, None]
    mean, maps = _resolvent(v, rates, ridge)
    (less, _), (more, _) = (_resolvent(v, rates, ridge * x) for x in (1 - _STEP, 1 + _STEP))
    own, level = (less - more) / (2 * ridge * _STEP), maps.sum(axis=2)
    slope = np.gradient(level, np.log(rates), axis=0)
    bias, chance = (x[:, :, None] * x[:, None] for x in (level, slope))
    chance = bias + chance * ((1 / rates - 1) / v.shape[1])[:, None, None]  # of how many answers
    return maps, unit * np.array([noise * own, mean - ridge * own, bias, chance / unit])


def _resolvent(v: Array, rates: Array, ridge: Array) -> tuple[Array, Array]:
    """Return E[A] and B for A = (Σ v_j v_jᵀ + ridge)⁻¹ over tasks answered with probability ζ.

    E[A] = (Σ w_j v_j v_jᵀ + ridge)⁻¹, B_j = w_j E[A] v_j, w_j = ζ / (1 + (1 − ζ) u_j), with
    v_jᵀ E[A] v_j = u_j (1 + (1 − ζ) u_j) / (1 + u_j): Sherman-Morrison with u_j at its mean.
    """
    weight = (rate := rates[:, None, None]) + np.zeros(v.shape[1])
    for _ in range(_ITERATIONS):
        mean: Array = np.linalg.inv((v * weight) @ v.T + ridge * np.eye(len(v))).astype(float)
        own = (v * (mean @ v)).sum(axis=1, keepdims=True)
        alone = 2 * own / (1 - own + np.sqrt((1 - own) ** 2 + 4 * (1 - rate) * own))
        last, weight = weight, rate / (1 + (1 - rate) * alone)
        if (np.abs(weight - last) <= _TOLERANCE * rate).all():
            break
    return mean, mean @ (v * weight)
