"""Is the model right? Every answer is predicted from the others of its task, and so tells.

A model can be wrong in ways that no other model at hand would show. But where the scale measures
something, θ is what is answered on average, and a mean of answers needs no model; where answers are
names and one is true, a model predicts them better. With u the unbiased reading of a report (Σ_y
P(y | a)·u(y) = a for every answer a), without one of a task's answers

    the model says    θ' = E[θ | others],  P(θ | others) ∝ P(θ | all) / P(y | θ),
    the means say     m' = Σ w·u / Σ w over the others, w = 1 / their worker's usual error.

Where E(θ) is answered on average, (1 − λ)·E(θ') + λ·E(m') predicts the answers best with

    λ = Σ w²·(u − E(θ'))·(E(m') − E(θ')) / Σ w²·(E(m') − E(θ'))²,

about 0 if the model is right. As much of λ as chance cannot explain is the weight of the means, as
normal distributions, in the posterior. w is Algorithm 1's: 1 / squared errors would be best if they
were independent of one another, which is what a model says that may be wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from forsooth.inference.posterior.kernels import class_pass
from forsooth.inference.posterior.model import normalised_exp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from forsooth.inference.posterior.classes import ClassFit
    from forsooth.inference.posterior.evidence import Evidence
    from forsooth.inference.posterior.model import Crowd

    Array = NDArray[np.float64]

_LADDER = 2.0 ** np.arange(-3, 3.5, 0.5)  # a worker's mean squared error, in those of all workers
_PRIOR_ANSWERS = 3.0  # so many of each worker have the usual error, to begin with
_ERRORS = 2.0  # standard errors of λ that chance may explain
_OTHERS = 0.5  # what others of a task must say at least, in answers like the one held out


class Source(NamedTuple):
    """Reports of workers who answer alike."""

    part: int  # of the campaign that they are in
    counts: Array  # of every symbol: tasks × symbols
    answers: Array  # P(a | θ): grid × answers


def pooled_sources(parts: Sequence[Evidence], answers: Array) -> Iterable[Source]:
    """All workers have the same P(a | θ)."""
    return (Source(number, part.per_task, answers) for number, part in enumerate(parts))


def class_sources(crowd: Crowd, parts: Sequence[Evidence], fit: ClassFit) -> Iterable[Source]:
    """All workers of a class have; whoever may be of several counts for each in part.

    A model of names says nothing of truths between the answers: there, what is in between.
    """
    for number, (part, classes) in enumerate(zip(parts, fit.classes)):
        work = partial(class_pass, scores=classes.scores(fit.mass), shares=classes.shares)
        counts = part.blocks.total(work).counts
        for each, table in enumerate(classes.answers[classes.row]):
            over_grid = table if len(table) == len(crowd.grid) else _between(crowd, table)
            yield Source(number, counts[:, :, each], over_grid)


@dataclass(frozen=True, eq=False)
class Means:
    """The weighted mean of every task's answers, where participation is public."""

    crowd: Crowd
    channels: list[Array]  # P(y | a) of every part
    readings: list[Array]  # u(y)
    weights: list[Array]  # w, on average: tasks × symbols
    weight: Array  # Σ w, for every task
    total: Array  # Σ w·u
    answers: Array  # how many there are: the variance of Σ w·u

    @staticmethod
    def of(
        crowd: Crowd, parts: Sequence[Evidence], mass: Array, answers: Array, *, alike: bool
    ) -> Means:
        """Of answers whose errors are what they are to a model: P(θ | reports) and P(a | θ).

        If workers are not taken to be `alike`, there are two more passes over the reports.
        """
        values = np.asarray(crowd.scale.values)
        channels = [part.table[: len(values)] for part in parts]
        readings = [np.linalg.lstsq(each, values, rcond=None)[0] for each in channels]
        weights = []
        for part, u, channel in zip(parts, readings, channels):
            squared = (u - _without(mass, answers @ channel, answers @ values)) ** 2
            answers_read = max(part.per_task.sum(), 1.0)
            usual = max((squared * part.per_task).sum() / answers_read, crowd.step**2 / 12)
            errors = squared / usual
            each = np.ones_like(errors) if alike else _weights(part, errors)
            weights.append(each / np.sqrt(usual))
        cells = [each * part.per_task for each, part in zip(weights, parts)]
        weight = np.sum([each.sum(axis=1) for each in cells], axis=0)
        total = np.sum([each @ u for each, u in zip(cells, readings)], axis=0)
        number = np.sum([part.per_task.sum(axis=1) for part in parts], axis=0)
        return Means(crowd, channels, readings, weights, weight, total, number)

    def beside(self, mass: Array, sources: Iterable[Source], known: NDArray[np.bool_]) -> Array:
        """P(θ | reports), tasks × grid, mixed with the means by as much as it falls behind them.

        Tasks whose truth is `known` have no part in it.
        """
        met, grid = np.flatnonzero(~known & (self.answers > 0)), self.crowd.grid
        mean = np.clip(self.total[met] / self.weight[met], grid[0], grid[-1])
        precision = self.weight[met] ** 2 / self.answers[met]
        normal, _ = normalised_exp(-0.5 * precision[:, None] * (grid - mean[:, None]) ** 2)
        mixed = mass.copy()
        mixed[met] += self.share(mass, sources, met) * (normal - mass[met])
        return mixed

    def share(self, mass: Array, sources: Iterable[Source], met: NDArray[np.intp]) -> float:
        """λ, less what chance may explain of it, from these tasks.

        Tasks are independent of one another, but answers to the same task are not.
        """
        sums = np.sum([self._held_out(mass, each) for each in sources], axis=0)
        gained, possible = sums[:, met]
        if gained.sum() <= 0:
            return 0.0
        best = gained.sum() / possible.sum()
        error = np.sqrt(((gained - best * possible) ** 2).sum()) / possible.sum()
        return float(np.clip(best * (1 - (_ERRORS * error / best) ** 2), 0, 1))

    def _held_out(self, mass: Array, source: Source) -> tuple[Array, Array]:
        """The sums of λ's fraction for every task."""
        reading, weight = self.readings[source.part], self.weights[source.part]
        expected = source.answers @ np.asarray(self.crowd.scale.values)
        model = _without(mass, source.answers @ self.channels[source.part], expected)
        others = self.weight[:, None] - weight
        enough = others > _OTHERS * weight
        mean = (self.total[:, None] - weight * reading) / np.where(enough, others, 1.0)
        apart = np.interp(mean, self.crowd.grid, expected) - model
        each = np.where(enough, weight**2 * source.counts, 0.0)
        return (each * apart * (reading - model)).sum(axis=1), (each * apart**2).sum(axis=1)


def _between(crowd: Crowd, table: Array) -> Array:
    """P(a | θ) over the grid, of that where θ is an answer."""
    columns = [np.interp(crowd.grid, crowd.scale.values, column) for column in table.T]
    return np.column_stack(columns)


def _without(mass: Array, chances: Array, expected: Array) -> Array:
    """E(θ) of each task without one report of each symbol: tasks × symbols.

    Of P(θ | all), tasks × grid, of P(y | θ), grid × symbols, and of E(θ) over the grid.
    """
    without: Array = (mass @ (expected[:, None] / chances)) / (mass @ (1 / chances))
    return without


def _weights(part: Evidence, errors: Array) -> Array:
    """1 / root mean squared error, on average over the workers behind each symbol of each task.

    That of a worker is one of a ladder; `errors` are those of each symbol, of the usual ones. Only
    other tasks count, or whoever agrees with the answer held out would be good for that alone.
    """
    scores = -0.5 * (errors[:, :, None] / _LADDER + np.log(_LADDER))
    shares, _ = normalised_exp(-0.5 * _PRIOR_ANSWERS * (1 / _LADDER + np.log(_LADDER)))
    weights, half = np.empty_like(errors), np.arange(len(errors)) % 2 == 0
    for judged in (half, ~half):
        others = np.where(judged[:, None, None], 0, scores).astype(np.float32)
        counts = part.blocks.total(partial(class_pass, scores=others, shares=shares)).counts[judged]
        weights[judged] = counts @ (1 / np.sqrt(_LADDER)) / np.maximum(counts.sum(axis=2), 1e-300)
    return weights
