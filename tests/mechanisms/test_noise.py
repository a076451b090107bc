from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from forsooth import ForsoothError
from forsooth.mechanisms.exact import Probability
from forsooth.mechanisms.noise import bernoulli, discrete_laplace, geometric
from forsooth.mechanisms.randomness import SecureRandomness, SimulatedRandomness
from tests.samples import ALPHA, goodness_of_fit

DRAWS = 400_000


class Scripted:
    """Randomness that says what it is told to."""

    def __init__(self, *words: int) -> None:
        self._words = list(words)

    def words(self, count: int) -> NDArray[np.uint32]:
        said, self._words = self._words[:count], self._words[count:]
        return np.array(said, np.uint32)


def laplace_p(noise: NDArray[np.int64], rate: float) -> float:
    """The p-value of draws against the exact discrete Laplace probabilities."""
    reach = int(30 / rate)
    values = np.arange(-reach, reach + 1)
    counts = np.bincount(np.clip(noise, -reach, reach) + reach, minlength=len(values))
    return goodness_of_fit(counts, np.exp(-rate * np.abs(values)))


@pytest.mark.parametrize("rate", [Fraction(3), Fraction(1, 2), Fraction(1, 37), Fraction(0.01)])
def test_discrete_laplace_has_its_distribution(rate: Fraction) -> None:
    noise = discrete_laplace(rate, DRAWS, SimulatedRandomness(1))
    assert laplace_p(noise, float(rate)) > ALPHA


def test_with_secure_randomness_too() -> None:
    assert laplace_p(discrete_laplace(Fraction(1, 5), DRAWS, SecureRandomness()), 0.2) > ALPHA


def test_planted_bugs_are_caught() -> None:
    """A wrong rate, a missing zero, a sign that is not fair: each must be rejected."""
    noise = discrete_laplace(Fraction(1, 2), DRAWS, SimulatedRandomness(1))
    assert laplace_p(noise, 0.51) < ALPHA
    assert laplace_p(np.where(noise == 0, 1, noise), 0.5) < ALPHA
    flipped = np.where(np.arange(DRAWS) % 50 == 0, np.abs(noise), noise)
    assert laplace_p(flipped, 0.5) < ALPHA


@pytest.mark.parametrize("digits", [1, 2, 4])
def test_the_tail_beyond_the_digits_is_exact(digits: int) -> None:
    """With few digits the tail, which is never met in practice, does most of the work."""
    rate = Fraction(1, 5)
    drawn = geometric(rate, digits, DRAWS, SimulatedRandomness(2))
    probabilities = np.exp(-0.2 * np.arange(120)) * (1 - np.exp(-0.2))
    assert (
        goodness_of_fit(np.bincount(np.minimum(drawn, 119), minlength=120), probabilities) > ALPHA
    )


def test_a_tie_is_settled_by_further_bits() -> None:
    chance = Probability.exponential(Fraction(1, 3))
    first, both = chance.digits(32), chance.digits(64)
    second = both % 2**32
    for word, outcome in ((second - 1, True), (second + 1, False)):
        assert bernoulli(chance, 1, Scripted(first, word)).tolist() == [outcome]
    third = chance.digits(96) % 2**32
    assert bernoulli(chance, 1, Scripted(first, second, third - 1)).tolist() == [True]


def test_draws_do_not_depend_on_the_block_size() -> None:
    assert len(discrete_laplace(Fraction(1), 2**16 + 3, SimulatedRandomness(0))) == 2**16 + 3


def test_noise_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ForsoothError, match="ε is too small"):
        discrete_laplace(Fraction(1, 2**70), 1, SimulatedRandomness(0))
