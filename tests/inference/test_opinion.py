"""Opinion: shares per answer from counts of symbols, honest about what the counts do not say."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta, chi2

from forsooth.errors import ForsoothError
from forsooth.inference.posterior.opinion import (
    Counts,
    Interval,
    Opinions,
    SharesPrior,
    _Chains,
    _Likelihood,
    differences,
    interval,
    opinions,
    summary,
)
from forsooth.study.prior_campaigns import draw_counts

Floats = NDArray[np.float64]


CAMPS = np.array([0.5, 0, 0, 0, 0.5])


def keep(secrets: int, epsilon: float) -> Floats:
    """Randomised response: a secret is kept with e^ε / (e^ε + secrets − 1)."""
    table = np.ones((secrets, secrets)) + np.eye(secrets) * (np.exp(epsilon) - 1)
    return np.asarray(table / table.sum(1, keepdims=True))


def inside(found: Interval, truth: Floats) -> NDArray[np.bool_]:
    """Whether each truth lies in its interval."""
    return np.asarray((found.low <= truth + 1e-12) & (truth - 1e-12 <= found.high))


def camps(seed: int, questions: int = 1) -> Counts:
    """400 people, half at each end of five answers, who answer 80 % of the questions; ε = 2."""
    table, secrets = keep(6, 2.0), np.append(0.8 * CAMPS, 0.2)
    random = np.random.default_rng(seed)
    number = random.multinomial(400, secrets @ table, size=questions).astype(float)
    return Counts(number, table, hidden=True)


def in_one_run(counts: list[Counts], answers: int, table: Floats, hidden: bool) -> Floats:
    """Draws × campaigns × tasks × answers; `table` is the channel the model assumes."""
    prior = SharesPrior(answers, hidden, ordered=True)
    number = np.stack([part.number for part in counts])
    chains = _Chains(
        _Likelihood([Counts(number, table, hidden)], prior), prior, len(counts), seed=1
    )
    return np.moveaxis(np.stack([prior.states(x)[0] for x in chains.run()]), 1, -1)


def rank_p_value(draws: Floats, truth: Floats) -> float:
    """P-value of χ² of the truths' ranks among 19 of the draws, which are uniform on 0…19."""
    ranks = (draws[:: len(draws) // 19][:19] < truth).sum(0)
    seen = np.bincount(ranks // 2, minlength=10)
    return float(chi2.sf(((seen - truth.size / 10) ** 2).sum() / (truth.size / 10), 9))


def own_prior(epsilon: float, hidden: bool, assumed: float) -> tuple[Floats, Floats]:
    """Draws and truths of the mean answer of 400 campaigns of 2 tasks and 5 answers."""
    random = np.random.default_rng(5)
    secrets = 5 + hidden
    sims = [
        draw_counts(random, 2, 300, keep(secrets, epsilon), hidden=hidden, ordered=True)
        for _ in range(400)
    ]
    draws = in_one_run([s[0] for s in sims], 5, keep(secrets, assumed), hidden)
    return draws, np.stack([s[1] for s in sims])


@pytest.mark.parametrize(("epsilon", "hidden"), [(1.0, True), (4.0, False)])
def test_intervals_hold_and_ranks_are_uniform_on_the_models_own_campaigns(
    epsilon: float, hidden: bool
) -> None:
    """False alarms: 1e-4 per rank test, and per coverage (standard errors 0.006 and 0.012)."""
    draws, truth = own_prior(epsilon, hidden, epsilon)
    values = np.arange(5.0)
    shares, mean = summary(draws, values)
    assert 0.87 <= inside(shares, truth).mean() <= 0.94
    assert 0.85 <= inside(mean, truth @ values).mean() <= 0.95
    assert rank_p_value(draws[..., 0, :] @ values, truth[:, 0] @ values) > 1e-4
    assert rank_p_value(draws[..., 1, 0], truth[:, 1, 0]) > 1e-4


def test_the_ranks_catch_a_wrong_channel() -> None:
    """The reports come at ε = 1, the model assumes 1.2: the same test must fail."""
    draws, truth = own_prior(1.0, True, 1.2)
    assert rank_p_value(draws[..., 1, 0], truth[:, 1, 0]) < 1e-4


def test_two_camps_are_found() -> None:
    found = opinions([camps(0)], answers=5, ordered=True, seed=0)
    shares, mean = summary(found.shares, np.arange(5.0))
    assert shares.estimate[0, [0, 4]].min() > 0.3
    assert shares.estimate[0, 1:4].max() < 0.2
    assert inside(shares, CAMPS).all()
    assert inside(mean, CAMPS @ np.arange(5.0)).all()
    assert found.participation is not None
    assert inside(interval(found.participation, 0, 1), np.array([0.8])).all()


def test_intervals_hold_for_two_camps_though_the_prior_expects_one() -> None:
    """60 campaigns of one question. False alarms: under 0.01; a mean's standard error is 0.04."""
    draws = in_one_run([camps(seed) for seed in range(60)], 5, keep(6, 2.0), hidden=True)
    shares, mean = summary(draws, np.arange(5.0))
    assert inside(shares, CAMPS).mean() > 0.87
    assert inside(mean, CAMPS @ np.arange(5.0)).mean() > 0.8


def test_plain_answers_give_the_multinomial_answer() -> None:
    """With many questions alike or not, 900 plain answers outweigh the prior."""
    number = np.array([[450.0, 270, 180]])
    found = opinions([Counts(number, np.eye(3), hidden=False)], answers=3, ordered=True, seed=0)
    assert found.participation is None
    shares, _ = summary(found.shares, np.arange(3.0))
    np.testing.assert_allclose(shares.estimate, number / 900, atol=0.01)
    exact = beta.ppf([[0.05], [0.95]], number + 0.5, 900.5 - number)
    np.testing.assert_allclose([shares.low[0], shares.high[0]], exact, atol=0.012)


def test_a_task_without_reports_is_as_wide_as_the_other_tasks_differ() -> None:
    random = np.random.default_rng(0)
    number = random.multinomial(500, [0.1, 0.2, 0.7], size=20).astype(float)
    number[7] = 0
    found = opinions([Counts(number, np.eye(3), hidden=False)], answers=3, ordered=True, seed=0)
    shares, _ = summary(found.shares, np.arange(3.0))
    np.testing.assert_allclose(shares.estimate[7], [0.1, 0.2, 0.7], atol=0.05)
    assert (shares.high - shares.low)[7, 2] > (shares.high - shares.low)[6, 2]


def test_the_order_of_labels_does_not_matter_if_they_have_none() -> None:
    number, turn = np.array([[120.0, 30, 60, 10]]), [2, 0, 3, 1]
    table = keep(4, 1.5)
    found, turned = (
        opinions([Counts(n, table, hidden=False)], answers=4, ordered=False, seed=0).shares
        for n in (number, number[:, turn])
    )
    np.testing.assert_allclose(found.mean(0)[:, turn], turned.mean(0), atol=0.015)


def test_public_and_hidden_parts_tell_of_the_same_shares() -> None:
    """Both parts together are narrower than each; only the hidden one tells of participation."""
    random, shares = np.random.default_rng(3), np.array([0.1, 0.2, 0.7])
    secrets = np.append(0.6 * shares, 0.4)
    hidden = Counts(
        random.multinomial(2000, secrets @ keep(4, 2.0), size=3).astype(float), keep(4, 2.0), True
    )
    public = Counts(
        random.multinomial(300, shares @ keep(3, 2.0), size=3).astype(float), keep(3, 2.0), False
    )
    spread = []
    for parts in ([hidden], [public], [hidden, public]):
        found = opinions(parts, answers=3, ordered=True, seed=0)
        assert (found.participation is None) == (parts == [public])
        spread.append(found.shares[:, :, 2].std(0).mean())
    assert spread[2] < min(spread[:2])
    assert found.participation is not None
    np.testing.assert_allclose(found.shares.mean((0, 1)), shares, atol=0.05)
    assert found.participation.mean() == pytest.approx(0.6, abs=0.06)


def test_the_same_seed_gives_the_same_draws() -> None:
    first, again, other = (
        opinions([camps(0, 40)], answers=5, ordered=True, seed=seed) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.shares, again.shares)
    assert first.shares.shape == (len(first.shares), 40, 5)
    np.testing.assert_allclose(first.shares.sum(-1), 1)
    assert first.participation is not None
    assert first.participation.shape == first.shares.shape[:2]
    assert (first.shares != other.shares).any()
    np.testing.assert_allclose(first.shares.mean(0), other.shares.mean(0), atol=0.03)


def test_every_estimate_lies_in_its_interval_and_bounds_are_reached_where_draws_pile_up() -> None:
    random = np.random.default_rng(0)
    rare = np.where(random.random(4000) < 0.05, 0.9, 1e-6)  # the mean is above the 90 % quantile
    middle, top = random.beta(40, 60, 4000), random.beta(30, 0.5, 4000)
    found = interval(np.column_stack([rare, middle, top]), 0, 1)
    assert (found.low <= found.estimate).all()
    assert (found.estimate <= found.high).all()
    assert found.low[0] == 0
    assert found.high[2] == 1
    np.testing.assert_allclose(
        [found.low[1], found.high[1]], beta.ppf([0.05, 0.95], 40, 60), atol=0.01
    )


def dependent(correlation: int, seed: int) -> tuple[Opinions, Opinions]:
    """Normal approximation to the draws of two yes-no questions answered by the same 400 people."""
    random = np.random.default_rng(seed)
    first = random.random(400) < 0.5
    second = first if correlation > 0 else ~first
    draws = []
    for answers in (first, second):
        yes = random.beta(answers.sum() + 0.5, 400.5 - answers.sum(), (500, 1))
        draws.append(Opinions(np.stack([1 - yes, yes], -1), None))
    return draws[0], draws[1]


@pytest.mark.parametrize(
    ("correlation", "people", "low", "high"),
    [(1, None, 0.99, 1), (-1, None, 0.66, 0.85), (-1, 400, 0.84, 0.96)],
)
def test_differences_of_questions_answered_by_the_same_people(
    correlation: int, people: int | None, low: float, high: float
) -> None:
    """The truth is 0. Independent draws hold 76 % at worst, 90 % if `people` are given."""
    held = []
    for seed in range(300):
        one, two = dependent(correlation, seed)
        share, mean = differences(
            one.shares[:, 0], two.shares[:, 0], np.array([0.0, 1.0]), people=people
        )
        np.testing.assert_allclose(share.estimate[1], mean.estimate)
        assert share.low[1] <= share.estimate[1] <= share.high[1]
        held.append(bool(mean.low <= 0 <= mean.high))
    assert low <= np.mean(held) <= high


def test_differences_of_two_groups() -> None:
    random, table, values = np.random.default_rng(2), keep(3, 2.0), np.array([1.0, 2, 3])
    groups = np.array([[0.2, 0.3, 0.5], [0.5, 0.3, 0.2]])
    number = random.multinomial(1500, groups @ table).astype(float)
    found = opinions([Counts(number, table, hidden=False)], answers=3, ordered=True, seed=0)
    shares, mean = differences(found.shares[:, 0], found.shares[:, 1], values)
    assert shares.high[0] < 0 < shares.low[2]
    np.testing.assert_allclose(shares.estimate, [-0.3, 0, 0.3], atol=0.08)
    assert mean.low <= 0.6 <= mean.high
    assert 0.05 < mean.high - mean.low < 0.4


def test_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ForsoothError, match="NULL"):
        opinions([Counts(np.ones((1, 3)), np.eye(3), hidden=True)], answers=3, ordered=True, seed=0)
