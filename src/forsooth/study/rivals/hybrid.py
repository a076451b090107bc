"""The hybrid mechanism (HM): the piecewise mechanism with probability α, else Duchi et al.'s.

α = 1 − e^(−ε/2) for ε above ε* ≈ 0.61, else 0. Duchi et al. report ±c, c = (e^ε + 1)/(e^ε − 1), +c
with probability 1/2 + t/(2c): Var = c² − t². Above ε* the variance does not depend on t:
(e^(ε/2) + 3)/(3e^(ε/2)(e^(ε/2) − 1)) + (e^ε + 1)²/(e^(ε/2)(e^ε − 1)²). Values only, as `pm`.

Wang, Xiao, Yang, Zhao, Hui, Shin, Shin and Yu: Collecting and Analyzing Multidimensional Data with
Local Differential Privacy. ICDE 2019, section III-C.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.study.rivals import piecewise
from forsooth.study.rivals.numeric import mean_rival

if TYPE_CHECKING:
    from forsooth.study.rivals.private import Array

_ROOT = 405 * 241**0.5
LEAST_EPSILON = float(  # ε* of the paper, equation 6
    np.log((-5 + 2 * (6353 - _ROOT) ** (1 / 3) + 2 * (6353 + _ROOT) ** (1 / 3)) / 27)
)


def perturbed(number: Array, epsilon: float, random: np.random.Generator) -> Array:
    """One report per number."""
    share = 1 - float(np.exp(-epsilon / 2)) if epsilon > LEAST_EPSILON else 0.0
    return np.where(
        random.random(number.shape) < share,
        piecewise.perturbed(number, epsilon, random),
        two_points(number, epsilon, random),
    )


def two_points(number: Array, epsilon: float, random: np.random.Generator) -> Array:
    """Duchi, Jordan and Wainwright's report, ±c."""
    end = 1 / float(np.tanh(epsilon / 2))
    return np.where(random.random(number.shape) < 0.5 + number / (2 * end), end, -end)


HM = mean_rival("hm", perturbed, "Wang et al., ICDE 2019")
