"""PCKV-GRR: randomized response over keys, with the sign of the sampled one; see `pckv`.

The report is one of d' = d + ℓ keys and dummies: the sampled one with probability a, any other one
with b = (1 − a)/(d' − 1) and a random sign. With ε₁ = ln(a/b), ε₂ = ln(p/(1 − p)) and
λ = (ℓ − 1)(e^ε₂ + 1)/2 it is ε-LDP for ε = ln((e^(ε₁ + ε₂) + λ)/(min(e^ε₁, (e^ε₂ + 1)/2) + λ)),
because sampling from a padded set adds privacy (Theorem 4); best are
ε₁ = ln(ℓ(e^ε − 1)/2 + 1), ε₂ = ln(ℓ(e^ε − 1) + 1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.study.rivals.pckv import Chances, KeyValueProtocol

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.study.rivals.private import Array


def chances(epsilon: float, keys: int, length: int) -> Chances:
    """a, b and p with the least variance for ε."""
    gain, others = length * float(np.expm1(epsilon)), keys + length - 1
    first, second = gain / 2 + 1, gain + 1  # e^ε₁ and e^ε₂
    return Chances(first / (first + others), 1 / (first + others), second / (second + 1), length)


def counts(
    key: NDArray[np.intp], sign: Array, keys: int, chances: Chances, random: np.random.Generator
) -> Array:
    """n₁ and n₂ of every key; reports that name a dummy are not used."""
    every = keys + chances.length
    lie = random.random(len(key)) >= chances.a
    reported = (key + lie * random.integers(1, every, len(key))) % every
    kept = random.random(len(key)) < np.where(lie, 0.5, chances.p)
    positive = (sign > 0) == kept
    found = np.bincount(2 * reported + ~positive, minlength=2 * every).reshape(-1, 2)
    return found[:keys].astype(np.float64)


PCKV_GRR, PCKV_GRR_PERSON = KeyValueProtocol(chances, counts).rivals("pckv-grr")
