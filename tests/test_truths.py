"""The columns of a result, by estimand. The results are made by hand."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from forsooth import ForsoothError, Scale, Truths
from forsooth.truths import Difference, Posterior, Shares

WORDS = Scale.parse("never,rarely,often")


def result(estimand: str = "level", scale: Scale = WORDS) -> Truths:
    """Two tasks, one worker; the posterior has mass on the answers only."""
    mass = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    edge = np.zeros(1), np.ones(1)
    shares = Shares(mass, mass - 0.05, mass + 0.05, *(np.full(2, x) for x in (0.5, 0.4, 0.6)))
    posterior = Posterior(
        estimand=estimand,
        grid=np.array(scale.values),
        mass=mass,
        answers=np.eye(3),
        model="auto",
        participation=0.5,
        participation_interval=(0.4, 0.6),
        deviation_interval=edge,
        shares=shares if estimand == "opinion" else None,
        seed=7,
    )
    estimate = mass @ posterior.grid if estimand == "opinion" else np.array([0.0, 2.0])
    return Truths(
        method="posterior",
        scale=scale,
        tasks=("q1", "q2"),
        estimate=estimate,
        low=estimate - 0.1,
        high=estimate + 0.1,
        support=np.array([5, 6]),
        workers=("ann",),
        quality=np.ones(1),
        deviation=np.full(1, 0.5),
        iterations=3,
        converged=True,
        posterior=posterior,
    )


def test_levels_and_labels() -> None:
    assert list(result().columns()) == ["task", "truth", "label", "low", "high", "support"]
    columns = result("label").columns()
    assert list(columns)[-1] == "probability"
    assert columns["probability"].tolist() == [0.7, 0.8]
    assert columns["label"] == ["never", "often"]
    between = replace(result("label"), estimate=np.array([0.9, 1.6]))
    assert between.columns()["probability"].tolist() == [0.2, 0.8]


def test_prediction_sets_are_written() -> None:
    found = replace(result("label"), prediction_sets=(("never",), ("rarely", "often")))
    assert found.columns()["prediction_set"] == ["never", "rarely,often"]


def test_opinions_have_shares_and_no_nearest_label(tmp_path: Path) -> None:
    result("opinion").write(tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        first, second = csv.DictReader(file)
    bounds = ("", "_low", "_high")
    shares = [f"share_{label}{end}" for label in WORDS.labels for end in bounds]
    known = ["task", "truth", "low", "high", "support"]
    assert list(first) == [*known, *shares, *(f"participation{end}" for end in bounds)]
    assert [float(first[f"share_never{end}"]) for end in bounds] == pytest.approx([0.7, 0.65, 0.75])
    assert float(second["share_often"]) == pytest.approx(0.8)
    assert float(second["participation_high"]) == 0.6
    assert float(first["truth"]) == pytest.approx(0.4)


def test_opinions_have_no_worker_quality(tmp_path: Path) -> None:
    assert list(result().worker_columns()) == ["worker", "quality", "deviation", "low", "high"]
    with pytest.raises(ForsoothError, match="careless people cannot be identified"):
        result("opinion").write_workers(tmp_path / "w.csv")
    assert not list(tmp_path.iterdir())


def test_differences_between_groups(tmp_path: Path) -> None:
    differences = (Difference("q1", "a", "b", 0.5, -0.1, 1.1), Difference("q2", "a", "b", 0, -1, 1))
    replace(result("opinion"), differences=differences).write_differences(tmp_path / "d.csv")
    with (tmp_path / "d.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["task", "group", "other", "estimate", "low", "high"]
    assert [(row["task"], row["group"], row["other"]) for row in rows] == [
        ("q1", "a", "b"),
        ("q2", "a", "b"),
    ]
    assert float(rows[0]["high"]) == 1.1
