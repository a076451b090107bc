"""Mechanisms for numbers against the formulas of their papers. False alarms: 5 standard errors."""

from __future__ import annotations

from math import exp, expm1

import numpy as np
import pytest

from forsooth.study.rivals import hybrid, piecewise, square_wave

COUNT = 200_000
EPSILONS = (0.5, 1.0, 3.0)  # the first is below ε* of the hybrid mechanism


def variance_of_pm(t: float, epsilon: float) -> float:
    gain = expm1(epsilon / 2)
    return t**2 / gain + (gain + 4) / (3 * gain**2)


def variance_of_hm(t: float, epsilon: float) -> float:
    end = (exp(epsilon) + 1) / expm1(epsilon)
    if epsilon <= 0.61:
        return end**2 - t**2
    root = exp(epsilon / 2)
    return (root + 3) / (3 * root * (root - 1)) + end**2 / root


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("t", [-1.0, 0.0, 0.6])
@pytest.mark.parametrize(
    ("module", "variance"), [(piecewise, variance_of_pm), (hybrid, variance_of_hm)]
)
def test_mean_and_variance_are_the_published_ones(
    module: object, variance: object, t: float, epsilon: float
) -> None:
    reports = module.perturbed(np.full(COUNT, t), epsilon, np.random.default_rng(11))  # type: ignore[attr-defined]
    wanted = variance(t, epsilon)  # type: ignore[operator]
    assert abs(reports.mean() - t) < 5 * (wanted / COUNT) ** 0.5
    spread = ((reports - t) ** 2).std() / COUNT**0.5
    assert abs(((reports - t) ** 2).mean() - wanted) < 5 * spread + 1e-9


def test_the_hybrid_mechanism_s_threshold() -> None:
    assert pytest.approx(0.61, abs=0.005) == hybrid.LEAST_EPSILON


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_piecewise_mechanism_keeps_its_promise(epsilon: float) -> None:
    """Densities of the reports of −1 and 1 in bins within one piece differ by e^ε."""
    end = (exp(epsilon / 2) + 1) / expm1(epsilon / 2)
    low = piecewise.perturbed(np.full(COUNT, -1.0), epsilon, np.random.default_rng(1))
    high = piecewise.perturbed(np.full(COUNT, 1.0), epsilon, np.random.default_rng(2))
    counts = [np.histogram(each, [-end, -1, 1, end])[0] for each in (low, high)]
    assert counts[0].sum() == counts[1].sum() == COUNT
    for one, other, factor in ((0, 2, exp(epsilon)), (1, 1, 1.0)):
        ratio = counts[0][one] / counts[0][other]
        assert ratio == pytest.approx(factor, rel=0.05)
        assert counts[1][other] / counts[1][one] == pytest.approx(factor, rel=0.05)


def test_the_width_of_the_square_wave_maximizes_the_mutual_information() -> None:
    """Up to a constant it is −ln(2b + 1) + (ln of the density's factors): section 4.3."""

    def information(b: float, epsilon: float) -> float:
        total = 2 * b * exp(epsilon) + 1
        return float(np.log((2 * b + 1) / total) + 2 * b * epsilon * exp(epsilon) / total)

    for epsilon in EPSILONS:
        grid = np.linspace(0.01, 0.6, 5_901)
        best = grid[np.argmax([information(b, epsilon) for b in grid])]
        assert square_wave.half_width(epsilon) == pytest.approx(best, abs=2e-4)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_square_wave_reports_have_the_density_that_is_inverted(epsilon: float) -> None:
    table = square_wave.transition(epsilon)
    assert table.sum(axis=0) == pytest.approx(np.ones(table.shape[1]))
    assert (table.max(axis=1) / table.min(axis=1)).max() <= exp(epsilon) * (1 + 1e-9)
    buckets = table.shape[0]
    b, number = square_wave.half_width(epsilon), (20 + 0.5) / buckets
    reports = square_wave.perturbed(np.full(COUNT, number), epsilon, np.random.default_rng(4))
    count, _ = np.histogram(reports, buckets, (-b, 1 + b))
    assert count.sum() == COUNT
    expected = COUNT * table[:, 20]
    assert ((count - expected) ** 2 / expected).sum() < buckets + 5 * (2 * buckets) ** 0.5


def test_smoothed_expectation_maximization_finds_a_smooth_distribution() -> None:
    """From expected counts, for two tasks at once."""
    table = square_wave.transition(2.0)
    place = (np.arange(table.shape[1]) + 0.5) / table.shape[1]
    share = np.exp(-((place[None] - np.array([[0.3], [0.7]])) ** 2) / 0.02)
    share /= share.sum(axis=1, keepdims=True)
    found = square_wave.smoothed_em(10_000 * share @ table.T, table)
    assert found.sum(axis=1) == pytest.approx(np.ones(2))
    assert found @ place == pytest.approx([0.3, 0.7], abs=0.01)
    assert 0.5 * np.abs(found - share).sum(axis=1).max() < 0.05  # total variation
