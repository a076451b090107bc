from __future__ import annotations

import math

import pytest

from forsooth import ForsoothError, Scale
from forsooth.planning.bounds import lp_bound, mf_bound, rr_bound

SCALE = Scale.parse("0..9")


def test_the_paper_s_examples() -> None:
    assert lp_bound(SCALE, 1, answered=0.1, sigma=1, truth=0) == pytest.approx(14.13, abs=0.005)
    assert rr_bound(SCALE, 1, answered=0.1, sigma=1, truth=0) == pytest.approx(3.551, rel=0.002)
    assert mf_bound(SCALE, 1, tasks=1000, d=100) == pytest.approx(1.798, abs=0.0005)


def test_the_rr_example_read_literally() -> None:
    literal = rr_bound(SCALE, 1, answered=0.1, sigma=1, truth=0, normalised=False)
    assert literal == pytest.approx(3.436, abs=0.001)


def slow_rr(epsilon: float, s: list[float], sigma: list[float], mu: list[float]) -> float:
    """Theorem 3, term by term, for equal qualities."""
    gamma, total = range(10), 0.0
    for truth in mu:
        for share, spread in zip(s, sigma):
            density = [math.exp(-((x - truth) ** 2) / (2 * spread**2)) for x in gamma]
            error = (1 - share) * abs(truth - sum(gamma) / (math.exp(epsilon) + 10))
            for x in gamma:
                mean = sum(
                    y * (math.exp(epsilon) if x == y else 1) / (10 + math.exp(epsilon))
                    for y in gamma
                )
                error += share * density[x] / sum(density) * abs(truth - mean)
            total += error / len(s) / len(mu)
    return total


def test_many_workers_and_tasks() -> None:
    s, sigma, mu = [0.1, 0.9, 0.5], [1.0, 5.0, 2.0], [0.0, 3.5]
    bound = rr_bound(SCALE, 2.0, answered=s, sigma=sigma, truth=mu)
    assert bound == pytest.approx(slow_rr(2.0, s, sigma, mu))
    lp = lp_bound(SCALE, 2.0, answered=s, sigma=sigma, truth=mu)
    expected = sum(
        (1 - a) * (abs(t - 4.5) + 5) + a * (b * math.sqrt(2 / math.pi) + 5)
        for t in mu
        for a, b in zip(s, sigma)
    ) / (len(mu) * len(s))
    assert lp == pytest.approx(expected)


def test_quality_weights_the_workers() -> None:
    first = lp_bound(SCALE, 1, answered=[0.1, 0.9], sigma=1, truth=0, quality=[1, 0])
    assert first == pytest.approx(lp_bound(SCALE, 1, answered=0.1, sigma=1, truth=0))
    assert mf_bound(SCALE, 1, tasks=1000, d=100, workers=4, largest_quality=0.5) == pytest.approx(
        2 * 1.7979, abs=1e-3
    )


def test_a_constant_for_null() -> None:
    assert lp_bound(SCALE, 1, answered=0, sigma=1, truth=3, null_value=3) == pytest.approx(10)


@pytest.mark.parametrize(
    "wrong",
    [
        {"answered": 1.1},
        {"answered": -0.1},
        {"sigma": -1},
        {"sigma": 0},
        {"truth": float("nan")},
        {"answered": [0.1, 0.2], "sigma": [1, 2, 3]},
        {"quality": 0},
    ],
)
def test_bad_input(wrong: dict[str, object]) -> None:
    with pytest.raises(ForsoothError):
        rr_bound(SCALE, 1, **({"answered": 0.1, "sigma": 1, "truth": 0} | wrong))  # type: ignore[arg-type]


def test_more_bad_input() -> None:
    with pytest.raises(ForsoothError, match="d ≤ tasks"):
        mf_bound(SCALE, 1, tasks=10, d=11)
    with pytest.raises(ForsoothError, match="ε must be"):
        mf_bound(SCALE, 0, tasks=10, d=1)
