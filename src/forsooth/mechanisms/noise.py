"""Discrete Laplace noise: integers k with probability proportional to e^(−rate·|k|), exactly.

Floating-point Laplace noise leaks: some sums cannot be reached from some answers (Mironov 2012).
Here noise and answers are integers (multiples of a public grid) and the sampler is exact:

* the difference of two geometric variables, P(G ≥ k) = e^(−rate·k), is discrete Laplace;
* the binary digits of a geometric variable are independent, digit i being 1 with probability
  1 / (1 + e^(rate·2^i)): P(G = k) factorises over the digits of k;
* what lies beyond the highest digit drawn is geometric again (no memory), hence the tail below;
* a digit compares random bits with the binary digits of that probability, 32 at a time, and goes
  on only in the case (2^−32) that all of them are equal.

Every draw takes the same steps whatever it is added to.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.mechanisms.exact import Probability, laplace_reach

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.mechanisms.randomness import Randomness

NEVER = Fraction(1, 2**64)  # a report with noise that is less probable than this is refused
RARELY = Fraction(1, 100)  # of honest numbers, beyond what sums are clipped to
_BLOCK = 2**16  # small enough for the processor's cache
_TAIL = 50  # the tail begins where less than e^−50 of the probability is left
_MOST_DIGITS = 60  # sums stay within 64 bits


def discrete_laplace(rate: Fraction, count: int, random: Randomness) -> NDArray[np.int64]:
    """`count` independent draws with P(k) ∝ e^(−rate·|k|)."""
    digits = _digits_needed(rate)
    noise = np.empty(count, np.int64)
    for start in range(0, count, _BLOCK):
        part = noise[start : start + _BLOCK]
        part[:] = geometric(rate, digits, len(part), random)
        part -= geometric(rate, digits, len(part), random)
    return noise


@lru_cache(maxsize=4096)
def reach(rate: Fraction, chance: Fraction, count: int = 1) -> int:
    """The noise of all of `count` draws lies within ± this, but for a probability ≤ `chance`."""
    return laplace_reach(rate, chance / max(1, count))


def geometric(rate: Fraction, digits: int, count: int, random: Randomness) -> NDArray[np.int64]:
    """`count` independent draws with P(G ≥ k) = e^(−rate·k), the first `digits` bits at once."""
    total = np.zeros(count, np.int64)
    for digit in range(digits):
        chance = _logistic(rate * 2**digit)
        total += bernoulli(chance, count, random).astype(np.int64) << digit
    beyond = _exponential(rate * 2**digits)
    more = np.flatnonzero(bernoulli(beyond, count, random))
    while more.size:
        total[more] += 1 << digits
        more = more[bernoulli(beyond, more.size, random)]
    return total


def bernoulli(chance: Probability, count: int, random: Randomness) -> NDArray[np.bool_]:
    """`count` independent coins that are true with exactly this probability."""
    words, threshold = random.words(count), _first_digits(chance)
    coins = words < threshold
    for tied in np.flatnonzero(words == threshold):
        coins[tied] = _settle(chance, random)
    return coins


def _settle(chance: Probability, random: Randomness) -> bool:
    """The first 32 bits are equal: compare the next ones, and the next, until they differ."""
    bits = 64
    while True:
        digits = chance.digits(bits) % 2**32
        word = int(random.words(1)[0])
        if word != digits:
            return word < digits
        bits += 32


def _digits_needed(rate: Fraction) -> int:
    digits = 1
    while rate * 2**digits < _TAIL:
        digits += 1
    if digits > _MOST_DIGITS:
        raise ForsoothError(
            "ε is too small for noise on this grid: the noise would not fit into 64 bits"
        )
    return digits


@lru_cache(maxsize=4096)
def _logistic(exponent: Fraction) -> Probability:
    return Probability.logistic(exponent)


@lru_cache(maxsize=4096)
def _exponential(exponent: Fraction) -> Probability:
    return Probability.exponential(exponent)


@lru_cache(maxsize=4096)
def _first_digits(chance: Probability) -> np.uint32:
    return np.uint32(chance.digits(32))
