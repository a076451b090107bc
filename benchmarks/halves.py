"""Truths for any table of real ratings: what one half of the raters says on average.

    python -m benchmarks.halves ratings.csv --scale 1..10 [--per-task 12] [--seed 1] -o DIR
    forsooth evaluate --data DIR/answers.csv --truth-file DIR/truth.csv --scale 1..10 …

Ratings have no gold. But if each of many tasks was rated by very many, the mean of a random half of
the raters is nearly the truth, and a few answers per task from the other half are a real crowd: its
likings, its opinions and its diligence are nobody's model.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from forsooth import Answers, Scale

_ENOUGH = 60  # ratings of a task, so that half of them have a mean


def halves(ratings: Answers, per_task: float, tasks: int, seed: int) -> tuple[pa.Table, pa.Table]:
    """The answers of a crowd, about so many per task, and the truths."""
    random = np.random.default_rng(seed)
    rated = np.bincount(ratings.task, minlength=len(ratings.tasks))
    often = np.flatnonzero(rated >= _ENOUGH)
    chosen = random.choice(often, min(tasks, len(often)), replace=False)
    judges = random.random(len(ratings.workers)) < 0.5
    kept, judged = np.isin(ratings.task, chosen), judges[ratings.worker]
    value = np.asarray(ratings.scale.values)[ratings.code]
    number, total = (
        np.bincount(ratings.task[kept & judged], weights, len(ratings.tasks))
        for weights in (None, value[kept & judged])
    )
    by_others = np.bincount(ratings.task[kept & ~judged], minlength=len(ratings.tasks))
    share = per_task / np.maximum(by_others, 1)
    asked = kept & ~judged & (random.random(ratings.size) < share[ratings.task])
    told = np.flatnonzero((number > 0) & np.isin(np.arange(len(number)), ratings.task[asked]))
    asked &= np.isin(ratings.task, told)
    truth = {"task": np.array(ratings.tasks)[told], "truth": total[told] / number[told]}
    return ratings.to_arrow().filter(pa.array(asked)), pa.table(truth)


def main() -> None:
    """Write both tables."""
    parser = argparse.ArgumentParser(description="truths for a table of ratings")
    parser.add_argument("ratings", type=Path)
    parser.add_argument("--scale", required=True)
    parser.add_argument("--per-task", type=float, default=12.0)
    parser.add_argument("--tasks", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    ratings = Answers.read(given.ratings, Scale.parse(given.scale), on_conflict="drop")
    answers, truth = halves(ratings, given.per_task, given.tasks, given.seed)
    given.output.mkdir(parents=True, exist_ok=True)
    csv.write_csv(answers, given.output / "answers.csv")
    csv.write_csv(truth, given.output / "truth.csv")
    print(f"{len(truth)} tasks, {len(answers)} answers: {given.output}")


if __name__ == "__main__":
    main()
