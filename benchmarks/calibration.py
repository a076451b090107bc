"""Are the posterior's statements about itself true?

`calibration`: campaigns drawn from the model's own prior, where 90 % intervals must hold 90 % of
the truths and the posterior's distribution function at the truth must be uniform. `enough`: of
simulated campaigns that are called enough, how many are beaten by a constant fitted to their own
truths, and how near the expected error is to the real one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from scipy.stats import chisquare

from benchmarks.crowds import channels, simulate
from benchmarks.measuring import (
    BOTH,
    Array,
    Estimand,
    Options,
    Version,
    mean,
    noise_seed,
    old_version,
    perturbed,
    print_table,
    timed,
    write_json,
)
from benchmarks.opinions import shares_of
from forsooth import Answers, Scale, Truths
from forsooth.inference.enough import enough, expected_error
from forsooth.study.prior_campaigns import draw_campaign

WORKERS, TASKS = 100, 30  # of a campaign that is drawn from the prior
EPSILONS = (0.5, 1.0, 2.0, 4.0)
LEVELS = (2, 5, 10, 21)
ESTIMANDS: tuple[Estimand, ...] = ("level", "label", "opinion")
LOW = 0.75  # coverage of a campaign that is far too low
BINS = 10  # of the ranks: 200 campaigns are 20 per bin
OLD_DOUBT = 0.05  # version 0.1.0 says yes below this probability that a constant is as good


@dataclass(frozen=True)
class Setting:
    """One campaign from the prior by name."""

    estimand: Estimand
    levels: int
    mechanism: str
    epsilon: float
    seed: int

    @property
    def name(self) -> str:
        """A line of the table."""
        return f"{self.estimand}, {self.levels} levels, {self.mechanism} ε = {self.epsilon:g}"


@dataclass(frozen=True)
class Drawn:
    """What one campaign from the prior says; `rank` is that of the first task's truth."""

    setting: Setting
    coverage: float
    rank: float
    expected: float
    real: float


def draw(setting: Setting) -> tuple[Answers, Array]:
    """Answers and truths from the model's prior; for `opinion` the truths are tasks × shares."""
    seed = noise_seed(setting.seed, setting.name)
    scale = Scale.parse(f"0..{setting.levels - 1}")
    return draw_campaign(scale, setting.estimand, workers=WORKERS, tasks=TASKS, seed=seed)


def of_prior(setting: Setting) -> Drawn:
    """Draw, perturb, infer, compare."""
    answers, truth = draw(setting)
    noise = noise_seed(setting.seed, setting.name, "noise")
    reports = perturbed(answers, setting.mechanism, setting.epsilon, noise)
    truths, _ = timed(reports, setting.estimand)
    coverage = None
    if setting.estimand == "opinion":
        _, low, high = shares_of(truths)
        coverage = float(((low - 1e-9 <= truth) & (truth <= high + 1e-9)).mean())
        truth = truth @ np.asarray(answers.scale.values)
    return Drawn(
        setting,
        truths.coverage(truth) if coverage is None else coverage,
        rank(truths, truth, np.random.default_rng(noise)),
        expected_error(truths),
        truths.error(truth),
    )


def rank(truths: Truths, truth: Array, random: np.random.Generator) -> float:
    """The posterior's distribution function at the first task's truth; uniform if it is right.

    One task per campaign, since the tasks of a campaign share its global numbers. Where the truth
    is a grid point, an atom or a label, a random share of its mass counts.
    """
    assert truths.posterior
    grid, mass, value = truths.posterior.grid, truths.posterior.mass[0], truth[0]
    below = np.concatenate([[0.0], mass.cumsum()])
    nearest = int(np.abs(grid - value).argmin())
    if abs(grid[nearest] - value) < 1e-9:
        return float(below[nearest] + random.random() * mass[nearest])
    edges = np.concatenate([grid[:1], (grid[1:] + grid[:-1]) / 2, grid[-1:]])
    return float(np.interp(value, edges, below))


def calibration(options: Options) -> None:
    """A line per setting."""
    every = product(ESTIMANDS, LEVELS, ("rr", "grr"), EPSILONS, options.seeds)
    settings = [Setting(*each) for each in every]
    runs: list[Drawn] = []
    for run in options.each(of_prior, settings):
        runs.append(run)
    write_json(options.json, runs)
    groups: dict[str, list[Drawn]] = {}
    for run in runs:
        for name in (f"all {run.setting.estimand}", run.setting.name):
            groups.setdefault(name, []).append(run)
    headings = (
        "setting", "campaigns", "coverage", f"coverage below {LOW}", "p of uniform ranks",
        "expected error / real",
    )  # fmt: skip
    print_table(headings, (_calibrated(name, members) for name, members in groups.items()))


def _calibrated(name: str, runs: Sequence[Drawn]) -> list[str]:
    coverage, ranks, expected, real = (
        np.array([getattr(run, field) for run in runs])
        for field in ("coverage", "rank", "expected", "real")
    )
    counts = np.histogram(ranks, BINS, (0, 1))[0]
    return [
        name,
        str(len(runs)),
        mean(coverage),
        f"{(coverage < LOW).mean():.1%}",
        f"{chisquare(counts).pvalue:.2g}",
        mean([expected.sum() / real.sum()]),
    ]


@dataclass(frozen=True)
class Verdict:
    """What one simulated campaign says about itself, and what is true; errors in ranges."""

    seed: int
    family: str
    channel: str
    constant: float
    yes: bool | None
    expected: float | None
    real: float | None
    old_yes: bool | None
    old_real: float | None


def verdicts(seed: int, versions: Sequence[Version] = BOTH) -> list[Verdict]:
    """Every channel on one crowd of `benchmarks/crowds.py`."""
    crowd, found = simulate(seed), []
    truth, width = crowd.truth, crowd.answers.scale.range
    for channel in channels(seed, crowd.answers):
        constant = float(np.abs(truth - np.median(truth)).mean()) / width
        yes = expected = real = old_yes = old_real = None
        if "new" in versions:
            truths, _ = timed(channel.data, crowd.estimand)
            said = enough(truths)
            assert said
            yes, expected = said.enough, said.expected_error / width
            real = truths.error(truth) / width
        if "old" in versions:
            old = old_version().infer(channel.data)
            old_yes, old_real = old.constant_as_good <= OLD_DOUBT, old.error(truth) / width
        found.append(
            Verdict(
                seed, crowd.family, channel.name, constant, yes, expected, real, old_yes, old_real
            )
        )
    return found


def was_it_enough(options: Options) -> None:
    """A line per group."""
    runs: list[Verdict] = []
    for found in options.each(partial(verdicts, versions=options.versions), options.seeds):
        runs += found
        write_json(options.json, runs)
    groups: dict[str, list[Verdict]] = {}
    for run in runs:
        for name in ("all", run.channel, run.family):
            groups.setdefault(name, []).append(run)
    headings = (
        "group", "campaigns", "yes", "of these beaten by a constant", "yes 0.1.0",
        "beaten 0.1.0", "expected error / real", "within 20 %",
    )  # fmt: skip
    print_table(headings, (_judged(name, groups[name]) for name in sorted(groups)))


def _judged(name: str, runs: Sequence[Verdict]) -> list[str]:
    pairs = [(run.expected, run.real) for run in runs if run.expected and run.real]
    ratios = np.array([expected / real for expected, real in pairs])
    expected, real = np.array(pairs).T if pairs else (np.array([]), np.array([]))
    return [
        name,
        str(len(runs)),
        *_yes([(run.real, run.constant) for run in runs if run.yes]),
        *_yes([(run.old_real, run.constant) for run in runs if run.old_yes]),
        mean([expected.sum() / real.sum()] if pairs else []),
        f"{(np.abs(ratios - 1) <= 0.2).mean():.0%}" if pairs else "–",
    ]


def _yes(said: Sequence[tuple[float | None, float]]) -> tuple[str, str]:
    """How many said yes, and the share of these whose error is above the best constant's."""
    beaten = [real is not None and constant < real for real, constant in said]
    return str(len(said)), f"{np.mean(beaten):.1%}" if said else "–"
