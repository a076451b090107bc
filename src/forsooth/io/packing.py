"""Reports without wasted bits: value c of a report stands in its bits [c·bits, (c+1)·bits).

Bit i of a report is bit i mod 8 of its byte i div 8: one plain little-endian stream per report, so
that values of 8, 16 or 64 bits are the little-endian bytes that they would be anyway. The length
depends on the number of values alone. The bits after the last value are 0: a report that could be
written in two ways could carry a message.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.errors import ForsoothError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_WORTH = 2**18  # values from which on the compiled twin is worth loading
_BLOCK = 2**20  # values of which the readable twin holds all bits at once


def packed_size(count: int, bits: int) -> int:
    """How many bytes `count` values take."""
    return -(-count * bits // 8)


def symbol_bits(symbols: int) -> int:
    """How many bits one of `symbols` symbols takes."""
    return max(1, (symbols - 1).bit_length())


def pack(values: NDArray[Any], bits: int) -> NDArray[np.uint8]:
    """One line of bytes per line of values."""
    rows, width = values.shape
    if bits == 8 * values.itemsize:
        little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
        return little.view(np.uint8).reshape(rows, width * values.itemsize)
    if values.size and int(values.max()) >> bits:
        raise ForsoothError(f"the value {values.max()} does not fit into {bits} bits")
    packed = np.zeros((rows, packed_size(width, bits)), np.uint8)
    return _run(0, values.size)(np.ascontiguousarray(values), bits, packed)


def unpack(packed: NDArray[np.uint8], width: int, bits: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The values, `width` of each report; a report with a bit set beyond them is refused."""
    rows = len(packed)
    if packed.shape != (rows, packed_size(width, bits)):
        raise ForsoothError(f"{width} values of {bits} bits do not take {packed.shape[1]} bytes")
    packed = np.ascontiguousarray(packed)
    if bits == 8 * dtype.itemsize:
        little = packed.reshape(-1).view(dtype.newbyteorder("<"))
        return little.reshape(rows, width).astype(dtype)
    _refuse_padding(packed, width * bits % 8)
    return _run(1, rows * width)(packed, bits, np.empty((rows, width), dtype))


def unpack_one(report: bytes, width: int, bits: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The values of a single report."""
    values: NDArray[Any] = unpack(np.frombuffer(report, np.uint8)[None], width, bits, dtype)[0]
    return values


def _refuse_padding(packed: NDArray[np.uint8], used: int) -> None:
    """The last byte of every report has only its `used` lowest bits, unless it has all."""
    set_beyond = packed[:, -1] >> used if used else np.zeros(1, np.uint8)
    if set_beyond.any():
        raise ForsoothError(
            f"report {int(set_beyond.argmax()) + 1} has bits set after its last value"
        )


def pack_twin(values: NDArray[Any], bits: int, packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Every bit by itself."""
    places = np.arange(bits, dtype=values.dtype)
    for rows in _blocks(values.shape):
        each = (values[rows, :, None] >> places & 1).astype(np.uint8)
        stream = each.reshape(len(each), values.shape[1] * bits)
        packed[rows] = np.packbits(stream, axis=1, bitorder="little")
    return packed


def unpack_twin(packed: NDArray[np.uint8], bits: int, values: NDArray[Any]) -> NDArray[Any]:
    """Every bit by itself."""
    weights = values.dtype.type(1) << np.arange(bits, dtype=values.dtype)
    for rows in _blocks(values.shape):
        count = values.shape[1] * bits
        stream = np.unpackbits(packed[rows], axis=1, count=count, bitorder="little")
        values[rows] = stream.reshape(len(stream), values.shape[1], bits) @ weights
    return values


def _blocks(shape: tuple[int, ...]) -> list[slice]:
    rows, width = shape
    block = max(1, _BLOCK // max(1, width))
    return [slice(start, start + block) for start in range(0, rows, block)]


def _run(which: int, count: int) -> Callable[..., NDArray[Any]]:
    """Packing (0) or unpacking (1), compiled if that is possible and worth it."""
    compiled = _compiled() if count >= _WORTH else None
    return (compiled or (pack_twin, unpack_twin))[which]


@cache
def _compiled() -> tuple[Callable[..., Any], Callable[..., Any]] | None:
    try:
        from numba import njit
    except ImportError:
        return None

    @njit(cache=True, nogil=True)
    def pack(values: Any, bits: Any, packed: Any) -> Any:
        for row in range(len(values)):
            store, held, place = np.uint64(0), 0, 0
            for value in values[row]:
                store |= np.uint64(value) << np.uint64(held)
                held += bits
                while held >= 8:
                    packed[row, place] = store & np.uint64(255)
                    store >>= np.uint64(8)
                    held, place = held - 8, place + 1
            if held:
                packed[row, place] = store
        return packed

    @njit(cache=True, nogil=True)
    def unpack(packed: Any, bits: Any, values: Any) -> Any:
        mask = np.uint64((1 << bits) - 1)
        for row in range(len(values)):
            store, held, place = np.uint64(0), 0, 0
            for cell in range(values.shape[1]):
                while held < bits:
                    store |= np.uint64(packed[row, place]) << np.uint64(held)
                    held, place = held + 8, place + 1
                values[row, cell] = store & mask
                store >>= np.uint64(bits)
                held -= bits
        return values

    return pack, unpack
