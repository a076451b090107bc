"""From a posterior on a grid to estimates and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm, truncnorm

from forsooth import Answers, Reports, Scale, Truths, infer, mechanisms
from forsooth.estimand import ESTIMANDS, Estimand
from forsooth.inference.posterior.options import ESTIMATES, Estimate
from forsooth.inference.posterior.reading import between, quantile, read
from forsooth.study.prior_campaigns import draw_campaign
from forsooth.study.synthetic import SyntheticCrowd
from forsooth.truths import COVERAGE

Array = NDArray[np.float64]
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)  # inference is too slow to shrink


@pytest.mark.parametrize("level", [0.01, 0.05, 0.3, 0.5, 0.95])
def test_quantiles_of_a_known_density(level: float) -> None:
    """A normal on a grid of a third of its standard deviation, well inside the scale."""
    grid = np.linspace(0, 10, 101)
    places = np.array([3.0, 5.02, 5.05, 6.471])
    mass = norm.pdf(grid, places[:, None], 0.3)
    found = quantile(grid, mass, level, discrete=False)
    np.testing.assert_allclose(found, norm.ppf(level, places, 0.3), atol=0.01)


@pytest.mark.parametrize("level", [0.05, 0.5, 0.95])
def test_quantiles_of_a_density_that_ends_at_the_scale(level: float) -> None:
    grid = np.linspace(0, 1, 201)
    mass = norm.pdf(grid, -0.2, 0.3)
    mass[0] /= 2  # the end's cell is half as wide
    wanted = truncnorm(0.2 / 0.3, np.inf, -0.2, 0.3).ppf(level)
    assert quantile(grid, mass[None], level, discrete=False)[0] == pytest.approx(wanted, abs=0.01)


def test_mass_at_an_end_stays_there() -> None:
    grid = np.linspace(0, 4, 5)
    mass = np.array([[0.6, 0.1, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.1, 0.6]])
    assert quantile(grid, mass, 0.5, discrete=False).tolist() == [0, 4]
    assert quantile(grid, mass, 0.05, discrete=False)[0] == 0


def test_quantiles_of_labels_are_labels() -> None:
    grid = np.array([1.0, 2, 5])
    mass = np.array([[0.5, 0.3, 0.2], [0.49, 0.3, 0.21], [0.04, 0.05, 0.91], [0, 1, 0]])
    assert quantile(grid, mass, 0.5, discrete=True).tolist() == [1, 2, 5, 2]
    assert quantile(grid, mass, 0.05, discrete=True).tolist() == [1, 1, 2, 2]


def test_quantiles_do_not_jump() -> None:
    """As the posterior moves on evenly, so does its median: the grid does not show."""
    grid, places = np.linspace(0, 10, 81), np.linspace(4, 5, 400)
    found = quantile(grid, norm.pdf(grid, places[:, None], 0.25), 0.5, discrete=False)
    steps = np.diff(found)
    assert steps.min() > 0
    assert steps.max() < 2 * (places[1] - places[0])


masses = st.integers(2, 12).flatmap(
    lambda size: st.lists(
        st.floats(0, 1, allow_subnormal=False), min_size=size, max_size=size
    ).filter(lambda row: sum(row) > 1e-6)
)


@given(masses, st.sampled_from(ESTIMATES), st.booleans())
def test_an_estimate_lies_in_its_interval(
    row: list[float], estimate: Estimate, discrete: bool
) -> None:
    mass = np.array([row]) / sum(row)
    grid = np.linspace(-3, 5, len(row))
    point, low, high = read(grid, mass, estimate, np.full(1, np.nan), discrete=discrete)
    assert grid[0] <= low[0] <= point[0] <= high[0] <= grid[-1]


@given(masses, st.floats(-3, 5))
def test_a_known_truth_is_the_estimate_and_the_interval(row: list[float], truth: float) -> None:
    mass = np.array([row, row]) / sum(row)
    known = np.array([truth, np.nan])
    point, low, high = read(np.linspace(-3, 5, len(row)), mass, "median", known, discrete=False)
    assert point[0] == low[0] == high[0] == truth
    assert low[1] <= point[1] <= high[1]


@given(masses)
def test_the_interval_holds_at_least_its_mass(row: list[float]) -> None:
    """On labels; at an end, or with much mass at a point, it is more."""
    mass, grid = np.array([row]) / sum(row), np.arange(float(len(row)))
    _, low, high = read(grid, mass, "median", np.full(1, np.nan), discrete=True)
    inside = (low[0] <= grid) & (grid <= high[0])
    assert mass[0, inside].sum() >= COVERAGE - 1e-9


@given(masses)
def test_deviations_lie_in_their_intervals_and_on_the_ladder(row: list[float]) -> None:
    kinds = np.array([row]) / sum(row)
    ladder = 0.3 * 1.5 ** np.arange(float(len(row)))
    deviations = np.random.default_rng(len(row)).permutation(ladder)
    point, low, high = between(kinds, deviations)
    rounding = 1 + 1e-9
    assert deviations.min() / rounding <= low[0] <= point[0] <= high[0]
    assert high[0] <= deviations.max() * rounding


def test_a_worker_of_one_kind_has_its_deviation() -> None:
    deviations = np.array([2.0, 0.5, 1.0])
    point, low, high = between(np.eye(3), deviations)
    edges = np.sqrt([0.5, 2])  # half way to the next, in logarithms
    np.testing.assert_allclose(point, deviations)
    assert edges[0] <= low[2] <= high[2] <= edges[1]


# Whole results


def inside(truths: Truths) -> None:
    scale, posterior = truths.scale, truths.posterior
    assert posterior
    for values in (truths.estimate, truths.low, truths.high, posterior.mass):
        assert np.isfinite(values).all()
    assert (scale.low <= truths.low).all()
    assert (truths.low <= truths.estimate).all()
    assert (truths.estimate <= truths.high).all()
    assert (truths.high <= scale.high).all()
    np.testing.assert_allclose(posterior.mass.sum(axis=1), 1)
    low, high = posterior.deviation_interval
    assert (low <= truths.deviation).all()
    assert (truths.deviation <= high).all()
    if posterior.participation_interval:
        below, above = posterior.participation_interval
        assert posterior.participation is not None
        assert 0 <= below <= posterior.participation <= above <= 1
    if shares := posterior.shares:
        assert (shares.low <= shares.estimate).all()
        assert (shares.estimate <= shares.high).all()
        np.testing.assert_allclose(shares.estimate.sum(axis=1), 1)
        assert (shares.participation_low <= shares.participation).all()
        assert (shares.participation <= shares.participation_high).all()


@st.composite
def campaigns(draw: st.DrawFn) -> Reports | Answers:
    """Small campaigns of any answers, with empty tasks and silent workers."""
    scale = Scale.parse(draw(st.sampled_from(["0..1", "0..4", "-5,0,1,2", "0..20", "A,B,C"])))
    workers, tasks = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    cells = draw(
        st.lists(
            st.one_of(st.none(), st.integers(0, scale.size - 1)),
            min_size=workers * tasks,
            max_size=workers * tasks,
        )
    )
    codes = np.array([-1 if cell is None else cell for cell in cells]).reshape(workers, tasks)
    worker, task = np.nonzero(codes >= 0)
    names, questions = (tuple(f"{at:02}" for at in range(n)) for n in codes.shape)
    places = worker.astype(np.int32), task.astype(np.int32)
    answers = Answers(scale, names, questions, *places, codes[worker, task].astype(np.uint8))
    name = draw(st.sampled_from(["plain", "rr", "grr", "lp", "two-layer"]))
    if name == "plain":
        return answers
    epsilon = draw(st.sampled_from([0.1, 1.0, 10.0]))
    mechanism = mechanisms.build(name, scale, epsilon, tasks=tasks)
    return mechanism.perturb(answers, simulation_seed=1)


@given(campaigns(), st.sampled_from(["level", "label"]), st.sampled_from(ESTIMATES))
@settings(max_examples=40, phases=PHASES)
def test_estimates_lie_in_their_intervals(
    data: Reports | Answers, estimand: Estimand, estimate: Estimate
) -> None:
    inside(infer(data, estimand=estimand, estimate=estimate))


@given(campaigns(), st.booleans())
@settings(max_examples=6, phases=PHASES)  # half a second each
def test_opinions_lie_in_their_intervals(data: Reports | Answers, unordered: bool) -> None:
    inside(infer(data, estimand="opinion", unordered=unordered))


@given(campaigns())
@settings(max_examples=15, phases=PHASES)
def test_labels_without_an_order_are_the_likeliest(data: Reports | Answers) -> None:
    truths = infer(data, unordered=True)
    inside(truths)
    assert truths.posterior
    assert truths.posterior.estimand == "label"
    top = truths.posterior.mass.max(axis=1)
    chosen = truths.columns()["probability"]
    np.testing.assert_allclose(chosen, top)


@pytest.mark.parametrize("name", ["rr", "grr", "plain"])
def test_the_grid_is_not_visible(name: str) -> None:
    """Of two hundred tasks nearly all have estimates and bounds of their own.

    Not at an end of the scale, where they may be equal.
    """
    answers = SyntheticCrowd(workers=400, tasks=200, sparsity=0.7, truth_mean=4).draw(2).answers
    data: Reports | Answers = answers
    if name != "plain":
        data = mechanisms.build(name, answers.scale, 2.0, tasks=200).perturb(
            answers, simulation_seed=1
        )
    truths = infer(data, estimand="level")
    inside(truths)
    assert truths.posterior
    for values in (truths.estimate, truths.low, truths.high):
        within = values[(values > 0) & (values < 9)]
        assert len(within) > 150
        distinct = np.unique(within.round(6))
        assert len(distinct) > 0.97 * len(within)
        on_grid = np.isclose(within[:, None], truths.posterior.grid, atol=1e-9).any(axis=1)
        assert on_grid.mean() < 0.03


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_a_task_without_reports_has_a_wide_interval(estimand: Estimand) -> None:
    scale = Scale.parse("0..4")
    answers, _ = draw_campaign(scale, estimand, workers=50, tasks=6, seed=2, participation=0.9)
    kept = answers.task != 3
    silent = Answers(
        scale, answers.workers, answers.tasks,
        answers.worker[kept], answers.task[kept], answers.code[kept],
    )  # fmt: skip
    truths = infer(silent, estimand=estimand)
    inside(truths)
    width = truths.high - truths.low
    assert truths.support[3] == 0
    assert width[3] == width.max()
