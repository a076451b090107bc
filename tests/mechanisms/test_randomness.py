from __future__ import annotations

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

from forsooth.mechanisms.randomness import SecureRandomness, SimulatedRandomness, randomness
from tests.samples import ALPHA, count, goodness_of_fit


def test_secure_unless_a_seed_is_named() -> None:
    assert isinstance(randomness(), SecureRandomness)
    assert isinstance(randomness(simulation_seed=0), SimulatedRandomness)


def test_two_secure_streams_differ_and_a_stream_goes_on() -> None:
    one, other = SecureRandomness(), SecureRandomness()
    first = one.words(1000)
    assert not np.array_equal(first, other.words(1000))
    assert not np.array_equal(first, one.words(1000))


def test_the_secure_stream_is_aes_256_in_counter_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the pieces in which it is asked for, also larger than are enciphered at once."""
    monkeypatch.setattr("os.urandom", lambda size: bytes(range(size)))
    source, counts = SecureRandomness(), [1, 3, 0, 100_003, 5]
    taken = np.concatenate([source.words(count) for count in counts])
    cipher = Cipher(AES(bytes(range(32))), CTR(bytes(range(16)))).encryptor()
    assert taken.tobytes() == cipher.update(bytes(4 * sum(counts)))


def test_words_that_were_given_stay() -> None:
    source = SecureRandomness()
    first = source.words(1000)
    kept = first.copy()
    source.words(1000)
    assert np.array_equal(first, kept)


@pytest.mark.parametrize("source", [SecureRandomness(), SimulatedRandomness(1)], ids=["os", "seed"])
def test_every_byte_is_uniform(source: SecureRandomness) -> None:
    data = source.words(500_000).view(np.uint8).reshape(-1, 4)
    for place in range(4):
        assert goodness_of_fit(count(data[:, place], 256), np.ones(256)) > ALPHA
