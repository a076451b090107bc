"""Exact arithmetic behind every promise: exponentials and logarithms with the error on our side."""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

_HUNDRED_DIGITS = Context(prec=100)
_SLACK = Decimal("1e-80")  # far above the error of a hundred digits, far below what floats see
_LARGEST = 64.0  # e^64 is beyond every ratio that 32-bit weights can have


def log_ratio(larger: int, smaller: int) -> float:
    """ln(larger / smaller) as a float, never below the true value."""
    if larger == smaller:
        return 0.0
    with localcontext(_HUNDRED_DIGITS):
        above = (Decimal(larger) / Decimal(smaller)).ln() * (1 + _SLACK)
        rounded = float(above)
        return rounded if Decimal(rounded) >= above else math.nextafter(rounded, math.inf)


def laplace_reach(rate: Fraction, chance: Fraction) -> int:
    """The smallest t with P(|k| > t) ≤ chance for P(k) ∝ e^(−rate·|k|), never below the true one.

    P(|k| > t) = 2·q^(t + 1) / (1 + q) with q = e^−rate.
    """
    with localcontext(_HUNDRED_DIGITS):
        step = _decimal(rate)
        odds = 2 / (_decimal(chance) * (1 + (-step).exp()))
        return max(0, math.ceil(odds.ln() / step * (1 + _SLACK)) - 1)


def floor_times_exp(count: int, epsilon: float) -> int:
    """⌊count · e^ε⌋, or a smaller number where ε is so large that it cannot matter."""
    with localcontext(_HUNDRED_DIGITS):
        return math.floor(count * Decimal(min(epsilon, _LARGEST)).exp() * (1 - _SLACK))


class Probability:
    """A real probability whose binary digits can be had one block after the other.

    Comparing random bits with those digits, and drawing more only while all are equal, gives
    *exactly* this probability, irrational or not.
    """

    def __init__(self, compute: Callable[[], Decimal]) -> None:
        self._compute = compute

    @classmethod
    def logistic(cls, exponent: Fraction) -> Probability:
        """1 / (1 + e^x) for a rational x > 0."""
        return cls(lambda: 1 / (1 + _decimal(exponent).exp()))

    @classmethod
    def exponential(cls, exponent: Fraction) -> Probability:
        """e^−x for a rational x > 0."""
        return cls(lambda: (-_decimal(exponent)).exp())

    def digits(self, bits: int) -> int:
        """⌊2^bits · p⌋. e^x is transcendental, so enough decimals always settle the floor."""
        precision = bits + 60
        while True:
            with localcontext(Context(prec=precision)):
                scaled = 2**bits * self._compute()
                error = Decimal(1).scaleb(bits - precision + 10)
                low, high = math.floor(scaled - error), math.floor(scaled + error)
            if low == high:
                return int(low)
            precision *= 2


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)
