"""What large campaigns cost: the pooled posterior of up to a billion cells, and all rounds."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from forsooth import Scale
from forsooth.bench.campaign_files import BenchCampaign, clocked_inference, timed_inference
from forsooth.bench.measure import in_child
from forsooth.bench.rows import Quantity, Row, Target

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from forsooth.bench.setting import BenchSetting
    from forsooth.inference.posterior.options import Model

TWO_BITS, FIVE = Scale.parse("0..2"), Scale.parse("0..4")  # NULL is one symbol more
TASKS = 1_000


def pooled(setting: BenchSetting) -> Iterator[Row]:
    """Reports of two bits from Parquet, ever more of them; each size in a process of its own."""
    largest = setting.size(10**9, 10**6)
    sizes = [largest // 10**power for power in (range(3, -1, -1) if not setting.quick else (1, 0))]
    rows = []
    for cells in sizes:
        rows.append(_pooled(setting, cells, is_largest=cells == largest))
        yield rows[-1]
    last, before = rows[-1], rows[-2]
    for row in rows:
        yield Row(
            f"most memory for {_power(row.details['cells'])} cells",
            Quantity(row.details["peak_memory"], "B"),
            target=Target("ours", 2e9),
        )
    yield Row(
        f"file of {_power(largest)} cells",
        Quantity(last.details["file"], "B"),
        "a byte per cell",
        Quantity(largest, "B"),
        target=Target("ours", 0.275 * largest),
    )
    per_cell, before_that = (
        Quantity(row.details["passes"] / row.details["cells"] * 1e9, "s/Gcell")
        for row in (last, before)
    )
    yield Row(
        f"passes over the file, {_power(largest)} cells",
        per_cell,
        "a tenth of them",
        before_that,
        target=Target("ratio", 0.8),
    )
    yield Row(
        "the rest, which does not grow with the cells",
        Quantity(last.ours.value - last.details["passes"], "s"),
        "a tenth of them",
        Quantity(before.ours.value - before.details["passes"], "s"),
    )
    yield Row(
        f"made up, perturbed and written, {_power(largest)} cells",
        Quantity(largest / last.details["writing"], "cells/s"),
    )


def _pooled(setting: BenchSetting, cells: int, *, is_largest: bool) -> Row:
    path, warm = setting.folder / "reports.parquet", setting.folder / "warm.parquet"
    BenchCampaign(100, TASKS, TWO_BITS).write(warm)
    start = time.perf_counter()
    BenchCampaign(cells // TASKS, TASKS, TWO_BITS).write(path)
    writing = time.perf_counter() - start
    found, peak = in_child(clocked_inference, path, warm, "pooled")
    reading, _ = in_child(_read, path)
    size = path.stat().st_size
    path.unlink()
    return Row(
        f"pooled posterior, {_power(cells)} cells from Parquet",
        Quantity(found["seconds"], "s"),
        "pyarrow, reading the file only",
        Quantity(reading, "s"),
        target=Target("ours", 60) if is_largest else None,
        details={"cells": cells, "peak_memory": peak, "file": size, "writing": writing, **found},
    )


def _read(path: Path) -> float:
    """Seconds in which pyarrow goes through a file."""
    import pyarrow.parquet as pq

    start = time.perf_counter()
    for _ in pq.ParquetFile(path).iter_batches(2**13):
        pass
    return time.perf_counter() - start


def classes(setting: BenchSetting) -> Iterator[Row]:
    """Both models on 10 million cells, until nothing moves."""
    campaign = BenchCampaign(setting.size(10_000, 500), TASKS, FIVE)
    path, warm = setting.folder / "reports.parquet", setting.folder / "warm.parquet"
    BenchCampaign(100, TASKS, FIVE).write(warm)
    campaign.write(path)
    wanted: tuple[tuple[Model, str, float], ...] = (
        ("pooled", "pooled posterior", 2),
        ("auto", "belief propagation", 20),
    )
    size = f"{campaign.workers:,} × {TASKS:,} rr reports"
    for model, what, seconds in wanted:
        found, peak = in_child(timed_inference, path, warm, model)
        ours, details = Quantity(found["seconds"], "s"), {"peak_memory": peak, **found}
        end = "to convergence" if found["converged"] else "NOT converged"
        yield Row(f"{what}, {size}, {end}", ours, target=Target("ours", seconds), details=details)
        yield Row(f"{what}, most memory", Quantity(peak, "B"), target=Target("ours", 1e9))
    path.unlink()


def _power(cells: float) -> str:
    """Readable in a table: 10^9 (all sizes are powers of ten)."""
    return f"10^{len(str(int(cells))) - 1}"
