"""Walking rows of cumulative weights: how many of them 32 random bits reach.

A word is compared with every threshold of its row: no branch, no early exit, the same steps for
every input and every word. The compiled walk and its readable twin give the same symbols.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

LANES = 8  # thresholds that the compiled walk looks at together
_WORTH = 2**18  # cells from which on the compiled walk is worth loading


def walker(thresholds: NDArray[np.uint32], cells: int) -> Callable[..., None]:
    """What turns words and rows into symbols, fast if there are many of them."""
    compiled = _compiled() if cells >= _WORTH else None
    if compiled is None:
        return lambda words, rows, symbols: walk_twin(thresholds, words, rows, symbols)
    table = padded(thresholds)
    return lambda words, rows, symbols: compiled(table, words, rows, symbols)


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


def padded(thresholds: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """A line per row, each threshold less 1, then numbers that no word exceeds: whole vectors.

    A word reaches a threshold if it exceeds the number before it; weights are at least 1, so that
    there is one. The highest bit is turned over, since processors compare vectors with a sign.
    """
    count, rows = thresholds.shape
    table = np.full((rows, max(1, -(-count // LANES)) * LANES), 2**32 - 1, np.uint32)
    table[:, :count] = thresholds.T - np.uint32(1)
    return table ^ np.uint32(2**31)


@cache
def _compiled() -> Callable[..., None] | None:
    try:
        from forsooth.mechanisms.compiled import walk
    except ImportError:
        return None
    return walk
