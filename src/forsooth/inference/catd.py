"""CATD: a confidence-aware weight, so that a worker with few cells is not believed too soon.

    w_i = χ²_{α/2, n_i} / S_i,   S_i = Σ_j (a_ij − μ_j)²,     μ_j = Σ w_i a_ij / Σ w_i

over the n_i cells of worker i. S_i / χ²_{α/2, n_i} is the upper end of the 1 − α confidence
interval of the worker's variance, χ² the α/2 *quantile* with n_i degrees of freedom: about n_i for
many cells, but 0.001 for a single one.

One round is a majorise–minimise step for Σ_i χ²_{α/2, n_i} log S_i (the logarithm lies below its
tangents), which therefore never rises. It is not convex, and falls without bound where the truths
are one worker's answers: S_i is Σ (a_ij − μ_j)² + n_i δ² with δ a millionth of the scale's range.

Q. Li, Y. Li, J. Gao, L. Su, B. Zhao, M. Demirbas, W. Fan, J. Han: A Confidence-Aware Approach for
Truth Discovery on Long-Tail Data. PVLDB 8(4), 2014. https://doi.org/10.14778/2735496.2735505
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

ALPHA = 0.05


def catd(cells: Cells, scale: Scale, rules: Rules, gold: NDArray[np.float64]) -> Estimates:
    """A worker weighs one over the upper limit of their variance; `gold` is kept."""
    confidence = _lower_quantile(cells.per_worker())
    return reweighted(cells, scale, rules, gold, confidence, "log")


def _lower_quantile(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """χ²_{α/2, n_i}, once per different count, as the quantile is slow; 0 for no cells."""
    from scipy.special import chdtri

    different, position = np.unique(counts, return_inverse=True)
    quantile = np.zeros(len(different))
    some = different > 0
    quantile[some] = chdtri(different[some], 1 - ALPHA / 2)  # takes the upper tail's probability
    return quantile[position]
