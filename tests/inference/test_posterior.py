from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from forsooth import Answers, Mechanism, Scale, infer, mechanisms
from forsooth.inference.estimates import Rules
from forsooth.inference.posterior.ascent import climb, shares
from forsooth.inference.posterior.blocks import Held
from forsooth.inference.posterior.confusions import Confusions
from forsooth.inference.posterior.evidence import evidence_of
from forsooth.inference.posterior.kernels import (
    _compiled,
    class_pass,
    class_pass_twin,
    count_tasks,
    count_tasks_twin,
    worker_classes,
    worker_classes_twin,
)
from forsooth.inference.posterior.model import Crowd as Model
from forsooth.inference.posterior.pooled import Pooled
from forsooth.inference.posterior.tally import Tally, recover_moments
from forsooth.study.synthetic import Crowd

SCALE = Scale.parse("0..4")
RULES = Rules()


@pytest.fixture(scope="module")
def answers() -> Answers:
    crowd = Crowd(workers=300, tasks=40, sparsity=0.6, truth_mean=1, truth_sd=1.5, scale=SCALE)
    return crowd.draw(1).answers


def mechanism_for(name: str, answers: Answers, epsilon: float = 2.0) -> Mechanism:
    return mechanisms.build(name, answers.scale, epsilon, tasks=len(answers.tasks))


# The pieces


def test_the_answer_model_is_a_rounded_clipped_normal() -> None:
    model = Model(SCALE)
    assert set(SCALE.values) <= set(model.grid.tolist())
    place = int(model.nearest(np.array([1.3]))[0])
    theta, sigma = model.grid[place], model.deviations[2]
    cuts = [-math.inf, 0.5, 1.5, 2.5, 3.5, math.inf]
    expected = np.diff(norm.cdf(cuts, theta, sigma))
    np.testing.assert_allclose(model.answers[2, place], expected, atol=1e-9)
    np.testing.assert_allclose(model.answers.sum(axis=2), 1)
    np.testing.assert_allclose(model.shapes.sum(axis=1), 1)


def test_the_ascent_finds_a_known_maximum_and_never_falls() -> None:
    """A mixture of two known distributions: the answer is known by direct search."""
    counts = np.array([30.0, 50.0, 20.0])
    table = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3]])

    def expected(x: np.ndarray) -> tuple[float, np.ndarray]:
        return float(counts @ np.log(x @ table)), x * (table @ (counts / (x @ table)))

    found = climb(expected, (2,), np.array([0.9, 0.1]), max_iterations=99)
    assert found.converged
    assert (np.diff(found.history) >= -1e-9).all()
    grid = np.linspace(0.001, 0.999, 9999)
    best = max(grid, key=lambda share: expected(np.array([share, 1 - share]))[0])
    assert found.point[0] == pytest.approx(best, abs=1e-3)


def test_an_ascent_that_was_cut_short_says_so() -> None:
    pooled = pooled_of(Crowd(workers=200, tasks=30).draw(1).answers, "rr")
    assert not pooled.fit(Rules(max_iterations=3)).converged
    assert pooled.fit(Rules()).converged


@pytest.mark.parametrize("name", ["rr", "grr", "two-step", "lp", "two-layer"])
def test_tables_are_the_distribution_of_the_symbols(name: str) -> None:
    """Symbols of many cells with one input, against the table's row: five standard errors."""
    for code in (0, 3, SCALE.null):
        if name == "grr" and code == SCALE.null:
            continue
        row = {} if code == SCALE.null else {"x": code}
        many = Answers.of({f"w{i:05}": row for i in range(20_000)}, SCALE, tasks=["x"])
        evidence = evidence_of(mechanism_for(name, many, 1.0).perturb(many, simulation_seed=1))
        np.testing.assert_allclose(evidence.table.sum(axis=1), 1, atol=1e-9)
        share = evidence.per_task[0] / 20_000
        error = np.sqrt(evidence.table[code] / 20_000)
        assert (np.abs(share - evidence.table[code]) <= 5 * error + 1e-4).all()


@pytest.mark.parametrize("name", ["rr", "grr"])
@pytest.mark.parametrize("classes", [1, 3, 40])
def test_the_compiled_kernels_are_their_twins(answers: Answers, name: str, classes: int) -> None:
    """With everybody's report on all tasks, and with reports on some.

    Scores are centred, as they come; the compiled pass adds a tile of them in single precision.
    """
    assert _compiled() is not None
    evidence = evidence_of(mechanism_for(name, answers).perturb(answers, simulation_seed=1))
    assert isinstance(evidence.blocks, Held)
    block, symbols = evidence.blocks.blocks[0], evidence.symbols
    np.testing.assert_array_equal(count_tasks(block, symbols), count_tasks_twin(block, symbols))
    random = np.random.default_rng(0)
    scores = (0.3 * random.normal(size=(evidence.tasks, symbols, classes))).astype(np.float32)
    shares = random.dirichlet(np.ones(classes))
    ours, twin = class_pass(block, scores, shares), class_pass_twin(block, scores, shares)
    np.testing.assert_allclose(ours.counts, twin.counts, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(ours.members, twin.members, rtol=1e-5, atol=1e-6)
    assert ours.entropy == pytest.approx(twin.entropy, rel=1e-5, abs=1e-6)
    np.testing.assert_allclose(
        worker_classes(block, scores, shares), worker_classes_twin(block, scores, shares),
        rtol=1e-5, atol=1e-6,
    )  # fmt: skip


def slow_likelihood(pooled: Pooled, point: np.ndarray) -> float:
    """The pooled model's log-likelihood, written out cell by cell."""
    model, part = pooled.crowd, pooled.parts[0]
    weights, kinds, share, _ = pooled.split(point)
    total = 0.0
    assert isinstance(part.blocks, Held)
    _, task_of = part.blocks.blocks[0].coordinates()
    for task in range(part.tasks):
        prior = weights[pooled.group[task]] @ model.shapes
        symbols = part.blocks.blocks[0].symbol[task_of == task]
        likelihood = 0.0
        for place in range(len(model.grid)):
            log = 0.0
            for symbol in symbols:
                chance = (1 - share) * part.table[-1, symbol]
                for kind, weight in enumerate(kinds):
                    chance += (
                        share * weight * float(model.answers[kind, place] @ part.table[:-1, symbol])
                    )
                log += math.log(chance)
            likelihood += prior[place] * math.exp(log)
        total += math.log(likelihood)
    return total


def pooled_of(answers: Answers, name: str, epsilon: float = 2.0) -> Pooled:
    reports = mechanism_for(name, answers, epsilon).perturb(answers, simulation_seed=1)
    evidence, model = (evidence_of(reports),), Model(answers.scale)
    tally = Tally.of(evidence, np.full(len(answers.tasks), -1))
    return Pooled(model, evidence, recover_moments(model, evidence, RULES), tally)


def varied(pooled: Pooled, variant: str) -> Pooled:
    """The same reports with two groups of tasks, or with one confusion matrix to be learned."""
    if variant == "groups":
        group = np.arange(len(pooled.pinned)) % 2
        return replace(pooled, tally=Tally.of(pooled.parts, pooled.pinned, group))
    if variant == "confusions":
        size = pooled.crowd.scale.size
        expected = np.random.default_rng(2).dirichlet(np.ones(size), size)
        return pooled.of(Confusions(pooled.crowd.scale, expected))
    return pooled


@pytest.mark.parametrize("variant", ["plain", "groups", "confusions"])
def test_the_pooled_likelihood_is_the_written_out_one(variant: str) -> None:
    answers = Crowd(workers=6, tasks=3, sparsity=0.5, scale=SCALE).draw(1).answers
    pooled = varied(pooled_of(answers, "rr"), variant)
    point = shares(np.log(pooled.expected(pooled.start())[1]), pooled.sizes)
    assert pooled.posterior(point)[1] == pytest.approx(slow_likelihood(pooled, point))


@pytest.mark.parametrize("variant", ["plain", "groups", "confusions"])
@pytest.mark.parametrize("name", ["rr", "grr", "lp"])
def test_expected_counts_are_the_gradient(answers: Answers, name: str, variant: str) -> None:
    """Fisher's identity, against differences of the objective along the logarithms of shares."""
    pooled = varied(pooled_of(answers, name), variant)
    random = np.random.default_rng(1)
    logits = np.concatenate([random.normal(size=size) for size in pooled.sizes])
    point = shares(logits, pooled.sizes)
    counts = pooled.expected(point)[1]
    edges = np.cumsum((0, *pooled.sizes))
    for begin, end in pairwise(edges):
        if name == "grr" and end == edges[-1]:
            continue  # nobody's participation is hidden
        group = slice(begin, end)
        gradient = counts[group] - point[group] * counts[group].sum()
        for place in (begin, end - 1):
            step = np.zeros(len(logits))
            step[place] = 1e-5
            up, down = (pooled.expected(shares(logits + s, pooled.sizes))[0] for s in (step, -step))
            assert gradient[place - begin] == pytest.approx((up - down) / 2e-5, rel=1e-3, abs=1e-2)


@pytest.mark.parametrize("name", ["rr", "grr", "lp"])
def test_the_ascent_is_higher_than_plain_em_and_at_rest(answers: Answers, name: str) -> None:
    pooled = pooled_of(answers, name, 1.0)
    ascent = pooled.fit(RULES)
    assert ascent.converged
    assert (np.diff(ascent.history) >= -1e-8).all()
    point, values = pooled.start(), []
    for _ in range(200):
        value, counts = pooled.expected(point)
        values.append(value)
        point = shares(np.log(counts), pooled.sizes)
    assert (np.diff(values) >= -1e-8).all()
    assert ascent.history[-1] >= values[-1]


def test_moments_come_through_the_channel() -> None:
    """20,000 workers: the recovered distribution of answers is the true one to two points."""
    random = np.random.default_rng(1)
    share = np.array([0.5, 0.1, 0.1, 0.1, 0.2])
    rows = {
        f"w{i:05}": {"x": int(random.choice(5, p=share))} if random.random() < 0.3 else {}
        for i in range(20_000)
    }
    many = Answers.of(rows, SCALE, tasks=["x"])
    evidence = (evidence_of(mechanisms.rr(SCALE, 3.0).perturb(many, simulation_seed=1)),)
    moments = recover_moments(Model(SCALE), evidence, RULES)
    assert moments.participation == pytest.approx(0.3, abs=0.02)
    np.testing.assert_allclose(moments.answers, share, atol=0.05)


# The whole


def test_useless_reports_become_good_estimates() -> None:
    """The paper's crowd: Algorithm 1 on rr reports is off by four, the posterior by a fraction."""
    dataset = Crowd().draw(1)
    reports = mechanisms.rr(dataset.answers.scale, 3.0).perturb(dataset.answers, simulation_seed=1)
    truths = infer(reports, "posterior")
    assert infer(reports, "algorithm1").error(dataset.truth) > 3
    assert truths.error(dataset.truth) < 0.25
    assert truths.error(dataset.truth) < dataset.constant_error() - 0.1
    assert truths.converged
    covered = (truths.low <= dataset.truth) & (dataset.truth <= truths.high)
    assert covered.mean() > 0.8
    assert truths.posterior is not None
    assert truths.posterior.constant_as_good < 0.01
    assert truths.posterior.participation == pytest.approx(0.1, abs=0.02)


def test_it_says_when_epsilon_is_too_small() -> None:
    dataset = Crowd(workers=200, tasks=50, truth_mean=4).draw(1)
    reports = mechanisms.rr(dataset.answers.scale, 0.01).perturb(dataset.answers, simulation_seed=1)
    truths = infer(reports, "posterior")
    assert truths.posterior is not None
    assert truths.posterior.constant_as_good > 0.2


def test_on_plain_answers_it_is_at_least_as_good_as_algorithm_1() -> None:
    for seed in range(3):
        dataset = Crowd(workers=300, tasks=100, sparsity=0.9, truth_mean=3).draw(seed)
        plain = infer(dataset.answers, "posterior").error(dataset.truth)
        assert plain < infer(dataset.answers, "algorithm1").error(dataset.truth) + 0.02


def test_better_workers_are_recognised() -> None:
    dataset = Crowd(workers=200, tasks=200, sparsity=0.3, truth_mean=4.5).draw(3)
    reports = mechanisms.grr(dataset.answers.scale, 3.0).perturb(dataset.answers, simulation_seed=1)
    truths = infer(reports, "posterior")
    cells = dataset.answers.cells()
    spread = np.sqrt(
        cells.per_worker((cells.value - dataset.truth[cells.task]) ** 2) / cells.per_worker()
    )
    good = spread < 2
    assert truths.quality[good].mean() > 1.5 * truths.quality[~good].mean()


def test_gold_tasks_are_kept_and_help() -> None:
    dataset = Crowd(workers=100, tasks=60, sparsity=0.8, truth_mean=4).draw(1)
    reports = mechanisms.rr(dataset.answers.scale, 2.0).perturb(dataset.answers, simulation_seed=1)
    gold = dict(zip(dataset.answers.tasks[:30], dataset.truth[:30].tolist()))
    truths = infer(reports, "posterior", gold=gold)
    np.testing.assert_allclose(truths.estimate[:30], dataset.truth[:30])
    assert truths.error(dataset.truth) < infer(reports, "posterior").error(dataset.truth)


def test_a_mixture_of_mechanisms() -> None:
    dataset = Crowd(workers=900, tasks=60, sparsity=0.8).draw(1)
    thirds = []
    for part, name in enumerate(("rr", "lp", "grr")):
        keep = dataset.answers.worker // 300 == part
        third = Answers(
            dataset.answers.scale,
            dataset.answers.workers[300 * part : 300 * (part + 1)],
            dataset.answers.tasks,
            dataset.answers.worker[keep] - 300 * part,
            dataset.answers.task[keep],
            dataset.answers.code[keep],
        )
        thirds.append(mechanism_for(name, third, 3.0).perturb(third, simulation_seed=part))
    together = infer(thirds, "posterior")
    assert len(together.workers) == 900
    assert together.error(dataset.truth) < infer(thirds[1], "posterior").error(dataset.truth)


@pytest.mark.parametrize("estimate", ["median", "mean", "mode"])
def test_estimates_of_one_posterior(answers: Answers, estimate: str) -> None:
    truths = infer(answers, "posterior", estimate=estimate)  # type: ignore[arg-type]
    assert truths.posterior is not None
    mass, grid = truths.posterior.mass, truths.posterior.grid
    slow = {
        "median": [grid[np.flatnonzero(np.cumsum(row) >= 0.5 - 1e-12)[0]] for row in mass],
        "mean": mass @ grid,
        "mode": grid[mass.argmax(axis=1)],
    }[estimate]
    np.testing.assert_allclose(truths.estimate, slow)
    np.testing.assert_allclose(mass.sum(axis=1), 1)


@settings(deadline=None, max_examples=25)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["rr", "grr", "two-step", "two-layer", "lp", "mf", "mf-safe"]),
    st.floats(0.05, 8),
    st.integers(1, 12),
    st.integers(1, 8),
    st.integers(2, 12),
)
def test_small_campaigns_of_every_shape(
    seed: int, name: str, epsilon: float, workers: int, tasks: int, size: int
) -> None:
    """One worker, one task, hardly an answer: always finite, on the scale, with an interval."""
    scale = Scale.parse(f"0..{size - 1}")
    answers = Crowd(workers=workers, tasks=tasks, sparsity=0.6, scale=scale).draw(seed).answers
    option = {"mf": f"mf:d={min(2, tasks)}", "mf-safe": f"mf-safe:d={min(2, tasks)}"}.get(
        name, name
    )
    mechanism = mechanisms.build(option, scale, epsilon, tasks=tasks)
    truths = infer(mechanism.perturb(answers, simulation_seed=seed), "posterior")
    assert np.isfinite(truths.estimate).all()
    assert np.isfinite(truths.quality).all()
    assert (truths.low <= truths.estimate).all()
    assert (truths.estimate <= truths.high).all()
    assert truths.low.min() >= scale.low
    assert truths.high.max() <= scale.high


def test_nobody_answered_anything() -> None:
    silent = Answers.of({"a": {}, "b": {}}, SCALE, tasks=["x", "y"])
    for data in (
        silent,
        mechanisms.rr(SCALE, 1.0).perturb(silent),
        mechanisms.grr(SCALE, 1.0).perturb(silent),
    ):
        truths = infer(data, "posterior")
        assert np.isfinite(truths.estimate).all()


def test_real_data(data_dir: object) -> None:
    """Word senses at ε = 3 with everything protected: no worse than without any privacy."""
    from forsooth.study import datasets

    dataset = datasets.load("wsd", str(data_dir))
    original = infer(dataset.answers, "algorithm1").error(dataset.truth)
    reports = mechanisms.rr(dataset.answers.scale, 3.0).perturb(dataset.answers, simulation_seed=1)
    assert infer(reports, "posterior").error(dataset.truth) < original + 0.02


# Popular and unpopular tasks


def uneven(seed: int, spread: float) -> tuple[Answers, np.ndarray]:
    """A crowd whose tasks are answered more or less often."""
    random = np.random.default_rng(seed)
    workers, tasks = 1000, 120
    truth = random.integers(0, 5, tasks).astype(float)
    popularity = np.exp(spread * random.normal(size=tasks))
    rate = np.minimum(0.1 * popularity / popularity.mean(), 1)
    sigma = random.choice([0.5, 1.0, 2.0], workers)[:, None]
    code = np.clip(np.rint(truth + sigma * random.normal(size=(workers, tasks))), 0, 4)
    worker, task = np.nonzero(random.random((workers, tasks)) < rate)
    answers = Answers(
        SCALE,
        tuple(f"w{i:04}" for i in range(workers)),
        tuple(f"t{j:04}" for j in range(tasks)),
        worker.astype(np.int32),
        task.astype(np.int32),
        code[worker, task].astype(np.uint8),
    )
    return answers, truth


def test_popularity_is_learned_where_it_differs_and_only_there() -> None:
    """A false alarm at five standard errors: less than one seed in a million."""
    for seed in range(4):
        even = pooled_of(uneven(seed, 0)[0], "rr", 3.0)
        assert not even.popularity_differs(even.fit(RULES).point)
    answers, truth = uneven(1, 1.5)
    pooled = pooled_of(answers, "rr", 3.0)
    assert pooled.popularity_differs(pooled.fit(RULES).point)
    reports = mechanism_for("rr", answers, 3.0).perturb(answers, simulation_seed=1)
    truths = infer(reports)
    covered = ((truths.low <= truth) & (truth <= truths.high)).mean()
    assert covered > 0.8  # with one rate for all tasks: 0.7
    assert truths.posterior is not None
    assert truths.posterior.participation == pytest.approx(answers.size / 120_000, rel=0.15)


def test_the_gradient_is_right_with_a_ladder_of_popularity() -> None:
    answers, _ = uneven(2, 1.0)
    pooled = replace(pooled_of(answers, "rr"), ladder=(0.5, 1.0, 4.0))
    logits = np.concatenate([np.random.default_rng(1).normal(size=n) for n in pooled.sizes])
    counts, point = pooled.expected(shares(logits, pooled.sizes))[1], shares(logits, pooled.sizes)
    for begin, end in pairwise(np.cumsum((0, *pooled.sizes))):
        group = slice(begin, end)
        gradient = counts[group] - point[group] * counts[group].sum()
        step = np.zeros(len(logits))
        step[begin] = 1e-5
        up, down = (pooled.expected(shares(logits + s, pooled.sizes))[0] for s in (step, -step))
        assert gradient[0] == pytest.approx((up - down) / 2e-5, rel=1e-3, abs=0.1)
