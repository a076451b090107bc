from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from forsooth import ForsoothError, Scale, mechanisms
from forsooth.mechanisms import ChannelMechanism
from forsooth.mechanisms.design import probabilities
from forsooth.mechanisms.staircase_channel import staircase
from forsooth.planning.estimate import Expected, least
from forsooth.privacy import Protects

TEN = Scale.parse("0..9")
SPARSE = Expected(TEN, 0.1)
PAPER = Expected(TEN, 0.1, "normal:0,1", "1,5")
DENSE = Expected(Scale.parse("0..4"), 0.5, "normal:2,1")
HIDDEN: Protects = "answers+participation"
PUBLIC: Protects = "answers"


@cache
def sampled_error(
    expected: Expected, mechanism: ChannelMechanism, workers: int, tasks: int = 2500
) -> float:
    """The same collector, by drawing every task's answers, NULLs and reports one by one."""
    random = np.random.default_rng(1)
    place = random.choice(len(expected.grid), tasks, p=expected.prior)
    table = probabilities(mechanism.channel)
    shares = expected.answers @ table[: expected.scale.size]
    reports = random.binomial(workers, expected.density, tasks)
    if mechanism.protects == HIDDEN:
        shares = expected.density * shares + (1 - expected.density) * table[-1]
        reports[:] = workers
    counts = np.array(
        [random.multinomial(n, row / row.sum()) for n, row in zip(reports, shares[place])]
    )
    with np.errstate(divide="ignore"):
        logs = counts @ np.log(shares).T + np.log(expected.prior)
    mass = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
    median = expected.grid[(mass >= mass[:, -1:] / 2).argmax(axis=1)]
    return float(np.abs(median - expected.grid[place]).mean())


CASES = [
    (SPARSE, staircase(TEN, 1.0, density=0.1), 2000),
    (SPARSE, mechanisms.rr(TEN, 1.0), 10000),
    (SPARSE, mechanisms.grr(TEN, 2.0), 500),
    (PAPER, mechanisms.rr(TEN, 3.0), 2000),
    (DENSE, mechanisms.two_step(DENSE.scale, 1.0), 500),
]


@pytest.mark.parametrize(("expected", "mechanism", "workers"), CASES)
def test_agrees_with_exact_sampling(
    expected: Expected, mechanism: ChannelMechanism, workers: int
) -> None:
    """Within 7 %; the sampled error itself is known to about 2 %."""
    exact = sampled_error(expected, mechanism, workers)
    assert expected.error(mechanism, workers) == pytest.approx(exact, rel=0.07)


def test_a_planted_bug_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half as many reports as there are: every case must leave the band."""
    right = Expected._error
    monkeypatch.setattr(Expected, "_error", lambda self, heard, n: right(self, heard, n / 2))
    for expected, mechanism, workers in CASES:
        exact = sampled_error(expected, mechanism, workers)
        assert expected.error(mechanism, workers) != pytest.approx(exact, rel=0.07)


def test_the_constant() -> None:
    assert (SPARSE.constant, SPARSE.constant_error) == pytest.approx((4.5, 2.25))
    assert PAPER.constant == 0
    assert PAPER.constant_error == pytest.approx(1 / math.sqrt(2 * math.pi), rel=0.01)


@pytest.mark.parametrize("expected", [SPARSE, PAPER, DENSE])
@pytest.mark.parametrize("protects", [HIDDEN, PUBLIC])
def test_falls_with_workers_and_epsilon_from_the_constant(
    expected: Expected, protects: Protects
) -> None:
    def errors(epsilon: float) -> list[float]:
        mechanism = mechanisms.rr(expected.scale, epsilon, protects=protects)
        return [expected.error(mechanism, workers) for workers in (1, 300, 30000)]

    table = np.array([errors(epsilon) for epsilon in (0.01, 1.0, 6.0)])
    assert (table <= expected.constant_error).all()
    assert table[0, 0] == pytest.approx(expected.constant_error, rel=0.02)
    slack = 0.02 * expected.constant_error  # of the average over the lattice
    assert (np.diff(table, axis=0) < slack).all()
    assert (np.diff(table, axis=1) < slack).all()
    assert table[-1, -1] < 0.1 * expected.constant_error
    unperturbed = expected.error(None, 300)
    assert unperturbed < table[-1, 1] + slack


@pytest.mark.parametrize("expected", [SPARSE, PAPER, DENSE])
def test_public_participation_is_worth_a_lot(expected: Expected) -> None:
    hidden = mechanisms.rr(expected.scale, 1.0, protects=HIDDEN)
    public = mechanisms.rr(expected.scale, 1.0, protects=PUBLIC)
    assert expected.error(public, 2000) < 0.9 * expected.error(hidden, 2000)


def test_least() -> None:
    asked: list[float] = []

    def error(value: float) -> float:
        asked.append(value)
        return 1 / math.sqrt(value)

    assert least(error, 0.1, 1, 1e6) == pytest.approx(100, rel=0.01)
    assert min(asked) > 10  # what lies far below is not computed
    assert least(error, 0.1, 1, 99) is None
    assert least(error, 0.1, 200, 1e6) == 200
    assert least(error, 0.1, 90, 110) == pytest.approx(100, rel=0.01)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"density": 0.0}, "density must lie above 0"),
        ({"density": math.nan}, "density must lie above 0"),
        ({"truth": "gamma:1,2"}, "flat or normal:MEAN,SD"),
        ({"noise": "0"}, "standard deviation above 0"),
    ],
)
def test_bad_expectations(changes: dict[str, object], complaint: str) -> None:
    with pytest.raises(ForsoothError, match=complaint):
        Expected(**({"scale": TEN, "density": 0.1} | changes))  # type: ignore[arg-type]
