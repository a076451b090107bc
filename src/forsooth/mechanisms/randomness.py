"""Where the coins come from: the operating system by default, a seed only for simulations."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

import numpy as np

from forsooth.checks import check_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray


_ZEROS = memoryview(bytes(2**17))  # enciphered at once: small enough for the processor's cache
_SPARE = 15  # bytes that the cipher wants to have at the end, though in counter mode it uses none


class Randomness(Protocol):
    """A stream of independent, uniform 32-bit words."""

    def words(self, count: int) -> NDArray[np.uint32]:
        """The next `count` words."""
        ...


class SecureRandomness:
    """AES-256 in counter mode under a key from the operating system, used for nothing else.

    Telling the stream from true coins means breaking AES; os.urandom itself is ten times slower.
    """

    def __init__(self) -> None:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        key, counter = os.urandom(32), os.urandom(16)
        self._stream = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()

    def words(self, count: int) -> NDArray[np.uint32]:
        """The next `count` words: the cipher applied to zeros is the bare stream."""
        stream = np.empty(4 * count + _SPARE, np.uint8)
        for start in range(0, 4 * count, len(_ZEROS)):
            self._stream.update_into(_ZEROS[: 4 * count - start], stream.data[start:])
        return stream[: 4 * count].view(np.uint32)


class SimulatedRandomness:
    """A seeded generator, for studies that must be repeatable. It gives no privacy."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def words(self, count: int) -> NDArray[np.uint32]:
        """The next `count` words."""
        return self._generator.integers(0, 2**32, count, np.uint32)


def randomness(simulation_seed: int | None = None) -> Randomness:
    """Secure randomness, unless a simulation seed is named."""
    if simulation_seed is None:
        return SecureRandomness()
    return SimulatedRandomness(check_whole(simulation_seed, "simulation_seed", 0))
