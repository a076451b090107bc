"""Channels: exact integer tables P(report symbol | answer or NULL).

Every row has integer weights that sum to 2³²; a draw takes 32 uniform bits and walks the row, so
the probability *is* the weight. ε is read off the integers:

    ε(table) = max over columns of ln(largest weight / smallest weight), rounded up.

Proof that a table protects a cell: cells are drawn independently, so for vectors that differ in
one cell every factor but that cell's cancels, and that one is a ratio of two weights of a column.
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
from forsooth.mechanisms.exact import log_ratio
from forsooth.mechanisms.walk import walker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from forsooth.mechanisms.randomness import Randomness
    from forsooth.reports import Reports

TOTAL = 2**32
_BLOCK = 2**16  # small enough for the processor's cache


@dataclass(frozen=True)
class Channel:
    """An exact integer table: a row per input, a column per report symbol."""

    weights: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        widths = {len(row) for row in self.weights}
        weights_of = [weight for row in self.weights for weight in row]
        if len(widths) != 1 or not all(type(weight) is int for weight in weights_of):
            raise ForsoothError("a channel needs rows of equally many integers")
        for row, weights in enumerate(self.weights):
            if sum(weights) != TOTAL:
                raise ForsoothError(f"row {row} of the table sums to {sum(weights)}, not to 2^32")
            if min(weights) < 1:
                column = weights.index(min(weights))
                raise ForsoothError(
                    f"row {row} of the table never sends symbol {column} "
                    f"(weight {weights[column]}): every weight must be at least 1"
                )

    @property
    def inputs(self) -> int:
        """How many inputs there are (rows)."""
        return len(self.weights)

    @property
    def symbols(self) -> int:
        """How many report symbols there are (columns)."""
        return len(self.weights[0])

    def epsilon(self) -> float:
        """The table's exact ε, rounded up to a float."""
        larger, smaller, _ = self.worst()
        return log_ratio(larger, smaller)

    def worst(self) -> tuple[int, int, str]:
        """The largest and smallest weight of the column that sets ε, and where they stand."""
        columns = list(zip(*self.weights))
        column = max(range(self.symbols), key=lambda c: log_ratio(max(columns[c]), min(columns[c])))
        larger, smaller = max(columns[column]), min(columns[column])
        rows = columns[column].index(larger), columns[column].index(smaller)
        return larger, smaller, f"symbol {column}, rows {rows[0]} and {rows[1]}"

    def require(self, epsilon: float) -> None:
        """Refuse a table that does not keep the promise ε."""
        if (true := self.epsilon()) > epsilon:
            larger, smaller, where = self.worst()
            raise ForsoothError(
                f"the table does not keep its promise: its ε is {true!r}, promised was "
                f"{epsilon!r} ({where}: weights {larger} and {smaller})"
            )

    @cached_property
    def thresholds(self) -> NDArray[np.uint32]:
        """Cumulative weights, one line per symbol but the last, one column per input.

        The last weight is at least 1, so that every cumulative weight fits into 32 bits.
        """
        return np.cumsum(np.array(self.weights, np.int64), axis=1)[:, :-1].T.astype(np.uint32)


def draw(
    thresholds: NDArray[np.uint32], rows: NDArray[Any], random: Randomness
) -> NDArray[np.unsignedinteger[Any]]:
    """One symbol per entry of `rows`: how many cumulative weights 32 random bits reach.

    Every cell is compared with every threshold of its row: the same steps for every input.
    """
    if rows.size and not 0 <= rows.min() <= rows.max() < thresholds.shape[1]:
        raise ForsoothError("an input has no row in the table")  # compiled code would read on
    symbols = np.empty(rows.size, symbol_dtype(len(thresholds) + 1))
    walk, given = walker(thresholds, rows.size), rows.reshape(-1)
    for start in range(0, rows.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        walk(random.words(len(symbols[part])), given[part], symbols[part])
    return symbols.reshape(rows.shape)


def symbol_dtype(symbols: int) -> np.dtype[np.unsignedinteger[Any]]:
    """The smallest type that holds every symbol."""
    return np.dtype(np.uint8 if symbols <= 2**8 else np.uint16)


def nearest_table(probabilities: NDArray[np.float64], epsilon: float) -> Channel:
    """The integer table closest to real probabilities that still keeps the promise ε.

    Rounding can push a ratio past e^ε by a hair; then all rows are blended with their mean, a
    little more each time, which brings every ratio closer to 1.
    """
    for blend in [0.0, *(2.0**power for power in range(-32, -7))]:
        mixed = (1 - blend) * probabilities + blend * probabilities.mean(axis=0)
        channel = Channel(tuple(_integers(row) for row in mixed))
        if channel.epsilon() <= epsilon:
            return channel
    raise ForsoothError(f"ε = {epsilon!r} is too small for a table of 32-bit weights")


def _integers(row: NDArray[np.float64]) -> tuple[int, ...]:
    """Positive integers that sum to 2³², by largest remainders."""
    exact = row / row.sum() * TOTAL
    weights = np.maximum(np.floor(exact), 1).astype(np.int64)
    order = np.argsort(weights - exact, kind="stable")
    missing = TOTAL - int(weights.sum())
    if missing < 0:  # ones that stood for less than one: the largest weight pays
        weights[np.argmax(weights)] += missing
    else:
        weights[order[:missing]] += 1
    return tuple(int(weight) for weight in weights)


@dataclass(frozen=True, repr=False)
class ChannelMechanism(CellwiseMechanism):
    """One channel for every cell; rows are the scale's answers, then NULL where it is protected.

    `reads_as` gives, for every symbol, the answer as which the paper's inference reads it, or
    None where it reads as NULL.
    """

    kind = "channel"

    channel: Channel
    reads_as: tuple[float | None, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        inputs = self.scale.size + (self.protects == "answers+participation")
        if self.channel.inputs != inputs or self.channel.symbols != len(self.reads_as):
            raise ForsoothError(
                f"the scale {self.scale} with protects={self.protects!r} needs a table of "
                f"{inputs} rows and as many columns as symbols ({len(self.reads_as)})"
            )
        for reading in self.reads_as:
            if reading is not None and not self.scale.low <= reading <= self.scale.high:
                raise ForsoothError(f"a symbol reads as {reading!r}, off the scale {self.scale}")
        self.channel.require(self.epsilon)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Symbols."""
        return symbol_dtype(self.channel.symbols)

    @property
    def bits(self) -> int:
        """As many as a symbol needs."""
        return symbol_bits(self.channel.symbols)

    def randomise_codes(
        self, codes: NDArray[Any], secret: NDArray[np.uint8], random: Randomness
    ) -> NDArray[Any]:
        """A symbol per cell."""
        del secret
        return draw(self.channel.thresholds, codes, random)

    def readings(self, reports: Reports) -> NDArray[np.float64]:
        """Symbols read as answers."""
        return read_symbols(reports.values, self.reads_as)

    def check(self, values: NDArray[Any], tasks: int) -> NDArray[np.bool_]:
        """Symbols beyond the table's last."""
        del tasks
        return values >= self.channel.symbols

    def parameters(self) -> dict[str, Any]:
        """The table."""
        return {"weights": self.channel.weights, "reads_as": self.reads_as}

    @classmethod
    def from_parameters(
        cls, common: Mapping[str, Any], parameters: Mapping[str, Any]
    ) -> ChannelMechanism:
        """Verified by the constructors."""
        rows = strict.rows(parameters["weights"], "weights")
        channel = Channel(tuple(strict.integers(row, "a weight", high=TOTAL) for row in rows))
        (reads_as,) = strict.rows([parameters["reads_as"]], "reads_as")
        return cls(
            **common,
            channel=channel,
            reads_as=tuple(None if r is None else strict.number(r, "reads_as") for r in reads_as),
        )


def read_symbols(values: NDArray[Any], reads_as: Sequence[float | None]) -> NDArray[np.float64]:
    """Symbols as the answers that they read as; NaN for NULL."""
    numbers = np.array([np.nan if number is None else number for number in reads_as])
    return numbers.take(values)
