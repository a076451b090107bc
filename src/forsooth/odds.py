"""ε as odds, for people: how far a report can move its reader, and how strong that promise is.

By Bayes' theorem a report multiplies the odds between two things that ε covers by a factor of at
most e^ε. Odds explain ε better than ε itself (Nanayakkara et al., "What Are the Chances?", USENIX
Security 2023). Numbers are rounded up, since each of them states a bound.

`clients/js/src/odds.js` says the same; `clients/js/vectors/verification/promises.json` is shared.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

Strength = Literal["strong", "moderate", "weak", "very weak"]
STRENGTHS: tuple[Strength, ...] = get_args(Strength)

# e^ε up to which a promise is called so; beyond the last one it is "very weak".
#  name          factor  reason
LIMITS: tuple[tuple[Strength, float], ...] = (
    ("strong", 3.0),  # 50 % becomes at most 75 %: a conclusion is wrong at least once in four
    ("moderate", 19.0),  # at most 95 %: below the usual standard of statistical evidence
    ("weak", 999.0),  # at most 99.9 %: a conclusion is wrong at least once in a thousand
)
_COUNTABLE = 1e6  # larger odds are not written out: nobody can tell them apart
_FLOAT = 1e-12  # relative: far above what floats make of 3 × 0.1, far below six digits
HALF, RARE = 0.5, 0.01  # what a reader may have thought before


def strength(epsilon: float) -> Strength:
    """How strong the promise of ε is, as one of four words."""
    return next((name for name, most in LIMITS if epsilon <= math.log(most)), "very weak")


def is_countable(epsilon: float) -> bool:
    """Are the odds small enough to be written out?"""
    return epsilon <= math.log(_COUNTABLE)


def amount(epsilon: float) -> str:
    """ε with six digits, rounded up; what floats make of a decimal number does not count."""
    shown = float(f"{epsilon:.6g}")
    if shown < epsilon * (1 - _FLOAT):
        shown += 10.0 ** (math.floor(math.log10(shown)) - 5)
    return f"{shown:.6g}"


def odds(epsilon: float) -> str:
    """The odds that 1 to 1 can become: ``2.8 to 1`` for ε = 1."""
    if not is_countable(epsilon):
        return f"more than {_COUNTABLE:,.0f} to 1"
    factor = math.exp(epsilon)
    most = f"{math.ceil(10 * factor) / 10:.1f}" if factor < 10 else f"{math.ceil(factor):,}"
    return f"{most} to 1"


def chance(before: float, epsilon: float) -> str:
    """The probability that `before` can become, in per cent: ``74 %`` for ½ and ε = 1."""
    share = 100 / (1 + (1 - before) / before * math.exp(-epsilon))
    if share > 99.9:
        return "over 99.9 %"
    return f"{math.ceil(share)} %" if 10 <= share <= 99 else f"{math.ceil(10 * share) / 10:.1f} %"
