"""PCKV-UE: unary encoding of the sampled key and its sign; see `pckv`.

The report is a vector over all keys and dummies with entries +1, −1 and 0. With ε₁ =
ln(a(1 − b)/(b(1 − a))) and ε₂ = ln(p/(1 − p)) it is ε-LDP for
ε = max(ε₂, ε₁ + ln(2/(1 + e^(−ε₂)))) (Theorem 2); best are a = 1/2, b = 1/(e^ε₁ + 1),
ε₁ = ln((e^ε + 1)/2), ε₂ = ε.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.study.rivals.pckv import Chances, KeyValueProtocol, observed, tally

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.study.rivals.private import Array

_BLOCK = 2**12  # workers at once


def chances(epsilon: float, keys: int, length: int) -> Chances:
    """a, b and p with the least variance for ε; they do not depend on the number of keys."""
    del keys
    odds = float(np.exp(epsilon))
    return Chances(0.5, 1 / ((odds + 1) / 2 + 1), odds / (odds + 1), length)


def counts(
    key: NDArray[np.intp], sign: Array, keys: int, chances: Chances, random: np.random.Generator
) -> Array:
    """n₁ and n₂ of every key; the dummies' entries are not used."""
    found = np.zeros((keys, 2))
    for start in range(0, len(key), _BLOCK):
        part = slice(start, start + _BLOCK)
        sampled = key[part, None] == np.arange(keys)
        found += tally(observed(sampled, sign[part, None], chances, random))
    return found


PCKV_UE, PCKV_UE_PERSON = KeyValueProtocol(chances, counts).rivals("pckv-ue")
