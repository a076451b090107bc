"""What profiles of `mf` tell of the mean answers, though nobody says which tasks he has answered.

A worker sends u = (G + λI)⁻¹(b − η), with G = Σ v_j v_jᵀ and b = Σ a_j v_j over his k tasks. With m
the tasks' mean answers, E[u] = R(k)·m where, over sets B of k − 1 other tasks (Sherman-Morrison),

    R(k)_j = k/n · E_B[ M v_j / (1 + v_jᵀ M v_j) ],    M = (G_B + λI)⁻¹,

which depends on public things alone. k is hidden, and with it by how much u is drawn to 0. But the
noise η is known: the more a worker has answered, the less of it is left in u. So hypotheses on how
log k is spread over the workers (normal, with some mean and width), on the variance s² of answers
and on that of the workers' biases β² are judged by the covariance of the profiles,

    Cov[u] = E[ 2(range/ε)²·M² + s²·M G M + β²·R1(R1)ᵀ ] + μ²·Cov[M G 1],

S being seen: log P(S) = −ν/2·(log|Cov| + tr(S·Cov⁻¹)), with as many degrees of freedom ν as there
are workers, fewer for tails that are heavier than the normal's. μ is what the mean of u demands.
Their shape is not used: careless workers would pass for workers who answer little.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from forsooth.inference.posterior.model import normalised_exp
from forsooth.mechanisms.matrix_factorization import MIN_RIDGE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from forsooth.inference.sketches.belief import Belief
    from forsooth.mechanisms import MatrixFactorization

    Array = NDArray[np.float64]

_RUNGS = 20  # of the ladder of k
_SETS = 100  # of tasks that R(k) is averaged over
_WIDTHS = (0.25, 0.6, 1.2)  # of log k over the workers
_CENTRES = 15  # means of log k that are tried at once
_SPREADS = (0.02, 0.08, 0.14, 0.2, 0.26, 0.32, 0.4)  # s in ranges of the scale
_BIASES = (0.0, 0.04, 0.08, 0.12, 0.17, 0.25, 0.35)  # β
_TRUSTED = 1000.0  # numbers: no model of a covariance is right to more than some per cent


class Profiled(NamedTuple):
    """x = R·m + noise, under one hypothesis on how much workers have answered."""

    weight: float
    mean: Array  # x, that of the profiles
    map: Array  # R, d × n
    covariance: Array  # of x
    participation: float
    spread: float  # √(s² + β²)

    def tell(self, belief: Belief) -> Belief:
        """What x says of all tasks together."""
        return belief.told_together(self.mean, self.map, self.covariance)

    def beside(self, other: Profiled) -> Profiled:
        """What two campaigns' x say, as one."""
        from scipy.linalg import block_diag

        return self._replace(
            mean=np.concatenate([self.mean, other.mean]),
            map=np.concatenate([self.map, other.map]),
            covariance=block_diag(self.covariance, other.covariance),
        )


@dataclass(frozen=True, eq=False)
class Ladder:
    """What is public: for each number of answers k, the map R and the noise's moments."""

    mechanism: MatrixFactorization
    counts: Array  # k
    ridges: Array
    maps: Array  # R(k): rungs × d × n
    noise: Array  # E[(G + λI)⁻²]
    answers: Array  # E[(G + λI)⁻¹ G (G + λI)⁻¹]
    chance: Array  # Cov[(G + λI)⁻¹ G 1]

    @staticmethod
    def of(mechanism: MatrixFactorization) -> Ladder:
        """Averages over random sets, the same ones whenever they are drawn."""
        v, random = mechanism.matrix, np.random.default_rng(0)
        d, tasks = v.shape
        counts = np.unique(np.rint(np.geomspace(1, tasks, _RUNGS)).astype(np.intp))
        ridges = _ridges(mechanism, counts)
        maps = np.zeros((len(counts), d, tasks))
        noise, answers, chance = np.zeros((3, len(counts), d, d))
        for rung, (count, ridge) in enumerate(zip(counts, ridges)):
            pulled = []
            for some in islice(_sets(tasks, count, random), _SETS):
                others = v[:, some[1:]]
                gram = others @ others.T
                without = np.linalg.solve(gram + ridge * np.eye(d), v)
                gram += np.outer(v[:, some[0]], v[:, some[0]])
                inverse = np.linalg.inv(gram + ridge * np.eye(d))
                column = without / (1 + (v * without).sum(axis=0))
                column[:, some] = inverse @ v[:, some]
                maps[rung] += column * (count / tasks / _SETS)
                noise[rung] += inverse @ inverse / _SETS
                answers[rung] += inverse @ gram @ inverse / _SETS
                pulled.append(inverse @ gram.sum(axis=1))
            chance[rung] = np.cov(np.array(pulled).T, bias=True)
        return Ladder(mechanism, counts.astype(float), ridges, maps, noise, answers, chance)


def hypotheses(mechanism: MatrixFactorization, profiles: Array) -> list[Profiled]:
    """Ways in which the mean of the profiles may depend on m; the centres are tried twice."""
    ladder, seen = Ladder.of(mechanism), Seen.of(profiles)
    low, high = 0.0, float(np.log(ladder.counts[-1]))
    for _ in range(2):
        centres = np.linspace(low, high, _CENTRES)
        found = [_judged(ladder, seen, at, width) for at in centres for width in _WIDTHS]
        weights, _ = normalised_exp(np.array([each.weight for each in found]))
        per_centre = weights.reshape(_CENTRES, -1).sum(axis=1)
        mean = per_centre @ centres
        reach = 3 * np.sqrt(per_centre @ (centres - mean) ** 2) + (high - low) / _CENTRES
        low, high = max(low, mean - reach), min(high, mean + reach)
    return [each._replace(weight=float(weight)) for each, weight in zip(found, weights)]


class Seen(NamedTuple):
    """The profiles' mean, their squares about it, and how many normal ones would tell as much."""

    workers: int
    mean: Array
    squares: Array
    freedom: float

    @staticmethod
    def of(profiles: Array) -> Seen:
        """With Mardia's kurtosis b times the normal's, a covariance is as sure as from W / b."""
        workers, d = profiles.shape
        centred = profiles - profiles.mean(axis=0)
        squares = centred.T @ centred
        far = (centred @ np.linalg.pinv(squares / workers, hermitian=True) * centred).sum(axis=1)
        heavier = max(1.0, float((far**2).mean()) / (d * (d + 2)))
        return Seen(
            workers, profiles.mean(axis=0), squares, min(_TRUSTED / d, (workers - 1) / heavier)
        )


def _judged(ladder: Ladder, seen: Seen, centre: float, width: float) -> Profiled:
    """One hypothesis on k, with all spreads and biases; its weight is a logarithm as yet."""
    scale, d = ladder.mechanism.scale, len(seen.mean)
    shares, _ = normalised_exp(-0.5 * ((np.log(ladder.counts) - centre) / width) ** 2)
    average, levels = np.tensordot(shares, ladder.maps, 1), ladder.maps.sum(axis=2)
    mean = float(np.clip(seen.mean.sum() / average.sum(), scale.low, scale.high))
    apart = levels - shares @ levels
    laplace = 2 * (scale.range / ladder.mechanism.epsilon) ** 2
    fixed = laplace * np.tensordot(shares, ladder.noise, 1)
    chance = mean**2 * np.tensordot(shares, ladder.chance, 1)
    fixed = fixed + chance + mean**2 * (shares[:, None] * apart).T @ apart
    per_answer = np.tensordot(shares, ladder.answers, 1)
    per_bias = (shares[:, None] * levels).T @ levels
    spread, bias = (each.ravel() for each in np.meshgrid(_SPREADS, _BIASES))
    spread, bias = spread * scale.range, bias * scale.range
    models = fixed + np.multiply.outer(spread**2, per_answer) + np.multiply.outer(bias**2, per_bias)
    sizes = np.linalg.slogdet(models)[1]
    traces = np.trace(np.linalg.solve(models, seen.squares[None]), axis1=1, axis2=2)
    logs = -0.5 * seen.freedom * (sizes + traces / max(1, seen.workers - 1))
    weights, total = normalised_exp(logs)
    # The covariance that was seen, and the model's as if of 2d more workers: it may be singular.
    # R is an average over sets, and has an error of its own.
    squares = seen.squares + 2 * d * np.tensordot(weights, models, 1)
    covariance = squares / (seen.workers - 1 + 2 * d) / seen.workers + chance / _SETS
    share = float(shares @ ladder.counts) / average.shape[1]
    expected = float(np.sqrt(weights @ (spread**2 + bias**2)))
    return Profiled(float(total), seen.mean, average, covariance, share, expected)


def _sets(tasks: int, count: int, random: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """Random sets of tasks; all tasks are used up before they are used again: less is by chance."""
    while True:
        order = random.permutation(tasks)
        for start in range(0, tasks - count + 1, count):
            yield order[start : start + count]


def _ridges(mechanism: MatrixFactorization, counts: NDArray[np.intp]) -> Array:
    """λ for every k. Gradient descent that stops early is about one more ridge, trace / steps."""
    traces = counts * (mechanism.matrix**2).sum(axis=0).mean()
    early = traces / mechanism.steps if mechanism.solver == "gradient-descent" else 0 * traces
    ridges: Array = np.maximum(mechanism.ridge + early, MIN_RIDGE)
    return ridges
