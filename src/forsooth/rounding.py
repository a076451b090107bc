"""Exact numbers as floats that err on a known side: a bound that is stated stays a bound."""

from __future__ import annotations

import math
from fractions import Fraction


def float_above(number: Fraction) -> float:
    """The smallest float that is not below an exact number."""
    rounded = float(number)
    return rounded if Fraction(rounded) >= number else math.nextafter(rounded, math.inf)


def float_below(number: Fraction) -> float:
    """The largest float that is not above an exact number."""
    return -float_above(-number)
