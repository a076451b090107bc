"""The posterior for mechanisms whose reports are sums over tasks."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from forsooth import mechanisms
from forsooth.answers import Answers
from forsooth.errors import ForsoothError
from forsooth.inference import infer
from forsooth.inference.sketches import factorized
from forsooth.inference.sketches.belief import Belief
from forsooth.mechanisms import MatrixFactorization
from forsooth.reports import Reports
from forsooth.study.dataset import Dataset
from forsooth.study.synthetic import Crowd
from forsooth.truths import Posterior, Truths

TASKS = 60
SKETCHES = ("mf", "mf-safe")


@cache
def crowd(seed: int) -> Dataset:
    """Nobody is careless, but sums do not tell, and truths are far from the ends."""
    drawn = Crowd(workers=500, tasks=TASKS, sparsity=0.6, truth_mean=4.5, sigma_bad=1.0)
    return drawn.draw(seed)


@pytest.fixture
def nobody_is_careless(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the posterior knows it."""
    monkeypatch.setattr("forsooth.inference.sketches._CARELESS", 0.0)


def reports(name: str, epsilon: float, answers: Answers, seed: int = 1) -> Reports:
    mechanism = mechanisms.build(name, answers.scale, epsilon, tasks=len(answers.tasks))
    return mechanism.perturb(answers, simulation_seed=seed)


def learned(truths: Truths) -> Posterior:
    assert truths.posterior is not None
    return truths.posterior


@pytest.mark.parametrize("epsilon", [1.0, 5.0])
@pytest.mark.parametrize("name", SKETCHES)
def test_intervals_hold_the_truths(name: str, epsilon: float) -> None:
    """90 % of them on average, and more where reports tell little of how much truths differ.

    That is one number for all tasks of a campaign: in an unlucky one all intervals are too narrow.
    """
    found = []
    for seed in range(10):
        data = crowd(seed)
        truths = infer(reports(name, epsilon, data.answers, seed))
        found.append(truths.coverage(data.truth))
        assert (truths.low <= truths.estimate).all()
        assert (truths.estimate <= truths.high).all()
    assert 0.82 <= np.mean(found) <= (0.95 if name == "mf-safe" else 1)
    assert min(found) > 0.45


def test_intervals_narrow_as_reports_tell_more() -> None:
    data = crowd(1)
    for name, narrow in (("mf", 7.0), ("mf-safe", 1.5)):
        widths = []
        for epsilon in (0.05, 5.0):
            truths = infer(reports(name, epsilon, data.answers))
            widths.append(float(np.mean(truths.high - truths.low)))
        assert widths[0] > 7.5
        assert widths[1] < narrow


@pytest.mark.usefixtures("nobody_is_careless")
@pytest.mark.parametrize("name", SKETCHES)
def test_no_pull_to_zero(name: str) -> None:
    """The mirror image of a crowd has the mirror image of its truths, and neither is drawn low."""
    low = Crowd(workers=500, tasks=TASKS, sparsity=0.6, truth_mean=2.5, sigma_bad=1.0)
    apart, errors = [], []
    for seed in range(4):
        data = low.draw(seed)
        mirror = data.mirrored()
        estimate = infer(reports(name, 2.0, data.answers, seed)).estimate
        mirrored = infer(reports(name, 2.0, mirror.answers, seed)).estimate
        apart.append(np.mean(9 - mirrored - estimate))
        errors += [np.mean(estimate - data.truth), np.mean(mirrored - mirror.truth)]
    assert abs(np.mean(apart)) < 0.25
    assert np.abs(errors).max() < 0.6


@pytest.mark.parametrize("name", SKETCHES)
@pytest.mark.parametrize("mirror", [False, True])
def test_careless_workers_are_allowed_for(name: str, mirror: bool) -> None:
    """The paper's crowd: careless answers draw all means to the middle, by about one."""
    errors, inside = [], []
    for seed in range(3):
        data = Crowd(workers=1000, tasks=100).draw(seed)
        data = data.mirrored() if mirror else data
        sent = reports(name, 2.0, data.answers, seed)
        truths, theirs = infer(sent), infer(sent, "algorithm1")
        errors.append((truths.error(data.truth), theirs.error(data.truth)))
        inside.append(truths.coverage(data.truth))
    ours, algorithm1 = np.mean(errors, axis=0)
    assert ours < 0.8 * algorithm1
    assert np.mean(inside) > 0.9


@pytest.mark.usefixtures("nobody_is_careless")
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("name", SKETCHES)
def test_error_beside_algorithm_1(name: str, epsilon: float) -> None:
    ours, theirs = [], []
    for seed in range(4):
        data = crowd(seed)
        sent = reports(name, epsilon, data.answers, seed)
        ours.append(infer(sent).error(data.truth))
        theirs.append(infer(sent, "algorithm1").error(data.truth))
    assert np.mean(ours) < np.mean(theirs) + 0.02
    if name == "mf":
        assert np.mean(ours) < np.mean(theirs) - 0.1


def test_without_noise_the_truth_is_the_mean_answer(request: pytest.FixtureRequest) -> None:
    """If nobody is careless; else truths are further from the middle, by up to a quarter here."""
    data = Crowd(workers=3000, tasks=20, sparsity=0.3, truth_mean=5, sigma_bad=1.0).draw(1)
    sent = reports("mf-safe:d=20", 1e5, data.answers)
    means = infer(data.answers, "mean").estimate
    slope = np.polyfit(means - 4.5, infer(sent).estimate - 4.5, 1)[0]
    assert 1.1 < slope < 1.25
    request.getfixturevalue("nobody_is_careless")
    truths = infer(sent)
    assert np.abs(truths.estimate - means).max() < 0.25
    assert truths.coverage(means) > 0.7
    assert np.mean(truths.high - truths.low) < 0.4
    assert learned(truths).participation == pytest.approx(0.7, abs=0.03)
    assert learned(truths).constant_as_good < 1e-6


@pytest.mark.parametrize("name", SKETCHES)
def test_a_tiny_epsilon_tells_nothing_and_says_so(name: str) -> None:
    truths = infer(reports(name, 1e-3, crowd(1).answers))
    assert learned(truths).constant_as_good > 0.9
    assert np.mean(truths.high - truths.low) > 7


@pytest.mark.parametrize("name", SKETCHES)
def test_gold(name: str) -> None:
    """A known truth is kept, and tells of the others: the tasks are alike in part."""
    data = crowd(1)
    sent = reports(name, 0.1, data.answers)
    gold = {data.answers.tasks[each]: 8.03 + each / 100 for each in range(TASKS // 2)}
    truths, without = infer(sent, gold=gold), infer(sent)
    known = np.arange(TASKS // 2)
    for each in (truths.estimate, truths.low, truths.high):
        np.testing.assert_array_equal(each[known], 8.03 + known / 100)
    grid, mass = learned(truths).grid, learned(truths).mass
    np.testing.assert_allclose(mass[known] @ grid, 8.03 + known / 100, atol=0.07)
    np.testing.assert_allclose(mass.sum(axis=1), 1)
    rest = truths.estimate[TASKS // 2 :].mean() - without.estimate[TASKS // 2 :].mean()
    assert rest > 0.5


def halves(answers: Answers) -> tuple[Answers, Answers]:
    first, second = np.split(np.arange(len(answers.workers)), 2)
    return answers.of_workers(first), answers.of_workers(second)


def test_files_of_one_mechanism_are_one() -> None:
    data = crowd(2)
    for name in SKETCHES:
        parts = [reports(name, 1.0, half, seed) for seed, half in enumerate(halves(data.answers))]
        whole = Reports(
            parts[0].mechanism,
            data.answers.tasks,
            data.answers.workers,
            np.concatenate([part.values for part in parts]),
        )
        np.testing.assert_allclose(infer(parts).estimate, infer(whole).estimate)
        assert infer(parts).workers == data.answers.workers


@pytest.mark.usefixtures("nobody_is_careless")
def test_different_sketches_are_combined() -> None:
    """Two halves of a crowd, each through its own mechanism, tell more than one of them."""
    first, second = halves(crowd(3).answers)
    one, other = reports("mf-safe", 3.0, first), reports("mf-safe", 4.0, second)
    for parts in ([one, other], [one, reports("mf", 3.0, second)]):
        both, alone = infer(parts), infer(one)
        assert np.mean(both.high - both.low) < np.mean(alone.high - alone.low) + 0.02
        assert both.error(crowd(3).truth) < alone.error(crowd(3).truth) + 0.03
    profiles = [reports(f"mf:seed={seed}", 3.0, half) for seed, half in enumerate((first, second))]
    assert infer(profiles).error(crowd(3).truth) < 1.0


def test_beside_cells_the_better_is_believed() -> None:
    data = crowd(4)
    first, second = halves(data.answers)
    for good, bad in (
        (reports("rr", 5.0, first), reports("mf", 1.0, second)),
        (reports("mf-safe", 20.0, first), reports("rr", 0.05, second)),
    ):
        both, alone = infer([bad, good]), infer(good)
        np.testing.assert_array_equal(both.estimate, alone.estimate)
        np.testing.assert_array_equal(both.low, alone.low)
        assert learned(both).model == learned(alone).model
        assert sorted(both.workers) == sorted(data.answers.workers)
        assert len(both.deviation) == len(both.quality) == len(both.workers)
        assert both.quality.sum() == pytest.approx(1)
        assert (both.support == alone.support + infer(bad).support).all()
        assert len(both.worker_columns()["low"]) == len(both.workers)


def test_plain_answers_beside_a_sketch() -> None:
    first, second = halves(crowd(5).answers)
    parts: list[Any] = [first, reports("mf-safe", 0.5, second)]
    both = infer(parts)
    np.testing.assert_array_equal(both.estimate, infer(first).estimate)


@pytest.mark.parametrize("name", SKETCHES)
def test_labels_without_an_order_are_refused(name: str) -> None:
    with pytest.raises(ForsoothError, match="without an order"):
        infer(reports(name, 1.0, crowd(1).answers), unordered=True)


@pytest.mark.parametrize("estimate", ["mean", "mode"])
def test_other_estimates(estimate: str) -> None:
    truths = infer(reports("mf-safe", 3.0, crowd(1).answers), estimate=estimate)  # type: ignore[arg-type]
    posterior = learned(truths)
    mass, grid = posterior.mass, posterior.grid
    wanted = mass @ grid if estimate == "mean" else grid[mass.argmax(axis=1)]
    np.testing.assert_allclose(truths.estimate, wanted)
    assert posterior.model == "sketches"
    np.testing.assert_allclose(posterior.answers.sum(axis=1), 1)


# What it is made of


def profiles_map(mechanism: MatrixFactorization, answers: Answers) -> np.ndarray:
    """R, from the sets of tasks that everybody has really answered."""
    v = mechanism.matrix
    total = np.zeros(v.shape)
    for row in answers.rows(0, len(answers.workers)):
        some = np.flatnonzero(row != answers.scale.null)
        gram = v[:, some] @ v[:, some].T + mechanism.ridge * np.eye(mechanism.d)
        total[:, some] += np.linalg.solve(gram, v[:, some])
    return total / len(answers.workers)


@pytest.mark.parametrize(("ridge", "error"), [(0.3, 0.02), (1.0, 0.04), (3.0, 0.12)])
def test_what_profiles_say_of_the_mean_answers(ridge: float, error: float) -> None:
    """Of 2000 workers who answer a tenth of 200 tasks: by how much are they drawn to 0?"""
    data = Crowd(truth_mean=4.5, sigma_bad=1.0).draw(1)
    sent = reports(f"mf:ridge={ridge}", 1.0, data.answers)
    mechanism = sent.mechanism
    assert isinstance(mechanism, MatrixFactorization)
    found = factorized.hypotheses(mechanism, sent.values)
    weights = np.array([each.weight for each in found])
    real = profiles_map(mechanism, data.answers).sum()
    levels = np.array([each.map.sum() for each in found])
    assert weights.sum() == pytest.approx(1)
    assert np.sqrt(weights @ (levels / real - 1) ** 2) < error
    assert weights @ [each.participation for each in found] == pytest.approx(0.1, abs=0.02)
    likeliest = found[int(weights.argmax())]
    seen = np.cov(sent.values.T) / len(sent.workers)
    # R's own error, from a hundred sets of tasks, comes on top.
    np.testing.assert_allclose(likeliest.covariance, seen, atol=0.3 * seen.max())


def test_maps_are_averages_over_sets_of_tasks() -> None:
    mechanism = mechanisms.mf(crowd(1).answers.scale, 1.0, tasks=12, d=3)
    ladder, v = factorized.Ladder.of(mechanism), mechanism.matrix
    random = np.random.default_rng(7)
    for rung in (0, 4, len(ladder.counts) - 1):
        total, draws = np.zeros(v.shape), 4000
        for _ in range(draws):
            some = random.permutation(12)[: int(ladder.counts[rung])]
            total[:, some] += np.linalg.solve(v[:, some] @ v[:, some].T + np.eye(3), v[:, some])
        np.testing.assert_allclose(ladder.maps[rung].sum(), total.sum() / draws, rtol=0.03)
        np.testing.assert_allclose(ladder.maps[rung], total / draws, atol=0.03)


def test_beliefs_are_conditional_normals() -> None:
    """Beside the textbook's formulas for a whole covariance matrix."""
    random = np.random.default_rng(1)
    mean, variance = random.normal(size=5), random.random(5) + 0.5
    gains, noise = random.normal(size=(2, 5)), np.array([[0.5, 0.2], [0.2, 0.4]])
    value = random.normal(size=2)
    told = Belief(0.0, mean, variance).told_together(value, gains, noise)
    total = gains @ np.diag(variance) @ gains.T + noise
    gap = value - gains @ mean
    step = np.diag(variance) @ gains.T @ np.linalg.inv(total)
    np.testing.assert_allclose(told.mean, mean + step @ gap)
    np.testing.assert_allclose(told.variance, np.diag(np.diag(variance) - step @ gains * variance))
    log = -0.5 * (gap @ np.linalg.inv(total) @ gap + np.log(np.linalg.det(total)))
    assert told.log == pytest.approx(log)
    each = Belief(0.0, mean, variance).told(np.ones(5), 2.0, 0.3)
    alike = Belief(0.0, mean, variance).told_together(np.ones(5), 2 * np.eye(5), 0.3 * np.eye(5))
    np.testing.assert_allclose(each.mean, alike.mean)
    np.testing.assert_allclose(each.variance, alike.variance)
    assert each.log == pytest.approx(alike.log)


def test_profiles_of_two_mechanisms_speak_together() -> None:
    """As precisions add up: P = diag(1/v) + Σ RᵀC⁻¹R."""
    random = np.random.default_rng(2)
    mean, variance = random.normal(size=5), random.random(5) + 0.5
    parts = [
        factorized.Profiled(
            0.5, random.normal(size=d), random.normal(size=(d, 5)), np.eye(d) * d / 4, 0.1, 1.0
        )
        for d in (2, 3)
    ]
    told = parts[0].beside(parts[1]).tell(Belief(0.0, mean, variance))
    precision, pull = np.diag(1 / variance), mean / variance
    for part in parts:
        weighed = part.map.T @ np.linalg.inv(part.covariance)
        precision, pull = precision + weighed @ part.map, pull + weighed @ part.mean
    np.testing.assert_allclose(told.mean, np.linalg.solve(precision, pull))
    np.testing.assert_allclose(told.variance, np.linalg.inv(precision).diagonal())
