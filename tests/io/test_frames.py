"""Everything that people have as a table: the same answers, or an error that says what to pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from forsooth import Answers, ForsoothError

ROWS = [
    {"task": "t1", "worker": "ann", "label": "3"},
    {"task": "t10", "worker": "bob", "label": "1"},
    {"task": "t2", "worker": "ann", "label": "2"},
]
COLUMNS = {name: [row[name] for row in ROWS] for name in ("task", "worker", "label")}
PANDAS = pd.DataFrame(COLUMNS)
WIDE = PANDAS.pivot(index="worker", columns="task", values="label")
EXPECTED = Answers.of({"ann": {"t1": 3, "t2": 2}, "bob": {"t10": 1}}, "0..4")

LONG = {
    "rows": ROWS,
    "columns": COLUMNS,
    "pandas": PANDAS,
    "pandas-numbers": PANDAS.assign(label=[3, 1, 2]),
    "pandas-floats": PANDAS.assign(label=[3.0, 1.0, 2.0]),
    "pandas-category": PANDAS.astype("category"),
    "pandas-index": PANDAS.set_index(["task", "worker"]),
    "pandas-series": PANDAS.set_index(["task", "worker"])["label"],
    "pandas-filtered": pd.concat([PANDAS.assign(label="9"), PANDAS]).iloc[3:].set_axis([7, 8, 9]),
    "polars": pl.DataFrame(COLUMNS),
    "polars-lazy": pl.DataFrame(COLUMNS).lazy(),
    "polars-category": pl.DataFrame(COLUMNS).cast(pl.Categorical),
    "arrow": pa.table(COLUMNS),
    "mixed": [*ROWS[:2], {"task": "t2", "worker": "ann", "label": 2}],
}
WIDES = {
    "pandas": WIDE,
    "pandas-unnamed": WIDE.rename_axis(None),
    "pandas-column": WIDE.reset_index(),
    "pandas-numbers": WIDE.astype(float),
    "polars": pl.from_pandas(WIDE.reset_index()),
}


@pytest.mark.parametrize("source", LONG.values(), ids=LONG)
def test_long_tables(source: Any) -> None:
    assert Answers.of(source, range(5)) == EXPECTED


@pytest.mark.parametrize("source", WIDES.values(), ids=WIDES)
def test_wide_tables(source: Any) -> None:
    answers = Answers.of(source, range(5))
    assert answers == EXPECTED
    assert answers.notices == ("read as a wide table: 3 columns are tasks (t1, t10, t2)",)


def test_a_wide_file(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("worker,t10,t1,t2,t3\nbob,1,,,\nann,,3,2,\ncyd,,,,\n")
    answers = Answers.of(path, "0..4")
    assert answers.tasks == ("t1", "t2", "t3", "t10"), "columns are the list of tasks"
    assert answers.workers == ("ann", "bob", "cyd"), "rows are the list of workers"
    assert answers.size == 3
    path.write_text("worker,t10\nbob,1\nann,7\n")
    with pytest.raises(ForsoothError, match=r"wide.csv, line 3, column 't10' \(read as a wide"):
        Answers.of(path, "0..4")


def test_a_wide_table_of_numbered_tasks_and_of_words() -> None:
    frame = pd.DataFrame({1: ["no", "yes"], 2: ["yes", None]}, index=["b", "a"])
    answers = Answers.of(frame, ["no", "yes"])
    assert answers.tasks == ("1", "2")
    assert answers.rows(0, 2).tolist() == [[1, 2], [0, 1]]


def test_a_table_without_a_known_task_column_is_not_taken_for_a_wide_one() -> None:
    frame = PANDAS.rename(columns={"task": "qid"})
    with pytest.raises(ForsoothError, match="no column 'task' or .*'qid'"):
        Answers.of(frame, "0..4")
    assert Answers.of(frame, "0..4", columns={"task": "qid"}) == EXPECTED


@pytest.mark.parametrize(
    ("name", "library"),
    [("pandas", "pandas"), ("polars", "polars"), ("polars-lazy", "polars"), ("arrow", "pyarrow")],
)
def test_frames_go_back_to_the_library_they_came_from(name: str, library: str) -> None:
    frame = Answers.of(LONG[name], "0..4").to_frame()
    assert type(frame).__module__.split(".")[0] == library
    assert Answers.of(frame, "0..4") == EXPECTED


def test_without_a_library_the_frame_is_pyarrow_unless_another_is_named() -> None:
    assert isinstance(EXPECTED.to_frame(), pa.Table)
    assert isinstance(EXPECTED.to_frame("pandas"), pd.DataFrame)
    assert isinstance(EXPECTED.to_frame("polars"), pl.DataFrame)
    assert len(EXPECTED) == 3
    with pytest.raises(ForsoothError, match="unknown backend 'nope'; known: pandas"):
        EXPECTED.to_frame("nope")
    with pytest.raises(ForsoothError, match="pip install modin"):
        EXPECTED.to_frame("modin")


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (5, "cannot read int: pass a pandas"),
        (None, "cannot read NoneType"),
        (np.zeros((2, 2)), "cannot read ndarray"),
        ([1, 2], "row 1 is int, not a dict such as"),
        ([("a", "b", 1)], "row 1 is tuple"),
        ([], "no column 'worker'"),
        ({}, "no answers"),
        ({"ann": {"q": 1}, "bob": 3}, "worker 'bob' has 3 instead of"),
        ({"task": ["a"], "worker": ["b", "c"], "label": [1]}, "different lengths"),
        ({"task": "a", "worker": "b", "label": 1}, "the column 'task' is str, not a list"),
        ({"ann": {"q": float("nan")}}, "the answer is empty"),
        ({"ann": {"q": None}}, "the answer is empty"),
        ({"ann": {"q": 7}}, "not on the scale"),
        ([*ROWS, {"task": "t1", "worker": "ann", "label": 4}], "two different answers"),
        ([*ROWS, {"task": "t3", "worker": "ann"}], "the answer is empty"),
        (PANDAS.assign(label=np.nan), "row 1: the answer is empty"),
        (pd.Series([1, 2]), "no column 'worker'"),
        (WIDE.reset_index()[["worker"]], "no answers beside it"),
        (WIDE.astype(float) + 7, "column 't1' .read as a wide table"),
        ("nowhere.csv", "does not exist"),
    ],
)
def test_what_cannot_be_read(source: Any, complaint: str) -> None:
    with pytest.raises(ForsoothError, match=complaint):
        Answers.of(source, "0..4")


def test_the_scale_is_public_and_never_taken_from_answers() -> None:
    with pytest.raises(ForsoothError, match="the scale is missing"):
        Answers.of(PANDAS)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"tasks": "t1"}, "tasks is a list of names, not 't1'"),
        ({"workers": 3}, "workers is a list of names, not 3"),
        ({"columns": "label"}, "columns renames roles"),
        ({"columns": {"rating": "label"}}, "unknown role 'rating'; known: task, worker, label"),
        ({"on_conflict": "nope"}, "on_conflict must be one of"),
    ],
)
def test_options_that_are_wrong(options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ForsoothError, match=complaint):
        Answers.of(PANDAS, "0..4", **options)


def test_nested_answers_have_no_columns() -> None:
    with pytest.raises(ForsoothError, match="no columns to rename"):
        Answers.of({"ann": {"q": 1}}, "0..4", columns={"label": "x"})
