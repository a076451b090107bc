"""The loop of `walk`, compiled. Importing this needs numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from forsooth.mechanisms.walk import LEADING


@njit(cache=True, nogil=True)
def walk(guide: Any, table: Any, steps: int, words: Any, rows: Any, symbols: Any) -> None:
    """Every cell's symbol, as `walk.Guided` describes it: `steps` comparisons for every cell."""
    width, starts, numbers = np.uint64(table.shape[1]), guide.ravel(), table.ravel()
    for cell in range(len(symbols)):
        word, row = words[cell], np.uint64(rows[cell])
        leading = np.uint64(word >> np.uint32(32 - LEADING))
        at = np.uint64(starts[(row << np.uint64(LEADING)) | leading])
        symbols[cell] = at + np.uint64(word > numbers[row * width + at])
    for _ in range(steps - 1):
        for cell in range(len(symbols)):
            at = np.uint64(symbols[cell])
            exceeded = words[cell] > numbers[np.uint64(rows[cell]) * width + at]
            symbols[cell] = at + np.uint64(exceeded)
