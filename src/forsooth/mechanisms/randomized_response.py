"""Randomized response: `rr` (and `grr`, the same for public participation) and `two-step`.

**rr**: NULL is one more symbol; with s symbols, keep the input with weight e^ε : 1 against each
other symbol (the paper's Equation 5, |Γ| + 1 symbols). A column holds "keep" once and "other"
elsewhere, so the ratio is keep / other ≤ e^ε: ε-cell LDP for values and for participation.

**two-step** (in the paper's source, not in its print): first tell NULL from non-NULL by binary
randomized response with ε₁; if the outcome is non-NULL, a |Γ|-ary randomized response with ε₂,
uniform if the input was NULL. The guarantee is ε₁ + ε₂: in the NULL column the ratio is e^ε₁, in
another it is at most e^(ε₁+ε₂)·|Γ| / (|Γ| − 1 + e^ε₂) < e^(ε₁+ε₂).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from forsooth.checks import check_number
from forsooth.errors import ForsoothError
from forsooth.mechanisms.channel import TOTAL, Channel, ChannelMechanism, nearest_table
from forsooth.mechanisms.exact import floor_times_exp, log_ratio
from forsooth.privacy import Protects, check_epsilon, check_protects
from forsooth.scale import Scale

if TYPE_CHECKING:
    from forsooth.scale import ScaleLike


def rr(
    scale: ScaleLike,
    epsilon: float,
    *,
    protects: Protects = "answers+participation",
    name: str = "rr",
) -> ChannelMechanism:
    """Randomized response over the scale, and NULL where participation is protected."""
    scale = Scale.parse(scale)
    check_epsilon(epsilon)
    reads_as = symbol_readings(scale, protects)
    channel = randomized_response(len(reads_as), keep_weight(len(reads_as), epsilon))
    return ChannelMechanism(name, scale, epsilon, protects, channel, reads_as)


def grr(scale: ScaleLike, epsilon: float, *, protects: Protects = "answers") -> ChannelMechanism:
    """`rr` as it is known elsewhere: over the answers only, participation public."""
    return rr(scale, epsilon, protects=protects, name="grr")


def two_step(
    scale: ScaleLike,
    epsilon: float,
    *,
    protects: Protects = "answers+participation",
    first: float = 0.1,
) -> ChannelMechanism:
    """Two-step randomized response; `first` is the share of ε for the first step.

    Where participation is public there is no first step to take, and all of ε is the second's.
    """
    scale = Scale.parse(scale)
    if not 0 < check_number(first, "the first step's share of ε") < 1:
        raise ForsoothError(f"the first step's share of ε must lie between 0 and 1, got {first}")
    if protects == "answers":
        return rr(scale, epsilon, protects=protects, name="two-step")
    check_epsilon(epsilon)
    size = scale.size
    other_class, other_value = math.exp(-first * epsilon), math.exp(-(1 - first) * epsilon)
    keep_class, keep_value = 1 / (1 + other_class), 1 / (1 + (size - 1) * other_value)
    table = np.empty((size + 1, size + 1))
    values = other_value + (1 - other_value) * np.eye(size)
    table[:size, :size] = keep_class * keep_value * values
    table[:size, size] = other_class * keep_class
    table[size, :size] = other_class * keep_class / size
    table[size, size] = keep_class
    channel = nearest_table(table, epsilon)
    reads_as = symbol_readings(scale, protects)
    return ChannelMechanism("two-step", scale, epsilon, protects, channel, reads_as)


def symbol_readings(scale: Scale, protects: Protects) -> tuple[float | None, ...]:
    """Symbols that stand for themselves: every answer of the scale, then NULL if protected."""
    null = (None,) if check_protects(protects) == "answers+participation" else ()
    return (*scale.values, *null)


def keep_weight(symbols: int, epsilon: float) -> int:
    """The largest weight of "keep" for which keep / other ≤ e^ε still holds in integers.

    The other symbols share the rest as evenly as integers can, each with at least `least`. The
    real solution has least = 2³² / (e^ε + s − 1); the integers beside it are the candidates.
    """
    real = TOTAL / (math.exp(min(epsilon, 64)) + symbols - 1)
    best = 0
    for least in range(max(1, math.floor(real) - 1), math.floor(real) + 3):
        keep = min(TOTAL - (symbols - 1) * least, floor_times_exp(least, epsilon))
        shared_evenly = (TOTAL - keep) // (symbols - 1) == least
        uneven = (TOTAL - keep) % (symbols - 1) > 0
        most, fewest = max(keep, least + uneven), min(keep, least)
        kept = shared_evenly and log_ratio(most, fewest) <= epsilon
        if kept and keep > best:
            best = keep
    if not best:
        raise ForsoothError(f"ε = {epsilon!r} is too small for a table of 32-bit weights")
    return best


def randomized_response(symbols: int, keep: int) -> Channel:
    """The table in which every input keeps its own symbol with weight `keep`.

    What is left may not divide evenly: the symbols that follow one's own get the extra units.
    """
    least, extra = divmod(TOTAL - keep, symbols - 1)
    table = []
    for own in range(symbols):
        row = [least] * symbols
        row[own] = keep
        for step in range(1, extra + 1):
            row[(own + step) % symbols] += 1
        table.append(tuple(row))
    return Channel(tuple(table))
