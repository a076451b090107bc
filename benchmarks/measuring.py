"""Parts shared by the measuring commands: both versions on one campaign, processes, tables."""

from __future__ import annotations

import argparse
import atexit
import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.version_0_1_0 import Data, Old, Result
from forsooth import Answers, Truths, infer, mechanisms
from forsooth.dataset import Dataset
from forsooth.planning.adaptive import adaptive_reports

Array = NDArray[np.float64]
Estimand = Literal["level", "label", "opinion"]
Version = Literal["new", "old"]
Case = TypeVar("Case")
Found = TypeVar("Found")

PLAIN, ADAPTIVE = "plain", "adaptive"  # beside the names of mechanisms
BOTH: tuple[Version, ...] = ("new", "old")
OWN_ENVIRONMENT = "FORSOOTH_OLD_OWN_ENVIRONMENT"  # set by --own-environment; processes inherit it


@dataclass(frozen=True)
class Options:
    """What a command was asked for."""

    seeds: Sequence[int]
    versions: Sequence[Version]
    processes: int
    data_dir: Path | None
    json: Path | None

    def each(self, work: Callable[[Case], Found], cases: Sequence[Case]) -> Iterator[Found]:
        """The results in the order of the cases, on as many processes as were asked for."""
        return each(work, cases, self.processes)


@dataclass(frozen=True)
class Score:
    """How good one inference is, and its seconds of processor time."""

    mae: float
    coverage: float
    seconds: float

    @classmethod
    def of(cls, found: Truths | Result, truth: Array, seconds: float) -> Score:
        """Against the known truths."""
        return cls(found.error(truth), found.coverage(truth), seconds)


@dataclass(frozen=True)
class Run:
    """Both versions on one campaign; a version that was left out is None."""

    setting: str
    seed: int
    new: Score | None
    old: Score | None


@dataclass(frozen=True)
class Campaign:
    """A data set, what its workers run, and the estimand that its requester says."""

    dataset: Dataset
    estimand: Estimand
    mechanism: str
    epsilon: float
    noise: int  # seed

    def reports(self) -> Data:
        """What the collector gets; plain answers for `plain`."""
        answers = self.dataset.answers
        if self.mechanism == PLAIN:
            return answers
        if self.mechanism == ADAPTIVE:
            return adaptive_reports(
                answers, self.epsilon, estimand=self.estimand, simulation_seed=self.noise
            )
        return perturbed(answers, self.mechanism, self.epsilon, self.noise)

    def new(self) -> Score:
        """The code under test."""
        found, seconds = timed(self.reports(), self.estimand)
        return Score.of(found, self.dataset.truth, seconds)

    def old(self) -> Score:
        """Version 0.1.0 on the same reports.

        The second table of an adaptive campaign is designed from what is inferred, so there each
        version runs the whole campaign.
        """
        if self.mechanism == ADAPTIVE:
            found = old_version().adaptive(self.dataset.answers, self.epsilon, self.noise)
        else:
            found = old_version().infer(self.reports())
        return Score.of(found, self.dataset.truth, found.seconds)

    def run(self, setting: str, seed: int, versions: Sequence[Version] = BOTH) -> Run:
        """Every version that is asked for."""
        new = self.new() if "new" in versions else None
        return Run(setting, seed, new, self.old() if "old" in versions else None)


def perturbed(answers: Answers, mechanism: str, epsilon: float, noise: int) -> Data:
    """The simulated reports of a mechanism that is named as on the command line."""
    built = mechanisms.build(mechanism, answers.scale, epsilon, tasks=len(answers.tasks))
    return built.perturb(answers, simulation_seed=noise)


def timed(data: Data, estimand: Estimand) -> tuple[Truths, float]:
    """The inference under test, and its seconds of processor time.

    Processor time leaves out what others do on the machine; cached figures remain comparable.
    """
    start = time.process_time()
    found = infer(data, estimand=estimand)
    return found, time.process_time() - start


@cache
def old_version() -> Old:
    """Version 0.1.0, one process of it for each of ours."""
    old = Old(own_environment=OWN_ENVIRONMENT in os.environ)
    atexit.register(old.close)
    return old


def noise_seed(seed: int, *words: object) -> int:
    """Different for every setting, the same whenever the setting is run again."""
    label = zlib.crc32(" ".join(map(str, words)).encode())
    return int(np.random.SeedSequence([seed, label]).generate_state(1, np.uint64)[0])


# Command lines


def common_options(parser: argparse.ArgumentParser) -> None:
    """What all measuring commands can be asked for."""
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", type=Path, help="also write every run to this file")
    parser.add_argument(
        "--own-environment", action=_Own, nargs=0, help="version 0.1.0 runs with its own packages"
    )


class _Own(argparse.Action):
    """Tell all processes, also those that are started later."""

    def __call__(self, *_: object) -> None:
        os.environ[OWN_ENVIRONMENT] = "1"


# Work on several processes


def each(
    work: Callable[[Case], Found], cases: Sequence[Case], processes: int = 2
) -> Iterator[Found]:
    """The results in the order of the cases; progress goes to standard error."""
    start = time.monotonic()
    for number, found in enumerate(_results(work, cases, processes), 1):
        passed = time.monotonic() - start
        print(f"\r{number} of {len(cases)}, {passed:.0f} s", end="", file=sys.stderr, flush=True)
        yield found
    print(file=sys.stderr)


def _results(
    work: Callable[[Case], Found], cases: Sequence[Case], processes: int
) -> Iterator[Found]:
    if processes == 1:
        yield from map(work, cases)
        return
    with ProcessPoolExecutor(processes, get_context("spawn"), _one_thread) as pool:
        yield from pool.map(work, cases)


def _one_thread() -> None:
    """One process per core: linear algebra must not start threads of its own."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


# Tables


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Markdown on standard output."""
    print(f"| {' | '.join(headings)} |\n|{'---|' * len(headings)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


VERSUS = (
    "setting", "runs", "MAE", "MAE 0.1.0", "difference ± se", "coverage", "coverage 0.1.0",
    "seconds", "seconds 0.1.0",
)  # fmt: skip


def versus(runs: Sequence[Run]) -> list[list[str]]:
    """A line per setting, in the order of the first run of each, both versions side by side."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.setting, []).append(run)
    return [[name, str(len(members)), *_compared(members)] for name, members in groups.items()]


def _compared(runs: Sequence[Run]) -> list[str]:
    new, old = ([getattr(run, version) for run in runs] for version in BOTH)
    differences = [run.new.mae - run.old.mae for run in runs if run.new and run.old]
    return [
        _mean(new, "mae"), _mean(old, "mae"), with_error(differences),
        _mean(new, "coverage"), _mean(old, "coverage"),
        _mean(new, "seconds", 2), _mean(old, "seconds", 2),
    ]  # fmt: skip


def _mean(scores: Sequence[Score | None], name: str, digits: int = 3) -> str:
    return mean([getattr(score, name) for score in scores if score], digits)


def mean(values: Sequence[float] | Array, digits: int = 3) -> str:
    """The mean, or a dash where there is nothing."""
    return f"{np.mean(values):.{digits}f}" if len(values) else "–"


def with_error(values: Sequence[float] | Array, digits: int = 4) -> str:
    """Mean ± standard error."""
    if not len(values):
        return "–"
    if len(values) == 1:
        return f"{values[0]:+.{digits}f}"
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):+.{digits}f} ± {error:.{digits}f}"


def write_json(path: Path | None, runs: Sequence[Any]) -> None:
    """Every single run, for other programs."""
    if path:
        path.write_text(json.dumps([asdict(run) for run in runs], indent=1) + "\n")
