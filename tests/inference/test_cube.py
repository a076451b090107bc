"""Integrals over the cube whose values are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from forsooth.inference.posterior.cube import average

Array = NDArray[np.float64]


def peak(middle: float, width: float, points: Array) -> Array:
    """The logarithm of a normal density in every coordinate."""
    return np.asarray(norm.logpdf(points, middle, width).sum(axis=1))


@pytest.mark.parametrize("middle", [0.5, 0.02])
@pytest.mark.parametrize(
    ("dimensions", "width"),
    [(4, 10.0), (4, 0.3), (4, 0.05), (4, 0.02), (6, 10.0), (6, 0.3), (6, 0.05)],
)
def test_a_peak_wherever_it_is_and_however_narrow(
    dimensions: int, middle: float, width: float
) -> None:
    found = average(lambda points: peak(middle, width, points), dimensions)
    inside = norm.cdf([0, 1], middle, width)
    assert found.evidence == pytest.approx(dimensions * math.log(inside[1] - inside[0]), abs=0.3)
    share = (0 - middle) / width, (1 - middle) / width
    mean = middle + width * (norm.pdf(share[0]) - norm.pdf(share[1])) / (inside[1] - inside[0])
    np.testing.assert_allclose(found.weights() @ found.points, mean, atol=0.35 * min(width, 0.3))


def test_two_peaks_keep_their_shares() -> None:
    def both(points: Array) -> Array:
        low, high = peak(0.2, 0.06, points), peak(0.8, 0.06, points)
        return np.logaddexp(math.log(0.75) + low, math.log(0.25) + high)

    found = average(both, 3)
    assert found.evidence == pytest.approx(0, abs=0.2)
    assert found.weights()[found.points[:, 0] < 0.5].sum() == pytest.approx(0.75, abs=0.08)


def test_all_weight_in_one_point_is_no_endless_search() -> None:
    found = average(lambda points: -1e9 * np.abs(points - 0.3).sum(axis=1), 5)
    assert np.isfinite(found.evidence)
    assert found.weights().sum() == pytest.approx(1)


def test_nothing_to_learn() -> None:
    found = average(lambda points: np.full(len(points), -7.0), 5)
    assert found.evidence == pytest.approx(-7)
    np.testing.assert_allclose(found.weights() @ found.points, 0.5, atol=0.01)
