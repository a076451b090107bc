"""The blanket of a table: what all rows have in common, and how far two rows can be apart.

Of a table P(y | x) only three numbers are needed, all read off the integers as exact fractions:

    ω(y) = min_x P(y | x)           the blanket, of mass γ = Σ_y ω(y)
    p    = max_{x,y} P(y | x) / ω(y)
    β    = max_{a,b} TV(P(·|a), P(·|b))

A report that comes from the blanket tells nothing about its sender, so it can hide another one's.
For two inputs a and b let (A, B) = (P(y|a), P(y|b)) / ω(y) where y is drawn with probability ω(y),
and (0, 0) with the remaining probability 1 − γ. For every pair, this law is dominated by the law

    (p, 1) and (1, p) with probability α each,   (p, p) with s − α,   (1, 1) with γ − s − α,

where s = (1−γ)/(p−1) and α = β/(p−1) (Lemma 2 of docs/shuffling.md). For rr, grr and designed
tables, it is the law of the worst pair itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from forsooth.mechanisms.channel import TOTAL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.mechanisms import Channel

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Blanket:
    """The three numbers of a table whose rows are not all equal."""

    ratio: Fraction  # p, above 1
    mass: Fraction  # γ
    variation: Fraction  # β

    @classmethod
    def of(cls, channel: Channel) -> Blanket | None:
        """Read off the integers; None if all rows are equal, so that reports tell nothing."""
        weights = np.array(channel.weights, np.int64)
        least, most = weights.min(axis=0), weights.max(axis=0)
        if (least == most).all():
            return None
        ratio = max(Fraction(int(high), int(low)) for high, low in zip(most, least))
        gains = (np.maximum(weights - row, 0).sum(axis=1).max() for row in weights)
        return cls(ratio, Fraction(int(least.sum()), TOTAL), Fraction(int(max(gains)), TOTAL))

    def differing(self) -> Floats:
        """Probabilities of (pⁱ, pʲ) at [i, j] for a cell in which the two inputs differ."""
        high, apart = (1 - self.mass) / (self.ratio - 1), self.variation / (self.ratio - 1)
        return _floats([[self.mass - high - apart, apart], [apart, high - apart]])

    def equal(self) -> Floats:
        """The same for a cell in which they are equal."""
        high = (1 - self.mass) / (self.ratio - 1)
        return _floats([[self.mass - high, Fraction(0)], [Fraction(0), high]])

    def law(self, cells: int = 1, changed: int = 1) -> PairLaw:
        """The law for whole reports of some cells, of which some are changed.

        Cells are independent, so the laws multiply (Lemma 1). Each cell adds a few roundings, for
        which `sums` allows.
        """
        table = np.ones((1, 1))
        for cell in range(cells):
            table = _product(table, self.differing() if cell < changed else self.equal())
        powers: Floats = np.power(float(self.ratio), np.arange(cells + 1, dtype=np.float64))
        first, second = np.nonzero(table)
        return PairLaw(
            powers[first], powers[second], table[first, second], float(1 - self.mass**cells)
        )


@dataclass(frozen=True, eq=False)
class PairLaw:
    """The law of (A, B): `mass` for each pair of `first` and `second`, and (0, 0) with `rest`."""

    first: Floats
    second: Floats
    mass: Floats
    rest: float


def _floats(rows: list[list[Fraction]]) -> Floats:
    return np.array([[float(number) for number in row] for row in rows])


def _product(table: Floats, cell: Floats) -> Floats:
    """The law of the exponents with one more cell."""
    size = len(table) + 1
    found = np.zeros((size, size))
    for (i, j), mass in np.ndenumerate(cell):
        found[i : i + size - 1, j : j + size - 1] += mass * table
    return found
