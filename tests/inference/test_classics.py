from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from forsooth import Answers, Scale, mechanisms
from forsooth.cells import Cells
from forsooth.dataset import Dataset
from forsooth.inference.averages import majority, mean
from forsooth.inference.catd import catd
from forsooth.inference.confusion import DIAGONAL, SMOOTHING
from forsooth.inference.crh import crh
from forsooth.inference.dawid_skene import dawid_skene
from forsooth.inference.estimates import Estimates, Rules, Ties
from forsooth.inference.gtm import ALPHA, BETA, gtm
from forsooth.study import datasets
from forsooth.study.synthetic import SyntheticCrowd

Array = NDArray[np.float64]
Method = Callable[[Cells, Scale, Rules, Array], Estimates]
NUMERIC: list[Method] = [crh, catd, gtm]
ALL: list[Method] = [*NUMERIC, dawid_skene]
FIVE = Scale.parse("0..4")


def run(
    method: Method,
    answers: Answers,
    gold: dict[int, float] | None = None,
    iterations: int | None = None,
) -> Estimates:
    """To convergence, or for so many iterations, whatever has or has not moved by then."""
    known = np.full(len(answers.tasks), np.nan)
    for task, truth in (gold or {}).items():
        known[task] = truth
    rules = Rules() if iterations is None else Rules(1e-300, iterations)
    return method(answers.cells(), answers.scale, rules, known)


def triples(answers: Answers) -> list[tuple[int, int, float]]:
    cells = answers.cells()
    return list(zip(cells.worker.tolist(), cells.task.tolist(), cells.value.tolist()))


def weighted_means(answers: Answers, weight: list[float]) -> list[float]:
    means = []
    for j in range(len(answers.tasks)):
        given = [(weight[i], a) for i, t, a in triples(answers) if t == j]
        means.append(sum(w * a for w, a in given) / sum(w for w, _ in given))
    return means


def slow_crh(answers: Answers, iterations: int) -> list[float]:
    columns = [[a for _, t, a in triples(answers) if t == j] for j in range(len(answers.tasks))]
    workers = range(len(answers.workers))
    truth = weighted_means(answers, [1.0] * len(workers))
    for _ in range(iterations - 1):
        loss = [
            sum(
                (a - truth[t]) ** 2 / float(np.std(columns[t]))
                for w, t, a in triples(answers)
                if w == i
            )
            for i in workers
        ]
        truth = weighted_means(answers, [-math.log(part / sum(loss)) for part in loss])
    return truth


def slow_catd(answers: Answers, iterations: int) -> list[float]:
    truth = weighted_means(answers, [1.0] * len(answers.workers))
    for _ in range(iterations - 1):
        weight = []
        for i in range(len(answers.workers)):
            squares = [(a - truth[t]) ** 2 for w, t, a in triples(answers) if w == i]
            weight.append(float(stats.chi2.ppf(0.025, len(squares))) / sum(squares))
        truth = weighted_means(answers, weight)
    return truth


def slow_gtm(
    answers: Answers, iterations: int, gold: dict[int, float]
) -> tuple[list[float], list[float]]:
    """Truths and log posteriors; the evidence of a task is a multivariate normal density."""
    middle, half = answers.scale.middle, answers.scale.range / 2
    data = [(i, j, (a - middle) / half) for i, j, a in triples(answers)]
    task_means = weighted_means(answers, [1.0] * len(answers.workers))
    squares = sum((a - (task_means[j] - middle) / half) ** 2 for _, j, a in data)
    variance = [(2 * BETA + squares) / (2 * ALPHA + 2 + len(data))] * len(answers.workers)
    m: list[float] = []
    v: list[float] = []
    history = []
    for step in range(iterations):
        if step:
            for i in range(len(variance)):
                parts = [(a - m[j]) ** 2 + v[j] for w, j, a in data if w == i]
                variance[i] = (2 * BETA + sum(parts)) / (2 * ALPHA + 2 + len(parts))
        m, v, evidence = [], [], 0.0
        for j in range(len(answers.tasks)):
            column = [(a, variance[i]) for i, t, a in data if t == j]
            if j in gold:
                m.append((gold[j] - middle) / half)
                v.append(0)
                evidence += sum(stats.norm.logpdf(a, m[j], s**0.5) for a, s in column)
                continue
            v.append(1 / (1 + sum(1 / s for _, s in column)))
            m.append(v[j] * sum(a / s for a, s in column))
            covariance = np.diag([s for _, s in column]) + 1
            evidence += stats.multivariate_normal.logpdf([a for a, _ in column], None, covariance)
        prior = stats.invgamma.logpdf(variance, ALPHA, scale=BETA).sum()
        history.append(float(evidence + prior))
    return [middle + half * truth for truth in m], history


def slow_dawid_skene(
    answers: Answers, iterations: int, gold: dict[int, float]
) -> tuple[list[int], list[float]]:
    """Median classes and log posteriors, with whole confusion matrices [worker, class, answer]."""
    data = [(i, j, int(code)) for (i, j, _), code in zip(triples(answers), answers.code)]
    tasks, size = len(answers.tasks), answers.scale.size
    posterior = np.zeros((tasks, size))
    for _, j, code in data:
        posterior[j, code] += 1
    for j, truth in gold.items():
        posterior[j] = np.arange(size) == truth
    posterior /= posterior.sum(axis=1, keepdims=True)
    history = []
    for _ in range(iterations):
        prior = posterior.sum(axis=0) + SMOOTHING
        prior /= prior.sum()
        pseudo = SMOOTHING + DIAGONAL * np.eye(size)
        confusion = np.tile(pseudo, (len(answers.workers), 1, 1))
        for i, j, code in data:
            confusion[i, :, code] += posterior[j]
        confusion /= confusion.sum(axis=2, keepdims=True)
        joint = np.tile(prior, (tasks, 1))
        for i, j, code in data:
            joint[j] *= confusion[i, :, code]
        for j, truth in gold.items():
            joint[j] *= np.arange(size) == truth
        posterior = joint / joint.sum(axis=1, keepdims=True)
        log_prior = SMOOTHING * np.log(prior).sum() + (pseudo * np.log(confusion)).sum()
        history.append(float(np.log(joint.sum(axis=1)).sum() + log_prior))
    return [int(np.searchsorted(np.cumsum(row), 0.5)) for row in posterior], history


@pytest.fixture(scope="module")
def small() -> Answers:
    return SyntheticCrowd(workers=30, tasks=12, sparsity=0.5, truth_mean=4.5).draw(3).answers


@pytest.fixture(scope="module")
def classes() -> Answers:
    """Few classes, many tasks: what Dawid–Skene takes a while for."""
    return SyntheticCrowd(20, 60, 0.5, 2.0, sigma_bad=3.0, scale=FIVE).draw(3).answers


@pytest.mark.parametrize("iterations", [1, 2, 3, 10])
def test_crh_and_catd_step_by_step(small: Answers, iterations: int) -> None:
    for method, slow in ((crh, slow_crh), (catd, slow_catd)):
        result = run(method, small, iterations=iterations)
        assert len(result.history) == iterations
        assert not result.converged
        np.testing.assert_allclose(result.truth, slow(small, iterations), atol=1e-6)


@pytest.mark.parametrize("iterations", [1, 2, 10])
@pytest.mark.parametrize("gold", [{}, {0: 4.0, 3: 2.5, 7: 9.0}])
def test_gtm_step_by_step(small: Answers, iterations: int, gold: dict[int, float]) -> None:
    result = run(gtm, small, gold, iterations)
    truth, history = slow_gtm(small, iterations, gold)
    np.testing.assert_allclose(result.truth, truth, atol=1e-9)
    # The two differ by the constants of the densities, and by nothing else.
    np.testing.assert_allclose(np.diff(result.history), np.diff(history), atol=1e-8)


@pytest.mark.parametrize("iterations", [1, 2, 10])
@pytest.mark.parametrize("gold", [{}, {0: 4.0, 3: 2.0, 7: 0.0}])
def test_dawid_skene_step_by_step(
    classes: Answers, iterations: int, gold: dict[int, float]
) -> None:
    result = run(dawid_skene, classes, gold, iterations)
    truth, history = slow_dawid_skene(classes, iterations, gold)
    assert result.truth.tolist() == truth
    np.testing.assert_allclose(result.history, history, rtol=1e-10)


@settings(deadline=None, max_examples=40)
@given(
    st.integers(0, 10**6),
    st.floats(0.3, 0.95),
    st.integers(1, 40),
    st.integers(1, 20),
    st.booleans(),
)
def test_objectives_go_one_way(
    seed: int, sparsity: float, workers: int, tasks: int, with_gold: bool
) -> None:
    """CRH and CATD descend, GTM and Dawid–Skene (both EM) climb, whatever the data and the gold."""
    dataset = SyntheticCrowd(workers, tasks, sparsity).draw(seed)
    gold = dict(enumerate(dataset.truth[: tasks // 2])) if with_gold else {}
    for method, sign in ((crh, -1), (catd, -1), (gtm, 1), (dawid_skene, 1)):
        history = np.array(run(method, dataset.answers, gold, iterations=60).history)
        size = 1 + np.abs(history).max()
        assert (sign * np.diff(history) >= -1e-9 * size).all(), method.__name__


def error(result: Estimates, dataset: Dataset) -> float:
    return float(np.abs(result.truth - dataset.truth).mean())


@pytest.mark.parametrize("seed", [101, 102, 103])
def test_the_planted_truth_is_found(seed: int) -> None:
    """Half of the workers are five times as noisy: weighing must beat the plain mean."""
    dataset = SyntheticCrowd(workers=100, tasks=200, sparsity=0.5, truth_mean=4.5).draw(seed)
    plain = error(run(mean, dataset.answers), dataset)
    for method, share in ((crh, 0.9), (catd, 0.7), (gtm, 0.7)):
        result = run(method, dataset.answers)
        assert result.converged
        assert error(result, dataset) < share * plain, method.__name__


def accuracy(result: Estimates, truth: Array, scale: Scale) -> float:
    """Of estimates rounded to the nearest class, on the tasks whose truth is known."""
    known, values = ~np.isnan(truth), np.asarray(scale.values)
    boundaries = (values[1:] + values[:-1]) / 2
    right = np.searchsorted(boundaries, result.truth) == np.searchsorted(boundaries, truth)
    return float(right[known].mean())


@pytest.mark.parametrize("seed", [101, 102, 103])
def test_dawid_skene_beats_the_majority_of_a_bad_crowd(seed: int) -> None:
    crowd = SyntheticCrowd(60, 1000, 0.5, 2.0, good=0.3, sigma_good=0.6, sigma_bad=3.0, scale=FIVE)
    dataset = crowd.draw(seed)
    plain = accuracy(run(majority, dataset.answers), dataset.truth, FIVE)
    result = run(dawid_skene, dataset.answers)
    assert result.converged
    assert accuracy(result, dataset.truth, FIVE) > plain + 0.2


def test_dawid_skene_learns_from_whoever_is_always_wrong() -> None:
    """Four of ten workers mirror the truth: no noise for Dawid–Skene, ruin for an average."""
    random = np.random.default_rng(0)
    truth = random.integers(0, 5, 300).astype(float)
    rows = np.where(random.random((10, 300)) < 0.8, truth, random.integers(0, 5, (10, 300)))
    rows[:4] = 4 - rows[:4]
    cells, unknown = Cells.from_rows(rows), np.full(300, np.nan)
    result = dawid_skene(cells, FIVE, Rules(), unknown)
    assert (result.truth == truth).mean() > 0.98
    assert (majority(cells, FIVE, Rules(), unknown).truth == truth).mean() < 0.9


def test_converged_is_said_honestly() -> None:
    """More iterations than were needed change nothing; fewer are owned up to."""
    answers = SyntheticCrowd(60, 300, 0.9, 2.0, scale=FIVE).draw(7).answers
    for method in ALL:
        result = run(method, answers)
        assert result.converged
        needed = len(result.history)
        assert needed > 3
        longer = run(method, answers, iterations=needed + 200)
        np.testing.assert_allclose(longer.truth, result.truth, atol=1e-3)
        unknown = np.full(len(answers.tasks), np.nan)
        short = method(answers.cells(), answers.scale, Rules(max_iterations=needed - 1), unknown)
        assert not short.converged


@pytest.mark.parametrize("method", ALL)
def test_relabelling_workers_and_tasks_changes_nothing(method: Method, small: Answers) -> None:
    cells, random = small.cells(), np.random.default_rng(0)
    worker_to, task_to = random.permutation(cells.workers), random.permutation(cells.tasks)
    order = np.argsort(worker_to[cells.worker], kind="stable")
    shuffled = Cells(
        cells.workers,
        cells.tasks,
        worker_to[cells.worker][order],
        task_to[cells.task][order],
        cells.value[order],
    )
    unknown = np.full(cells.tasks, np.nan)
    plain = method(cells, small.scale, Rules(), unknown)
    other = method(shuffled, small.scale, Rules(), unknown)
    for name in ("truth", "low", "high"):
        np.testing.assert_allclose(getattr(other, name)[task_to], getattr(plain, name), atol=1e-7)
    np.testing.assert_allclose(other.deviation[worker_to], plain.deviation, atol=1e-7)


@pytest.mark.parametrize("method", ALL)
def test_a_mirrored_crowd_has_mirrored_truths(method: Method, small: Answers) -> None:
    plain, mirrored = run(method, small), run(method, small.mirrored())
    np.testing.assert_allclose(mirrored.truth, 9 - plain.truth, atol=1e-7)
    np.testing.assert_allclose(mirrored.low, 9 - plain.high, atol=1e-7)


@pytest.mark.parametrize("method", ALL)
def test_gold_is_kept_and_workers_are_measured_by_it(method: Method) -> None:
    """Two workers contradict each other; the known tasks say whom to believe on the others."""
    right = {f"t{j:02}": (0, 1, 3, 4)[j % 4] for j in range(40)}
    wrong = {task: 4 - value for task, value in right.items()}
    answers = Answers.of({"a": right, "b": wrong}, "0..4")
    truth = np.array(list(right.values()), dtype=float)
    for believed, gold in ((truth, truth), (4 - truth, 4 - truth)):
        result = run(method, answers, dict(enumerate(gold[:20])))
        np.testing.assert_array_equal(result.truth[:20], gold[:20])
        np.testing.assert_allclose(result.truth[20:], believed[20:], atol=0.3)
    np.testing.assert_allclose(run(method, answers).truth, 2, atol=1e-6)  # nobody to believe


@pytest.mark.parametrize("method", ALL)
def test_gold_between_two_answers_and_where_nobody_answered(method: Method) -> None:
    answers = Answers.of({"a": {"x": 1}, "b": {"x": 3}}, "0..4", tasks=["x", "y", "z"])
    result = run(method, answers, {0: 1.25, 2: 4.0})
    np.testing.assert_array_equal(result.truth, [1.25, np.nan, 4.0])
    assert result.deviation[0] < result.deviation[1]


@pytest.mark.parametrize("method", ALL)
def test_perfect_workers(method: Method) -> None:
    rows = {name: {f"t{j}": j % 5 for j in range(10)} for name in "abc"}
    rows["d"] = {f"t{j}": 4 - j % 5 for j in range(10)}
    result = run(method, Answers.of(rows, "0..4"))
    assert result.converged
    assert np.isfinite(result.history).all()
    np.testing.assert_allclose(result.truth, np.arange(10) % 5, atol=0.1)
    agreed = run(method, Answers.of({name: rows[name] for name in "ab"}, "0..4"))
    assert np.isfinite(agreed.history).all()
    np.testing.assert_allclose(agreed.truth, np.arange(10) % 5, atol=0.1)


@pytest.mark.parametrize("method", ALL)
def test_the_hard_cases(method: Method) -> None:
    nobody = Answers.of({"a": {"x": 1}, "b": {"x": 3}, "c": {}}, "0..4", tasks=["x", "y"])
    result = run(method, nobody)
    np.testing.assert_allclose(result.truth, [2, np.nan], atol=1e-6)
    assert result.low[0] <= 2 <= result.high[0]
    assert np.isnan([result.low[1], result.high[1]]).all()
    assert np.isnan(result.deviation).tolist() == [False, False, True]

    alone = Answers.of({"a": {"x": 1, "y": 4}}, "0..4")
    result = run(method, alone)
    assert result.converged
    np.testing.assert_allclose(result.truth, [1, 4], atol=0.2)  # GTM: a little to the middle
    assert np.isnan([*result.low, *result.high]).all()

    silent = Answers.of({"a": {}, "b": {}}, "0..4", tasks=["x", "y"])
    result = run(method, silent, {1: 3.0})
    assert result.converged
    np.testing.assert_array_equal(result.truth, [np.nan, 3])
    assert np.isnan(result.deviation).all()


@pytest.mark.parametrize(("workers", "tasks", "sparsity"), [(500, 2000, 0.9), (30, 500, 0.5)])
def test_intervals_cover_on_a_fair_crowd(workers: int, tasks: int, sparsity: float) -> None:
    """90 % intervals cover between 80 and 95 % of the truths where the model is right."""
    crowd = SyntheticCrowd(workers, tasks, sparsity, truth_mean=4.5, truth_sd=0.5, good=1.0)
    dataset = crowd.draw(105)
    for method in NUMERIC:
        result = run(method, dataset.answers)
        covered = (result.low <= dataset.truth) & (dataset.truth <= result.high)
        assert 0.8 <= covered.mean() <= 0.95, method.__name__


def test_dawid_skene_s_ties() -> None:
    answers = Answers.of({"a": {"x": 0}, "b": {"x": 1}}, "0..1")
    rules: list[tuple[Ties, float]] = [("low", 0), ("high", 1), ("middle", 0.5)]
    for ties, expected in rules:
        result = dawid_skene(answers.cells(), answers.scale, Rules(ties=ties), np.full(1, np.nan))
        assert result.truth.tolist() == [expected]
        assert (result.low[0], result.high[0]) == (0, 1)


def test_noisy_numbers() -> None:
    """Reports are any numbers, far off the scale too; Dawid–Skene takes the nearest answer."""
    dataset = SyntheticCrowd(60, 300, 0.5, 2.0, sigma_bad=1.0, scale=FIVE).draw(1)
    mechanism = mechanisms.lp(FIVE, 4.0, protects="answers")
    cells = mechanism.perturb(dataset.answers, simulation_seed=1).cells()
    assert (cells.value < -1).any()
    unknown = np.full(300, np.nan)
    for method in NUMERIC:
        assert error(method(cells, FIVE, Rules(), unknown), dataset) < 0.3, method.__name__
    rounded = np.clip(np.ceil(cells.value - 0.5), 0, 4)
    clean = Cells(cells.workers, cells.tasks, cells.worker, cells.task, rounded)
    noisy, plain = (dawid_skene(c, FIVE, Rules(), unknown) for c in (cells, clean))
    np.testing.assert_array_equal(noisy.truth, plain.truth)
    assert noisy.history == plain.history
    assert len(noisy.history) > 3


def test_catd_hardly_hears_a_worker_with_one_cell() -> None:
    """The quantile says so: with the cdf in its place, or with none, he would win or draw."""
    rows = {
        name: {f"t{j:02}": 1 + (i + j) % 3 % 2 for j in range(30)} for i, name in enumerate("abd")
    }
    rows["b"].pop("t00"), rows["d"].pop("t00")
    rows["c"] = {"t00": 4}
    assert run(catd, Answers.of(rows, "0..4")).truth[0] == pytest.approx(1, abs=0.01)


@pytest.fixture(scope="module")
def adult(data_dir: Path) -> Dataset:
    return datasets.load("adult", data_dir)


@pytest.mark.parametrize(
    ("method", "published"), [(majority, 0.763), (dawid_skene, 0.748)], ids=["majority", "ds"]
)
def test_accuracy_on_adult_content(adult: Dataset, method: Method, published: float) -> None:
    """The published figures for its 333 known truths, within two points."""
    assert (~np.isnan(adult.truth)).sum() == 333
    result = run(method, adult.answers)
    assert result.converged
    assert accuracy(result, adult.truth, adult.answers.scale) == pytest.approx(published, abs=0.02)
