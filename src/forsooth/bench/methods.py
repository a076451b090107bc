"""What inference from answers in memory costs: a pass over all of them, and Dawid–Skene."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth import Scale
from forsooth.bench.crowds import known
from forsooth.bench.measure import race
from forsooth.bench.rows import Quantity, Row, Target
from forsooth.inference.algorithm1 import algorithm1
from forsooth.inference.catd import catd
from forsooth.inference.crh import crh
from forsooth.inference.dawid_skene import dawid_skene
from forsooth.inference.estimates import Estimates, Rules
from forsooth.inference.gtm import gtm
from forsooth.inference.reweighting import sweep_over

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from forsooth.bench.setting import BenchSetting
    from forsooth.cells import Cells

SCALE, ITERATIONS = Scale.parse("0..4"), 20
_WORKERS, _TASKS, _ANSWERS = 2_000, 50_000, 1_000_000
_SHORT = 20  # how many times smaller everything is if quick


def passes(setting: BenchSetting) -> Iterator[Row]:
    """One pass over 20 million answers, against two ways of reading them once with numpy."""
    answers = setting.size(20_000_000, 200_000)
    cells = known(answers // 1_000, 10_000, answers, SCALE).cells
    importance, floor = np.sqrt(cells.per_worker()), 1e-9
    truth = np.full(cells.tasks, SCALE.middle)
    root = sweep_over(cells, importance, floor, "root")
    log = sweep_over(cells, importance, floor, "log")
    of_root, of_log, summed, counted = (
        Quantity(seconds, "s")
        for seconds in race(
            lambda: root(truth),
            lambda: log(truth),
            lambda: (cells.worker.sum(), cells.task.sum(), cells.value.sum()),
            lambda: np.bincount(cells.task, cells.value, minlength=cells.tasks),
            rounds=setting.size(10, 3),
        )
    )
    for name, ours in (("Algorithm 1", of_root), ("CATD", of_log)):
        what = f"{name}, one pass over {cells.value.size / 1e6:.3g}M answers"
        half = Target("ratio", 0.5)
        yield Row(what, ours, "numpy, worker, task and value summed", summed, target=half)
        yield Row(what, ours, "numpy, bincount by task", counted, target=half)


def iterations(setting: BenchSetting) -> Iterator[Row]:
    """20 iterations of each of the classics on a million answers."""
    cells = known(*_sizes(setting), SCALE).cells
    methods = {"Algorithm 1": algorithm1, "CRH": crh, "CATD": catd, "GTM": gtm}
    for name, method in methods.items():
        done = len(_run(method, cells).history)  # fewer, if nothing moves at all any more
        ours, numpy = race(
            lambda method=method: _run(method, cells),  # type: ignore[misc]
            lambda: np.bincount(cells.task, cells.value, minlength=cells.tasks),
            rounds=3,
        )
        yield Row(
            f"{name}, {cells.value.size / 1e6:.2g}M answers, {done} iterations",
            Quantity(done / ours, "iterations/s"),
            "numpy, bincounts by task",
            Quantity(1 / numpy, "iterations/s"),
            target=Target("ours", 10),
        )


def dawid_skene_beside_crowd_kit(setting: BenchSetting) -> Iterator[Row]:
    """20 iterations on a million answers, and how many truths are found."""
    crowd = known(*_sizes(setting), SCALE)
    cells = crowd.cells
    (seconds,) = race(lambda: _run(dawid_skene, cells), rounds=3)
    right = float((_run(dawid_skene, cells).truth == crowd.truth).mean())
    path = setting.folder / "answers.npz"
    np.savez(path, task=cells.task, worker=cells.worker, label=cells.value, truth=crowd.truth)
    found = setting.peers.measure("crowd-kit", table=str(path), iterations=ITERATIONS)
    path.unlink()
    what = f"Dawid–Skene, {cells.value.size / 1e6:.2g}M answers, {ITERATIONS} iterations"
    yield found.row(what, Quantity(seconds, "s"), "seconds", Target("ratio", 20))
    yield found.row(
        f"{what}: truths found", Quantity(right, ""), "accuracy", Target("ratio", 0.999)
    )


def _sizes(setting: BenchSetting) -> tuple[int, int, int]:
    smaller = setting.size(1, _SHORT)
    return _WORKERS // smaller, _TASKS // smaller, _ANSWERS // smaller


def _run(method: Callable[..., Estimates], cells: Cells) -> Estimates:
    """Without the stopping rule, so that all do as many iterations."""
    return method(cells, SCALE, Rules(1e-300, ITERATIONS), np.full(cells.tasks, np.nan))
