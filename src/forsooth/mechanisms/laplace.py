"""`lp`: Laplace perturbation of every cell.

NULL is replaced by a constant of the scale or by a uniform draw from it, then discrete Laplace
noise on a public grid is added to every cell and the sum, an integer number of grid steps, is sent.

**Guarantee.** Given the replacement, every cell is an integer in [min, max]; with noise
P(k) ∝ e^(−rate·|k|) and rate = ε / sensitivity, moving the cell by at most the sensitivity changes
every output's probability by at most e^ε. A random replacement is a mixture of such outputs, and a
mixture of distributions that are all within e^ε is within e^ε: values and participation alike.
(The paper scales the noise by |Γ|. The sensitivity is the range max Γ − min Γ; for consecutive
integers |Γ| is one too many, for {0, 100} it is 98 too few. ``sensitivity="size"`` reproduces the
paper where that is safe and is refused where it is not.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.io import strict
from forsooth.mechanisms.base import CellwiseMechanism
from forsooth.mechanisms.noise import NEVER, discrete_laplace, reach
from forsooth.privacy import Protects, check_epsilon, check_protects
from forsooth.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from forsooth.mechanisms.randomness import Randomness
    from forsooth.reports import Reports
    from forsooth.scale import ScaleLike

Sensitivity = Literal["range", "size"]
GRIDS = (-60, 60)  # exponents of a grid step that keep its multiples finite
REACH = 2**45  # positions in grid steps: with the noise they stay far within 64 bits
_FINENESS = 10  # a grid step is at most 2^−10 of the smallest step of the scale


@dataclass(frozen=True, repr=False)
class Laplace(CellwiseMechanism):
    """Discrete Laplace noise on every cell. All lengths are in grid steps of 2^`grid`."""

    kind = "laplace"

    grid: int
    positions: tuple[int, ...]
    sensitivity: int
    null: int | None

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.positions) != self.scale.size:
            raise ForsoothError("lp needs one grid position per answer of the scale")
        if (spread := max(self.positions) - min(self.positions)) > self.sensitivity:
            raise ForsoothError(
                f"lp does not keep its promise: two answers lie {spread} grid steps apart, "
                f"the noise is made for {self.sensitivity}"
            )
        if self.null is not None and not 0 <= self.null < self.scale.size:
            raise ForsoothError("lp replaces NULL by an answer of the scale; this one is not")

    @property
    def dtype(self) -> np.dtype[Any]:
        """Whole grid steps."""
        return np.dtype(np.int64)

    @property
    def rate(self) -> Fraction:
        """The noise's P(k) ∝ e^(−rate·|k|), a rational number: ε is met exactly."""
        return Fraction(self.epsilon) / self.sensitivity

    def randomise_codes(
        self, codes: NDArray[Any], secret: NDArray[np.uint8], random: Randomness
    ) -> NDArray[Any]:
        """Replacement and noise are drawn for every cell, whether it is answered or not."""
        del secret
        replacement = self._replacements(codes.size, random).reshape(codes.shape)
        code = np.where(codes == self.scale.null, replacement, codes)
        noise = discrete_laplace(self.rate, codes.size, random).reshape(codes.shape)
        return np.asarray(self.positions, np.int64)[code] + noise

    def _replacements(self, count: int, random: Randomness) -> NDArray[np.intp]:
        if self.null is not None:
            return np.full(count, self.null, np.intp)
        # Multiply and shift: uniform to one part in 2^32 / |Γ|; any distribution keeps the promise.
        words = random.words(count).astype(np.uint64)
        return ((words * np.uint64(self.scale.size)) >> np.uint64(32)).astype(np.intp)

    def readings(self, reports: Reports) -> NDArray[np.float64]:
        """Noisy values as numbers on the scale."""
        return np.ldexp(reports.values.astype(np.float64), self.grid)

    def check(self, values: NDArray[Any], tasks: int) -> NDArray[np.bool_]:
        """Numbers beyond the noise of all but a share NEVER of the reports on `tasks` cells."""
        noise = reach(self.rate, NEVER, tasks)
        below: NDArray[np.bool_] = values < min(self.positions) - noise
        return below | (values > max(self.positions) + noise)

    def parameters(self) -> dict[str, Any]:
        """Grid, positions, noise and what NULL becomes."""
        return {
            "grid": self.grid,
            "positions": self.positions,
            "sensitivity": self.sensitivity,
            "null": self.null,
        }

    @classmethod
    def from_parameters(cls, common: Mapping[str, Any], parameters: Mapping[str, Any]) -> Laplace:
        """Verified by the constructor."""
        return cls(
            **common,
            grid=strict.integer(parameters["grid"], "grid", *GRIDS),
            positions=strict.integers(parameters["positions"], "a position", -REACH, REACH),
            sensitivity=strict.integer(parameters["sensitivity"], "sensitivity", 1, 2 * REACH),
            null=None if (null := parameters["null"]) is None else strict.integer(null, "null"),
        )


def lp(
    scale: ScaleLike,
    epsilon: float,
    *,
    protects: Protects = "answers+participation",
    null: str = "uniform",
    sensitivity: Sensitivity = "range",
) -> Laplace:
    """Laplace perturbation; `null` is "uniform" or the answer that NULL is replaced by."""
    scale = Scale.parse(scale)
    check_epsilon(epsilon)
    check_protects(protects)
    if sensitivity not in ("range", "size"):
        raise ForsoothError(f'the sensitivity is "range" or "size", got {sensitivity!r}')
    code = None
    if null != "uniform" and (code := scale.code(null)) is None:
        raise ForsoothError(f"lp: NULL becomes 'uniform' or an answer of {scale}, not {null!r}")
    grid = grid_of(scale)
    positions = tuple(round(math.ldexp(value, -grid)) for value in scale.values)
    spread = max(positions) - min(positions)
    reach = spread if sensitivity == "range" else round(math.ldexp(scale.size, -grid))
    return Laplace("lp", scale, epsilon, protects, grid, positions, reach, code)


def grid_of(scale: Scale) -> int:
    """The exponent of a grid step: the power of two 2^−10 below the scale's smallest step."""
    smallest = min(b - a for a, b in zip(scale.values, scale.values[1:]))
    return math.floor(math.log2(smallest)) - _FINENESS
