"""How well could anybody do? An inference that knows what no collector knows, on real data.

    python benchmarks/limit.py --data wsd --mechanism grr --epsilon 1,2 [--repeats 20] [--seed 0]

It is told how the truths are distributed and how often each truth is given each answer (counted
from the tasks whose truth is known), and how many cells are answered. With these its posterior
median is the best estimate there is from the counts of the reports: only telling workers apart
could beat it, and luck. Printed beside what `infer` makes of the same reports, as MAE change.
"""

from __future__ import annotations

import argparse

import numpy as np

from forsooth import infer, mechanisms
from forsooth.inference.posterior.evidence import evidence_of
from forsooth.reports import Reports
from forsooth.study import datasets
from forsooth.study.dataset import Dataset


def knowing(dataset: Dataset, reports: Reports) -> float:
    """The error of the posterior median that knows prior, confusion and participation."""
    answers, known = dataset.answers, ~np.isnan(dataset.truth)
    values = np.asarray(answers.scale.values)
    place = np.abs(np.nan_to_num(dataset.truth)[:, None] - values).argmin(axis=1)
    prior = np.bincount(place[known], minlength=len(values)) + 1e-9
    confusion = np.full((len(values), len(values)), 1e-3)
    told = known[answers.task]
    np.add.at(confusion, (place[answers.task[told]], answers.code[told]), 1)
    confusion /= confusion.sum(axis=1, keepdims=True)
    evidence = evidence_of(reports)
    chance = confusion @ evidence.table[: len(values)]
    if evidence.hidden:
        share = len(answers.code) / (len(answers.workers) * len(answers.tasks))
        chance = share * chance + (1 - share) * evidence.table[-1]
    logs = evidence.per_task @ np.log(chance).T + np.log(prior)
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
    dataset = datasets.load(chosen.data)
    original = infer(dataset.answers, "algorithm1").error(dataset.truth)
    print(
        "| ε | knowing everything: mean ± s.d. of a run | infer, the same reports |\n|---|---|---|"
    )
    for epsilon in map(float, chosen.epsilon.split(",")):
        mechanism = mechanisms.build(
            chosen.mechanism, dataset.answers.scale, epsilon, tasks=len(dataset.answers.tasks)
        )
        limits, ours = [], []
        for seed in range(chosen.seed, chosen.seed + chosen.repeats):
            reports = mechanism.perturb(dataset.answers, simulation_seed=seed)
            limits.append(knowing(dataset, reports) - original)
            ours.append(infer(reports).error(dataset.truth) - original)
        print(
            f"| {epsilon:g} | {np.mean(limits):+.3f} ± {np.std(limits):.3f} "
            f"| {np.mean(ours):+.3f} ± {np.std(ours):.3f} |"
        )


if __name__ == "__main__":
    main()
