"""Nobody reports twice: the check over any number of workers, in little memory.

Names become 64-bit hashes, of which equal ones are looked for. Many of them go to disk in buckets
by their upper bits, so that each bucket fits into memory. Two different names have the same hash
with probability n²/2⁶⁵, for a million workers one in 40 million.
"""

from __future__ import annotations

import tempfile
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_HELD = 2**22  # hashes in memory before they go to disk
_BUCKETS = 256


def hashes(names: Iterable[str]) -> NDArray[np.uint64]:
    """A 64-bit hash of every name."""
    digests = b"".join(blake2b(name.encode(), digest_size=8).digest() for name in names)
    return np.frombuffer(digests, np.dtype("<u8")).astype(np.uint64)


class Register:
    """Hashes that have been seen; more than `most` of them are not held in memory."""

    def __init__(self, most: int = _HELD) -> None:
        self._most = most
        self._held: list[NDArray[np.uint64]] = []
        self._count = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def add(self, more: NDArray[np.uint64]) -> None:
        """Some more workers."""
        self._held.append(more)
        self._count += len(more)
        if self._count > self._most:
            self._spill()

    def repeated(self) -> NDArray[np.uint64]:
        """Hashes that were added more than once."""
        if self._folder is None:
            return _repeated(np.concatenate([np.empty(0, np.uint64), *self._held]))
        self._spill()
        buckets = sorted(Path(self._folder.name).iterdir())
        found = [_repeated(np.fromfile(bucket, np.uint64)) for bucket in buckets]
        self._folder.cleanup()
        return np.concatenate(found)

    def _spill(self) -> None:
        """To disk, each hash into its bucket."""
        self._folder = self._folder or tempfile.TemporaryDirectory(prefix="forsooth-")
        every = np.sort(np.concatenate([np.empty(0, np.uint64), *self._held]))
        edges = np.searchsorted(every >> np.uint64(56), np.arange(_BUCKETS + 1, dtype=np.uint64))
        for bucket, (begin, end) in enumerate(pairwise(edges)):
            with (Path(self._folder.name) / f"{bucket:03}").open("ab") as file:
                every[begin:end].tofile(file)
        self._held, self._count = [], 0


def _repeated(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    values = np.sort(values)
    return np.unique(values[1:][values[1:] == values[:-1]])
