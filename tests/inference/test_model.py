"""The model of levels and labels: its kinds, its numbers, its prior of the truths, its page."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from forsooth import Answers, Scale, infer, mechanisms
from forsooth.errors import ForsoothError
from forsooth.estimand import Estimand
from forsooth.inference.posterior import kinds
from forsooth.inference.posterior.kinds import Kind, Setting
from forsooth.inference.posterior.model import Label, LabelPrior, Level, LevelPrior
from forsooth.inference.posterior.priors import PRIORS, Priors
from forsooth.study.synthetic import SyntheticCrowd

Array = NDArray[np.float64]
SCALES = ["0..1", "0..4", "0..9", "0..20", "0..100", "1,2,4,8,16"]


def crowds(scale: str, hidden: bool = True) -> list[Level | Label]:
    parsed = Scale.parse(scale)
    popular = np.arange(1.0, parsed.size + 1)
    popular /= popular.sum()
    found: list[Level | Label] = [Level(parsed, popular, hidden)]
    if parsed.size <= 21:
        found += [Label(parsed, popular, hidden, ordered=ordered) for ordered in (True, False)]
    return found


def points(crowd: Level | Label, number: int = 50) -> Array:
    return np.random.default_rng(0).standard_normal((number, crowd.dimensions))


@pytest.mark.parametrize("scale", SCALES)
def test_every_table_is_a_distribution(scale: str) -> None:
    for crowd in crowds(scale):
        assert crowd.base.shape[1:] == (len(crowd.nodes), crowd.scale.size)
        assert (crowd.base > 0).all()
        np.testing.assert_allclose(crowd.base.sum(axis=2), 1)


@pytest.mark.parametrize("scale", SCALES)
def test_every_share_is_a_distribution(scale: str) -> None:
    for crowd in crowds(scale):
        z = points(crowd)
        shares, prior = crowd.shares(z), crowd.prior(z, crowd.nodes)
        assert shares.shape == (len(z), len(crowd.base))
        for rows in (shares, prior, crowd.rate_shares[None], crowd.others[None]):
            assert (rows >= 0).all()
            np.testing.assert_allclose(rows.sum(axis=1), 1)


@pytest.mark.parametrize("scale", SCALES)
def test_the_mean_rate_is_the_participation(scale: str) -> None:
    for crowd in crowds(scale):
        for mean in crowd.participation(points(crowd, 5)):
            rates = crowd.rates(float(mean), crowd.rate_shares)
            assert (np.diff(rates) > 0).all()
            assert crowd.rate_shares @ rates == pytest.approx(mean)
    for crowd in crowds(scale, hidden=False):
        assert crowd.participation(points(crowd, 5)).tolist() == [1] * 5
        assert crowd.rates(1.0, crowd.rate_shares).tolist() == [1]


def test_every_answer_is_a_node_and_the_ladder_reaches_over_the_scale() -> None:
    for scale in SCALES[:4]:
        level = Level(Scale.parse(scale), np.ones(1), False)
        assert np.isin(level.values, level.nodes.round(9)).all()
        assert level.errors[0] < level.step
        assert level.errors[-1] >= level.scale.range
        deviations = level.deviations(level.base, np.ones(len(level.nodes)))
        assert (np.diff(deviations[: len(level.errors)]) > 0).all()  # the ladder goes up


# The table of priors


def test_every_number_has_a_unit_and_a_reason() -> None:
    table = fields(Priors)
    assert len(table) <= 30
    for number in table:
        assert isinstance(number.default, float), number.name
        assert number.metadata["unit"], number.name
        assert len(number.metadata["reason"]) > 10, number.name


def test_a_number_can_be_replaced() -> None:
    scale, flat = Scale.parse("0..4"), np.full(5, 0.2)
    z = np.zeros((1, Level(scale, flat, False).dimensions))
    for guess in (0.1, 0.9):
        crowd = Level(scale, flat, False, replace(PRIORS, other_kinds=guess))
        assert crowd.shares(z)[0, len(crowd.errors) :].sum() == pytest.approx(guess)


# A kind is one entry


@pytest.mark.parametrize("estimand", ["level", "label"])
def test_a_kind_is_one_entry(estimand: Estimand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two in five workers always give the highest answer; the kind is found in them."""

    def highest(at: Setting) -> Array:
        return np.tile(np.eye(len(at.values))[-1], (1, len(at.truths), 1))

    kind = Kind("the highest", highest)
    monkeypatch.setattr(kinds, "LABEL", (*kinds.LABEL, kind))
    monkeypatch.setattr(kinds, "LEVEL", (*kinds.LEVEL, kind))
    scale, random = Scale.parse("0..4"), np.random.default_rng(1)
    for crowd in (
        Level(scale, np.full(5, 0.2), True),
        Label(scale, np.full(5, 0.2), True, ordered=True),
    ):
        np.testing.assert_allclose(crowd.shares(points(crowd)).sum(axis=1), 1)
        np.testing.assert_allclose(crowd.base[-1, :, -1], 1, atol=1e-4)
    truth = random.integers(0, 4, 20)
    rows = {
        f"w{i:02}": {
            f"t{j:02}": 4 if i < 20 else np.clip(truth[j] + random.integers(-1, 2), 0, 4)
            for j in range(20)
        }
        for i in range(50)
    }
    reports = mechanisms.rr(scale, 4.0).perturb(Answers.of(rows, scale), simulation_seed=1)
    truths = infer(reports, estimand=estimand)
    assert truths.error(truth.astype(float)) < 0.6
    assert truths.deviation[:20].mean() > truths.deviation[20:].mean()


# The prior of the truths


def brute_force(crowd: Level, weights: Array, likelihood: Array) -> Array:
    """Beliefs by a dense grid over place and spread."""
    axis = np.linspace(-5, 5, 101)
    z = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    normal = crowd.normal(crowd.nodes, *crowd.place(z))
    prior = weights[0] * normal + weights[1] / len(crowd.nodes)
    evidence = np.exp(likelihood - likelihood.max(axis=1, keepdims=True))
    total = evidence @ prior.T
    logs = np.log(total).sum(axis=0) - 0.5 * (z**2).sum(axis=1)
    chance = np.exp(logs - logs.max())
    found: Array = evidence * ((chance / chance.sum() / total) @ prior)
    return found


@pytest.mark.parametrize("tasks", [1, 20, 100])
@pytest.mark.parametrize("width", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("place", [0.1, 0.5])
def test_place_and_spread_are_integrated(tasks: int, width: float, place: float) -> None:
    """Nine by nine points: beliefs within a seventh in total variation, means within 0.2 sd."""
    random, crowd = np.random.default_rng(tasks), Level(Scale.parse("0..4"), np.full(5, 0.2), False)
    noisy = 4 * (place + random.normal(0, np.hypot(0.2, width), (tasks, 1)))
    likelihood = -0.5 * ((crowd.nodes - noisy) / (4 * width)) ** 2
    prior = LevelPrior(crowd)
    wanted = brute_force(crowd, prior.weights, likelihood)
    found = prior.beliefs(likelihood)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.abs(found - wanted).sum(axis=1).mean() / 2 < 1 / 7
    mean, nodes = wanted @ crowd.nodes, crowd.nodes
    spread = np.sqrt(wanted @ nodes**2 - mean**2)
    assert (np.abs(found @ nodes - mean) / spread).mean() < 0.2


def test_truths_at_an_end_are_found_there() -> None:
    """Twenty tasks whose likelihoods all rise to the end."""
    crowd = Level(Scale.parse("0..4"), np.full(5, 0.2), False)
    likelihood = np.tile(-0.5 * ((crowd.nodes + 1) / 1.0) ** 2, (20, 1))
    prior = LevelPrior(crowd)
    for _ in range(5):
        found = prior.beliefs(likelihood)
    assert (found[:, crowd.nodes < 0.5].sum(axis=1) > 0.9).all()


def test_a_belief_on_a_finer_grid_is_the_same_belief() -> None:
    crowd = Level(Scale.parse("0..4"), np.full(5, 0.2), False)
    fine = np.linspace(0, 4, 4 * (len(crowd.nodes) - 1) + 1)
    places = np.array([[0.7], [1.3], [2.9]])
    coarse, finer = (
        LevelPrior(crowd).beliefs(-0.5 * ((grid - places) / 0.4) ** 2, grid)
        for grid in (crowd.nodes, fine)
    )
    np.testing.assert_allclose(finer @ fine, coarse @ crowd.nodes, atol=0.02)


def test_shares_of_labels_are_learned() -> None:
    """Of a hundred tasks with known labels, nine in ten have the first."""
    prior = LabelPrior(np.ones(3))
    label = np.repeat([0, 1], [90, 10])
    likelihood = np.where(np.arange(3) == label[:, None], 0.0, -50.0)
    prior.beliefs(likelihood)
    np.testing.assert_allclose(prior.weights, np.array([91, 11, 1]) / 103)


# Gold pins


@pytest.mark.parametrize("estimand", ["level", "label"])
def test_gold_pins(estimand: Estimand) -> None:
    scale = Scale.parse("0..4")
    answers = SyntheticCrowd(60, 12, sparsity=0.2, truth_mean=2, scale=scale).draw(4).answers
    reports = mechanisms.rr(scale, 1.0).perturb(answers, simulation_seed=4)
    gold = {answers.tasks[0]: 4.0, answers.tasks[3]: 0.0}
    free = infer(reports, estimand=estimand)
    pinned = infer(reports, estimand=estimand, gold=gold)
    assert free.posterior
    assert pinned.posterior
    for at, exact in ((0, 4.0), (3, 0.0)):
        assert pinned.estimate[at] == pinned.low[at] == pinned.high[at] == exact
        row = pinned.posterior.mass[at]
        assert row[np.abs(pinned.posterior.grid - exact).argmin()] == 1
    others = [at for at in range(12) if at not in (0, 3)]
    before, after = (p.mass[others] @ p.grid for p in (free.posterior, pinned.posterior))
    assert np.abs(after - before).max() > 1e-6


def test_opinions_have_no_right_answer_to_pin() -> None:
    scale = Scale.parse("0..4")
    answers = SyntheticCrowd(60, 12, sparsity=0.2, truth_mean=2, scale=scale).draw(4).answers
    with pytest.raises(ForsoothError, match="no answer is right.*--gold-use calibrate"):
        infer(answers, estimand="opinion", gold={answers.tasks[0]: 4.0})


def test_gold_between_two_nodes_is_kept_as_given() -> None:
    scale = Scale.parse("0..4")
    answers = SyntheticCrowd(40, 8, sparsity=0.2, truth_mean=2, scale=scale).draw(4).answers
    truths = infer(answers, estimand="level", gold={answers.tasks[2]: 1.2345})
    assert truths.estimate[2] == truths.low[2] == truths.high[2] == 1.2345


def test_gold_tells_the_workers_apart() -> None:
    """Half of the workers are right about the gold tasks; only they count elsewhere."""
    tasks = [f"t{j:02}" for j in range(30)]
    rows = {
        f"w{i:02}": {task: 3 if (i % 2 == 0) == (j < 28) else 1 for j, task in enumerate(tasks)}
        for i in range(20)
    }
    gold = dict.fromkeys(tasks[:20], 3.0)
    truths = infer(Answers.of(rows, "0..4"), estimand="label", gold=gold)
    assert truths.estimate[20:28].tolist() == [3] * 8
    assert truths.estimate[28:].tolist() == [1, 1]
    assert truths.quality[::2].min() > truths.quality[1::2].max()
