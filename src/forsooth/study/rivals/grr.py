"""Generalized randomized response (direct encoding).

The true one of k symbols is reported with probability p = e^ε/(e^ε + k − 1), each other one with
q = 1/(e^ε + k − 1). Var f̂ = (k − 2 + e^ε)/(n(e^ε − 1)²) for rare values. With NULL as a symbol the
reports are those of our `rr`; the rival is the estimator.

Wang, Blocki, Li and Jha: Locally Differentially Private Protocols for Frequency Estimation. USENIX
Security 2017, section 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.study.rivals.frequency_oracle import FrequencyOracle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.study.rivals.private import Codes


def probabilities(size: int, epsilon: float) -> tuple[float, float]:
    """(p, q)."""
    odds = float(np.exp(epsilon))
    return odds / (odds + size - 1), 1 / (odds + size - 1)


def randomised(
    codes: NDArray[Any], size: int, epsilon: float, random: np.random.Generator
) -> NDArray[np.int64]:
    """One reported symbol per code: a lie is one of the other symbols, all equally likely."""
    p, _ = probabilities(size, epsilon)
    lie = random.random(codes.shape) >= p
    symbols: NDArray[np.int64] = (codes + lie * random.integers(1, size, codes.shape)) % size
    return symbols


def supports(
    codes: Codes, size: int, epsilon: float, random: np.random.Generator
) -> NDArray[np.bool_]:
    """A report supports the symbol that it names."""
    reported = randomised(codes, size, epsilon, random)
    same: NDArray[np.bool_] = reported[..., None] == np.arange(size)
    return same


GRR = FrequencyOracle(probabilities, supports).rival(
    "grr-frequency", "Wang et al., USENIX Security 2017"
)
