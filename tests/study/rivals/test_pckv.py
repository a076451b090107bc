"""PCKV against the theorems of its paper, by enumeration where that is possible."""

from __future__ import annotations

from itertools import product
from math import exp, inf, log

import numpy as np
import pytest

from forsooth import Answers
from forsooth.study.rivals import pckv, pckv_grr, pckv_ue
from forsooth.study.rivals.pckv import Chances

EPSILONS = (0.5, 1.0, 3.0)
Report = tuple[int, ...]


def sampling(sets: tuple[int, ...], keys: int, length: int) -> dict[tuple[int, int], float]:
    """P(sampled key, sign): `sets` has a key's sign, 0 where the worker does not have it."""
    own = [(key, sign) for key, sign in enumerate(sets) if sign]
    share = len(own) / max(len(own), length)
    found = {pair: share / len(own) for pair in own}
    for dummy, sign in product(range(keys, keys + length), (1, -1)):
        found[dummy, sign] = (1 - share) / length / 2
    return found


def reports_of_grr(pair: tuple[int, int], every: int, chances: Chances) -> dict[Report, float]:
    found: dict[Report, float] = {
        (key, sign): chances.b / 2 for key in range(every) for sign in (1, -1)
    }
    found[pair] = chances.a * chances.p
    found[pair[0], -pair[1]] = chances.a * (1 - chances.p)
    return found


def reports_of_ue(pair: tuple[int, int], every: int, chances: Chances) -> dict[Report, float]:
    a, b, p = chances.a, chances.b, chances.p
    found = {}
    for report in product((1, -1, 0), repeat=every):
        chance = 1.0
        for key, entry in enumerate(report):
            if key == pair[0]:
                chance *= {pair[1]: a * p, -pair[1]: a * (1 - p), 0: 1 - a}[entry]
            else:
                chance *= 1 - b if entry == 0 else b / 2
        found[report] = chance
    return found


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("keys", "length"), [(1, 1), (2, 1), (2, 2), (3, 2)])
@pytest.mark.parametrize("module", [pckv_grr, pckv_ue])
def test_the_whole_person_is_protected_and_epsilon_is_spent(
    module: object, keys: int, length: int, epsilon: float
) -> None:
    """The largest ratio over all pairs of people and all reports is at most e^ε; for GRR it is
    reached. UE is not helped by padding: it is reached with ℓ = 1 and other real keys only.
    """
    chances = module.chances(epsilon, keys, length)  # type: ignore[attr-defined]
    reports = reports_of_grr if module is pckv_grr else reports_of_ue
    high: dict[Report, float] = {}
    low: dict[Report, float] = {}
    for sets in product((1, -1, 0), repeat=keys):
        total: dict[Report, float] = {}
        for pair, chance in sampling(sets, keys, length).items():
            for report, given in reports(pair, keys + length, chances).items():
                total[report] = total.get(report, 0.0) + chance * given
        assert sum(total.values()) == pytest.approx(1)
        for report, chance in total.items():
            high[report] = max(high.get(report, 0.0), chance)
            low[report] = min(low.get(report, inf), chance)
    spent = max(log(high[report] / low[report]) for report in high)
    assert spent <= epsilon + 1e-9
    if keys >= 2 and (module is pckv_grr or length == 1):
        assert spent == pytest.approx(epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("length", [1, 4])
def test_the_budgets_are_the_published_ones(length: int, epsilon: float) -> None:
    """Theorems 2 and 4 with the best ε₁ and ε₂."""
    found = pckv_grr.chances(epsilon, 10, length)
    first, second = log(found.a / found.b), log(found.p / (1 - found.p))
    extra = (length - 1) * (exp(second) + 1) / 2
    most = exp(first + second) + extra
    least = min(exp(first), (exp(second) + 1) / 2) + extra
    assert log(most / least) == pytest.approx(epsilon)
    assert found.a + (10 + length - 1) * found.b == pytest.approx(1)
    found = pckv_ue.chances(epsilon, 10, length)
    first = log(found.a * (1 - found.b) / (found.b * (1 - found.a)))
    second = log(found.p / (1 - found.p))
    assert max(second, first + log(2 / (1 + exp(-second)))) == pytest.approx(epsilon)


@pytest.mark.parametrize("module", [pckv_grr, pckv_ue])
def test_expected_counts_give_the_mean_back(module: object) -> None:
    """80 % of 1,000 workers have the key, with mean 0.5; ℓ = 2 and no one has more keys."""
    chances = module.chances(1.0, 3, 2)  # type: ignore[attr-defined]
    a, b, p = chances.a, chances.b, chances.p
    sampled, positive = 1_000 * 0.8 / 2, 0.75
    plus = sampled * a * (positive * p + (1 - positive) * (1 - p)) + (1_000 - sampled) * b / 2
    minus = sampled * a * (positive * (1 - p) + (1 - positive) * p) + (1_000 - sampled) * b / 2
    assert pckv.estimated(np.array([[plus, minus]]), 1_000, chances) == pytest.approx([0.5])


@pytest.mark.parametrize("module", [pckv_grr, pckv_ue])
def test_simulated_counts_are_as_enumerated(module: object) -> None:
    """One of two keys is sampled by everybody; 5 standard errors."""
    chances, workers = module.chances(1.0, 2, 1), 100_000  # type: ignore[attr-defined]
    key, sign = np.zeros(workers, np.intp), np.ones(workers)
    found = module.counts(key, sign, 2, chances, np.random.default_rng(9))  # type: ignore[attr-defined]
    a, b, p = chances.a, chances.b, chances.p
    wanted = np.array([[a * p, a * (1 - p)], [b / 2, b / 2]])
    error = np.sqrt(wanted * (1 - wanted) / workers)
    assert (np.abs(found / workers - wanted) < 5 * error).all()


def test_sampling_pads_with_dummies() -> None:
    """With two answers and ℓ = 4 half of the sampled keys are dummies."""
    answers = Answers.of({f"w{w}": {"q1": 0, "q2": 4} for w in range(4_000)}, "0..4")
    key, value = pckv.sampled(answers, 4, np.random.default_rng(2))
    share = np.bincount(key, minlength=6) / 4_000
    assert share == pytest.approx([0.25, 0.25, 0.125, 0.125, 0.125, 0.125], abs=0.04)
    assert set(value[key == 0]) == {-1.0}
    assert set(value[key == 1]) == {1.0}
    assert set(value[key >= 2]) == {0.0}
