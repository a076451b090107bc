"""The sets of the league in this version and in 0.1.0; rivals and other figures: `forsooth league`.

Errors are the MAE for levels and the share of wrong labels (estimates rounded to the nearest
answer) for labels. The classic methods are the same in both versions; they are run in version
0.1.0, whose results are cached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.measuring import (
    BOTH,
    PLAIN,
    Array,
    Estimand,
    Options,
    Score,
    Version,
    mean,
    old_version,
    perturbed,
    print_table,
    timed,
    write_json,
)
from benchmarks.version_0_1_0 import Data, Result
from forsooth import Answers, Truths
from forsooth.dataset import Dataset
from forsooth.study.league import sets
from forsooth.study.league.sets import LeagueSet

RIVALS: dict[str, tuple[str, ...]] = {
    "level": ("median", "mean", "algorithm1", "catd", "dawid-skene"),
    "label": ("majority", "dawid-skene", "algorithm1"),
}
CHANNELS = (("grr", 1.0), ("grr", 2.0), ("rr", 2.0), ("rr", 3.0), ("rr", 5.0))
MOST_ANSWERS = 120_000  # of a set: larger ones take too long
MOST_CELLS = 22_000_000  # of reports that hide participation: one per worker and task

BY_SET = (
    "set", "estimand", "channel", "error", "error 0.1.0", "best rival", "best constant", "coverage",
    "coverage 0.1.0",
)  # fmt: skip
TOGETHER = (
    "runs", "number", "regret to the best rival", "regret 0.1.0", "> Algorithm 1 + 0.02",
    "the same 0.1.0", "mean error", "mean error 0.1.0", "Dawid–Skene", "largest loss to majority",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One set through one channel."""

    source: LeagueSet
    mechanism: str
    epsilon: float
    seed: int


@dataclass(frozen=True)
class Outcome:
    """The errors on one set; a version that was left out is None."""

    name: str
    estimand: Estimand
    channel: str
    seed: int
    constant: float
    rivals: dict[str, float]
    new: Score | None
    old: Score | None

    def regret(self, version: Version) -> float | None:
        """The error above that of the best rival."""
        score: Score | None = getattr(self, version)
        return score.mae - min(self.rivals.values()) if score else None


@cache
def known(folder: Path, most_answers: int = MOST_ANSWERS) -> list[LeagueSet]:
    """The sets with at most this number of answers."""
    found = sets.find([str(folder / "index.json")], None, 0)
    return [each for each in found if each.answers <= most_answers]


def cases(folder: Path, seeds: Sequence[int]) -> list[Case]:
    """Plain answers once, private reports for every seed."""
    found = []
    for source in known(folder):
        found.append(Case(source, PLAIN, 0.0, seeds[0]))
        for (mechanism, epsilon), seed in product(CHANNELS, seeds):
            if mechanism != "rr" or source.size <= MOST_CELLS:
                found.append(Case(source, mechanism, epsilon, seed))
    return sorted(found, key=lambda case: case.mechanism != PLAIN)


def measured(case: Case, versions: Sequence[Version] = BOTH) -> Outcome:
    """Every version that is asked for, and the rivals, on the same reports."""
    dataset, estimand = dataset_of(case.source), case.source.estimand
    data, channel = _data(case, dataset.answers)
    truth = dataset.truth
    old = old_version()
    return Outcome(
        case.source.name,
        estimand,
        channel,
        case.seed,
        _constant(dataset.known, estimand),
        {name: _error(old.infer(data, name), truth, estimand) for name in RIVALS[estimand]},
        _new(data, truth, estimand) if "new" in versions else None,
        _old(data, truth, estimand) if "old" in versions else None,
    )


def _data(case: Case, answers: Answers) -> tuple[Data, str]:
    if case.mechanism == PLAIN:
        return answers, PLAIN
    reports = perturbed(answers, case.mechanism, case.epsilon, case.seed)
    return reports, f"{case.mechanism} {case.epsilon:g}"


def _new(data: Data, truth: Array, estimand: Estimand) -> Score:
    found, seconds = timed(data, estimand)
    return Score(_error(found, truth, estimand), found.coverage(truth), seconds)


def _old(data: Data, truth: Array, estimand: Estimand) -> Score:
    """Version 0.1.0 has no estimand; what it was told of labels is that they have no order."""
    found = old_version().infer(data, unordered=estimand == "label")
    return Score(_error(found, truth, estimand), found.coverage(truth), found.seconds)


def _error(found: Truths | Result, truth: Array, estimand: Estimand) -> float:
    if estimand == "level":
        return found.error(truth)
    known = ~np.isnan(truth)
    return float((np.rint(found.estimate) != truth)[known].mean())


def _constant(truth: Array, estimand: Estimand) -> float:
    """The error of the best constant, which knows the truths."""
    if estimand == "level":
        return float(np.abs(truth - np.median(truth)).mean())
    return float(1 - np.unique(truth, return_counts=True)[1].max() / len(truth))


@lru_cache(maxsize=1)
def dataset_of(source: LeagueSet) -> Dataset:
    """One set with its truths."""
    return source.load(None, 0, 0)


def report(options: Options, folder: Path) -> None:
    """A line per set and channel, and what they say together."""
    runs: list[Outcome] = []
    work = partial(measured, versions=options.versions)
    for run in options.each(work, cases(folder, options.seeds)):
        runs.append(run)
        write_json(options.json, runs)
    print_table(BY_SET, map(_line, _groups(runs, "name", "estimand", "channel")))
    print()
    kinds = [
        [run for run in runs if run.estimand == estimand and (run.channel == PLAIN) == plain]
        for estimand, plain in product(RIVALS, (True, False))
    ]
    print_table(TOGETHER, map(_together, filter(None, kinds)))


def _groups(runs: Sequence[Outcome], *fields: str) -> list[list[Outcome]]:
    found: dict[tuple[str, ...], list[Outcome]] = {}
    for run in runs:
        found.setdefault(tuple(getattr(run, field) for field in fields), []).append(run)
    return list(found.values())


def _scores(runs: Sequence[Outcome], version: Version, field: str) -> list[float]:
    scores: list[Score | None] = [getattr(run, version) for run in runs]
    return [getattr(score, field) for score in scores if score]


def _line(runs: Sequence[Outcome]) -> list[str]:
    first = runs[0]
    rivals = {name: float(np.mean([run.rivals[name] for run in runs])) for name in first.rivals}
    best = min(rivals, key=rivals.__getitem__)
    return [
        first.name,
        first.estimand,
        first.channel,
        *(mean(_scores(runs, version, "mae")) for version in BOTH),
        f"{rivals[best]:.3f} ({best})",
        mean([run.constant for run in runs]),
        *(mean(_scores(runs, version, "coverage")) for version in BOTH),
    ]


def _together(runs: Sequence[Outcome]) -> list[str]:
    first = runs[0]
    kind = PLAIN if first.channel == PLAIN else "private"
    majority = [
        run.new.mae - run.rivals["majority"] for run in runs if run.new and "majority" in run.rivals
    ]
    return [
        f"{first.estimand}, {kind}",
        str(len(runs)),
        *(mean([r for run in runs if (r := run.regret(v)) is not None], 4) for v in BOTH),
        *(_beaten(runs, version) for version in BOTH),
        *(mean(_scores(runs, version, "mae"), 4) for version in BOTH),
        mean([run.rivals["dawid-skene"] for run in runs], 4),
        f"{max(majority):+.4f}" if majority else "–",
    ]


def _beaten(runs: Sequence[Outcome], version: Version) -> str:
    errors = _scores(runs, version, "mae")
    rivals = [run.rivals["algorithm1"] for run in runs]
    return str(sum(error > rival + 0.02 for error, rival in zip(errors, rivals)))
