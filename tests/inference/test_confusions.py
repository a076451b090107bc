"""Truths that are answers, and how workers confuse them: learned through the channel."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.special import gammaln

from forsooth import Answers, Reports, Scale, infer, mechanisms
from forsooth.inference.checkpoint import Checkpoint
from forsooth.inference.estimates import Rules
from forsooth.inference.posterior.classes import ClassFit, fit_alike, fit_apart
from forsooth.inference.posterior.confusions import (
    Confused,
    Confusions,
    _keeps_names,
    confused,
)
from forsooth.inference.posterior.evidence import campaign_of
from forsooth.inference.posterior.kernels import ClassSums
from forsooth.inference.posterior.labels import Labels
from forsooth.inference.posterior.model import Crowd as Model
from forsooth.inference.posterior.pooled import Pooled, fit_pooled
from forsooth.study.synthetic import Crowd
from tests.inference.test_posterior_crowds import answers_of

# What adult content is taken for: most of what is mildly offensive passes as harmless.
CONFUSION = np.array([[0.9, 0.08, 0.02], [0.55, 0.35, 0.1], [0.1, 0.2, 0.7]])


def crowd_of(seed: int, workers: int = 200, tasks: int = 400) -> tuple[Answers, np.ndarray]:
    random = np.random.default_rng(seed)
    truth = random.choice(3, tasks, p=[0.5, 0.3, 0.2])
    chance = np.cumsum(CONFUSION, axis=1)[truth]
    codes = (random.random((workers, tasks, 1)) >= chance).sum(axis=2)
    keep = random.random((workers, tasks)) < 0.1
    return answers_of(codes, keep, Scale.parse("0..2")), truth.astype(float)


def strictly(*parts: Answers | Reports, **gold: int) -> Confused:
    data, campaign = parts[0], campaign_of(parts)
    pinned = np.full(len(data.tasks), -1)
    for task, place in gold.items():
        pinned[data.tasks.index(task)] = place
    pooled, ascent = fit_pooled(Model(data.scale), campaign.evidence, pinned, Rules())
    found = confused(pooled, ascent, pooled.picture(ascent), Rules())
    assert found is not None
    return found


def fits(strict: Confused) -> tuple[ClassFit, ClassFit]:
    alike = fit_alike(strict, Rules(), -np.inf, Checkpoint())
    return alike, fit_apart(strict, alike, Rules(), -np.inf, Checkpoint())


def learned(fit: ClassFit) -> np.ndarray:
    """P(a | θ) over all kinds of workers."""
    classes = fit.classes[0]
    return np.average(classes.answers[classes.row], axis=0, weights=classes.shares)


def without_confusions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[Confusions.__module__], "_NAMES", 0)


def test_confusions_are_learned() -> None:
    answers, _ = crowd_of(1)
    for fit in fits(strictly(answers)):
        assert fit.converged
        assert (np.diff(fit.history) > -0.1).all()
        np.testing.assert_allclose(learned(fit), CONFUSION, atol=0.06)


def diligent(seed: int, *matrices: np.ndarray) -> Answers:
    """Every matrix is that of as many workers."""
    random = np.random.default_rng(seed)
    truth = random.choice(3, 400, p=[0.5, 0.3, 0.2])
    chance = np.repeat(np.array(matrices), 100, axis=0)[:, truth].cumsum(axis=2)
    codes = (random.random((*chance.shape[:2], 1)) >= chance).sum(axis=2)
    return answers_of(codes, random.random(codes.shape) < 0.1, Scale.parse("0..2"))


def test_a_matrix_for_every_kind_must_be_earned() -> None:
    """Workers who are only less careful share one matrix; who err the other way have their own."""
    careless = 0.5 * CONFUSION + 0.5 / 3
    alike, apart = fits(strictly(diligent(1, CONFUSION, careless)))
    assert alike.bound > apart.bound
    alike, apart = fits(strictly(diligent(1, CONFUSION, CONFUSION[::-1, ::-1])))
    assert apart.bound > alike.bound + 50


def test_truths_that_have_exchanged_their_names_are_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where 0 means 1 and 1 means 0, the reports are explained as well."""
    answers, _ = crowd_of(7)
    campaign, nothing = campaign_of([answers]), np.full(len(answers.tasks), -1)
    pooled, ascent = fit_pooled(Model(answers.scale), campaign.evidence, nothing, Rules())
    found = confused(pooled, ascent, pooled.picture(ascent), Rules())
    assert found is not None
    weights, pairs, *_ = found.pooled.split(found.ascent.point)
    other = found.ascent.point.copy()
    other[: weights.size] = weights[:, [1, 0, 2, 3]].ravel()
    other[weights.size : weights.size + 9] = pairs.reshape(3, 3)[[1, 0, 2]].ravel()
    likelihood = found.pooled.likelihood(found.ascent.point)
    assert found.pooled.likelihood(other) == pytest.approx(likelihood, rel=1e-6)
    module = sys.modules[Confusions.__module__]
    right, in_order = found.ascent.point, module._in_order
    for one, two, three in (
        (right, other, lambda *_: other),
        (other, right, lambda *_: other),
        (other, other, in_order),
        (other, other, lambda *_: other),
    ):
        monkeypatch.setattr(module, "_start", lambda *_, start=one: start)
        monkeypatch.setattr(Pooled, "start", lambda _, start=two: start)
        monkeypatch.setattr(module, "_in_order", three)
        again = confused(pooled, ascent, pooled.picture(ascent), Rules())
        if one is two and three is not in_order:
            assert again is None
        else:
            assert again is not None
            np.testing.assert_allclose(again.ascent.point, right, atol=0.01)


@pytest.mark.parametrize("epsilon", [1.5, 9.0])
def test_what_a_matrix_owes_is_the_integral_over_all(epsilon: float) -> None:
    """Beside the mean likelihood of matrices drawn from what was expected."""
    answers, _ = crowd_of(4, workers=30, tasks=40)
    strict = strictly(mechanisms.grr(answers.scale, epsilon).perturb(answers, simulation_seed=1))
    model, point = strict.pooled, strict.ascent.point.copy()
    best, begin = model.likelihood(point), model.groups * len(model.base)
    assert isinstance(model.crowd, Confusions)
    random, ratios = np.random.default_rng(1), []
    for _ in range(4000):
        drawn = np.concatenate([random.dirichlet(10 * row) for row in model.crowd.expected])
        point[begin : begin + 9] = np.maximum(drawn, 1e-9)
        ratios.append(np.exp(model.likelihood(point) - best))
    owed = -np.log(np.mean(ratios))
    assert owed > 0.8
    assert strict.owed == pytest.approx(owed, abs=0.3)


@pytest.mark.parametrize(("levels", "tasks"), [(5, 400), (7, 500)])
def test_what_is_owed_where_all_truths_are_known(levels: int, tasks: int) -> None:
    """Then the integral over matrices is that of Dirichlet and multinomial, also for rare pairs."""
    random = np.random.default_rng(1)
    truth = random.integers(0, levels, tasks)
    codes = np.clip(truth + random.choice([-1, 0, 0, 0, 1], (5, tasks)), 0, levels - 1)
    scale = Scale.parse(f"0..{levels - 1}")
    answers = answers_of(codes, np.ones(codes.shape, bool), scale)
    places = Model(scale).nearest(truth.astype(float))
    campaign = campaign_of([answers])
    pooled, ascent = fit_pooled(Model(scale), campaign.evidence, places, Rules())
    strict = confused(pooled, ascent, pooled.picture(ascent), Rules())
    assert strict is not None
    counts = np.zeros((levels, levels))
    np.add.at(counts, (np.tile(truth, 5), codes.ravel()), 1)
    before = strict.pooled.crowd.beforehand.reshape(levels, levels)
    learned = strict.pooled.split(strict.ascent.point).kinds.reshape(levels, levels)
    integral = gammaln(before + counts).sum() - gammaln(before).sum()
    integral -= (gammaln((before + counts).sum(axis=1)) - gammaln(before.sum(axis=1))).sum()
    assert strict.owed == pytest.approx((counts * np.log(learned)).sum() - integral, abs=0.3)


def test_workers_of_several_mechanisms_share_the_matrix() -> None:
    answers, _ = crowd_of(8, workers=120)
    parts = [
        mechanisms.grr(answers.scale, epsilon).perturb(answers.of_workers(some), simulation_seed=1)
        for epsilon, some in ((3.0, np.arange(60)), (3.1, np.arange(60, 120)))
    ]
    one, *_ = fits(strictly(*parts))
    np.testing.assert_array_equal(one.classes[0].tables, one.classes[1].tables)
    together, *_ = fits(
        strictly(mechanisms.grr(answers.scale, 3.0).perturb(answers, simulation_seed=1))
    )
    assert one.cost == pytest.approx(together.cost, rel=0.2)


def test_labels_that_have_exchanged_their_names_are_noticed() -> None:
    answers, _ = crowd_of(9)
    campaign, nothing = campaign_of([answers]), np.full(len(answers.tasks), -1)
    pooled, ascent = fit_pooled(Labels(answers.scale), campaign.evidence, nothing, Rules())
    found = confused(pooled, ascent, pooled.picture(ascent), Rules())
    assert found is not None
    assert _keeps_names(found.pooled, found.ascent.point)
    exchanged = found.ascent.point.copy()
    begin = found.pooled.groups * len(found.pooled.base)
    exchanged[begin : begin + 9] = exchanged[begin : begin + 9].reshape(3, 3)[[0, 2, 1]].ravel()
    assert not _keeps_names(found.pooled, exchanged)


def one_way(seed: int, levels: int, careful: float) -> tuple[Answers, np.ndarray]:
    """Who is not careful says something lower, whatever the truth."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, levels, 200)
    low = np.floor(random.random((60, 200)) * (truth + 1) * 0.6)
    codes = np.where(random.random(low.shape) < careful, truth, low)
    scale = Scale.parse(f"0..{levels - 1}")
    return answers_of(codes, random.random(codes.shape) < 0.2, scale), truth.astype(float)


def test_rows_that_are_hard_to_tell_apart_do_not_end_the_matter() -> None:
    errors = []
    for seed in range(4):
        answers, truth = one_way(seed, 7, 0.3)
        reports = mechanisms.grr(answers.scale, 4.0).perturb(answers, simulation_seed=seed)
        errors.append((infer(reports).error(truth), infer(reports, "algorithm1").error(truth)))
    ours, algorithm1 = np.mean(errors, axis=0)
    assert ours < 0.6 * algorithm1


def test_reports_that_say_nothing_owe_nothing() -> None:
    answers, _ = crowd_of(5, workers=30, tasks=40)
    reports = mechanisms.grr(answers.scale, 0.01).perturb(answers, simulation_seed=1)
    assert strictly(reports).owed == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize(("name", "epsilon"), [("grr", 2.0), ("rr", 4.0)])
def test_the_pooled_model_learns_one_matrix_through_the_channel(name: str, epsilon: float) -> None:
    answers, _ = crowd_of(3, workers=600, tasks=1000)
    mechanism = mechanisms.build(name, answers.scale, epsilon, tasks=len(answers.tasks))
    found = infer(mechanism.perturb(answers, simulation_seed=1), model="pooled")
    assert found.converged
    assert found.posterior is not None
    learned = found.posterior.answers[Model(answers.scale).nearest(np.arange(3.0))]
    np.testing.assert_allclose(learned, CONFUSION, atol=0.08)


def test_gold_between_the_answers_rules_confusions_out() -> None:
    """Truths that cannot be answers must not be forced onto them, however much gold there is."""
    dataset = Crowd(workers=200, tasks=100, sparsity=0.9, truth_mean=4, truth_sd=3).draw(1)
    scale, known = dataset.answers.scale, dict(zip(dataset.answers.tasks, dataset.truth))
    reports = mechanisms.grr(scale, 2.0).perturb(dataset.answers, simulation_seed=1)
    gold = {task: round(2 * truth) / 2 for task, truth in list(known.items())[:40]}
    for model in ("pooled", "auto"):
        found = infer(reports, gold=gold, model=model)
        assert found.posterior is not None
        assert (found.low <= found.estimate).all()
        assert (found.estimate <= found.high).all()
        on_answers = np.isclose(found.posterior.grid % 1, 0)
        assert found.posterior.mass[40:, ~on_answers].sum() > 10


def test_a_step_is_expected_counts_of_answers() -> None:
    """Beside the sum over every task, symbol, class and table, written out."""
    answers, _ = crowd_of(2, workers=15, tasks=6)
    strict = strictly(mechanisms.rr(answers.scale, 1.5).perturb(answers, simulation_seed=1))
    alike = fit_alike(strict, Rules(max_iterations=1), -np.inf, Checkpoint())
    apart = fit_apart(strict, alike, Rules(max_iterations=1), -np.inf, Checkpoint())
    random, part = np.random.default_rng(3), strict.pooled.parts[0]
    for fit, learned_tables in ((alike, 1), (apart, 5)):  # favourites and adversaries stay
        classes = fit.classes[0]
        assert len(classes.expected) == learned_tables
        counts = random.random((6, part.symbols, len(classes.shares)))
        tables, kinds, free = classes.tables.copy(), classes.answers, len(classes.expected)
        expected = 10.0 * classes.expected
        for index, (row, rates) in enumerate(zip(classes.row, classes.rates)):
            for place, table in np.ndindex(3, free):
                chance = rates[0] * kinds[row, place] @ part.table[:-1]
                chance += (1 - rates[0]) * part.table[-1]
                weight = fit.mass[:, 0, place] @ (counts[:, :, index] / chance)
                answered = rates[0] * classes.mix[row, table] * tables[table, place]
                expected[table, place] += answered * (part.table[:-1] @ weight)
        sums = ClassSums(counts, np.ones(1), 0.0)
        classes.learn_answers(part, classes.answers_behind(part, fit.mass, sums))
        np.testing.assert_allclose(
            classes.tables[:free], expected / expected.sum(axis=2, keepdims=True), rtol=1e-9
        )
        np.testing.assert_array_equal(classes.tables[free:], tables[free:])


@pytest.mark.parametrize(("name", "epsilon"), [("plain", 0.0), ("grr", 4.0), ("rr", 6.0)])
def test_errors_that_go_one_way_are_understood(
    name: str, epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most who see a 1 say 0; a symmetric model believes them."""
    errors = []
    for seed in (11, 12, 13):
        answers, truth = crowd_of(seed)
        data: Answers | Reports = answers
        if name != "plain":
            mechanism = mechanisms.build(name, answers.scale, epsilon, tasks=len(answers.tasks))
            data = mechanism.perturb(answers, simulation_seed=seed)
        ours = infer(data).error(truth)
        with monkeypatch.context() as patch:
            without_confusions(patch)
            errors.append((ours, infer(data).error(truth)))
    ours, symmetric = np.mean(errors, axis=0)
    assert ours < 0.9 * symmetric


def test_truths_between_the_answers_are_not_forced_onto_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scale = Scale.parse("0..6")
    crowd = Crowd(500, 150, 0.7, truth_mean=3, truth_sd=1.5, sigma_bad=3, scale=scale)
    dataset = crowd.draw(4)
    reports = mechanisms.grr(dataset.answers.scale, 3.0).perturb(dataset.answers, simulation_seed=1)
    ours = infer(reports).error(dataset.truth)
    without_confusions(monkeypatch)
    assert ours == pytest.approx(infer(reports).error(dataset.truth), abs=0.02)


def test_few_answers_do_not_make_truths_answers() -> None:
    """A free matrix explains thirty answers to each of forty tasks well, by chance alone."""
    scale, errors = Scale.parse("0..4"), []
    for seed in range(8):
        random = np.random.default_rng(seed)
        truth = random.random(40) * 4
        codes = np.clip(np.rint(truth + random.normal(size=(60, 40))), 0, 4)
        errors.append(
            infer(answers_of(codes, random.random(codes.shape) < 0.5, scale)).error(truth)
        )
    assert np.mean(errors) < 0.22


def test_gold_stays_gold() -> None:
    answers, _ = crowd_of(5, workers=40, tasks=30)
    top = len(Model(answers.scale).grid) - 1
    for fit in fits(strictly(answers, t0000=top)):
        np.testing.assert_allclose(fit.mass[0, 0], [0, 0, 1], atol=1e-12)


def test_confusions_that_explain_nothing_are_given_up() -> None:
    answers, _ = crowd_of(6, workers=40, tasks=30)
    strict = strictly(answers)
    alike, _ = fits(strict)
    unreachable = alike.bound + 1e6
    assert len(fit_alike(strict, Rules(), unreachable, Checkpoint()).history) <= 3
    assert len(fit_apart(strict, alike, Rules(), unreachable, Checkpoint()).history) <= 3
