"""How robust is the posterior? Simulated crowds of many shapes, beside Algorithm 1 and a constant.

    python -m benchmarks.crowds [--crowds 32] [--first 0] [--against-0.1.0] [--json FILE]

Truths flat, peaked, at an edge, at both ends or continuous; 2 to 101 levels; 3 to 100 answers per
task; workers of unequal diligence, with favourites, biases, thresholds, or against the truth. For
every crowd the plain answers, and `rr` and `grr` reports at several ε. Printed per group: the mean
error, how often the posterior is more than 0.02 above Algorithm 1 on the same reports and more than
0.08 above the best constant (which knows the truths), the mean differences to both, how many truths
its 90 % intervals cover, of all runs and of those that beat the constant, and the seconds of an
inference. Errors and differences are in ranges of the scale. With `--against-0.1.0` every figure
has that of version 0.1.0 beside it, on the same reports, and the difference of the mean errors has
its standard error over crowds.

Every family says its estimand, as a requester would:

| family | estimand | because |
|---|---|---|
| levels, ratings, biased | level | a value on an ordered scale, around which workers err |
| two levels with truths 0 and 1, yes or no, rare yes, confused | label | one answer is right |
| films, marks | level | truths are the centres of what people feel, before rounding and clipping |

The mean answer of films and marks, which `opinion` estimates, is another quantity than the centre:
the ends of the scale cut off what people feel (a film of 8 of 9 has the mean answer 7.7).
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import (
    Estimand,
    Score,
    Version,
    common_options,
    each,
    mean,
    old_version,
    perturbed,
    print_table,
    timed,
    with_error,
    write_json,
)  # fmt: skip
from benchmarks.version_0_1_0 import Data
from forsooth import Answers, Scale, infer

Random = np.random.Generator
Array = NDArray[np.float64]
EPSILONS = (0.5, 1.0, 2.0, 5.0)
SIZES = ((30, 6), (100, 6), (100, 30), (400, 100), (60, 3))  # workers, answers per task


@dataclass(frozen=True)
class Simulated:
    """A crowd's answers, the truths behind them, and what the requester says the truth is."""

    family: str
    answers: Answers
    truth: Array
    estimand: Estimand


def simulate(seed: int) -> Simulated:
    """One crowd; half have normal errors, the others are of a kind that real data suggest."""
    random = np.random.default_rng([7, seed])
    special = (ratings, biased, binary, confused, films, marks)
    return special[seed % 12 - 6](random) if seed % 12 >= 6 else plain(random)


def plain(random: Random) -> Simulated:
    """Normal errors of three sizes, a tenth of spammers, sometimes adversaries."""
    levels, tasks = int(random.choice([2, 5, 10, 21])), 150
    workers, per_task = SIZES[random.integers(len(SIZES))]
    against = float(random.choice([0, 0, 0.15]))
    shapes: list[Callable[[], Array]] = [
        lambda: random.integers(0, levels, tasks).astype(float),
        lambda: _mostly(random, 0.8, levels // 2, levels, tasks),
        lambda: _mostly(random, 0.7, 0, levels, tasks),
        lambda: np.where(random.random(tasks) < 0.5, 0.0, levels - 1.0),
        lambda: random.random(tasks) * (levels - 1),
    ]
    truth = shapes[random.integers(len(shapes))]()
    worker, task = _cells(random, workers, tasks, per_task, unequal=bool(random.integers(2)))
    sigma = random.choice([0.3, 0.8, 2.0], workers) * max(1.0, (levels - 1) / 6)
    answer = truth[task] + random.normal(size=len(task)) * sigma[worker]
    kind = random.random(workers)[worker]
    answer = np.where(kind < against, levels - 1 - truth[task], answer)
    spam = (kind >= against) & (kind < against + 0.1)
    answer = np.where(spam, random.integers(0, levels, len(task)), answer)
    yes_or_no = levels == 2 and bool(np.isin(truth, (0, 1)).all())
    estimand: Estimand = "label" if yes_or_no else "level"
    return _simulated(f"{levels} levels", levels, workers, worker, task, answer, truth, estimand)


def ratings(random: Random, workers: int = 38, tasks: int = 300) -> Simulated:
    """A fine scale, from 0 or −100 to 100: many zeros, gains and thresholds of every worker."""
    levels, low = int(random.choice([21, 101])), int(random.choice([-100, 0]))
    small = random.random(tasks) * 6
    strong = np.minimum(100, 6 + random.exponential(25, tasks))
    signed = (random.random(tasks) < 1 / 7) & (low < 0)
    truth = np.where(random.random(tasks) < 0.35, small, strong)
    truth = np.where(signed, random.uniform(-80, 80, tasks), truth)
    worker, task = _cells(random, workers, tasks, 10)
    threshold, gain = random.uniform(0, 30, workers), random.lognormal(0, 0.35, workers)
    answer = truth[task] * gain[worker]
    answer += random.normal(size=len(task)) * random.uniform(8, 25, workers)[worker]
    answer = np.where(np.abs(answer) < threshold[worker], 0, answer)
    answer = np.where(signed[task], answer, np.maximum(answer, 0))
    answer, truth = ((each - low) * (levels - 1) / (100 - low) for each in (answer, truth))
    return _simulated("ratings", levels, workers, worker, task, answer, truth)


def biased(random: Random, levels: int = 5) -> Simulated:
    """Flat truths, six answers per task, biased workers, and a fifth with a favourite answer."""
    workers, tasks = ((300, 500), (177, 2665))[random.integers(2)]
    truth = random.integers(0, levels, tasks).astype(float)
    worker, task = _cells(random, workers, tasks, 6)
    answer = truth[task] + random.normal(0, 0.7, workers)[worker]
    answer += random.normal(size=len(task)) * random.uniform(0.6, 1.6, workers)[worker]
    favourite = random.choice(levels, workers, p=[0.4, 0.2, 0.1, 0.1, 0.2])[worker]
    answer = np.where((random.random(workers) < 0.2)[worker], favourite, answer)
    return _simulated("biased", levels, workers, worker, task, answer, truth)


def binary(random: Random, tasks: int = 500) -> Simulated:
    """Yes or no: either even with twenty answers per task, or rare with three."""
    rare = bool(random.integers(2))
    workers, per_task, share, hit, reject = (
        (176, 3, 0.12, 0.6, 0.93) if rare else (85, 20, 0.5, 0.8, 0.9)
    )
    truth = (random.random(tasks) < share).astype(float)
    worker, task = _cells(random, workers, tasks, per_task)
    chances = [np.clip(random.normal(p, 0.1, workers), 0.1, 0.99) for p in (reject, hit)]
    right = random.random(len(task)) < np.stack(chances)[truth[task].astype(int), worker]
    answer = np.where(right, truth[task], 1 - truth[task])
    family = "rare yes" if rare else "yes or no"
    return _simulated(family, 2, workers, worker, task, answer, truth, "label")


def confused(random: Random, workers: int = 60, tasks: int = 200) -> Simulated:
    """Every worker has a confusion matrix of his own."""
    levels = int(random.choice([3, 4, 5]))
    truth = random.choice(levels, tasks, p=random.dirichlet(np.full(levels, 2.0)))
    worker, task = _cells(random, workers, tasks, 8)
    distance = np.abs(np.subtract.outer(np.arange(levels), np.arange(levels)))
    likely = 0.6 + 3 * np.exp(-distance) + 4 * (distance == 0)
    matrices = np.array([[random.dirichlet(row) for row in likely] for _ in range(workers)])
    chance = np.cumsum(matrices[worker, truth[task]], axis=1)
    answer = (random.random((len(task), 1)) >= chance).sum(axis=1)
    right = truth.astype(float)
    return _simulated("confused", levels, workers, worker, task, answer, right, "label")


def films(random: Random, workers: int = 300, tasks: int = 300) -> Simulated:
    """Ten half stars, of which most people give whole ones only; opinions differ."""
    truth = np.clip(random.normal(6.5, 0.9, tasks), 0, 9)
    worker, task = _cells(random, workers, tasks, int(random.choice([4, 12, 30])))
    felt = truth[task] + random.normal(0, 0.8, workers)[worker] + random.normal(0, 1.6, len(task))
    whole = (random.random(workers) < 0.8)[worker]
    answer = np.where(whole, 2 * np.rint((felt - 1) / 2) + 1, felt)
    return _simulated("films", 10, workers, worker, task, answer, truth)


def marks(random: Random, workers: int = 500, tasks: int = 300) -> Simulated:
    """Five marks, by many people who hardly agree; truths lie between the answers."""
    middle = random.uniform(1, 3)
    truth = np.clip(random.normal(middle, 0.5, tasks), 0, 4)
    worker, task = _cells(random, workers, tasks, int(random.choice([4, 12, 30])))
    felt = truth[task] + random.normal(0, 0.5, workers)[worker] + random.normal(0, 1.1, len(task))
    return _simulated("marks", 5, workers, worker, task, felt, truth)


def _mostly(random: Random, share: float, value: int, levels: int, tasks: int) -> Array:
    others = random.integers(0, levels, tasks)
    return np.where(random.random(tasks) < share, value, others).astype(float)


def _cells(
    random: Random, workers: int, tasks: int, per_task: int, *, unequal: bool = True
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    rate = random.lognormal(0, 1.2, workers) if unequal else np.ones(workers)
    rate = np.clip(rate / rate.sum() * per_task, 0.001, 0.95)
    worker, task = np.nonzero(random.random((workers, tasks)) < rate[:, None])
    return worker, task


def _simulated(
    family: str,
    levels: int,
    workers: int,
    worker: NDArray[np.intp],
    task: NDArray[np.intp],
    answer: NDArray[np.generic],
    truth: Array,
    estimand: Estimand = "level",
) -> Simulated:
    code = np.clip(np.rint(answer.astype(float)), 0, levels - 1).astype(np.uint8)
    return Simulated(
        family,
        Answers(
            Scale.parse(f"0..{levels - 1}"),
            tuple(f"w{index:05}" for index in range(workers)),
            tuple(f"t{index:05}" for index in range(len(truth))),
            worker.astype(np.int32),
            task.astype(np.int32),
            code,
        ),
        truth,
        estimand,
    )


@dataclass(frozen=True)
class Outcome:
    """Errors in the units of the scale; a version that was left out is None."""

    seed: int
    family: str
    channel: str
    width: float  # the range of the scale
    new: Score | None
    old: Score | None
    algorithm1: float
    constant: float


@dataclass(frozen=True)
class Channel:
    """One crowd's reports through one channel, or its plain answers."""

    name: str
    data: Data


def channels(seed: int, answers: Answers) -> list[Channel]:
    """The plain answers and the reports of every mechanism and ε."""
    random = np.random.default_rng([8, seed])
    found = [Channel("plain", answers)]
    for name in ("rr", "grr"):
        for epsilon in EPSILONS:
            data = perturbed(answers, name, epsilon, int(random.integers(2**31)))
            found.append(Channel(f"{name} {epsilon:g}", data))
    return found


def outcomes(seed: int, versions: Sequence[Version] = ("new",)) -> list[Outcome]:
    """Every channel on one crowd."""
    crowd = simulate(seed)
    return [
        Outcome(
            seed,
            crowd.family,
            channel.name,
            crowd.answers.scale.range,
            _new(channel.data, crowd) if "new" in versions else None,
            _old(channel.data, crowd) if "old" in versions else None,
            infer(channel.data, "algorithm1").error(crowd.truth),
            float(np.abs(crowd.truth - np.median(crowd.truth)).mean()),
        )
        for channel in channels(seed, crowd.answers)
    ]


def _new(data: Data, crowd: Simulated) -> Score:
    found, seconds = timed(data, crowd.estimand)
    return Score.of(found, crowd.truth, seconds)


def _old(data: Data, crowd: Simulated) -> Score:
    found = old_version().infer(data)
    return Score.of(found, crowd.truth, found.seconds)


HEADINGS = (
    "group", "runs", "MAE/range", "difference ± se", "> Algorithm 1 + 0.02", "> constant + 0.08",
    "− Algorithm 1", "− constant", "coverage", "where useful", "seconds",
)  # fmt: skip


def line(name: str, runs: Sequence[Outcome], versions: Sequence[Version]) -> list[str]:
    """A group's figures; those of several versions stand side by side."""
    columns = zip(*(_figures(runs, version) for version in versions))
    error, *others = (" / ".join(figures) for figures in columns)
    return [name, str(len(runs)), error, _difference(runs), *others]


def _figures(runs: Sequence[Outcome], version: Version) -> list[str]:
    scores: list[Score] = [getattr(run, version) for run in runs]
    ours, coverage, seconds = (
        np.array([getattr(score, field) for score in scores])
        for field in ("mae", "coverage", "seconds")
    )
    rival, constant, width = (
        np.array([getattr(run, field) for run in runs])
        for field in ("algorithm1", "constant", "width")
    )
    useful = ours < constant - 0.02
    return [
        mean(ours / width, 4),
        f"{(ours > rival + 0.02).mean():.1%}",
        f"{(ours > constant + 0.08).mean():.1%}",
        f"{((ours - rival) / width).mean():+.3f}",
        f"{((ours - constant) / width).mean():+.3f}",
        mean(coverage),
        mean(coverage[useful]),
        mean(seconds, 2),
    ]


def _difference(runs: Sequence[Outcome]) -> str:
    """Mean error against version 0.1.0; the runs of one crowd are not independent."""
    crowds: dict[int, list[float]] = defaultdict(list)
    for run in runs:
        if run.new and run.old:
            crowds[run.seed].append((run.new.mae - run.old.mae) / run.width)
    return with_error([float(np.mean(differences)) for differences in crowds.values()])


def report(runs: Sequence[Outcome], versions: Sequence[Version]) -> None:
    """One line per group."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for run in runs:
        for group in ("all", run.channel, run.family):
            groups[group].append(run)
    if len(versions) > 1:
        print("Figures are those of this code / of version 0.1.0.\n")
    print_table(HEADINGS, (line(name, groups[name], versions) for name in sorted(groups)))


def measure(
    seeds: Sequence[int], versions: Sequence[Version], processes: int, path: Path | None = None
) -> list[Outcome]:
    """Every channel of all crowds."""
    runs: list[Outcome] = []
    for found in each(partial(outcomes, versions=versions), seeds, processes):
        runs += found
        write_json(path, runs)
    return runs


def main() -> None:
    """Run all crowds and print one line per group."""
    parser = argparse.ArgumentParser(description="how robust the posterior is")
    parser.add_argument("--crowds", type=int, default=32)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--against-0.1.0", dest="against", action="store_true")
    common_options(parser)
    chosen = parser.parse_args()
    versions: list[Version] = ["new", "old"] if chosen.against else ["new"]
    seeds = range(chosen.first, chosen.first + chosen.crowds)
    report(measure(seeds, versions, chosen.processes, chosen.json), versions)


if __name__ == "__main__":
    main()
