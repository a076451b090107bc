"""The distribution of discrete Laplace noise, P(k) ∝ q^|k| with q = e^−rate, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WINDOW = 4  # bits that are looked at together: 16 patterns
_REACH = 60.0  # e^−60 of the noise lies further away than this many times its scale


@dataclass(frozen=True)
class DiscreteLaplace:
    """Noise of this rate per step."""

    rate: float

    def at_most(self, steps: NDArray[np.int64]) -> NDArray[np.float64]:
        """P(K ≤ steps)."""
        beyond = np.abs(np.where(steps < 0, steps, steps + 1))
        tail = np.exp(-self.rate * beyond) / (1 + np.exp(-self.rate))
        return np.asarray(np.where(steps < 0, tail, 1 - tail))

    def first_bits(self) -> range:
        """Where windows of four bits begin, up to the scale of the noise."""
        return range(0, max(1, int(np.ceil(-np.log2(self.rate)))), WINDOW)

    def bits(self, first: int, centres: NDArray[np.int64]) -> NDArray[np.float64]:
        """P(bits `first` to `first` + 3 of centre + K are s), centres × patterns s."""
        length, modulus = 1 << first, 1 << (first + WINDOW)
        begins = (np.arange(1 << WINDOW) * length - centres[:, None]) % modulus
        return self._wrapped(begins + length, modulus) - self._wrapped(begins, modulus)

    def _wrapped(self, residue: NDArray[np.int64], modulus: int) -> NDArray[np.float64]:
        """P(K mod modulus < residue), plus 1 for every turn: two geometric series."""
        turns, rest = np.divmod(residue, modulus)
        up = -np.expm1(-self.rate * rest) * (1 + np.exp(-self.rate * (modulus - rest + 1)))
        down = (1 + np.exp(-self.rate)) * -np.expm1(-self.rate * modulus)
        return np.asarray(turns + up / down)

    def quantiles(
        self, centres: NDArray[np.int64], parts: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Edges that cut centre + K into nearly equal parts, and the probability of each part.

        The centre is one of `centres`, each with the same probability. A value belongs to the
        first part whose edge it does not exceed, or to the last part.
        """
        reach = int(_REACH / self.rate) + 1
        low = np.full(parts - 1, int(centres.min()) - reach)
        high = np.full(parts - 1, int(centres.max()) + reach)
        wanted = np.arange(1, parts) / parts

        def reached(values: NDArray[np.int64]) -> NDArray[np.float64]:
            shares: NDArray[np.float64] = self.at_most(values[:, None] - centres).mean(axis=1)
            return shares

        while (low < high).any():
            middle = low + (high - low) // 2
            enough = reached(middle) >= wanted
            low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
        return high, np.diff(reached(high), prepend=0.0, append=1.0)
