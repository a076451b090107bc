"""The arithmetic behind the promises, against rational series of our own."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forsooth.mechanisms.exact import Probability, floor_times_exp, log_ratio


def exp_between(x: Fraction, terms: int = 400) -> tuple[Fraction, Fraction]:
    """Rational bounds of e^x for 0 ≤ x ≤ 50 by its Taylor series."""
    term = total = Fraction(1)
    for k in range(1, terms):
        term *= x / k
        total += term
        if term < Fraction(1, 2**300):
            break
    return total, total + 2 * term


@given(st.integers(1, 2**32), st.integers(1, 2**32))
def test_log_ratio_is_the_next_float_above(a: int, b: int) -> None:
    larger, smaller = max(a, b), min(a, b)
    rounded = log_ratio(larger, smaller)
    ratio = Fraction(larger, smaller)
    assert exp_between(Fraction(rounded))[1] >= ratio
    if rounded > 0:
        assert exp_between(Fraction(math.nextafter(rounded, 0)))[0] <= ratio


@given(st.integers(1, 2**32), st.floats(1e-9, 40))
def test_floor_times_exp_is_the_floor(count: int, epsilon: float) -> None:
    low, high = exp_between(Fraction(epsilon))
    assert math.floor(count * low) <= floor_times_exp(count, epsilon) <= math.floor(count * high)


@pytest.mark.parametrize("bits", [1, 32, 64, 96, 160])
@pytest.mark.parametrize("x", [Fraction(1, 10**6), Fraction(1, 3), Fraction(7), Fraction(49)])
def test_binary_digits_of_probabilities(x: Fraction, bits: int) -> None:
    low, high = exp_between(x)
    scale = 2**bits
    assert math.floor(scale / (1 + high)) == Probability.logistic(x).digits(bits)
    assert math.floor(scale / (1 + low)) == Probability.logistic(x).digits(bits)
    assert math.floor(scale / high) == Probability.exponential(x).digits(bits)
