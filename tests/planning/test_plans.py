from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import forsooth
from forsooth import Answers, ForsoothError, Reports, Scale, infer, plan
from forsooth.estimand import ESTIMANDS, Estimand
from forsooth.mechanisms.staircase_channel import staircase
from forsooth.planning.crossing import Axis, crossing
from forsooth.planning.estimate import Expected
from forsooth.planning.plans import curves
from forsooth.planning.rehearsal import PlannedCampaign, Point, draw, rehearsals

FIVE = Scale.parse("0..4")
SMALL = Expected(FIVE, 0.5)
QUICK: dict[str, Any] = {"scale": "0..4", "tasks": 30, "density": 0.5, "mechanism": "rr"}


@pytest.fixture
def as_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more repeats than were asked for."""
    monkeypatch.setattr("forsooth.planning.rehearsal._ERROR_BAR", math.inf)


# Crowds


def test_a_crowd_is_as_expected() -> None:
    expected = Expected(Scale.parse("0..100"), 0.2, "normal:50,10", "1,4")
    crowd = draw(expected, 400, 300, seed=1)
    cells = crowd.answers.cells()
    assert crowd.answers.size / (400 * 300) == pytest.approx(0.2, abs=0.005)
    assert crowd.truth.mean() == pytest.approx(50, abs=2)
    assert crowd.truth.std() == pytest.approx(10, abs=1.5)
    residual = cells.value - crowd.truth[cells.task]
    deviation = np.sqrt(cells.per_worker(residual**2) / cells.per_worker())
    assert (deviation < 2).sum() == 200
    assert deviation[deviation < 2].mean() == pytest.approx(np.sqrt(1 + 1 / 12), abs=0.05)
    assert deviation[deviation > 2].mean() == pytest.approx(4, abs=0.1)


def test_the_same_seed_gives_the_same_truths_to_any_crowd() -> None:
    few, many = (draw(SMALL, workers, 20, seed=3).truth for workers in (10, 50))
    assert np.array_equal(few, many)
    assert not np.array_equal(few, draw(SMALL, 10, 20, seed=4).truth)


def test_truths_are_what_the_estimand_says() -> None:
    """The same places of the prior: rounded for labels, as mean answers for opinions."""
    level, label, opinion = (
        draw(replace(SMALL, truth="normal:3,1", estimand=each), 2000, 20, seed=3)
        for each in ESTIMANDS
    )
    assert [crowd.estimand for crowd in (level, label, opinion)] == list(ESTIMANDS)
    assert set(label.truth) <= set(FIVE.values)
    assert not set(level.truth) <= set(FIVE.values)
    cells = opinion.answers.cells()
    means = np.bincount(cells.task, cells.value) / cells.per_task()
    np.testing.assert_allclose(opinion.truth, means, atol=0.15)
    assert np.abs(level.truth - means).max() > 0.15  # the end of the scale cuts off
    np.testing.assert_array_equal(level.answers.code, opinion.answers.code)


def test_two_answers_are_labels_unless_something_else_is_stated() -> None:
    two = Expected(Scale.parse("no,yes"), 0.5)
    assert two.assumed == "label"
    assert two.prior.tolist() == [0.5, 0.5]
    assert set(draw(two, 20, 10, seed=1).truth) == {0.0, 1.0}
    assert replace(two, estimand="level").constant_error < two.constant_error


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_every_estimand_has_a_fast_estimate(estimand: Estimand) -> None:
    """It falls with the workers and is below the constant's error."""
    campaign = PlannedCampaign(replace(SMALL, estimand=estimand), 30, "rr")
    few, many = (campaign.estimate(workers, 1.0) for workers in (300, 3000))
    assert many < few < campaign.expected.constant_error


def test_a_staircase_is_designed_for_the_estimand() -> None:
    label = PlannedCampaign(replace(SMALL, estimand="label"), 30, "staircase")
    assert label.built(1.0) == staircase(FIVE, 1.0, density=0.5, estimand="label")
    assert label.built(1.0) != PlannedCampaign(SMALL, 30, "staircase").built(1.0)
    with pytest.raises(ForsoothError, match="use rr for the estimand opinion"):
        PlannedCampaign(replace(SMALL, estimand="opinion"), 30, "staircase").built(1.0)
    question: dict[str, Any] = {"tasks": 30, "density": 0.5, "epsilon": 1.0, "workers": 500}
    found = plan("0..4", **question, estimand="opinion", fast=True)
    assert (found.campaign.mechanism, found.others) == ("rr", {})


@pytest.mark.usefixtures("as_few")
@pytest.mark.parametrize(("estimand", "workers"), [("label", 60), ("opinion", 250)])
def test_the_fast_estimate_is_near_for_other_estimands(estimand: Estimand, workers: int) -> None:
    """With more workers hardly any of 480 labels is wrong, so that the ratio is left to chance."""
    campaign = PlannedCampaign(replace(SMALL, estimand=estimand), 40, "rr")
    with rehearsals(campaign, 12) as measure:
        ratio = measure(workers, 2.0).mae / campaign.estimate(workers, 2.0)
    assert BAND[0] < ratio < BAND[1]


# Rehearsals


def test_a_rehearsal_is_the_real_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers, mechanism, reports, inference, error: seen on their way."""
    seen: list[Reports] = []

    def watched(reports: list[Reports], **options: Any) -> forsooth.Truths:
        seen.extend(reports)
        return infer(reports, **options)

    monkeypatch.setattr("forsooth.planning.rehearsal.infer", watched)
    campaign = PlannedCampaign(SMALL, 30, "rr")
    error = campaign.rehearse(50, 2.0, repeat=0)
    assert (len(seen[0].workers), len(seen[0].tasks)) == (50, 30)
    assert seen[0].mechanism == campaign.built(2.0)
    assert error == campaign.rehearse(50, 2.0, repeat=0)
    assert error != campaign.rehearse(50, 2.0, repeat=1)


def test_a_staircase_is_designed_for_what_is_expected() -> None:
    expected = Expected(FIVE, 0.2, "normal:1,2", "1,3")
    designed = staircase(FIVE, 1.0, density=0.2, truth="normal:1,2", noise="1,3")
    assert PlannedCampaign(expected, 10, "staircase").built(1.0) == designed


def test_large_campaigns_are_rehearsed_on_some_tasks() -> None:
    campaign = PlannedCampaign(SMALL, 5000, "rr")
    assert campaign.rehearsed_tasks(10) == 5000
    assert campaign.rehearsed_tasks(4000) == 1000
    assert campaign.rehearsed_tasks(100_000) == 100
    assert PlannedCampaign(SMALL, 30, "rr").rehearsed_tasks(100_000) == 30
    with pytest.raises(ForsoothError, match="too many to simulate"):
        campaign.rehearsed_tasks(1_000_000)


BAND = (0.8, 2.0)
MEASURED = [
    (PlannedCampaign(SMALL, 40, "rr"), 250, 2.0),
    (PlannedCampaign(Expected(FIVE, 0.5, "normal:2,1"), 40, "staircase"), 300, 2.0),
    (PlannedCampaign(Expected(Scale.parse("0..9"), 0.3), 40, "grr", "answers"), 200, 2.0),
]


@pytest.mark.usefixtures("as_few")
@pytest.mark.parametrize(("campaign", "workers", "epsilon"), MEASURED)
def test_the_fast_estimate_is_near(campaign: PlannedCampaign, workers: int, epsilon: float) -> None:
    low, high = BAND
    with rehearsals(campaign, 3) as measure:
        ratio = measure(workers, epsilon).mae / campaign.estimate(workers, epsilon)
    assert low < ratio < high


@pytest.mark.usefixtures("as_few")
def test_a_rehearsal_that_forgets_to_perturb_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(self: PlannedCampaign, answers: Answers, epsilon: float, seed: int) -> Answers:
        return answers

    monkeypatch.setattr(PlannedCampaign, "_reports", forget)
    for campaign, workers, epsilon in MEASURED:
        with rehearsals(campaign, 2) as measure:
            ratio = measure(workers, epsilon).mae / campaign.estimate(workers, epsilon)
        assert not BAND[0] < ratio < BAND[1]


@pytest.mark.usefixtures("as_few")
def test_errors_fall_with_workers_and_epsilon() -> None:
    """By more than three standard errors of the difference."""
    with rehearsals(PlannedCampaign(SMALL, 40, "rr"), 8) as measure:
        few, many, careful = measure(60, 2.0), measure(600, 2.0), measure(60, 0.5)
        unperturbed = measure(60, None)
    for worse, better in ((few, many), (careful, few), (few, unperturbed)):
        assert worse.mae - better.mae > 3 * math.hypot(worse.se, better.se)


def test_repeats_go_on_while_the_error_bar_is_wide() -> None:
    told: list[tuple[int, int]] = []
    with rehearsals(
        PlannedCampaign(SMALL, 2, "rr"), 2, progress=lambda *p: told.append(p)
    ) as measure:
        point = measure(20, 1.0)
    assert len(point.errors) == 8
    assert told[-1] == (8, 8)
    assert point.se == pytest.approx(np.std(point.errors, ddof=1) / math.sqrt(8))


# The search


AXIS = Axis(2, 100_000, near=1.5, whole=True)


def noisy(random: np.random.Generator, *, scale: float = 1.0, noise: float = 0.08) -> Any:
    """An error of 10/√x, measured three times with some noise."""

    def measure(value: float) -> Point:
        errors = scale * 10 / math.sqrt(value) * np.exp(noise * random.normal(size=3))
        return Point(round(value), 1.0, 1, tuple(errors.tolist()))

    return measure


def wrong_guide(value: float) -> float:
    """Too small by a third, and falling too slowly."""
    return 5 / math.pow(value, 0.45)


def test_the_crossing_is_found_and_its_interval_is_honest() -> None:
    """A true 90 % interval covers fewer than 28 of 40 times with probability 9e-5."""
    covered = 0
    for seed in range(40):
        found = crossing(noisy(np.random.default_rng(seed)), wrong_guide, 0.5, AXIS)
        assert found is not None
        assert found.value == pytest.approx(400, rel=0.35)
        covered += found.low <= 400 <= found.high
    assert covered >= 28


def test_a_biased_measurement_is_not_covered() -> None:
    """Errors that are a third too small would be noticed by the test above."""
    covered = 0
    for seed in range(40):
        biased = noisy(np.random.default_rng(seed), scale=2 / 3)
        found = crossing(biased, wrong_guide, 0.5, AXIS)
        assert found is not None
        covered += found.low <= 400 <= found.high
    assert covered < 28


@pytest.mark.parametrize("guide", [wrong_guide, lambda value: 1000 / value, lambda value: 1.0])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_any_guide_leads_there(guide: Any, noise: float) -> None:
    found = crossing(noisy(np.random.default_rng(1), noise=noise), guide, 0.5, AXIS)
    assert found is not None
    assert found.value == pytest.approx(400, rel=0.05 if noise == 0 else 1)


def test_ends_of_the_axis() -> None:
    exact = noisy(np.random.default_rng(1), noise=0)
    assert crossing(exact, wrong_guide, 0.01, AXIS) is None
    low = crossing(exact, wrong_guide, 8.0, AXIS)
    assert low is not None
    assert low.value == 2
    few = crossing(exact, wrong_guide, 5.5, AXIS)
    assert few is not None
    assert 2 < few.value < 5


# Plans


@pytest.mark.usefixtures("as_few")
def test_the_three_questions_agree() -> None:
    """Workers for an error; the error of those workers; the ε of that error."""
    asked = plan(**QUICK, epsilon=2.0, target_mae=0.3)
    assert asked.workers is not None
    assert asked.interval is not None
    assert asked.interval[0] <= asked.workers
    assert asked.estimate == pytest.approx(asked.workers, rel=0.7)
    error = plan(**QUICK, epsilon=2.0, workers=asked.workers)
    assert error.mae == pytest.approx(0.3, rel=0.3)
    epsilon = plan(**QUICK, workers=asked.workers, target_mae=0.3)
    assert epsilon.epsilon == pytest.approx(2.0, rel=0.3)
    for found in (asked, error, epsilon):
        assert found.reason is None
        assert found.mae_se is not None
        assert found.mae_unperturbed < 0.3 < found.campaign.expected.constant_error
        assert found.guarantee is not None
        assert found.guarantee.worker_total(30) == pytest.approx(30 * found.guarantee.epsilon)


def test_public_participation_needs_fewer_workers() -> None:
    found = plan(**QUICK, epsilon=1.0, target_mae=0.3, fast=True)
    public = plan(**QUICK, epsilon=1.0, target_mae=0.3, fast=True, protects="answers")
    assert found.answers_only == public.estimate
    assert public.workers is not None
    assert found.workers is not None
    assert public.workers < 0.7 * found.workers
    assert public.answers_only is None


def test_without_a_mechanism_the_better_estimate_is_taken() -> None:
    """For a rough answer the staircase; for a fine one rr, which keeps all answers apart."""
    question: dict[str, Any] = {"tasks": 200, "density": 0.1, "epsilon": 1.0, "fast": True}
    rough = plan("0..9", **question, target_mae=1.0)
    fine = plan("0..9", **question, target_mae=0.3)
    assert (rough.campaign.mechanism, fine.campaign.mechanism) == ("staircase", "rr")
    for found in (rough, fine):
        (other,) = found.others.values()
        assert found.estimate is not None
        assert other is None or found.estimate < other


@pytest.mark.usefixtures("as_few")
@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ({"epsilon": 0.1, "target_mae": 0.1}, "the most allowed"),
        ({"epsilon": 2.0, "target_mae": 0.3, "max_workers": 60}, "60 workers, the most allowed"),
        ({"workers": 40, "target_mae": 0.05}, "even the unperturbed answers of 40 workers"),
    ],
)
def test_out_of_reach(question: dict[str, Any], reason: str, fast: bool) -> None:
    found = plan(**QUICK, **({"max_workers": 500} | question), fast=fast)
    assert found.reason is not None
    assert reason in found.reason
    assert found.mae is None
    assert None in (found.workers, found.epsilon)


@pytest.mark.usefixtures("as_few")
def test_a_mechanism_without_an_estimate_is_simulated() -> None:
    small: dict[str, Any] = QUICK | {"mechanism": "lp"}
    found = plan(**small, workers=40, epsilon=2.0, repeats=2)
    assert found.estimate is None
    assert found.answers_only is None
    assert found.mae is not None
    with pytest.raises(ForsoothError, match="lp has no fast estimate"):
        plan(**small, workers=40, epsilon=2.0, fast=True)


def test_an_adaptive_campaign() -> None:
    campaign = PlannedCampaign(SMALL, 20, "adaptive")
    assert campaign.guarantee(2.0) == forsooth.Privacy(2.0)
    assert not campaign.has_estimate
    assert 0 < campaign.rehearse(60, 2.0, repeat=0) < SMALL.constant_error


@pytest.mark.usefixtures("as_few")
def test_curves_around_a_plan() -> None:
    found = plan(**QUICK, workers=40, epsilon=2.0, fast=True)
    points = curves(found, repeats=2)
    assert [point.workers for point in points] == 3 * [5, 10, 20, 40]
    assert sorted({point.epsilon for point in points if point.epsilon}) == [1.0, 2.0, 4.0]


def test_the_example_in_the_docs_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "planning.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", page, re.S)
    exec(example, {})
    assert "ε = 1 per cell" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({}, "exactly two"),
        ({"epsilon": 1.0}, "exactly two"),
        ({"epsilon": 1.0, "workers": 10, "target_mae": 0.3}, "exactly two"),
        ({"epsilon": 0.0, "workers": 10}, "ε must be"),
        ({"epsilon": 1.0, "workers": 1}, "at least two workers"),
        ({"epsilon": 1.0, "target_mae": 0.0}, "an error above 0"),
        ({"epsilon": 1.0, "target_mae": math.nan}, "an error above 0"),
        ({"epsilon": 1.0, "target_mae": 1.5}, "needs no data"),
        ({"epsilon": 1.0, "target_mae": 0.5, "max_workers": 1}, "max-workers"),
        ({"epsilon": 1.0, "target_mae": 0.5, "max_workers": 10**8}, "too many to simulate"),
        ({"epsilon": 1.0, "workers": 10, "repeats": 1}, "at least two repeats"),
        ({"epsilon": 1.0, "workers": 10, "tasks": 0}, "at least one task"),
        ({"epsilon": 1.0, "workers": 10, "seed": -1}, "seed"),
        ({"epsilon": 1.0, "workers": 10, "mechanism": "magic"}, "unknown mechanism"),
        ({"epsilon": 1.0, "workers": 10, "protects": "all"}, "protects must be"),
        ({"epsilon": 1.0, "workers": 10, "estimand": "mood"}, "unknown estimand 'mood'"),
        (
            {"epsilon": 1.0, "workers": 10, "mechanism": "mf", "protects": "answers+participation"},
            "protects answers only",
        ),
    ],
)
def test_bad_questions(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ForsoothError, match=complaint):
        plan(**(QUICK | changes))
