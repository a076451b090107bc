"""Numbers that are refused because honest noise is never so large, and those that are clipped."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from forsooth import Answers, ForsoothError, Reports, Scale, infer
from forsooth.inference.posterior.sums import clipped
from forsooth.mechanisms import (
    Laplace,
    SafeFactorization,
    build,
    mf_safe,
    per_worker,
)
from forsooth.mechanisms.base import Mechanism
from forsooth.mechanisms.exact import laplace_reach
from forsooth.mechanisms.noise import NEVER, RARELY
from forsooth.mechanisms.presence_laplace import NOT_ANSWERED
from forsooth.study.synthetic import SyntheticCrowd

SCALE = Scale.parse("0..4")
TASKS = 12
SENDING_NUMBERS = ("lp", "rr-lp", "mf", "mf:solver=gradient-descent", "mf-safe")


def outside(rate: Fraction, steps: int) -> Decimal:
    """P(|k| > steps), from the series itself: what the values within leave of 1."""
    q = (-Decimal(rate.numerator) / Decimal(rate.denominator)).exp()
    within = sum((q ** abs(k) for k in range(-steps, steps + 1)), Decimal(0))
    return 1 - within * (1 - q) / (1 + q)


@pytest.mark.parametrize("rate", [Fraction(3), Fraction(1, 2), Fraction(1, 37), Fraction(0.1)])
@pytest.mark.parametrize("chance", [Fraction(1, 2), RARELY, NEVER, NEVER / 20_000])
def test_noise_is_beyond_its_reach_with_exactly_the_stated_chance(
    rate: Fraction, chance: Fraction
) -> None:
    steps = laplace_reach(rate, chance)
    stated = Decimal(chance.numerator) / Decimal(chance.denominator)
    with localcontext(prec=80):
        assert outside(rate, steps) <= stated
        assert steps == 0 or outside(rate, steps - 1) > stated


def sent(name: str, epsilon: float = 1.0, workers: int = 40) -> Reports:
    answers = SyntheticCrowd(workers, TASKS, sparsity=0.3, scale=SCALE).draw(1).answers
    return build(name, SCALE, epsilon, tasks=TASKS).perturb(answers, simulation_seed=1)


def largest_accepted(mechanism: Mechanism, sign: int = 1) -> Any:
    """The number farthest from 0 that passes, found by bisection: to one part in 1,000 of it."""
    values = np.zeros((1, mechanism.width(TASKS)), mechanism.dtype)

    def passes(number: float) -> bool:
        values[:] = sign * number
        return not mechanism.check(values, TASKS).any()

    low, high = 0, 2**61
    while high - low > max(1, low // 1000):
        middle = (low + high) // 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return mechanism.dtype.type(sign * low)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("name", SENDING_NUMBERS)
def test_what_no_honest_worker_sends_is_refused(name: str, sign: int, tmp_path: Path) -> None:
    reports = sent(name)
    honest, most = reports.mechanism, largest_accepted(reports.mechanism, sign)
    assert not honest.check(reports.values, TASKS).any()
    noise = 4 / reports.mechanism.epsilon  # of the noise scale: the range over ε
    steps = 1.0 if name.startswith("mf:") or name == "mf" else 2.0**-10
    assert 40 * noise < abs(float(most)) * steps < 600 * noise
    path = tmp_path / "r.parquet"
    for number in (1.01 * float(most), sign * 2.0**61):
        values = reports.values.copy()
        values[7, 1] = number
        forged = replace(reports, values=values).to_arrow()
        pq.write_table(forged, path)
        with pytest.raises(ForsoothError, match=r"holds a value that \S+ never sends"):
            Reports.read(path)


def test_on_sampled_tasks_and_with_public_participation_too() -> None:
    sampled = per_worker(lambda epsilon: build("lp", SCALE, epsilon, tasks=TASKS), 1.0, count=2)
    assert sampled.check(np.array([[2**61, 0]]), TASKS).tolist() == [[True, False]]
    public = build("lp", SCALE, 1.0, tasks=TASKS, protects="answers")
    assert public.check(np.array([0, -(2**63)]), TASKS).tolist() == [False, True]
    nothing = build("rr-lp", SCALE, 1.0, tasks=TASKS)
    assert not nothing.check(np.full((1, TASKS), NOT_ANSWERED), TASKS).any()


def test_a_cell_of_lp_has_a_bounded_influence() -> None:
    """All numbers beyond four noise scales are one symbol: the largest is no better than that."""
    reports = sent("lp")
    mechanism = reports.mechanism
    assert isinstance(mechanism, Laplace)
    beyond = max(mechanism.positions) + int(4.1 / mechanism.rate)
    found = []
    for number in (beyond, largest_accepted(mechanism)):
        values = reports.values.copy()
        values[0] = number
        found.append(infer(replace(reports, values=values)).estimate)
    np.testing.assert_array_equal(found[0], found[1])


# Clipping


def test_one_report_moves_the_sums_of_mf_safe_by_no_more_than_stated() -> None:
    """A mean of readings: by twice the limit over the workers."""
    reports = sent("mf-safe", workers=500)
    mechanism = reports.mechanism
    assert isinstance(mechanism, SafeFactorization)
    place, _ = mechanism.profiles(reports.workers[:1], TASKS)
    limits = np.take_along_axis(mechanism.plausible(place)[:, 0], place.repeat(2, 0), axis=1)
    units = np.array([2.0**-mechanism.grid, mechanism.presence])[:, None]
    before = np.mean(mechanism.sums(reports), axis=1)
    for number in (1, -1, 0):
        values = reports.values.copy()
        values[0] = number * largest_accepted(mechanism)
        after = np.mean(mechanism.sums(replace(reports, values=values)), axis=1)
        assert (np.abs(after - before) <= 2 / 500 * limits / units + 1e-9).all()
    assert (limits / units).max() < 40  # in units of the scale, at ε = 1; 2^61 otherwise


def test_one_report_moves_the_profiles_of_mf_by_no_more_than_stated() -> None:
    """Every number to the limit at most, whatever is sent."""
    profiles = sent("mf", workers=500).values
    middle = np.median(profiles, axis=0)
    deviation = np.median(np.abs(profiles - middle), axis=0)
    before = clipped(profiles).mean(axis=0)
    for number in (1e300, -1e300):
        poisoned = profiles.copy()
        poisoned[0] = number
        moved = np.abs(clipped(poisoned).mean(axis=0) - before)
        assert (moved < 2.1 * 12 * deviation / 500).all()  # 0.1: the deviation itself may move
    assert (clipped(profiles) == profiles).mean() > 0.99


@pytest.mark.parametrize(("tasks", "d"), [(12, 12), (200, 16), (200, 2)])
@pytest.mark.parametrize("epsilon", [0.5, 20.0])
def test_honest_numbers_are_hardly_clipped(tasks: int, d: int, epsilon: float) -> None:
    """Of 150 workers who give the highest answer to all tasks: the worst case for the sums."""
    mechanism = mf_safe(SCALE, epsilon, tasks=tasks, d=d)
    names = [f"t{task}" for task in range(tasks)]
    row = dict.fromkeys(names, 4)
    answers = Answers.of({f"w{i}": row for i in range(150)}, SCALE, tasks=names)
    reports = mechanism.perturb(answers, simulation_seed=1)
    place, _ = mechanism.profiles(reports.workers, tasks)
    numbers = np.stack([reports.values[:, :d], reports.values[:, d:]])
    clipped = np.abs(numbers) > mechanism.plausible(place)
    # At most 2 %; the numbers of a worker are independent, so 4 standard errors are on top.
    assert clipped.mean() <= 2 * RARELY + 4 * np.sqrt(0.02 / clipped.size)
    assert mechanism.sums(reports)[0].shape == (150, tasks)
