"""Tests of samplers: chi-square goodness of fit at a stated false-alarm rate.

Every test draws with a fixed seed and fails if the p-value is below ALPHA = 1e-6; a correct sampler
would be rejected by one seed in a million.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

ALPHA = 1e-6


def goodness_of_fit(counts: ArrayLike, probabilities: ArrayLike) -> float:
    """The p-value of observed counts under exact probabilities; rare outcomes are pooled."""
    observed, expected = np.asarray(counts, float), np.asarray(probabilities, float)
    expected = expected / expected.sum() * observed.sum()
    rare = expected < 10
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
        if expected[-1] < 10:
            observed = np.append(observed[:-2], observed[-2:].sum())
            expected = np.append(expected[:-2], expected[-2:].sum())
    return float(stats.chisquare(observed, expected).pvalue)


def count(values: NDArray[np.generic], size: int) -> NDArray[np.intp]:
    return np.bincount(values.ravel(), minlength=size)
