"""Optimized local hashing.

Every report has a random hash function onto g = e^ε + 1 values, rounded, and the hash of the true
symbol after randomized response over the g values. It supports all symbols with that hash:
p = e^ε/(e^ε + g − 1), q = 1/g. Var f̂ = 4e^ε/(n(e^ε − 1)²) for rare values, if g is exact.

The hash functions are simulated by independent uniform hashes of all symbols.

Wang, Blocki, Li and Jha: Locally Differentially Private Protocols for Frequency Estimation. USENIX
Security 2017, section 4.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.study.rivals import grr
from forsooth.study.rivals.frequency_oracle import FrequencyOracle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.study.rivals.private import Codes


def hashes(epsilon: float) -> int:
    """The number g of hash values."""
    return round(float(np.exp(epsilon))) + 1


def probabilities(size: int, epsilon: float) -> tuple[float, float]:
    """(p, q)."""
    del size
    p, _ = grr.probabilities(hashes(epsilon), epsilon)
    return p, 1 / hashes(epsilon)


def supports(
    codes: Codes, size: int, epsilon: float, random: np.random.Generator
) -> NDArray[np.bool_]:
    """A report supports the symbols that have the reported hash."""
    hashed = random.integers(0, hashes(epsilon), (*codes.shape, size))
    true = np.take_along_axis(hashed, codes[..., None].astype(np.intp), -1)
    same: NDArray[np.bool_] = hashed == grr.randomised(true, hashes(epsilon), epsilon, random)
    return same


OLH = FrequencyOracle(probabilities, supports).rival("olh", "Wang et al., USENIX Security 2017")
