"""Subset selection.

The report is a set of w symbols, w = k/(e^ε + 1) rounded, at least 1. It has the true one with
probability p = we^ε/(we^ε + k − w), and is otherwise uniform. Another symbol is in it with
q = p(w − 1)/(k − 1) + (1 − p)w/(k − 1). Var f̂ = q(1 − q)/(n(p − q)²) for rare values.

Ye and Barg: Optimal Schemes for Discrete Distribution Estimation under Locally Differential
Privacy. IEEE Transactions on Information Theory 64(8), 2018. Wang et al.: Mutual Information
Optimally Local Private Discrete Distribution Estimation. arXiv:1607.08025, 2016.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.study.rivals.frequency_oracle import FrequencyOracle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.study.rivals.private import Codes


def width(size: int, epsilon: float) -> int:
    """w, the number of symbols in a report."""
    return max(1, round(size / (float(np.exp(epsilon)) + 1)))


def probabilities(size: int, epsilon: float) -> tuple[float, float]:
    """(p, q)."""
    chosen = width(size, epsilon)
    weight = chosen * float(np.exp(epsilon))
    p = weight / (weight + size - chosen)
    return p, (p * (chosen - 1) + (1 - p) * chosen) / (size - 1)


def supports(
    codes: Codes, size: int, epsilon: float, random: np.random.Generator
) -> NDArray[np.bool_]:
    """A report supports its symbols: those with the largest of random keys, the true one's first
    with probability p, else last.
    """
    p, _ = probabilities(size, epsilon)
    key = random.random((*codes.shape, size))
    first = np.where(random.random(codes.shape) < p, 2.0, -1.0)
    np.put_along_axis(key, codes[..., None].astype(np.intp), first[..., None], -1)
    chosen = width(size, epsilon)
    least = np.partition(key, size - chosen, axis=-1)[..., size - chosen, None]
    return key >= least


SUBSET_SELECTION = FrequencyOracle(probabilities, supports).rival(
    "subset-selection", "Ye and Barg, IEEE Trans. Inf. Theory 64(8), 2018"
)
