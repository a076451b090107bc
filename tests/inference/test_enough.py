"""Was it enough? The errors against enumeration, and the verdict against simulated campaigns."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from forsooth import ForsoothError, Scale
from forsooth.inference.enough import (
    DOUBT,
    DRAWS,
    MARGIN,
    MOST_TASKS,
    constant_as_good,
    constant_error,
    enough,
    expected_error,
)
from forsooth.truths import Posterior, Truths

Array = NDArray[np.float64]
GRID = np.linspace(0, 4, 81)


def found(
    mass: Array,
    grid: Array,
    *,
    estimand: str = "level",
    unordered: bool = False,
    estimate: Array | None = None,
    width: float | None = None,
) -> Truths:
    """A result with this posterior; the estimate is its median, or its mode if unordered."""
    cumulative = mass.cumsum(axis=1)

    def quantile(share: float) -> Array:
        found: Array = grid[(cumulative >= share - 1e-12).argmax(axis=1)]
        return found

    if estimate is None:
        estimate = grid[mass.argmax(axis=1)] if unordered else quantile(0.5)
    low, high = (estimate, estimate) if unordered else (quantile(0.05), quantile(0.95))
    if width is not None:
        low, high = estimate - width / 2, estimate + width / 2
    tasks, nobody = len(mass), np.zeros(0)
    return Truths(
        method="posterior",
        scale=Scale.parse("a,b,c" if unordered else "0..4"),
        tasks=tuple(f"t{task}" for task in range(tasks)),
        estimate=estimate,
        low=low,
        high=high,
        support=np.ones(tasks, np.int64),
        workers=(),
        quality=nobody,
        deviation=nobody,
        iterations=1,
        converged=True,
        posterior=Posterior(
            estimand=estimand,
            grid=grid,
            mass=mass,
            answers=np.ones((len(grid), 1)),
            model="test",
            participation=None,
            participation_interval=None,
            deviation_interval=(nobody, nobody),
            unordered=unordered,
        ),
    )


def bell(middle: Array, deviation: float) -> Array:
    mass = np.exp(-0.5 * ((GRID - middle[:, None]) / deviation) ** 2)
    normalised: Array = mass / mass.sum(axis=1, keepdims=True)
    return normalised


def enumerated(truths: Truths) -> tuple[float, float, float]:
    """Our error, the constant's, and P(the constant is as good), over all combinations."""
    posterior = truths.posterior
    assert posterior is not None
    sums = np.zeros(3)
    tasks, points = posterior.mass.shape
    for codes in itertools.product(range(points), repeat=tasks):
        chance = float(np.prod(posterior.mass[np.arange(tasks), codes]))
        truth = posterior.grid[list(codes)]
        if posterior.unordered:
            own = np.mean(truth != truths.estimate)
            constant = min(np.mean(truth != label) for label in posterior.grid)
        else:
            own = np.mean(np.abs(truth - truths.estimate))
            constant = min(np.mean(np.abs(truth - value)) for value in truth)
        sums += chance * np.array([own, constant, constant <= own + 1e-12])
    return float(sums[0]), float(sums[1]), float(sums[2])


@pytest.mark.parametrize("unordered", [False, True])
def test_the_numbers_are_those_of_all_combinations(unordered: bool) -> None:
    """Draws are off by at most five standard errors: a false alarm once in a million."""
    random = np.random.default_rng(1)
    for tasks in (1, 2, 3, 5):
        mass = random.dirichlet(np.full(3, 0.5), tasks)
        truths = found(mass, np.arange(3.0), unordered=unordered)
        own, constant, as_good = enumerated(truths)
        error = 5 / np.sqrt(DRAWS)
        assert expected_error(truths) == pytest.approx(own, abs=1e-12)
        assert constant_error(truths) == pytest.approx(constant, abs=error)
        assert constant_as_good(truths) == pytest.approx(as_good, abs=error / 2)


def test_clear_tasks_are_enough_and_alike_ones_are_not() -> None:
    clear = enough(found(bell(np.linspace(0.5, 3.5, 30), 0.1), GRID))
    assert clear is not None
    assert clear.enough
    assert clear.word == "yes"
    assert clear.expected_error < 0.1
    assert clear.constant_error > 0.7
    assert clear.constant_as_good == 0
    assert str(clear).startswith("enough: yes. The estimates are expected to be off by 0.0")
    assert "on a scale from 0 to 4; the best single value for all tasks would be off by 0.7" in (
        clear.why
    )
    for deviation in (0.01, 0.3, 2.0):  # alike, however well each is known
        alike = enough(found(bell(np.full(30, 2.0), deviation), GRID))
        assert alike is not None
        assert not alike.enough
        assert str(alike).startswith("enough: no. ")
        assert "Do not rank the tasks" in alike.why


def test_a_small_advantage_is_not_enough() -> None:
    """The probability alone would be sure of it; the margin is for what it misses."""
    spread = np.random.default_rng(2).normal(2, 0.42, 1000)
    truths = found(bell(spread, 0.5), GRID)
    assert constant_as_good(truths) < DOUBT
    assert MARGIN < expected_error(truths) / constant_error(truths) < 1
    verdict = enough(truths)
    assert verdict is not None
    assert not verdict.enough


def test_the_requested_precision() -> None:
    truths = found(bell(np.linspace(0.5, 3.5, 30), 0.1), GRID, width=0.5)
    for target, yes in ((0.6, True), (0.4, False)):
        verdict = enough(truths, target)
        assert verdict is not None
        assert verdict.enough is yes
        assert verdict.median_width == pytest.approx(0.5)
        assert verdict.target_width == target
        assert f"{target:g}" in verdict.why
        assert "Do not rank" not in verdict.why
    with pytest.raises(ForsoothError, match="above 0"):
        enough(truths, 0.0)


def test_a_single_task_is_judged_by_its_interval() -> None:
    for width, yes in ((0.9, True), (1.1, False)):
        verdict = enough(found(bell(np.array([2.0]), 0.2), GRID, width=width))
        assert verdict is not None
        assert verdict.enough is yes
        assert verdict.target_width == 1.0  # a quarter of the scale
        assert verdict.why == f"The 90 % interval is {width:g} wide; at most 1 is required."
    wanted = enough(found(bell(np.array([2.0]), 0.2), GRID, width=0.9), 0.5)
    assert wanted is not None
    assert not wanted.enough
    for chance, yes in ((0.92, True), (0.85, False)):
        mass = np.array([[chance, 1 - chance, 0.0]])
        label = enough(found(mass, np.arange(3.0), estimand="label", unordered=True))
        assert label is not None
        assert label.enough is yes
        assert f"with a probability of {100 * chance:.0f} %; 90 % is required" in label.why


def test_few_tasks_may_differ_by_chance() -> None:
    """The estimates are expected to be much better, and may nevertheless be worse."""
    verdict = enough(found(bell(np.array([1.7, 2.3]), 0.17), GRID))
    assert verdict is not None
    assert verdict.expected_error <= MARGIN * verdict.constant_error
    assert verdict.constant_as_good > DOUBT
    assert not verdict.enough
    assert f"with a probability of {100 * verdict.constant_as_good:.0f} %" in verdict.why


def test_unordered_labels_have_no_width() -> None:
    sure = found(np.eye(3)[np.arange(30) % 3], np.arange(3.0), estimand="label", unordered=True)
    verdict = enough(sure, 0.01)
    assert verdict is not None
    assert verdict.enough
    assert verdict.median_width is verdict.target_width is None
    assert "0 % of the estimated labels" in verdict.why
    one = np.tile([0.9, 0.05, 0.05], (30, 1))
    common = enough(found(one, np.arange(3.0), estimand="label", unordered=True))
    assert common is not None
    assert not common.enough  # all tasks have the same label, as far as anyone can tell


def test_opinion_speaks_of_means() -> None:
    verdict = enough(found(bell(np.linspace(1, 3, 9), 0.1), GRID, estimand="opinion"))
    assert verdict is not None
    assert verdict.why.startswith("The estimated means")


def test_without_a_posterior_there_is_no_verdict() -> None:
    classic = replace(found(bell(np.ones(3), 0.2), GRID), method="mean", posterior=None)
    assert enough(classic) is None
    for ask in (expected_error, constant_error, constant_as_good):
        with pytest.raises(ForsoothError, match="mean has no posterior"):
            ask(classic)


def test_many_tasks_are_sampled() -> None:
    middle = np.random.default_rng(3).uniform(0.5, 3.5, 3 * MOST_TASKS)
    few, many = (enough(found(bell(middle[:count], 0.3), GRID)) for count in (MOST_TASKS, None))
    assert few is not None
    assert many is not None
    assert many.constant_error == pytest.approx(few.constant_error, rel=0.05)
    assert many == enough(found(bell(middle, 0.3), GRID))  # the same again


@pytest.mark.parametrize(("tasks", "seconds"), [(1000, 0.05), (20_000, 0.5)])
def test_it_is_quick(tasks: int, seconds: float) -> None:
    """Processor time, the best of five."""
    grid = np.linspace(0, 4, 300)
    random = np.random.default_rng(4)
    mass = np.exp(-((grid - random.uniform(0, 4, (tasks, 1))) ** 2))
    truths = found(mass / mass.sum(axis=1, keepdims=True), grid, width=0.3)
    times = []
    for _ in range(5):
        start = time.process_time()
        enough(truths, 0.5)
        times.append(time.process_time() - start)
    assert min(times) < seconds


# Simulated campaigns. Truths have an unknown place and spread; an unknown share of every report is
# signal. The posterior is exact, so that only the verdict is on trial, and all tasks share the
# three unknown numbers, which is what independent draws miss.

PLACES, SPREADS = np.linspace(0.2, 3.8, 10), np.geomspace(0.08, 1.6, 7)
SIGNALS = np.linspace(0.3, 1.0, 6)
PRIORS = np.stack([bell(np.array([p]), s)[0] for p in PLACES for s in SPREADS])


def campaign(random: np.random.Generator, tasks: int, noise: float) -> tuple[Truths, Array]:
    """A result and the truths behind it."""
    truth = random.choice(GRID, tasks, p=PRIORS[random.integers(len(PRIORS))])
    signal = random.choice(SIGNALS)
    heard = signal * truth + (1 - signal) * 2 + random.normal(0, noise, tasks)
    masses, evidence = [], []
    for each in SIGNALS:
        expected = each * GRID + (1 - each) * 2
        likelihood = np.exp(-0.5 * ((heard[:, None] - expected) / noise) ** 2)
        joint = PRIORS[:, None, :] * likelihood
        total = joint.sum(axis=2, keepdims=True) + 1e-300
        masses.append(joint / total)
        evidence.append(np.log(total[:, :, 0]).sum(axis=1))
    weight = np.exp(np.array(evidence) - np.max(evidence))
    mass = np.einsum("sp,spjg->jg", weight / weight.sum(), np.stack(masses))
    return found(mass / mass.sum(axis=1, keepdims=True), GRID), truth


def test_of_campaigns_that_are_enough_few_are_beaten_by_a_constant() -> None:
    """At most 5 % are, and of those that beat the constant clearly most are called enough."""
    yes = beaten = clear = recognised = 0
    for tasks, noise, repeat in itertools.product((3, 12, 40), (0.1, 0.3, 1.0), range(60)):
        random = np.random.default_rng([tasks, int(10 * noise), repeat])
        truths, truth = campaign(random, tasks, noise)
        own = truths.error(truth)
        constant = float(np.mean(np.abs(truth - np.median(truth))))
        verdict = enough(truths)
        assert verdict is not None
        yes += verdict.enough
        beaten += verdict.enough and constant <= own
        if tasks > 3 and own < 0.4 * constant:
            clear += 1
            recognised += verdict.enough
    assert yes > 80
    assert beaten <= 0.05 * yes
    assert recognised > 0.7 * clear
