"""The 2-Layer method (Li et al. 2018) that the paper compares with.

Each worker draws one budget, ε_i uniform on [0, 2ε], and uses it for randomized response in all of
their cells. Here the budget takes one of 64 equally spaced values from 0 to 2ε, each with
an integer table, so that everything is exact.

**What it guarantees.** A worker's budget is hidden, but their other cells reveal it: someone who
sees many cells knows ε_i, and it may be 2ε. Over whole vectors the likelihood ratio for a change of
one cell comes arbitrarily close to e^(2ε) as tasks are added, and never exceeds it, since given ε_i
each table is within e^(ε_i) ≤ e^(2ε). The true guarantee is therefore 2ε per cell, not ε.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.io import strict
from forsooth.io.packing import symbol_bits
from forsooth.mechanisms.base import CellwiseMechanism
from forsooth.mechanisms.channel import TOTAL, Channel, draw, read_symbols, symbol_dtype
from forsooth.mechanisms.randomized_response import (
    keep_weight,
    randomized_response,
    symbol_readings,
)
from forsooth.privacy import Privacy, Protects, check_epsilon
from forsooth.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from forsooth.mechanisms.randomness import Randomness
    from forsooth.reports import Reports
    from forsooth.scale import ScaleLike

LEVELS = 64


@dataclass(frozen=True, repr=False)
class TwoLayer(CellwiseMechanism):
    """Randomized response with a budget that each worker draws for himself."""

    kind = "two-layer"

    keep: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.keep) != LEVELS:
            raise ForsoothError(f"two-layer needs {LEVELS} tables, got {len(self.keep)}")
        for channel in self.channels:
            channel.require(2 * self.epsilon)

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        """The table of each budget, the smallest budget first."""
        symbols = len(symbol_readings(self.scale, self.protects))
        return tuple(randomized_response(symbols, keep) for keep in self.keep)

    @property
    def guarantee(self) -> Privacy:
        """2ε per cell: the worker's other cells reveal their budget."""
        return Privacy(2 * self.epsilon, self.protects)

    @property
    def independent(self) -> bool:
        """A worker's cells share the budget."""
        return False

    @property
    def dtype(self) -> np.dtype[Any]:
        """Symbols."""
        return symbol_dtype(self.channels[0].symbols)

    @property
    def bits(self) -> int:
        """As many as a symbol needs."""
        return symbol_bits(self.channels[0].symbols)

    def secrets(self, workers: int, random: Randomness) -> NDArray[np.uint8]:
        """Every worker's budget, by six fair coins."""
        return (random.words(workers) >> np.uint32(32 - 6)).astype(np.uint8)

    def randomise_codes(
        self, codes: NDArray[Any], secret: NDArray[np.uint8], random: Randomness
    ) -> NDArray[Any]:
        """A symbol per cell, from the table of the worker's budget."""
        row = secret.astype(np.intp) * self.channels[0].inputs + codes
        return draw(self._stacked, row, random)

    def readings(self, reports: Reports) -> NDArray[np.float64]:
        """Symbols read as answers."""
        return read_symbols(reports.values, symbol_readings(self.scale, self.protects))

    def check(self, values: NDArray[Any], tasks: int) -> NDArray[np.bool_]:
        """Symbols beyond the last."""
        del tasks
        return values >= self.channels[0].symbols

    def parameters(self) -> dict[str, Any]:
        """The weight of "keep" in each budget's table."""
        return {"keep": self.keep}

    @classmethod
    def from_parameters(cls, common: Mapping[str, Any], parameters: Mapping[str, Any]) -> TwoLayer:
        """Verified by the constructor."""
        return cls(**common, keep=strict.integers(parameters["keep"], "keep", 1, TOTAL))

    @cached_property
    def _stacked(self) -> NDArray[np.uint32]:
        return np.concatenate([channel.thresholds for channel in self.channels], axis=1)


def two_layer(
    scale: ScaleLike, epsilon: float, *, protects: Protects = "answers+participation"
) -> TwoLayer:
    """The 2-Layer method with mean budget ε."""
    scale = Scale.parse(scale)
    check_epsilon(epsilon)
    symbols = len(symbol_readings(scale, protects))
    even = TOTAL // symbols  # a budget of 0: all symbols alike, as far as integers can
    keep = (
        keep_weight(symbols, 2 * epsilon * level / (LEVELS - 1)) if level else even
        for level in range(LEVELS)
    )
    return TwoLayer("two-layer", scale, epsilon, protects, tuple(keep))
