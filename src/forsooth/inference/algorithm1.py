"""Algorithm 1 of the paper: truths as weighted means, weights from the distance to the truths.

    q_i = 1/m;  repeat   μ_j = Σ q_i a_ij / Σ q_i   over the workers who answered j       (Eq. 1)
                         q_i ∝ 1/σ_i,  σ_i = RMS of a_ij − μ_j over the tasks i answered  (Eq. 2)
    until nothing moves.

This is iteratively reweighted least squares for F(μ) = Σ_i |T_i|·σ_i(μ), a sum of Euclidean norms
and so convex: F never rises, and there is nothing but its minimum to converge to. A worker whose
residual is zero would have infinite weight; σ_i is therefore √(mean square + δ²) with δ a millionth
of the scale's range, which keeps F convex and the descent monotone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.reweighting import reweighted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.cells import Cells
    from forsooth.inference.estimates import Estimates, Rules
    from forsooth.scale import Scale


def algorithm1(cells: Cells, scale: Scale, rules: Rules, gold: NDArray[np.float64]) -> Estimates:
    """The paper's truth inference on numbers in cells; `gold` tasks keep their known truth."""
    # With S_i = |T_i|·σ_i²: |T_i|·σ_i = √|T_i|·√S_i, and the weight is √|T_i| / √S_i = 1/σ_i.
    return reweighted(cells, scale, rules, gold, np.sqrt(cells.per_worker()), "root")
