"""How robust is the posterior? Simulated crowds of many shapes, beside Algorithm 1 and a constant.

    python benchmarks/crowds.py [--crowds 32] [--first 0]

Truths flat, peaked, at an edge, at both ends or continuous; 2 to 101 levels; 3 to 100 answers per
task; workers of unequal diligence, with favourites, biases, thresholds, or against the truth. For
every crowd the plain answers, and `rr` and `grr` reports at several ε. Printed per group: how often
the posterior is more than 0.08 above the best constant (which knows the truths), how often more
than 0.02 above Algorithm 1 on the same reports, the mean differences in ranges of the scale, and
how many truths its 90 % intervals cover where it beats the constant.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forsooth import Answers, Reports, Scale, infer, mechanisms

Random = np.random.Generator
Array = NDArray[np.float64]
EPSILONS = (0.5, 1.0, 2.0, 5.0)
SIZES = ((30, 6), (100, 6), (100, 30), (400, 100), (60, 3))  # workers, answers per task


@dataclass(frozen=True)
class Simulated:
    """A crowd's answers and the truths behind them."""

    family: str
    answers: Answers
    truth: Array


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
    return _simulated(f"{levels} levels", levels, workers, worker, task, answer, truth)


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
    return _simulated("rare yes" if rare else "yes or no", 2, workers, worker, task, answer, truth)


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
    return _simulated("confused", levels, workers, worker, task, answer, truth.astype(float))


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
    )


@dataclass(frozen=True)
class Outcome:
    """Errors in the units of the scale, and the coverage of the intervals."""

    family: str
    channel: str
    width: float  # the range of the scale
    posterior: float
    algorithm1: float
    constant: float
    coverage: float


def outcomes(seed: int) -> list[Outcome]:
    """Every channel on one crowd."""
    crowd, found = simulate(seed), []
    random = np.random.default_rng([8, seed])
    answers, truth = crowd.answers, crowd.truth
    channels: list[tuple[str, str | None, float]] = [("plain", None, 0.0)]
    channels += [(f"{name} {eps:g}", name, eps) for name in ("rr", "grr") for eps in EPSILONS]
    for label, name, epsilon in channels:
        data: Answers | Reports = answers
        if name:
            mechanism = mechanisms.build(name, answers.scale, epsilon, tasks=len(answers.tasks))
            data = mechanism.perturb(answers, simulation_seed=int(random.integers(2**31)))
        truths = infer(data)
        found.append(
            Outcome(
                crowd.family,
                label,
                answers.scale.range,
                truths.error(truth),
                infer(data, "algorithm1").error(truth),
                float(np.abs(truth - np.median(truth)).mean()),
                truths.coverage(truth),
            )
        )
    return found


def main() -> None:
    """Run all crowds on two processes and print one line per group."""
    parser = argparse.ArgumentParser(description="how robust the posterior is")
    parser.add_argument("--crowds", type=int, default=32)
    parser.add_argument("--first", type=int, default=0)
    chosen = parser.parse_args()
    with ProcessPoolExecutor(2) as pool:
        seeds = range(chosen.first, chosen.first + chosen.crowds)
        runs = [outcome for each in pool.map(outcomes, seeds) for outcome in each]
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for run in runs:
        for group in ("all", run.channel, run.family):
            groups[group].append(run)
    print("| group | runs | > constant + 0.08 | > Algorithm 1 + 0.02 | − constant | − Algorithm 1 |"
          " coverage |\n|---|---|---|---|---|---|---|")  # fmt: skip
    for name, members in sorted(groups.items()):
        ours, theirs, constant, width, coverage = (
            np.array([getattr(run, field) for run in members])
            for field in ("posterior", "algorithm1", "constant", "width", "coverage")
        )
        useful = ours < constant - 0.02
        inside = f"{coverage[useful].mean():.2f}" if useful.any() else "–"
        print(
            f"| {name} | {len(members)} | {(ours > constant + 0.08).mean():.0%} "
            f"| {(ours > theirs + 0.02).mean():.0%} | {((ours - constant) / width).mean():+.3f} "
            f"| {((ours - theirs) / width).mean():+.3f} | {inside} |"
        )


if __name__ == "__main__":
    main()
