from __future__ import annotations

import numpy as np
import pytest

from forsooth.randomness import SecureRandomness, SimulatedRandomness, randomness
from tests.samples import ALPHA, count, goodness_of_fit


def test_secure_unless_a_seed_is_named() -> None:
    assert isinstance(randomness(), SecureRandomness)
    assert isinstance(randomness(simulation_seed=0), SimulatedRandomness)


def test_two_secure_streams_differ_and_a_stream_goes_on() -> None:
    one, other = SecureRandomness(), SecureRandomness()
    first = one.words(1000)
    assert not np.array_equal(first, other.words(1000))
    assert not np.array_equal(first, one.words(1000))


@pytest.mark.parametrize("source", [SecureRandomness(), SimulatedRandomness(1)], ids=["os", "seed"])
def test_every_byte_is_uniform(source: SecureRandomness) -> None:
    data = source.words(500_000).view(np.uint8).reshape(-1, 4)
    for place in range(4):
        assert goodness_of_fit(count(data[:, place], 256), np.ones(256)) > ALPHA
