"""Calibration on gold tasks: exact ranks, coverage of wrong posteriors, sets, errors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from forsooth import ForsoothError
from forsooth.inference import calibration
from forsooth.inference.calibration import SMALLEST_SD, calibrated, posterior_sd, rank
from forsooth.scale import Scale
from forsooth.truths import Posterior, Truths

Array = NDArray[np.float64]

CAMPAIGNS = 200  # simulated per setting: the mean coverage of 80 tasks each varies by about 0.005


def truths_of(
    mass: Array,
    grid: Array,
    estimate: Array,
    scale: str = "0..4",
    estimand: str = "level",
    unordered: bool = False,
) -> Truths:
    """Made-up results with the interval of ± 1.64 posterior standard deviations."""
    tasks = len(mass)
    posterior = Posterior(
        estimand=estimand,
        grid=grid,
        mass=mass,
        answers=np.zeros((len(grid), Scale.parse(scale).size)),
        model="auto",
        participation=None,
        participation_interval=None,
        deviation_interval=(np.zeros(1), np.ones(1)),
        unordered=unordered,
    )
    half = 1.64 * posterior_sd(posterior)
    return Truths(
        method="posterior",
        scale=Scale.parse(scale),
        tasks=tuple(f"t{j}" for j in range(tasks)),
        estimate=estimate,
        low=np.clip(estimate - half, grid[0], grid[-1]),
        high=np.clip(estimate + half, grid[0], grid[-1]),
        support=np.ones(tasks, dtype=np.int64),
        workers=("w",),
        quality=np.ones(1),
        deviation=np.ones(1),
        iterations=1,
        converged=True,
        posterior=posterior,
    )


def normal_mass(centre: Array, sd: Array, grid: Array) -> Array:
    mass = np.exp(-0.5 * ((grid - centre[:, None]) / sd[:, None]) ** 2)
    shares: Array = mass / mass.sum(axis=1, keepdims=True)
    return shares


def level_campaign(seed: int, tasks: int = 100, estimand: str = "level") -> tuple[Truths, Array]:
    """A crowd that says 0.3 too much, and a posterior that is a third as wide as its error."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(0, 4, tasks)
    sd = rng.uniform(0.1, 0.6, tasks)
    centre = np.clip(truth + 0.3 + sd * rng.standard_normal(tasks), 0, 4)
    grid = np.linspace(0, 4, 161)
    mass = normal_mass(centre, sd / 3, grid)
    return truths_of(mass, grid, mass @ grid, estimand=estimand), truth


def label_campaign(seed: int, tasks: int = 100, unordered: bool = False) -> tuple[Truths, Array]:
    """Labels drawn from probabilities that the posterior takes for surer than they are."""
    rng = np.random.default_rng(seed)
    honest = rng.dirichlet(np.full(5, 0.5), tasks)
    truth = (rng.random(tasks)[:, None] > honest.cumsum(axis=1)).sum(axis=1).clip(max=4)
    mass = honest**3 / (honest**3).sum(axis=1, keepdims=True)
    estimate = (mass.cumsum(axis=1) < 0.5).sum(axis=1)
    if unordered:
        estimate = mass.argmax(axis=1)
    grid = np.arange(5.0)
    result = truths_of(mass, grid, estimate.astype(float), "a,b,c,d,e", "label", unordered)
    return result, truth.astype(float)


def only(truth: Array, gold: int) -> Array:
    """The first tasks' truths; the tasks of a campaign are in random order already."""
    return np.where(np.arange(len(truth)) < gold, truth, np.nan)


def in_sets(result: Truths, truth: Array) -> NDArray[np.bool_]:
    assert result.prediction_sets is not None
    labels = [result.scale.labels[int(code)] for code in truth]
    return np.array([label in held for label, held in zip(labels, result.prediction_sets)])


def holds_exactly(gold: int, label: bool) -> bool:
    """Of `gold` + 1 tasks each is the unknown one in turn: are ⌈0.9·(gold + 1)⌉ held?

    That is the definition of marginal coverage for exchangeable tasks, without any chance.
    """
    rng = np.random.default_rng(gold)
    tasks = gold + 1
    if label:
        certain = rng.permutation(np.linspace(0.05, 0.45, tasks))
        mass = np.column_stack([certain, 1 - certain])  # the estimate is always the other label
        truth, estimate = np.zeros(tasks), np.ones(tasks)
        result = truths_of(mass, np.arange(2.0), estimate, "a,b", "label")
    else:
        residual = rng.permutation(np.linspace(0.1, 1, tasks))
        grid = np.linspace(0, 4, 161)
        truth = 2 + residual
        mass = normal_mass(np.full(tasks, 2.0), np.full(tasks, 0.2), grid)
        result = truths_of(mass, grid, np.full(tasks, 2.0))
    held = 0
    for unknown in range(tasks):
        told = calibrated(result, np.where(np.arange(tasks) == unknown, np.nan, truth))
        inside = in_sets(told, truth) if label else np.abs(truth - 2) <= told.high - 2 + 1e-12
        held += int(inside[unknown])
    return held == -(-9 * tasks // 10)


@pytest.mark.parametrize(
    ("gold", "expected"), [(10, 10), (18, 18), (19, 18), (20, 19), (29, 27), (99, 90), (100, 91)]
)
def test_rank(gold: int, expected: int) -> None:
    assert rank(gold) == expected


def test_rank_is_exact_for_every_number_of_gold_tasks() -> None:
    for gold in range(10, 20_000):
        assert rank(gold) == -(-9 * (gold + 1) // 10)


@pytest.mark.parametrize("label", [False, True])
def test_coverage_is_exact_over_all_choices_of_the_unknown_task(label: bool) -> None:
    assert all(holds_exactly(gold, label) for gold in range(10, 32))


def test_a_rank_without_the_correction_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "rank", lambda gold: -(-9 * gold // 10))
    assert not holds_exactly(10, label=False)
    assert not holds_exactly(10, label=True)


@pytest.mark.parametrize("estimand", ["level", "opinion"])
@pytest.mark.parametrize("gold", [10, 20, 50])
def test_coverage_where_the_posterior_is_biased_and_too_narrow(gold: int, estimand: str) -> None:
    before, after = [], []
    for seed in range(CAMPAIGNS):
        result, truth = level_campaign(seed, tasks=gold + 80, estimand=estimand)
        told = calibrated(result, only(truth, gold))
        others = np.where(np.isnan(only(truth, gold)), truth, np.nan)
        before.append(result.coverage(others))
        after.append(told.coverage(others))
    assert np.mean(before) < 0.5
    assert 0.87 <= np.mean(after) <= 0.95
    assert abs(np.mean(after) - rank(gold) / (gold + 1)) < 4 * np.std(after) / CAMPAIGNS**0.5


@pytest.mark.parametrize("unordered", [False, True])
@pytest.mark.parametrize("gold", [10, 20, 50])
def test_coverage_of_prediction_sets_where_the_posterior_is_too_sure(
    gold: int, unordered: bool
) -> None:
    before, after = [], []
    for seed in range(CAMPAIGNS):
        result, truth = label_campaign(seed, gold + 80, unordered)
        told = calibrated(result, only(truth, gold))
        before.append((result.estimate == truth)[gold:].mean())
        after.append(in_sets(told, truth)[gold:].mean())
    assert np.mean(before) < 0.75
    assert 0.87 <= np.mean(after) <= 0.95


@pytest.mark.parametrize("seed", range(5))
def test_estimates_stay_as_they_are_and_inside(seed: int) -> None:
    for make in (level_campaign, label_campaign):
        result, truth = make(seed)
        told = calibrated(result, only(truth, 12))
        np.testing.assert_array_equal(told.estimate, result.estimate)
        assert (told.low <= told.estimate).all()
        assert (told.estimate <= told.high).all()
        assert told.low.min() >= 0
        assert told.high.max() <= 4


def test_what_the_result_says_about_its_calibration() -> None:
    result, truth = level_campaign(0)
    told = calibrated(result, only(truth, 12))
    assert result.calibration is None
    assert told.calibration is not None
    assert (told.calibration.coverage, told.calibration.gold) == (0.9, 12)
    assert told.calibration.width_before == pytest.approx(np.mean(result.high - result.low))
    assert told.calibration.width_after == pytest.approx(np.mean(told.high - told.low))
    assert told.calibration.width_after > 2 * told.calibration.width_before
    assert told.prediction_sets is None


def test_intervals_are_in_units_of_the_posterior_sd() -> None:
    """Twelve gold tasks off by 0.1 … 1.2 sd: the limit is the largest, 1.2 sd of each task."""
    sd = np.array([0.2] * 12 + [0.1, 0.3])
    grid = np.linspace(0, 4, 1601)
    estimate = np.full(14, 2.0)
    result = truths_of(normal_mass(estimate, sd, grid), grid, estimate)
    gold = np.append(2 + 0.2 * np.arange(1, 13) / 10, [np.nan, np.nan])
    told = calibrated(result, gold)
    np.testing.assert_allclose(told.high - 2, 1.2 * sd, rtol=1e-3)
    np.testing.assert_allclose(2 - told.low, 1.2 * sd, rtol=1e-3)


def test_a_sure_posterior_counts_with_the_floor() -> None:
    grid = np.linspace(0, 4, 5)
    result = truths_of(np.eye(5)[np.full(12, 2)], grid, np.full(12, 2.0))
    gold = np.append(np.full(10, 2.0), [3.0, np.nan])
    told = calibrated(result, gold)
    assert (posterior_sd(result.posterior) == 0).all()  # type: ignore[arg-type]
    assert told.high[-1] == pytest.approx(3)  # eleven gold tasks: the largest error counts
    gold[10] = 2
    assert calibrated(result, gold).high[-1] == 2
    wide = normal_mass(np.array([2.0]), np.array([0.5]), grid)
    mixed = truths_of(np.vstack([np.eye(5)[np.full(11, 2)], wide]), grid, np.full(12, 2.0))
    off = np.append(np.full(10, 2.0), [2 + SMALLEST_SD * 4, np.nan])
    assert calibrated(mixed, off).high[-1] - 2 == pytest.approx(
        posterior_sd(mixed.posterior)[-1]  # type: ignore[arg-type]
    )


def test_prediction_sets_and_their_hull() -> None:
    """The limit is a score of 0.7: a label is possible if it has a probability of 0.3 or more."""
    sure = np.array([[0.3, 0.4, 0.3]] + [[0.9, 0.1, 0.0]] * 9)
    rest = np.array([[0.45, 0.1, 0.45], [0.2, 0.75, 0.05], [0.31, 0.29, 0.4]])
    estimate = np.array([1.0] + [0.0] * 9 + [1.0, 1.0, 1.0])
    result = truths_of(np.vstack([sure, rest]), np.arange(3.0), estimate, "a,b,c", "label")
    told = calibrated(result, np.append(np.zeros(10), [np.nan] * 3))
    assert told.prediction_sets is not None
    assert told.prediction_sets[0] == ("a", "b", "c")
    assert told.prediction_sets[1] == ("a",)
    # The median, b, is in the set although a and c are likelier.
    assert told.prediction_sets[10:] == (("a", "b", "c"), ("b",), ("a", "b", "c"))
    assert told.low[10:].tolist() == [0, 1, 0]
    assert told.high[10:].tolist() == [2, 1, 2]
    assert told.calibration is not None
    assert told.calibration.width_before == pytest.approx((3 + 9 * 1 + 2 + 2 + 3) / 13)
    assert told.calibration.width_after == pytest.approx((3 + 9 * 1 + 3 + 1 + 3) / 13)


def test_a_mean_of_labels_is_inside_its_hull() -> None:
    result, truth = label_campaign(1)
    assert result.posterior is not None
    means = replace(result, estimate=result.posterior.mass @ result.posterior.grid)
    told = calibrated(means, only(truth, 20))
    assert ((told.low <= told.estimate) & (told.estimate <= told.high)).all()


def test_too_few_gold_tasks() -> None:
    result, truth = level_campaign(0)
    with pytest.raises(ForsoothError, match="9 tasks .* at least 10.*--gold-use pin"):
        calibrated(result, only(truth, 9))
    assert calibrated(result, only(truth, 10)).calibration is not None


def test_gold_that_is_no_answer() -> None:
    result, truth = label_campaign(0)
    gold = only(truth, 12)
    gold[3] = 2.5
    with pytest.raises(ForsoothError, match="2.5 of task 't3' is no answer of the scale a,b,c,d,e"):
        calibrated(result, gold)
    level, _ = level_campaign(0)
    assert calibrated(level, gold).calibration is not None


def test_a_method_without_posterior() -> None:
    result, truth = level_campaign(0)
    with pytest.raises(ForsoothError, match="'mean' gives no posterior"):
        calibrated(replace(result, method="mean", posterior=None), only(truth, 12))
