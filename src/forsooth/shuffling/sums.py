"""A certified upper bound on E[(L₁ + … + Lₙ)₊] / n for independent draws of a finite law.

With L = A − e^ε·B this is δ, the central one (Theorem 1 of docs/shuffling.md). The law of the sum
lives on a lattice that contains 0 and is computed by doubling: the law of 2m draws is the law of m
draws convolved with itself. Every step keeps the result an upper bound:

* A value between two points of the lattice is shared by them so that the mean stays. (x + c)₊ is
  convex, so the expectation only grows (Jensen). The lattice is made coarser in the same way.
* Probability far to the left is moved to the right: (x + c)₊ is increasing.
* Probability far to the right is taken out and added to the result with the most that it can
  contribute: with b laws of m draws in the sum, b · Σ mass · (value₊ / n + E[L₊]), E[L₊] ≤ 1.
* All numbers are added and multiplied, none subtracted, and none is negative. So rounding changes
  the result by a relative error of at most `_ROUNDINGS` units of 2⁻⁵² per draw, which is added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.shuffling.blanket import PairLaw

    Floats = NDArray[np.float64]

# name              value      unit, reason
POINTS = 1024  # of a lattice; the result grows by less than a thousandth from here to 4,096
MOST_DRAWS = 10**9  # more draws give a smaller δ, so a larger n is taken as this one
_ROUNDINGS = 16 * POINTS  # per draw: a convolution of 2·POINTS terms, twice, and a few others
_UNIT = 2.0**-52
_SLACK = 2.0**-40  # relative; far above the error of a value, far below what matters
_UNDERFLOW = 1e-200  # far above all that is lost where products are too small for floats


def delta(law: PairLaw, draws: int, epsilon: float, tolerance: float) -> float:
    """An upper bound on δ at ε for `draws` honest reports.

    About `tolerance` is lost in each of the steps, of which there are log₂ n.
    """
    draws = min(draws, MOST_DRAWS)
    factor = math.exp(epsilon)
    values = law.first - factor * law.second + _SLACK * (law.first + factor * law.second)
    return positive_part(np.append(values, 0.0), np.append(law.mass, law.rest), draws, tolerance)


def positive_part(values: Floats, masses: Floats, draws: int, tolerance: float) -> float:
    """An upper bound on E[(L₁ + … + Lₙ)₊] / n where the mean of L is not above 0."""
    step = float(np.ptp(values)) / POINTS
    law, lost, done = _spread(values, masses, step), _UNDERFLOW, 1
    for bit in f"{draws:b}"[1:]:
        law, done = law.plus(law), 2 * done
        if bit == "1":
            law, done = law.plus(_spread(values, masses, law.step)), done + 1
        law, lost_here = law.without_right(draws, done, tolerance)
        lost += lost_here
        law = law.without_left(tolerance * done / draws).coarser()
    expected = float((law.mass * np.maximum(law.values(), 0.0)).sum()) / draws
    return (expected + lost) * math.exp(_ROUNDINGS * _UNIT * draws)


@dataclass(frozen=True, eq=False)
class _Lattice:
    """Probabilities of start·step, (start + 1)·step, …"""

    start: int
    mass: Floats
    step: float

    def values(self) -> Floats:
        points = np.arange(self.start, self.start + len(self.mass), dtype=np.float64)
        return points * self.step

    def plus(self, other: _Lattice) -> _Lattice:
        """The law of the sum."""
        return _Lattice(self.start + other.start, np.convolve(self.mass, other.mass), self.step)

    def without_right(self, draws: int, done: int, tolerance: float) -> tuple[_Lattice, float]:
        """The law without its right tail, and what that tail can contribute to the result."""
        worth = self.mass * (np.maximum(self.values(), 0.0) / draws + 1.0) * (draws / done)
        tail = np.cumsum(worth[::-1])[::-1]
        kept = max(1, int(np.count_nonzero(tail > tolerance)))
        lost = float(tail[kept]) if kept < len(tail) else 0.0
        return _Lattice(self.start, self.mass[:kept], self.step), lost

    def without_left(self, tolerance: float) -> _Lattice:
        """The law with its left tail moved to the first point that is kept, which is below 0."""
        moved = int(np.count_nonzero(np.cumsum(self.mass) <= tolerance))
        moved = max(0, min(moved, len(self.mass) - 1, -self.start))
        mass = self.mass[moved:].copy()
        mass[0] += self.mass[:moved].sum()
        return _Lattice(self.start + moved, mass, self.step)

    def coarser(self) -> _Lattice:
        """The law on every k-th point, with at most about `POINTS` points."""
        times = -(-len(self.mass) // POINTS)
        if times == 1:
            return self
        below, over = np.divmod(np.arange(self.start, self.start + len(self.mass)), times)
        upper = over / times
        return _Lattice(
            int(below[0]), _shared(below - below[0], upper, self.mass), self.step * times
        )


def _spread(values: Floats, masses: Floats, step: float) -> _Lattice:
    """Values on the lattice, with a mean that is not below theirs."""
    place = values / step
    place += _SLACK * np.abs(place)
    below = np.floor(place)
    upper = np.minimum(place - below + _UNIT, 1.0) * (place != below)
    start = int(below.min())
    return _Lattice(start, _shared((below - start).astype(np.intp), upper, masses), step)


def _shared(below: NDArray[np.intp], upper: Floats, masses: Floats) -> Floats:
    """Each mass at its point and, with the share `upper`, at the next one."""
    size = int(below.max()) + 2
    found = np.bincount(below, masses * (1.0 - upper), size)
    found += np.bincount(below + 1, masses * upper, size)
    return found.astype(np.float64, copy=False)
