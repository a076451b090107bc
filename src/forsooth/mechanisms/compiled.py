"""The walk of `walk`, compiled. Importing this needs numba.

A word is compared with eight thresholds at once, in one vector, and the bits of the outcome are
counted. This is written in LLVM's own vectors: no compiler finds them in a loop this short.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from forsooth.mechanisms.walk import LANES

_WORD, _COUNT, _MASK = ir.IntType(32), ir.IntType(64), ir.IntType(LANES)
_VECTOR = ir.VectorType(_WORD, LANES)


def _exceeded(_: Any, word: Any, table: Any, place: Any) -> Any:
    """How many of the `LANES` numbers from `place` on a word exceeds, by code as LLVM wants it."""

    def lower(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        array = context.make_array(signature.args[1])(context, builder, given[1])
        start = builder.gep(array.data, [given[2]])
        numbers = builder.load(builder.bitcast(start, _VECTOR.as_pointer()), align=4)
        unset, zeros = ir.Constant(_VECTOR, ir.Undefined), ir.Constant(_VECTOR, [0] * LANES)
        first = builder.insert_element(unset, given[0], _WORD(0))
        words = builder.shuffle_vector(first, unset, zeros)
        signed = builder.xor(words, ir.Constant(_VECTOR, [2**31] * LANES))
        above = builder.bitcast(builder.icmp_signed(">", signed, numbers), _MASK)
        return builder.zext(builder.ctpop(above), _COUNT)

    return types.int64(types.uint32, table, types.int64), lower


exceeded: Any = intrinsic(_exceeded)


@njit(cache=True, nogil=True)
def walk(table: Any, words: Any, rows: Any, symbols: Any) -> None:
    """Every cell's symbol: how many numbers of its row of the table its word exceeds."""
    width, flat = table.shape[1], table.ravel()
    for cell in range(len(symbols)):
        symbols[cell] = exceeded(words[cell], flat, np.int64(rows[cell]) * width)
    for first in range(LANES, width, LANES):
        for cell in range(len(symbols)):
            symbols[cell] += exceeded(words[cell], flat, np.int64(rows[cell]) * width + first)
