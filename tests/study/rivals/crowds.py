"""Real data sets of the league, and a small crowd."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from forsooth import Answers, Scale
from forsooth.cells import Cells
from forsooth.dataset import Dataset, read_truth
from forsooth.study.rivals import Aggregated, Annotations


def league_set(data_dir: Path, name: str) -> Dataset:
    """A set of the league; the test is skipped, visibly, if it is not here."""
    folder = data_dir / "league"
    if not (folder / "index.json").is_file():
        pytest.skip(f"{folder} is not here: the data sets of the league are not part of forsooth")
    described = json.loads((folder / "index.json").read_text())[name]
    answers = Answers.read(folder / f"{name}.answers.csv", described["scale"])
    return Dataset(name, answers, read_truth(folder / f"{name}.truth.csv", answers))


def accuracy(found: Aggregated, dataset: Dataset) -> float:
    """The share of tasks with a known truth whose label is right."""
    known = ~np.isnan(dataset.truth)
    return float(np.mean(found.estimate("label")[known] == dataset.truth[known]))


def small() -> Annotations:
    """Twelve workers, 40 tasks, three answers; half of the cells are empty."""
    random = np.random.default_rng(3)
    truth = random.integers(0, 3, 40)
    right = random.random((12, 40)) < random.uniform(0.4, 0.9, 12)[:, None]
    rows = np.where(right, truth, random.integers(0, 3, (12, 40))).astype(float)
    rows[random.random(rows.shape) < 0.5] = np.nan
    return Annotations(Cells.from_rows(rows), Scale.parse("0..2"))
