from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forsooth import Answers, infer
from forsooth.io import tables
from forsooth.natural import natural_key, naturally, reading_order, rounded


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


NAMES = st.lists(st.text("a01289-é²", max_size=6))


@pytest.mark.parametrize(
    "ordered",
    [
        ["t1", "t2", "t10"],
        ["q1", "q1b", "q2", "q10"],
        ["9", "10", "101", "x"],
        ["t10", "t12", "t101"],
        ["7", "07", "007"][::-1],
        ["a1-2", "a1-10", "a2-1"],
        ["1" * 5000, "2" * 5000],
        ["t1", "t2", "t10", "t10a", "t10b2", "t10b10", "u", "ä1"],
        ["9", "10", "a1", "b"],
        ["t001", "t01", "t1"],
    ],
    ids=lambda names: names[0][:8],
)
def test_natural_order(ordered: list[str]) -> None:
    assert naturally(ordered[::-1]) == ordered
    assert naturally(reversed(ordered)) == ordered


@given(NAMES)
def test_both_ways_give_the_same_order_whatever_the_order_before(names: list[str]) -> None:
    expected = sorted(names, key=natural_key)
    assert naturally(names) == naturally(names[::-1]) == expected
    assert sorted(expected) == sorted(names)


@given(st.lists(st.integers(0, 10**12)))
def test_numbered_names_are_in_the_order_of_their_numbers(numbers: list[int]) -> None:
    assert naturally(f"w{n}" for n in numbers) == [f"w{n}" for n in sorted(numbers)]


def test_a_million_names_in_a_moment() -> None:
    names = [f"worker {i}" for i in range(10**6)]
    start = time.process_time()
    assert naturally(names[::-1]) == names
    assert time.process_time() - start < 5


def test_answers_and_results_are_in_natural_order(tmp_path: Path) -> None:
    rows = {f"w{i}": {f"t{j}": (i + j) % 5 for j in range(12)} for i in range(12)}
    answers = Answers.of(rows, "0..4")
    assert answers.tasks[:3] == ("t0", "t1", "t2")
    assert answers.workers[-2:] == ("w10", "w11")
    infer(answers, "mean").write(tmp_path / "truths.csv")
    assert [row["task"] for row in read(tmp_path / "truths.csv")[:3]] == ["t0", "t1", "t2"]


def test_an_order_that_somebody_gave_stays() -> None:
    assert reading_order(["t1", "t10", "t2"]) == [0, 2, 1]
    assert reading_order(["t2", "t1", "t10"]) == [0, 1, 2]
    assert reading_order([]) == []


def test_a_list_of_tasks_keeps_its_order() -> None:
    answers = Answers.of({"a": {"t2": 1}}, "0..4", tasks=["t10", "t2"])
    assert answers.tasks == ("t10", "t2")


def test_numbers_in_text_files_are_rounded_and_parquet_keeps_them(tmp_path: Path) -> None:
    columns: dict[str, Any] = {"task": ["a", "b"], "truth": np.array([7 / 3, np.nan]), "n": [1, 2]}
    tables.write(columns, tmp_path / "t.csv")
    assert [row["truth"] for row in read(tmp_path / "t.csv")] == ["2.33333", ""]
    assert [row["n"] for row in read(tmp_path / "t.csv")] == ["1", "2"]
    tables.write(columns, tmp_path / "t.parquet")
    assert pq.read_table(tmp_path / "t.parquet")["truth"].to_pylist() == [7 / 3, None]


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([1 / 3, -1e-17], [0.333333, 0]),
        ([1 / 3e5, 1e-6], [3.33333e-06, 1e-06]),
        ([123456789.4], [123457000]),
        ([0.0, -0.0], [0, 0]),
        ([], []),
    ],
)
def test_rounding_is_by_column(column: list[float], expected: list[float]) -> None:
    assert rounded(np.array(column)).tolist() == expected


def test_what_is_not_finite_stays() -> None:
    assert np.isnan(rounded(np.array([np.nan, 1.0]))[0])
    assert rounded(np.array([np.inf, 1 / 3])).tolist() == [np.inf, 0.333333]
    assert np.isnan(rounded(np.array([np.nan]))).all()
