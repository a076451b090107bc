"""How well could anybody do? An inference that knows what no collector knows, on real data.

    python benchmarks/limit.py --data wsd --mechanism grr --epsilon 1,2 [--repeats 20] [--seed 0]

It is told how the truths are distributed and how often each truth is given each answer (counted
from the tasks whose truth is known), and how many cells are answered. With these its posterior
median is the best estimate there is from the counts of the reports. A second one is also told how
every single worker answers. Where participation is public, batches of tasks with the same workers
are seen, and a third one also knows the truths of all other tasks of a task's batch. Printed beside
what `infer` makes of the same reports, as MAE change; they are the reports of `forsooth evaluate`
with the same seed and repeats.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from forsooth import infer
from forsooth.inference.posterior.batches import Batches
from forsooth.inference.posterior.evidence import Evidence, block_of, evidence_of
from forsooth.reports import Reports
from forsooth.study import datasets
from forsooth.study.dataset import Dataset
from forsooth.study.evaluation import Study

Array = NDArray[np.float64]
_LIKE_ALL_TASKS = 2.0  # a batch has so many more truths, spread as those of all tasks
_LIKE_THE_OTHERS = 3.0  # a worker's answers to a truth are so many more, spread as everybody's


def confusions(dataset: Dataset, place: NDArray[np.intp], *, workers: bool) -> Array:
    """P(answer | truth), workers × truths × answers: everybody's, or each of the `workers`' own."""
    answers, size = dataset.answers, dataset.answers.scale.size
    told = ~np.isnan(dataset.truth)[answers.task]
    pairs = place[answers.task[told]], answers.code[told]
    everybody = np.full((size, size), 1e-3)
    np.add.at(everybody, pairs, 1)
    everybody /= everybody.sum(axis=1, keepdims=True)
    counts = np.repeat(_LIKE_THE_OTHERS * everybody[None], len(answers.workers), axis=0)
    if workers:
        np.add.at(counts, (answers.worker[told], *pairs), 1)
    shares: Array = counts / counts.sum(axis=2, keepdims=True)
    return shares


def rates(dataset: Dataset, *, workers: bool) -> Array:
    """The share of tasks that a worker answers: everybody's, or each of the `workers`' own."""
    answers = dataset.answers
    given = np.bincount(answers.worker, minlength=len(answers.workers))
    share = given if workers else np.full(len(given), given.mean())
    return np.clip(share / len(answers.tasks), 1e-6, 1)


def priors(
    place: NDArray[np.intp], known: NDArray[np.bool_], evidence: Evidence, *, batches: bool
) -> Array:
    """P(truth) of every task: as all known ones are, or as the others of its batch."""
    truths = np.eye(evidence.table.shape[0] - evidence.hidden)[place] * known[:, None]
    everywhere = np.tile((truths.sum(axis=0) + 1e-9) / truths.sum(), (len(known), 1))
    found = Batches.of([evidence]) if batches else None
    if found is None:
        return everywhere
    for tasks in np.split(found.task, found.starts[1:]):
        others = truths[tasks].sum(axis=0) - truths[tasks]
        everywhere[tasks] = _LIKE_ALL_TASKS * everywhere[tasks] + others
    return everywhere


def knowing(
    dataset: Dataset, reports: Reports, *, workers: bool = False, batches: bool = False
) -> float:
    """The error of the posterior median that knows the prior, the confusions and the rates."""
    known, values = ~np.isnan(dataset.truth), np.asarray(dataset.answers.scale.values)
    place = np.abs(np.nan_to_num(dataset.truth)[:, None] - values).argmin(axis=1)
    evidence, block = evidence_of(reports), block_of(reports)
    chance = confusions(dataset, place, workers=workers) @ evidence.table[: len(values)]
    if evidence.hidden:
        rate = rates(dataset, workers=workers)[:, None, None]
        chance = rate * chance + (1 - rate) * evidence.table[-1]
    worker, task = block.coordinates()
    logs = np.log(priors(place, known, evidence, batches=batches))
    np.add.at(logs, task, np.log(chance)[worker, :, block.symbol])
    mass = np.exp(logs - logs.max(axis=1, keepdims=True))
    reached = np.cumsum(mass, axis=1) >= mass.sum(axis=1, keepdims=True) / 2
    estimate = values[reached.argmax(axis=1)]
    return float(np.abs(estimate - dataset.truth)[known].mean())


def main() -> None:
    """A line for every ε."""
    parser = argparse.ArgumentParser(description="the limit of inference on real data")
    parser.add_argument("--data", default="wsd", choices=list(datasets.KNOWN))
    parser.add_argument("--mechanism", default="grr")
    parser.add_argument("--epsilon", default="1,2")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    epsilons = tuple(map(float, chosen.epsilon.split(",")))
    study = Study(
        chosen.data, epsilons, (chosen.mechanism,), repeats=chosen.repeats, seed=chosen.seed
    )
    dataset = study.dataset(0)
    original = infer(dataset.answers, "algorithm1").error(dataset.truth)
    errors: dict[float, list[tuple[float, ...]]] = {epsilon: [] for epsilon in epsilons}
    for job in study.jobs():
        (reports,) = job.reports(dataset)
        found = (
            knowing(dataset, reports),
            knowing(dataset, reports, workers=True),
            knowing(dataset, reports, workers=True, batches=True),
            infer(reports).error(dataset.truth),
        )
        errors[job.epsilon].append(found)
    print(
        "Mean ± standard deviation of a run (median)\n\n"
        "| ε | knowing the crowd | and every worker | and every batch | infer, same reports |\n"
        "|---|---|---|---|---|"
    )
    for epsilon, rows in errors.items():
        columns = np.array(rows).T - original
        told = (f"{x.mean():+.3f} ± {x.std():.3f} ({np.median(x):+.3f})" for x in columns)
        print(f"| {epsilon:g} | {' | '.join(told)} |")


if __name__ == "__main__":
    main()
