"""Reports that are sums over tasks, as one Gaussian factor on the tasks' mean answers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.special import ndtr
from scipy.stats import multivariate_normal

from forsooth import mechanisms
from forsooth.answers import Answers
from forsooth.dataset import Dataset
from forsooth.inference.posterior import sums
from forsooth.inference.posterior.sums import Sums
from forsooth.mechanisms import MatrixFactorization, SafeFactorization
from forsooth.reports import Reports
from forsooth.study.synthetic import SyntheticCrowd

Array = NDArray[np.float64]
NAMES = ("mf", "mf-safe")
PLACE, SPREAD = 4.5, 1.0  # of the truths of `crowd`; its answers have the standard deviation 1


@cache
def crowd(seed: int, workers: int = 500, tasks: int = 60) -> Dataset:
    return SyntheticCrowd(workers, tasks, sparsity=0.6, truth_mean=PLACE, sigma_bad=1.0).draw(seed)


def reports(name: str, epsilon: float, answers: Answers, seed: int = 1) -> Reports:
    mechanism = mechanisms.build(name, answers.scale, epsilon, tasks=len(answers.tasks))
    return mechanism.perturb(answers, simulation_seed=seed)


def factor(*parts: Reports) -> Sums:
    found = Sums.of(parts)
    assert found is not None
    return found


def expected_answers(theta: Array, values: Array, sigma: float = 1.0) -> Array:
    """E[answer | θ] of answers that are θ + N(0, σ²), rounded and clipped to the scale."""
    edges = np.concatenate([[-np.inf], (values[1:] + values[:-1]) / 2, [np.inf]])
    return np.asarray(np.diff(ndtr((edges - theta[:, None]) / sigma), axis=1) @ values)


def halves(answers: Answers) -> tuple[Answers, Answers]:
    first, second = np.split(np.arange(len(answers.workers)), 2)
    return answers.of_workers(first), answers.of_workers(second)


# The message


def dense(found: Sums, mean: Array, variance: Array) -> tuple[Array, Array, float]:
    """Posterior mean, variance and log evidence, from the whole covariance matrix."""
    seen: list[tuple[Array, Array, Array]] = []
    for sketch in found.sketches:
        gap, noise, share = sketch.seen(mean, variance)
        seen.append((gap, np.diag(noise), np.diag(share)))
    seen += [profile.seen(mean) for profile in found.profiles]
    gaps, noises, rows = zip(*seen)
    row, gap = np.concatenate(rows), np.concatenate(gaps)
    total = row @ np.diag(variance) @ row.T + block_diag(*noises)
    step = np.diag(variance) @ row.T @ np.linalg.inv(total)
    left = np.diag(variance) - step @ row @ np.diag(variance)
    log = multivariate_normal(np.zeros(len(gap)), total).logpdf(gap)
    return mean + step @ gap, left.diagonal(), float(log + 0.5 * len(gap) * np.log(2 * np.pi))


@pytest.mark.parametrize(
    "names", [("mf:d=3",), ("mf-safe",), ("mf:d=3", "mf-safe", "mf:d=2,seed=1")]
)
def test_message_times_cavity_is_the_conditional_normal(names: tuple[str, ...]) -> None:
    answers = crowd(1, 120, 6).answers
    thirds = np.array_split(np.arange(120), len(names))
    parts = [reports(name, 5.0, answers.of_workers(some)) for name, some in zip(names, thirds)]
    found, random = factor(*parts), np.random.default_rng(1)
    mean, variance = random.normal(4, 1, 6), random.random(6) + 0.3
    location, precision, log = found.message(mean, variance)
    expected_mean, expected_variance, expected_log = dense(found, mean, variance)
    together = 1 / variance + precision
    np.testing.assert_allclose(1 / together, expected_variance)
    np.testing.assert_allclose((mean / variance + precision * location) / together, expected_mean)
    assert log == pytest.approx(expected_log)


@pytest.mark.parametrize("name", NAMES)
def test_a_known_task_is_no_obstacle(name: str) -> None:
    """A cavity without variance, and one that knows nothing."""
    found, mean = factor(reports(name, 1.0, crowd(1).answers)), np.full(60, 4.0)
    for variance in (0.0, 1e-12, 1e8):
        location, precision, log = found.message(mean, np.full(60, variance))
        assert np.isfinite([*location, *precision, log]).all()
        assert (precision > 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_more_workers_tell_more(name: str) -> None:
    mean, variance = np.full(60, PLACE), np.ones(60)
    first, second = (reports(name, 2.0, half) for half in halves(crowd(1, 4000).answers))
    alone, both = factor(first), factor(first, second)
    assert (both.message(mean, variance)[1] > alone.message(mean, variance)[1]).all()
    assert both.workers == first.workers + second.workers
    assert both.support.sum() > 1.5 * alone.support.sum()


@pytest.mark.parametrize("name", NAMES)
def test_a_larger_epsilon_tells_more_and_a_tiny_one_nothing(name: str) -> None:
    mean, variance = np.full(60, PLACE), np.ones(60)
    precisions = [
        factor(reports(name, epsilon, crowd(1).answers)).message(mean, variance)[1].mean()
        for epsilon in (1e-3, 0.3, 1.0, 3.0)
    ]
    assert precisions[0] < 1e-4
    assert (np.diff(precisions) > 0).all()


def test_evidence_finds_the_place() -> None:
    """Of all tasks: where the truths lie."""
    places = np.linspace(0, 9, 37)
    for name, error in (("mf", 1.0), ("mf-safe", 0.5)):
        found = factor(reports(name, 3.0, crowd(2).answers))
        logs = [found.message(np.full(60, place), np.ones(60))[2] for place in places]
        assert abs(places[int(np.argmax(logs))] - PLACE) < error


# What reports say


def standardised(sent: Reports, truth: Array) -> Array:
    """Errors of what sums say of the mean answers, in standard deviations: near N(0, 1)."""
    found, mean = factor(sent), expected_answers(truth, np.asarray(sent.scale.values))
    if found.sketches:
        gap, noise, _ = found.sketches[0].seen(mean, 0 * mean)
        return np.asarray(gap / np.sqrt(noise))
    gap, covariance, _ = found.profiles[0].seen(mean)
    return np.asarray(np.linalg.solve(np.linalg.cholesky(covariance), gap))


@pytest.mark.parametrize(("epsilon", "place"), [(0.5, PLACE), (5.0, PLACE), (20.0, 8.0)])
def test_decoding_of_mf_safe_is_unbiased(epsilon: float, place: float) -> None:
    """1,200 errors: a mean beyond 0.12 or a mean square off by 0.2 is four standard errors.

    Near an end of the scale and with little noise collisions are most of the error.
    """
    drawn = SyntheticCrowd(500, 60, sparsity=0.6, truth_mean=place, sigma_bad=1.0)
    crowds = [drawn.draw(seed) for seed in range(20)]
    sent = [reports("mf-safe", epsilon, data.answers, s) for s, data in enumerate(crowds)]
    errors = [standardised(part, data.truth) for part, data in zip(sent, crowds)]
    assert abs(np.mean(errors)) < 0.12
    assert np.mean(np.square(errors)) == pytest.approx(1, abs=0.2)


def test_cross_terms_of_mf_safe_average_out() -> None:
    """Errors of the tasks of one campaign are uncorrelated: their mean is as small as it should."""
    means = [
        standardised(reports("mf-safe", 5.0, crowd(s).answers, s), crowd(s).truth).mean()
        for s in range(20)
    ]
    assert np.std(means) < 1.8 / np.sqrt(60)


@pytest.mark.parametrize("epsilon", [0.5, 5.0])
def test_errors_of_mf_are_as_large_as_claimed(epsilon: float) -> None:
    errors = [
        standardised(reports("mf", epsilon, crowd(s).answers, s), crowd(s).truth) for s in range(20)
    ]
    assert 0.5 < np.mean(np.square(errors)) < 1.5


@pytest.mark.parametrize("signs", [(-1, 1), (1, -1), (-1, -1)])
def test_a_wrong_sign_is_caught(signs: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the values, of the presence, or of both: one of the tests here would fail."""
    data, right = crowd(1), SafeFactorization.sums
    sent = reports("mf-safe", 5.0, data.answers)

    def wrong(mechanism: SafeFactorization, part: Reports) -> tuple[Array, Array]:
        value, present = right(mechanism, part)
        return value * signs[0], present * signs[1]

    assert np.mean(standardised(sent, data.truth) ** 2) < 1.8
    monkeypatch.setattr(SafeFactorization, "sums", wrong)
    fits = np.mean(standardised(sent, data.truth) ** 2) < 1.8
    assert not (fits and factor(sent).participation == pytest.approx(0.4, rel=0.1))


def test_wrong_profiles_of_mf_are_caught() -> None:
    data = SyntheticCrowd(3000, 6, sparsity=0.3, truth_mean=4.5, truth_sd=3.0, sigma_bad=1.0).draw(
        1
    )
    sent = reports("mf:d=6,ridge=0.1", 50.0, data.answers)
    assert isinstance(sent.mechanism, MatrixFactorization)
    turned = replace(sent.mechanism, profiles=sent.mechanism.profiles[::-1])
    assert np.mean(standardised(sent, data.truth) ** 2) < 4
    assert np.mean(standardised(replace(sent, mechanism=turned), data.truth) ** 2) > 20


@pytest.mark.parametrize("mirror", [False, True])
def test_participation(mirror: bool) -> None:
    for name, share in (("mf", 0.25), ("mf-safe", 0.1)):
        data = crowd(3).mirrored() if mirror else crowd(3)
        found = factor(reports(name, 2.0, data.answers))
        assert found.participation == pytest.approx(0.4, rel=share)
        assert found.support.sum() == pytest.approx(found.participation * 500 * 60)


@pytest.mark.parametrize(("epsilon", "error"), [(1.0, 0.9), (5.0, 0.35)])
def test_popular_tasks(epsilon: float, error: float) -> None:
    """Half of the tasks get a quarter of the answers of the others; all are read right.

    Truths lie anywhere, so that value and presence must be told apart. 480 errors: a mean square
    off by 0.2 is three standard errors.
    """
    drawn = SyntheticCrowd(4000, 60, sparsity=0.4, truth_mean=4.5, truth_sd=2.5, sigma_bad=1.0)
    gaps, squares = [], []
    for seed in range(8):
        data, random = drawn.draw(seed), np.random.default_rng(seed)
        kept = (data.answers.task % 2 == 0) | (random.random(data.answers.size) < 0.25)
        cells = {x: getattr(data.answers, x)[kept] for x in ("worker", "task", "code")}
        found = factor(reports("mf-safe", epsilon, replace(data.answers, **cells), seed))
        assert np.corrcoef(found.support, np.bincount(cells["task"]))[0, 1] > 0.8
        location, precision, _ = found.message(np.full(60, 4.5), np.full(60, 6.0))
        mean = (4.5 / 6 + precision * location) / (1 / 6 + precision)
        gap = mean - expected_answers(data.truth, np.arange(10.0))
        gaps.append(np.abs(gap))
        squares.append(gap**2 * (1 / 6 + precision))
    assert np.mean(gaps) < error
    assert np.mean(squares) == pytest.approx(1, abs=0.2)


def test_biases_of_workers_do_not_pass_for_few_answers() -> None:
    """Every worker judges by N(0, 1) too high; in a dense campaign that is most of the spread."""
    errors = []
    for seed in range(5):
        random, values = np.random.default_rng(seed), np.arange(10.0)
        truth, bias = random.normal(3, 1, 50), random.normal(size=(500, 1))
        worker, task = np.nonzero(random.random((500, 50)) < 0.8)
        heard = (truth + bias + random.normal(size=(500, 50)))[worker, task]
        answers = replace(
            crowd(1, 500, 50).answers,
            worker=worker.astype(np.int32),
            task=task.astype(np.int32),
            code=np.clip(np.rint(heard), 0, 9).astype(crowd(1).answers.code.dtype),
        )
        mean = expected_answers(truth, values, np.sqrt(2))
        gap, covariance, _ = factor(reports("mf", 5.0, answers, seed)).profiles[0].seen(mean)
        errors.append(gap.sum() / np.sqrt(covariance.sum()))
    assert np.sqrt(np.mean(np.square(errors))) < 2.5


# Moments of mf


@pytest.mark.parametrize(("d", "tasks", "ridge"), [(3, 12, 1.0), (5, 60, 1.0), (5, 60, 0.1)])
def test_moments_are_averages_over_sets_of_tasks(d: int, tasks: int, ridge: float) -> None:
    v = mechanisms.mf(crowd(1).answers.scale, 1.0, tasks=tasks, d=d).matrix
    rates, draws = np.array([0.1, 0.5, 1.0]), 3000
    means, maps = sums._resolvent(v, rates, np.full((3, 1, 1), ridge))
    random = np.random.default_rng(7)
    for rate, mean, row in zip(rates, means, maps):
        answered = (random.random((draws, tasks)) < rate).astype(float)
        sampled = np.linalg.inv((v * answered[:, None]) @ v.T + ridge * np.eye(d))
        np.testing.assert_allclose(mean, sampled.mean(axis=0), atol=0.04 * mean.max())
        expected = (sampled @ v * answered[:, None]).mean(axis=0)
        np.testing.assert_allclose(row.sum(), expected.sum(), rtol=0.025 if rate < 0.2 else 0.004)
        np.testing.assert_allclose(row, expected, atol=0.15 * row.max())
        if rate == 1:
            np.testing.assert_allclose(row, expected, rtol=1e-9)


# Which reports


def test_no_sums() -> None:
    assert Sums.of([]) is None
    assert Sums.of([reports("rr", 1.0, crowd(1).answers)]) is None


@pytest.mark.parametrize("name", NAMES)
def test_same_reports_same_message(name: str) -> None:
    """Also if they come in pieces, and beside cells."""
    mean, variance = np.full(60, 4.0), np.ones(60)
    parts = [reports(name, 1.0, half, seed) for seed, half in enumerate(halves(crowd(2).answers))]
    values = np.concatenate([part.values for part in parts])
    whole = replace(parts[0], workers=crowd(2).answers.workers, values=values)
    cells = reports("rr", 1.0, crowd(1, 20).answers)
    expected = factor(whole).message(mean, variance)
    again = factor(whole).message(mean, variance)
    pieces = factor(parts[0], cells, parts[1])
    joined = pieces.message(mean, variance)
    for which in (0, 1):
        np.testing.assert_array_equal(again[which], expected[which])
        np.testing.assert_allclose(joined[which], expected[which])
    assert again[2] == expected[2] == pytest.approx(joined[2])
    assert pieces.workers == whole.workers


@pytest.mark.parametrize("name", ["mf:d=1", "mf-safe", "mf:d=1,ridge=0,solver=gradient-descent"])
@pytest.mark.parametrize(("workers", "tasks"), [(1, 1), (1, 5), (2, 3)])
def test_very_few_reports(name: str, workers: int, tasks: int) -> None:
    found = factor(reports(name, 1.0, crowd(1, workers, tasks).answers))
    location, precision, log = found.message(np.full(tasks, 4.0), np.ones(tasks))
    assert np.isfinite([*location, *precision, log]).all()
    assert (precision < 0.1).all()


@pytest.mark.parametrize("name", NAMES)
def test_one_outlier_changes_little(name: str) -> None:
    """However large: what all the others said still counts."""
    sent, mean, variance = reports(name, 5.0, crowd(1, 3000).answers), np.full(60, 4.0), np.ones(60)
    values = sent.values.copy()
    values[0, 0] = 1e16
    found = [factor(each).message(mean, variance) for each in (sent, replace(sent, values=values))]
    (location, precision, _), (moved, left, _) = found
    assert (left > 0.8 * precision).all()
    both, after = (mean + p * x for p, x in ((precision, location), (left, moved)))
    both, after = both / (1 + precision), after / (1 + left)
    np.testing.assert_allclose(after, both, atol=0.15)


# A small engine around it


def posterior(found: Sums, grid: Array, values: Array) -> Array:
    """P(θ_j | sums) with the right prior and response."""
    prior, mean_answer = (
        np.exp(-0.5 * ((grid - PLACE) / SPREAD) ** 2),
        expected_answers(grid, values),
    )
    prior /= prior.sum()
    mean = prior @ mean_answer
    cavity = np.full(60, mean), np.full(60, prior @ (mean_answer - mean) ** 2)
    location, precision, _ = found.message(*cavity)
    logs = np.log(prior) - 0.5 * precision[:, None] * (mean_answer - location[:, None]) ** 2
    mass = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("name", "epsilon", "share"),
    [
        ("mf", 1.0, 1.05),
        ("mf", 5.0, 1.05),
        ("mf-safe", 1.0, 0.95),
        ("mf-safe", 5.0, 0.45),
    ],
)
def test_intervals_hold_the_truths(name: str, epsilon: float, share: float) -> None:
    """With errors that are at most a `share` of those of the best constant."""
    grid, values = np.linspace(0, 9, 361), np.arange(10.0)
    inside, errors, constant = [], [], []
    for seed in range(10):
        data = crowd(seed)
        mass = posterior(factor(reports(name, epsilon, data.answers, seed)), grid, values)
        low, median, high = (
            grid[(mass.cumsum(axis=1) > q).argmax(axis=1)] for q in (0.05, 0.5, 0.95)
        )
        inside.append((low <= data.truth) & (data.truth <= high))
        errors.append(np.abs(median - data.truth).mean())
        constant.append(data.constant_error())
    assert 0.85 <= np.mean(inside) <= 0.97
    assert np.mean(errors) < share * np.mean(constant)
