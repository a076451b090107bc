from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from forsooth.shuffling import sums
from forsooth.shuffling.blanket import PairLaw

TOLERANCE = 1e-12


def exact(values: list[float], masses: list[float], draws: int) -> float:
    """E[(sum)₊] / n by adding one draw after the other, in fractions."""
    law = {Fraction(0): Fraction(1)}
    for _ in range(draws):
        more: dict[Fraction, Fraction] = {}
        for total, probability in law.items():
            for value, mass in zip(values, masses):
                key = total + Fraction(value)
                more[key] = more.get(key, Fraction(0)) + probability * Fraction(mass)
        law = more
    return float(sum(total * mass for total, mass in law.items() if total > 0) / draws)


@pytest.mark.parametrize("draws", [1, 2, 3, 7, 12])
def test_it_is_an_upper_bound_and_close(draws: int) -> None:
    random = np.random.default_rng(draws)
    for _ in range(10):
        values = np.append(random.normal(-0.5, 2, 3), 0.0)
        masses = random.dirichlet(np.ones(4))
        if values @ masses > 0:
            continue
        found = sums.positive_part(values, masses, draws, TOLERANCE)
        truth = exact(values.tolist(), masses.tolist(), draws)
        assert truth <= found <= 1.002 * truth + 1e-9


def binary(epsilon: float) -> PairLaw:
    """The law of randomized response with two answers."""
    p = np.exp(epsilon)
    first, second = np.array([p, 1.0]), np.array([1.0, p])
    return PairLaw(first, second, np.full(2, 1 / (p + 1)), (p - 1) / (p + 1))


def binary_delta(local: float, draws: int, epsilon: float) -> float:
    """δ of the same pair in closed form: a sum over the number of draws from the blanket."""
    from scipy.stats import binom

    p, factor = np.exp(local), np.exp(epsilon)
    share = 2 / (p + 1)
    spread = 9 * np.sqrt(draws * share) + 40
    lowest, highest = int(draws * share - spread), int(draws * share + spread)
    drawn = np.arange(max(1, lowest), min(draws, highest) + 1)
    up, down = (
        p - factor,
        p * factor - 1,
    )  # k up and drawn − k down are worth k·up − (drawn − k)·down
    least = np.floor(drawn * down / (up + down)) + 1
    upper = drawn / 2 * binom.sf(least - 2, drawn - 1, 0.5)  # E[k; k ≥ least]
    worth = (up + down) * upper - drawn * down * binom.sf(least - 1, drawn, 0.5)
    return float((binom.pmf(drawn, draws, share) * worth).sum()) / draws


@pytest.mark.parametrize(
    ("local", "draws", "epsilon"),
    [
        (4.0, 10**5, 0.118),
        (4.0, 3000, 0.9),
        (1.0, 10**6, 0.0035),
        (0.2, 5000, 0.01),
        (1.0, 77, 0.4),
    ],
)
def test_large_crowds_agree_with_a_closed_form(local: float, draws: int, epsilon: float) -> None:
    truth = binary_delta(local, draws, epsilon)
    found = sums.delta(binary(local), draws, epsilon, truth * 1e-5)
    assert truth <= found < 1.02 * truth


def test_deep_tails_keep_their_digits() -> None:
    truth = binary_delta(2.0, 10**4, 0.28)
    assert 1e-22 < truth < 1e-18
    assert truth <= sums.delta(binary(2.0), 10**4, 0.28, truth * 1e-5) < 1.1 * truth


def test_more_people_hide_better() -> None:
    found = [sums.delta(binary(2.0), draws, 0.2, TOLERANCE) for draws in (10, 100, 1000, 10_000)]
    assert found == sorted(found, reverse=True)
    assert sums.delta(binary(2.0), 10**12, 0.001, TOLERANCE) == sums.delta(
        binary(2.0), sums.MOST_DRAWS, 0.001, TOLERANCE
    )


@pytest.mark.parametrize("fault", ["nearest point", "tail forgotten", "mean lowered"])
def test_planted_faults_fall_below(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step that makes the result an upper bound matters."""
    lattice = sums._Lattice
    if fault == "nearest point":
        spread = sums._shared
        monkeypatch.setattr(
            sums,
            "_shared",
            lambda below, upper, masses: spread(below, np.zeros(len(upper)), masses),
        )
    elif fault == "tail forgotten":
        right = lattice.without_right
        monkeypatch.setattr(
            lattice,
            "without_right",
            lambda self, draws, done, share: (right(self, draws, done, share * 1e9)[0], 0.0),
        )
    else:
        monkeypatch.setattr(
            lattice, "values", lambda self: self.step * (self.start - 1 + np.arange(len(self.mass)))
        )
    truth = binary_delta(1.0, 3000, 0.05)
    assert sums.delta(binary(1.0), 3000, 0.05, TOLERANCE) < truth


def test_the_closed_form_agrees_with_enumeration() -> None:
    local, draws, epsilon = 1.0, 6, 0.2
    p, factor = np.exp(local), np.exp(epsilon)
    share, truth = 1 / (p + 1), 0.0
    for first in range(draws + 1):
        for second in range(draws + 1 - first):
            worth = first * (p - factor) + second * (1 - p * factor)
            ways = comb(draws, first) * comb(draws - first, second)
            rest = (1 - 2 * share) ** (draws - first - second)
            truth += ways * share ** (first + second) * rest * max(worth, 0) / draws
    assert binary_delta(local, draws, epsilon) == pytest.approx(truth, rel=1e-12)
