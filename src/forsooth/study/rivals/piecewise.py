"""The piecewise mechanism (PM) for a number t in [−1, 1].

With C = (e^(ε/2) + 1)/(e^(ε/2) − 1), l(t) = (C + 1)t/2 − (C − 1)/2 and r(t) = l(t) + C − 1, the
report is uniform on [l, r] with probability e^(ε/2)/(e^(ε/2) + 1), else uniform on the rest of
[−C, C]. It is unbiased: Var = t²/(e^(ε/2) − 1) + (e^(ε/2) + 3)/(3(e^(ε/2) − 1)²). A task's estimate
is the mean of its reports. Who answered is public: values only.

Wang, Xiao, Yang, Zhao, Hui, Shin, Shin and Yu: Collecting and Analyzing Multidimensional Data with
Local Differential Privacy. ICDE 2019, algorithm 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.study.rivals.numeric import mean_rival

if TYPE_CHECKING:
    from forsooth.study.rivals.private import Array


def perturbed(number: Array, epsilon: float, random: np.random.Generator) -> Array:
    """One report per number."""
    root = float(np.exp(epsilon / 2))
    end = (root + 1) / (root - 1)
    left = (end + 1) / 2 * number - (end - 1) / 2
    near = random.random(number.shape) < root / (root + 1)
    inside = left + (end - 1) * random.random(number.shape)
    place = (end + 1) * random.random(number.shape) - end  # on [−C, 1], which the rest adds up to
    outside = np.where(place < left, place, place + end - 1)
    return np.where(near, inside, outside)


PM = mean_rival("pm", perturbed, "Wang et al., ICDE 2019")
