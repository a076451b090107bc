"""SQUAREM: expectation maximisation that arrives (Varadhan and Roland 2008).

Plain EM creeps when the reports say little, which is always so at small ε. SQUAREM takes two EM
steps, extrapolates along them, takes one EM step more to come back to safe ground, and keeps the
extrapolation only if the objective did not fall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ascent:
    """Where the ascent ended, the objective on the way, and whether it came to rest."""

    point: Vector
    history: tuple[float, ...]
    converged: bool


def squarem(
    step: Callable[[Vector], Vector],
    objective: Callable[[Vector], float],
    project: Callable[[Vector], Vector],
    start: Vector,
    *,
    tolerance: float,
    max_iterations: int,
) -> Ascent:
    """Maximise `objective` by accelerated EM `step`s; `project` brings a point back to the domain.

    At rest means: a whole round moves no parameter by more than `tolerance`, and gains less than
    `tolerance` in the objective, a log-likelihood.
    """
    point, value = start, objective(start)
    history = [value]
    while len(history) < max_iterations:
        first = step(point)
        second = step(first)
        candidate, gained = _extrapolate(step, objective, project, point, first, second, value)
        moved = float(np.abs(candidate - point).max())
        still = moved <= tolerance and gained - value <= tolerance
        point, value = candidate, gained
        history.append(value)
        if still:
            return Ascent(point, tuple(history), True)
    return Ascent(point, tuple(history), False)


def _extrapolate(
    step: Callable[[Vector], Vector],
    objective: Callable[[Vector], float],
    project: Callable[[Vector], Vector],
    point: Vector,
    first: Vector,
    second: Vector,
    value: float,
) -> tuple[Vector, float]:
    """The best of the plain double step and a shrinking series of longer ones."""
    velocity, bend = first - point, second - 2 * first + point
    plain = objective(second)
    curvature = float(np.linalg.norm(bend))
    if curvature == 0:
        return second, plain
    length = float(np.linalg.norm(velocity)) / curvature
    while length > 1:
        far = step(project(point + 2 * length * velocity + length**2 * bend))
        reached = objective(far)
        if reached >= max(value, plain):
            return far, reached
        length = (length + 1) / 2 if length > 1.5 else 0.0
    return second, plain
