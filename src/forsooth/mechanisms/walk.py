"""Walking rows of cumulative weights: how many of them 32 random bits reach.

No branch, no early exit: the same steps for every input and every word. The compiled walk and its
readable twin give the same symbols.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

LEADING = 8  # bits of a word that the guide is indexed by: 256 entries per row stay in the cache
_WORTH = 2**18  # cells from which on the compiled walk is worth loading


def walker(thresholds: NDArray[np.uint32], cells: int) -> Callable[..., None]:
    """What turns words and rows into symbols, fast if there are many of them."""
    compiled = _compiled() if cells >= _WORTH else None
    if compiled is None:
        return lambda words, rows, symbols: walk_twin(thresholds, words, rows, symbols)
    guided = Guided.of(thresholds)
    return lambda words, rows, symbols: compiled(
        guided.guide, guided.table, guided.steps, words, rows, symbols
    )


def walk_twin(
    thresholds: NDArray[np.uint32],
    words: NDArray[np.uint32],
    rows: NDArray[Any],
    symbols: NDArray[Any],
) -> None:
    """Threshold by threshold, for all cells."""
    symbols[:] = 0
    index = rows.astype(np.intp)
    for line in thresholds:
        symbols += words >= line.take(index)


@dataclass(frozen=True, eq=False)
class Guided:
    """A guide table (Chen & Asau 1974): where the search for a word's symbol starts.

    `guide[row, b]` is the number of thresholds of the row that every word with the leading bits b
    reaches. From there, `steps` comparisons are enough for every word: the largest number of
    thresholds that begin with the same bits, over the whole public table. Nearly always it is 1.

    `table` holds each threshold less 1, which a word exceeds where it reaches the threshold, and
    at the end of each row a number that no word exceeds. Weights, hence thresholds, are at least 1.
    """

    guide: NDArray[Any]
    table: NDArray[np.uint32]
    steps: int

    @classmethod
    def of(cls, thresholds: NDArray[np.uint32]) -> Guided:
        """The guide of cumulative weights, which have one column per row of the channel."""
        count, rows = thresholds.shape
        table = np.full((rows, count + 1), 2**32 - 1, np.uint32)
        table[:, :count] = thresholds.T - np.uint32(1)
        first = np.arange(2**LEADING, dtype=np.uint32) << np.uint32(32 - LEADING)
        last = first + np.uint32(2 ** (32 - LEADING) - 1)
        low, high = (
            np.array([np.searchsorted(line[:count], words) for line in table])
            for words in (first, last)
        )
        guide = low.astype(np.uint8 if count < 2**8 else np.uint16)
        return cls(guide, table, max(1, int((high - low).max(initial=0))))


@cache
def _compiled() -> Callable[..., None] | None:
    try:
        from forsooth.mechanisms.compiled import walk
    except ImportError:
        return None
    return walk
