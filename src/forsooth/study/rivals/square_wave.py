"""The square wave mechanism with EMS, for the distribution of a number v in [0, 1].

The report is in [−b, 1 + b], with density p within b of v and q elsewhere: p = e^ε/(2be^ε + 1),
q = 1/(2be^ε + 1), b = (εe^ε − e^ε + 1)/(2e^ε(e^ε − 1 − ε)), which maximizes the mutual information.
The collector counts reports in buckets, and finds the distribution of v in as many buckets by
expectation maximization; each step is followed by smoothing with weights 1/4, 1/2, 1/4. It stops
when the log-likelihood grows by less than 10⁻³. A task's estimate is the distribution's mean. Who
answered is public: values only.

Li, Wang, Lopuhaä-Zwakenberg, Li and Škorić: Estimating Numerical Distributions under Local
Differential Privacy. SIGMOD 2020, sections 4 and 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.study.rivals.base import Aggregated, Annotations
from forsooth.study.rivals.private import PrivateRival

if TYPE_CHECKING:
    from forsooth.answers import Answers
    from forsooth.study.rivals.private import Array

# name         value  unit, reason
_BUCKETS = 64  # of [0, 1] and of the reports: the paper takes about √n, at most 1,024
_TOLERANCE = 1e-3  # growth of the log-likelihood, from section 6.1
_MOST = 1_000  # iterations; EMS stops long before


def half_width(epsilon: float) -> float:
    """The half width b."""
    odds = float(np.exp(epsilon))
    return (epsilon * odds - odds + 1) / (2 * odds * (odds - 1 - epsilon))


def perturbed(number: Array, epsilon: float, random: np.random.Generator) -> Array:
    """One report per number."""
    b, odds = half_width(epsilon), float(np.exp(epsilon))
    near = random.random(number.shape) < 2 * b * odds / (2 * b * odds + 1)
    inside = number - b + 2 * b * random.random(number.shape)
    place = random.random(number.shape) - b  # on [−b, 1 − b], which the rest adds up to
    return np.where(near, inside, np.where(place < number - b, place, place + 2 * b))


def transition(epsilon: float) -> Array:
    """P(report in bucket j | number at the centre of bucket i): reports × numbers."""
    b, odds = half_width(epsilon), float(np.exp(epsilon))
    number = (np.arange(_BUCKETS) + 0.5) / _BUCKETS
    edge = np.linspace(-b, 1 + b, _BUCKETS + 1)[:, None]
    near = np.diff(np.clip(edge, number - b, number + b), axis=0)
    table: Array = ((odds - 1) * near + (1 + 2 * b) / _BUCKETS) / (2 * b * odds + 1)
    return table


def smoothed_em(count: Array, table: Array) -> Array:
    """EMS for all tasks at once: tasks × buckets of reports in, tasks × buckets of numbers out."""
    share = np.full(count.shape, 1 / count.shape[1])
    active, before = np.arange(len(count)), np.full(len(count), -np.inf)
    for _ in range(_MOST):
        expected = share[active] @ table.T
        likelihood = (count[active] * np.log(expected)).sum(axis=1)
        growing = likelihood - before[active] >= _TOLERANCE
        before[active] = likelihood
        active = active[growing]
        if not active.size:
            break
        step = share[active] * ((count[active] / expected[growing]) @ table)
        step = _smoothed(step / step.sum(axis=1, keepdims=True))
        share[active] = step / step.sum(axis=1, keepdims=True)
    return share


def _smoothed(share: Array) -> Array:
    """Weights 1/4, 1/2, 1/4; at the ends the missing neighbour's weight is left out."""
    padded = np.pad(share, ((0, 0), (1, 1)))
    weight = np.pad(np.ones(share.shape[1]), 1)
    summed: Array = (padded[:, :-2] + 2 * share + padded[:, 2:]) / (weight[:-2] + 2 + weight[2:])
    return summed


def run(answers: Answers, epsilon: float, random: np.random.Generator) -> Aggregated:
    """Perturb, count and reconstruct; a task without answers gets the middle of the scale."""
    scale, b = answers.scale, half_width(epsilon)
    number = (np.asarray(scale.values) - scale.low) / scale.range
    reports = perturbed(number[answers.code], epsilon, random)
    bucket = np.minimum((reports + b) / (1 + 2 * b) * _BUCKETS, _BUCKETS - 1).astype(np.intp)
    cells = len(answers.tasks) * _BUCKETS
    count = np.bincount(answers.task * _BUCKETS + bucket, minlength=cells).astype(np.float64)
    share = smoothed_em(count.reshape(-1, _BUCKETS), transition(epsilon))
    mean = share @ ((np.arange(_BUCKETS) + 0.5) / _BUCKETS)
    return Aggregated.from_level(scale.low + scale.range * mean, Annotations.of(answers))


SQUARE_WAVE = PrivateRival(
    "square-wave", ("level",), "answers", "cell", run, "Li et al., SIGMOD 2020"
)
