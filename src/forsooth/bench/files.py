"""What reading and writing cost: a large CSV, and symbols of two bits."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from forsooth import Answers, Scale
from forsooth.bench.crowds import table
from forsooth.bench.measure import race
from forsooth.bench.rows import Quantity, Row, Target
from forsooth.io import packing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from forsooth.bench.setting import BenchSetting


def loading(setting: BenchSetting) -> Iterator[Row]:
    """Millions of answers from CSV, against pyarrow's bare reading of the file."""
    import pyarrow.csv

    answers = table(setting.size(100_000, 1_000), 1_000, Scale.parse("0..9"))
    path = setting.folder / "answers.csv"
    answers.write(path)
    ours, arrow = race(
        lambda: Answers.read(path, "0..9"),
        lambda: pyarrow.csv.read_csv(path),
        rounds=3,
        clock=time.perf_counter,  # pyarrow reads with all cores
    )
    path.unlink()
    yield Row(
        f"Answers.read, {answers.size / 1e6:.2g}M rows of CSV",
        Quantity(ours, "s"),
        "pyarrow, the strings only",
        Quantity(arrow, "s"),
        target=Target("ours", 20),
    )


def packed(setting: BenchSetting) -> Iterator[Row]:
    """Symbols of two bits to bytes and back, against copying a byte each."""
    values = np.random.default_rng(0).integers(0, 4, (1_000, 1_000), np.uint8)
    bits = packing.pack(values, 2)
    there, back, copied = (
        Quantity(values.size / seconds, "symbols/s")
        for seconds in race(
            lambda: packing.pack(values, 2),
            lambda: packing.unpack(bits, 1_000, 2, values.dtype),
            values.copy,
            rounds=setting.rounds,
        )
    )
    target = Target("ours", 500e6)
    yield Row("symbols of two bits, packed", there, "numpy copy", copied, target=target)
    yield Row("symbols of two bits, unpacked", back, "numpy copy", copied, target=target)
