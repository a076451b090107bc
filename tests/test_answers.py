from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forsooth import Answers, ForsoothError, Scale

identifiers = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=8
).filter(lambda text: bool(text.strip()))
tables = st.dictionaries(
    identifiers, st.dictionaries(identifiers, st.integers(0, 4), min_size=1), min_size=1
)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_cells_in_order_of_worker_and_task(answers: Answers) -> None:
    assert answers.workers == ("ann", "bob", "cyd")
    assert answers.tasks == ("q1", "q2", "q3")
    null = answers.scale.null
    assert answers.rows(0, 3).tolist() == [[0, 4, null], [1, null, null], [0, null, 3]]


def test_order_does_not_tell_who_answered_first() -> None:
    """The order of rows in a file follows who answered what; the order of ids must not."""
    long = pa.table({"worker": list("bab"), "task": list("zyx"), "label": [1, 2, 3]})
    answers = Answers.read(long, "0..4")
    assert answers.workers == ("a", "b")
    assert answers.tasks == ("x", "y", "z")
    assert answers == Answers.read(long.take([2, 1, 0]), "0..4")


@settings(max_examples=60, deadline=None)
@given(rows=tables, ending=st.sampled_from(["csv", "tsv", "parquet", "csv.gz"]))
def test_every_table_survives_being_written(
    tmp_path_factory: pytest.TempPathFactory, rows: dict[str, dict[str, int]], ending: str
) -> None:
    answers = Answers.of(rows, "0..4")
    path = tmp_path_factory.mktemp("tables") / f"answers.{ending}"
    answers.write(path)
    assert Answers.read(path, "0..4") == answers


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"]
)
def test_any_dataframe(make: type) -> None:
    frame = make({"item": [7, 7, 8], "annotator": ["b", "a", "a"], "response": [1, 2, 3]})
    answers = Answers.read(frame, "1..5")
    assert answers.tasks == ("7", "8")
    assert answers.rows(0, 2).tolist() == [[1, 2], [0, 5]]
    assert answers.to_arrow().to_pydict()["label"] == ["2", "3", "1"]


def test_gzip_semicolons_byte_order_mark_and_leading_zeros(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv.gz"
    path.write_bytes(gzip.compress("\ufefftask;worker;label\n007;a;1\n".encode()))
    answers = Answers.read(path, "0..4")
    assert answers.tasks == ("007",)
    assert answers.size == 1


def test_a_public_list_of_tasks_and_workers() -> None:
    long = pa.table({"worker": ["b"], "task": ["q2"], "label": [1]})
    answers = Answers.read(long, "0..4", tasks=["q3", "q2", "q1"], workers=["a", "b"])
    assert answers.rows(0, 2).tolist() == [[5, 5, 5], [5, 1, 5]]
    with pytest.raises(ForsoothError, match="row 1: task 'q2' is not in the campaign's list"):
        Answers.read(long, "0..4", tasks=["q1"])
    with pytest.raises(ForsoothError, match="names 'q1' twice"):
        Answers.read(long, "0..4", tasks=["q1", "q1"])


def test_a_worker_without_answers_is_still_a_worker() -> None:
    answers = Answers.of({"ann": {}}, "0..4", tasks=["q1"])
    assert answers.rows(0, 1).tolist() == [[5]]


def test_missing_column_names_those_found(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "task,person,label\nq,a,1\n")
    with pytest.raises(ForsoothError, match="no column 'worker' or 'annotator'.*'person'"):
        Answers.read(path, "0..4")
    assert Answers.read(path, "0..4", columns={"worker": "person"}).workers == ("a",)


@pytest.mark.parametrize("value", ["9", "-1", "1.5", "x", "inf"])
def test_off_the_scale_names_file_line_and_value(tmp_path: Path, value: str) -> None:
    text = f'task,worker,label\n"q\n1",a,1\n\nq2,a,{value}\n'
    path = write(tmp_path / "a.csv", text)
    with pytest.raises(ForsoothError, match=rf"a\.csv, line 5: the answer '{value}' is not on the"):
        Answers.read(path, "0..4")


@pytest.mark.parametrize("value", ["", "NaN", "None", "null", "  "])
def test_an_empty_answer_is_refused(tmp_path: Path, value: str) -> None:
    path = write(tmp_path / "a.csv", f"task,worker,label\nq1,a,1\nq2,a,{value}\n")
    with pytest.raises(ForsoothError, match="line 3: the answer is empty.*leave the row out"):
        Answers.read(path, "0..4")


@pytest.mark.parametrize("labels", [[1.0, float("nan")], [1, None]])
def test_nan_and_none_in_a_dataframe(labels: list[float | None]) -> None:
    frame = pl.DataFrame({"task": ["a", "b"], "worker": ["w", "w"], "label": labels})
    with pytest.raises(ForsoothError, match="row 2: the answer is empty"):
        Answers.read(frame, "0..4")


def test_a_missing_identifier(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "task,worker,label\nq1,a,1\nq1,,1\n")
    with pytest.raises(ForsoothError, match="line 3: the worker is missing"):
        Answers.read(path, "0..4")


def test_repeats_are_merged_and_said() -> None:
    long = pa.table({"worker": ["a"] * 3, "task": ["q"] * 3, "label": [1, 1, 1]})
    answers = Answers.read(long, "0..4")
    assert answers.size == 1
    assert answers.notices == ("2 repeated (worker, task) rows were merged",)


def test_contradictions(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "task,worker,label\nq,a,1\nr,a,2\nq,a,3\nq,a,1\n")
    with pytest.raises(ForsoothError) as error:
        Answers.read(path, "0..4")
    assert "worker 'a', task 'q': two different answers" in str(error.value)
    assert "line 2) and '3' (" in str(error.value)
    assert "line 4)" in str(error.value)


def test_last_and_first_differ_where_they_should() -> None:
    long = pa.table({"worker": ["a", "a"], "task": ["q", "q"], "label": [1, 3]})
    assert Answers.read(long, "0..4", on_conflict="last").code.tolist() == [3]
    assert Answers.read(long, "0..4", on_conflict="first").code.tolist() == [1]
    assert Answers.read(long, "0..4", on_conflict="drop").code.tolist() == []


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("none.csv", None, "does not exist"),
        ("empty.csv", b"", "is empty"),
        ("bad.parquet", b"PAR1 not really", "cannot be read"),
        ("bad.csv.gz", b"not gzip", "cannot be read"),
        ("latin.csv", "task,worker,label\nq,jos\u00e9,1\n".encode("latin-1"), "cannot be read"),
        (
            "torn.csv",
            b"task,worker,label\nq,a,1\n\nq,b\n",
            "line 4: 2 fields instead of 3",
        ),
    ],
)
def test_files_that_cannot_be_read(
    tmp_path: Path, name: str, content: bytes | None, complaint: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ForsoothError, match=complaint):
        Answers.read(path, "0..4")


def test_mirroring_twice_is_nothing(answers: Answers) -> None:
    assert answers.mirrored().rows(0, 1).tolist() == [[4, 0, 5]]
    assert answers.mirrored().mirrored() == answers
    with pytest.raises(ForsoothError, match="cannot be mirrored"):
        Answers.of({"a": {"q": 0}}, "0,1,100").mirrored()


def test_many_answers_need_no_loop() -> None:
    """Two million rows in a moment; a Python loop per row would take minutes."""
    size = 2_000_000
    random = np.random.default_rng(0)
    cell = random.permutation(size)
    long = pa.table(
        {
            "worker": pa.array(cell // 500).cast(pa.string()),
            "task": pa.array(cell % 500).cast(pa.string()),
            "label": pa.array(random.integers(0, 10, size)),
        }
    )
    answers = Answers.read(long, Scale.parse("0..9"))
    assert answers.size == size
    assert (len(answers.workers), len(answers.tasks)) == (4000, 500)
