"""Simulation-based calibration: on crowds from the model's own prior, intervals are honest.

Campaigns are drawn from the prior, perturbed and inferred. If the posterior is right, the posterior
distribution function at a task's truth (its rank, randomised within a point's mass) is uniform
(Talts et al. 2018, arXiv:1804.06788). Checked are

- the share of ranks in the middle 90 %, per setting and over all settings;
- the share of truths inside their intervals, which may only be higher: mass at a point is counted
  as a whole;
- the ranks of one task per campaign over all settings, by χ².

The unit of the first two is the campaign, since its tasks share its global numbers: a t-test over
campaigns. Every test's false-alarm rate is 1e-4 for a posterior whose coverage is off by at most
`SLACK`. Seeds are fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple
from zlib import crc32

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from forsooth import Answers, Reports, Scale, Truths, infer, mechanisms
from forsooth.estimand import Estimand
from forsooth.study.prior_campaigns import draw_campaign
from forsooth.truths import COVERAGE, Shares

Array = NDArray[np.float64]
FALSE_ALARM = 1e-4
CAMPAIGNS, WORKERS, TASKS, BINS = 20, 60, 15, 5
SLACK = 0.03  # of coverage: belief propagation, and prior weights that are fitted


@dataclass(frozen=True)
class Setting:
    estimand: Estimand
    levels: int
    mechanism: str
    epsilon: float

    def __str__(self) -> str:
        return f"{self.estimand}-{self.levels}-{self.mechanism}-{self.epsilon:g}"


class Run(NamedTuple):
    """An inference, and what is true."""

    truths: Truths
    truth: Array
    seed: int


SETTINGS = [
    Setting("level", 5, "rr", 2.0),
    Setting("level", 10, "grr", 1.0),
    Setting("level", 5, "plain", 0.0),
    Setting("label", 5, "rr", 2.0),
    Setting("label", 2, "grr", 1.0),
]
OPINION = Setting("opinion", 5, "grr", 2.0)


def campaign(setting: Setting, number: int, believed: float = 1.0) -> Run:
    """Drawn, perturbed and inferred, as if ε were `believed` times what it is."""
    scale, seed = Scale.parse(f"0..{setting.levels - 1}"), crc32(f"{setting} {number}".encode())
    answers, truth = draw_campaign(scale, setting.estimand, workers=WORKERS, tasks=TASKS, seed=seed)
    data: Reports | Answers = answers
    if setting.mechanism != "plain":
        real, other = (
            mechanisms.build(setting.mechanism, scale, setting.epsilon * times, tasks=TASKS)
            for times in (1.0, believed)
        )
        data = replace(real.perturb(answers, simulation_seed=seed), mechanism=other)
    return Run(infer(data, estimand=setting.estimand), truth, seed)


@cache
def honest(setting: Setting) -> list[Run]:
    return [campaign(setting, number) for number in range(CAMPAIGNS)]


def everything() -> list[Run]:
    return [run for setting in SETTINGS for run in honest(setting)]


def ranks(run: Run) -> Array:
    """The distribution function at the truths; a random share of a point's mass counts."""
    truths, truth, seed = run
    assert truths.posterior
    grid, mass, draws = truths.posterior.grid, truths.posterior.mass, truths.posterior.draws
    if draws is not None:  # of shares
        return np.asarray((draws < truth).mean(axis=0))
    random, row = np.random.default_rng(seed), np.arange(len(truth))
    at = np.abs(truth[:, None] - grid).argmin(axis=1)
    own = mass[row, at]
    return np.asarray(mass.cumsum(axis=1)[row, at] - random.random(len(truth)) * own)


def in_the_middle(runs: Iterable[Run]) -> Array:
    """Per campaign the share of ranks in the middle 90 %."""
    return np.array([(np.abs(ranks(run) - 0.5) <= COVERAGE / 2).mean() for run in runs])


def held(runs: Iterable[Run]) -> Array:
    """Per campaign the share of truths inside their intervals."""
    found = []
    for truths, truth, _ in runs:
        of: Truths | Shares = truths
        if truths.posterior and truths.posterior.shares:
            of = truths.posterior.shares
        found.append(((of.low - 1e-9 <= truth) & (truth <= of.high + 1e-9)).mean())
    return np.array(found)


def too_low(shares: Array) -> bool:
    """Is the campaigns' mean below 90 % beyond chance and slack? One-sided."""
    error = max(shares.std(ddof=1), 0.5 / TASKS) / np.sqrt(len(shares))
    limit = stats.t.isf(FALSE_ALARM, len(shares) - 1) * error
    return bool(shares.mean() < COVERAGE - SLACK - limit)


def too_high(shares: Array) -> bool:
    """Is the campaigns' mean above 90 % beyond chance and slack? One-sided."""
    return too_low(2 * COVERAGE - shares)


def not_uniform(runs: Iterable[Run]) -> bool:
    """Of the first task's ranks; tasks of different campaigns are independent."""
    counts = np.histogram([ranks(run)[0] for run in runs], BINS, (0, 1))[0]
    return bool(stats.chisquare(counts).pvalue < FALSE_ALARM)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_intervals_hold_what_they_claim(setting: Setting) -> None:
    runs = honest(setting)
    assert not too_low(held(runs))
    assert not too_low(in_the_middle(runs))
    assert not too_high(in_the_middle(runs))


def test_intervals_hold_what_they_claim_on_the_whole() -> None:
    assert not too_low(held(everything()))
    assert not too_low(in_the_middle(everything()))
    assert not too_high(in_the_middle(everything()))


def test_ranks_are_uniform() -> None:
    assert not not_uniform(everything())


def test_shares_of_opinions_are_calibrated() -> None:
    runs = [campaign(OPINION, number) for number in range(CAMPAIGNS // 2)]
    assert not too_low(held(runs))
    assert not too_low(in_the_middle(runs))
    assert not too_high(in_the_middle(runs))


# Bugs are caught


def test_halved_intervals_are_caught() -> None:
    halved = []
    for run in everything():
        point, low, high = run.truths.estimate, run.truths.low, run.truths.high
        spoilt = replace(run.truths, low=(low + point) / 2, high=(high + point) / 2)
        halved.append(run._replace(truths=spoilt))
    assert too_low(held(halved))


def test_posteriors_that_are_too_narrow_are_caught() -> None:
    """All evidence counted three times."""
    assert too_low(in_the_middle(changed(everything(), lambda mass: mass**3)))


def test_posteriors_that_are_too_wide_are_caught() -> None:
    """Truths that are always where they are expected."""
    levels = (run for setting in SETTINGS[:3] for run in honest(setting))
    runs = [run._replace(truth=run.truths.estimate) for run in levels]
    assert too_high(in_the_middle(runs))


def test_biased_posteriors_are_caught() -> None:
    """Too high by a sixth of the scale, with levels."""

    def shifted(mass: Array) -> Array:
        by = mass.shape[1] // 6
        moved = np.roll(mass, by, axis=1)
        moved[:, -1] += moved[:, :by].sum(axis=1)
        moved[:, :by] = 0
        return moved

    runs = [run for setting in SETTINGS[:3] for run in honest(setting)]
    assert not_uniform(changed(runs, shifted))


def changed(runs: Iterable[Run], how: Callable[[Array], Array]) -> Iterator[Run]:
    for run in runs:
        assert run.truths.posterior
        mass = how(run.truths.posterior.mass)
        mass = mass / mass.sum(axis=1, keepdims=True)
        posterior = replace(run.truths.posterior, mass=mass)
        yield run._replace(truths=replace(run.truths, posterior=posterior))


def test_a_wrong_epsilon_is_caught() -> None:
    """Reports with ε = 2 that are read with the channel of ε = 6."""
    setting = Setting("label", 10, "rr", 2.0)
    assert too_low(in_the_middle(campaign(setting, number, believed=3.0) for number in range(12)))
