"""Optimized unary encoding.

The report is a bit per symbol: the true one's is 1 with probability p = 1/2, every other one with
q = 1/(e^ε + 1). Var f̂ = 4e^ε/(n(e^ε − 1)²) for rare values, whatever the number of symbols.

Wang, Blocki, Li and Jha: Locally Differentially Private Protocols for Frequency Estimation. USENIX
Security 2017, section 4.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.study.rivals.frequency_oracle import FrequencyOracle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.study.rivals.private import Codes


def probabilities(size: int, epsilon: float) -> tuple[float, float]:
    """(p, q)."""
    del size
    return 0.5, 1 / (float(np.exp(epsilon)) + 1)


def supports(
    codes: Codes, size: int, epsilon: float, random: np.random.Generator
) -> NDArray[np.bool_]:
    """A report supports the symbols whose bit is 1."""
    p, q = probabilities(size, epsilon)
    true = codes[..., None] == np.arange(size)
    return random.random((*codes.shape, size)) < np.where(true, p, q)


OUE = FrequencyOracle(probabilities, supports).rival("oue", "Wang et al., USENIX Security 2017")
