"""Speed of the classics on a million answers: python benchmarks/classics.py [--json].

2,000 workers, 50,000 tasks, 5 classes, 20 iterations of each method, best of several rounds on one
core. If crowd-kit is installed (forsooth does not need it) its Dawid–Skene runs beside ours.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from forsooth import Scale
from forsooth.cells import Cells
from forsooth.inference.catd import catd
from forsooth.inference.crh import crh
from forsooth.inference.dawid_skene import dawid_skene
from forsooth.inference.estimates import Estimates, Rules
from forsooth.inference.gtm import gtm

ROUNDS, ITERATIONS = 3, 20
WORKERS, TASKS, ANSWERS = 2_000, 50_000, 1_000_000
SCALE = Scale.parse("0..4")
METHODS = {"Dawid–Skene": dawid_skene, "CRH": crh, "CATD": catd, "GTM": gtm}


def best(work: Callable[[], Any], rounds: int = ROUNDS) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def crowd() -> Cells:
    """Workers who know between 40 and 90 % of the truths, and guess the others."""
    random = np.random.default_rng(0)
    cell = np.sort(random.choice(WORKERS * TASKS, ANSWERS, replace=False))
    worker, task = cell // TASKS, cell % TASKS
    truth = random.integers(0, SCALE.size, TASKS)
    knows = random.random(ANSWERS) < random.uniform(0.4, 0.9, WORKERS)[worker]
    value = np.where(knows, truth[task], random.integers(0, SCALE.size, ANSWERS))
    return Cells(WORKERS, TASKS, worker, task, value.astype(np.float64))


def run(method: Callable[..., Estimates], cells: Cells) -> Estimates:
    """Without the stopping rule, so that all do as many iterations."""
    return method(cells, SCALE, Rules(1e-300, ITERATIONS), np.full(cells.tasks, np.nan))


def against_bincount(name: str, method: Callable[..., Estimates], cells: Cells) -> dict[str, Any]:
    """A method's iteration, against reading the cells once with numpy."""
    iterations = len(run(method, cells).history)  # fewer, if nothing moves at all any more
    ours = best(lambda: run(method, cells))
    numpy = best(lambda: np.bincount(cells.task, cells.value, minlength=cells.tasks))
    return {
        "what": f"{name}, {ANSWERS:,} answers, {iterations} iterations",
        "rate": f"{ours:.2f} s",
        "peer": f"one bincount {numpy * 1000:.1f} ms",
        "ratio": numpy * iterations / ours,
        "target": ">= 10 iterations/s",
        "met": iterations / ours >= 10,
    }


def against_crowd_kit(cells: Cells) -> dict[str, Any]:
    ours, theirs = best(lambda: run(dawid_skene, cells)), crowd_kit(cells)
    return {
        "what": f"Dawid–Skene, {ANSWERS:,} answers, {ITERATIONS} iterations, beside crowd-kit",
        "rate": f"{ours:.2f} s",
        "peer": f"crowd-kit {theirs:.1f} s",
        "ratio": theirs / ours,
        "target": ">= 10 × crowd-kit",
        "met": theirs / ours >= 10,
    }


def crowd_kit(cells: Cells) -> float:
    """One round is enough of this one; the negative tolerance keeps it from stopping early."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene  # type: ignore[import-not-found, unused-ignore]

    table = pd.DataFrame({"task": cells.task, "worker": cells.worker, "label": cells.value})
    return best(lambda: DawidSkene(n_iter=ITERATIONS, tol=-np.inf).fit(table), rounds=1)


def main() -> int:
    rows, cells = [], crowd()
    with threadpool_limits(1):
        for name, method in METHODS.items():
            rows.append(against_bincount(name, method, cells))
        if find_spec("crowdkit") is not None:
            rows.append(against_crowd_kit(cells))
        else:
            print("crowd-kit is not installed: no comparison with it", file=sys.stderr)
    if "--json" in sys.argv:
        print(json.dumps({"benchmarks": rows}, indent=2))
    else:
        for row in rows:
            print(
                f"{row['what']}: {row['rate']} ({row['peer']}, ratio {row['ratio']:.2f})"
                f"; target {row['target']}: {'met' if row['met'] else 'MISSED'}"
            )
    return 0 if all(row["met"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
