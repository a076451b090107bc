from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from forsooth import Answers, ForsoothError, Reports, Scale, mechanisms


@pytest.fixture
def path(tmp_path: Path, answers: Answers) -> Path:
    target = tmp_path / "reports.parquet"
    mechanisms.rr(answers.scale, 1.0).perturb(answers, simulation_seed=3).write(target)
    return target


def test_what_the_file_says(path: Path) -> None:
    table = pq.read_table(path)
    assert table.column_names == ["worker", "report"]
    assert table["report"].type == pa.binary(2)  # three symbols of three bits
    metadata = json.loads(table.schema.metadata[b"forsooth"])
    assert metadata["simulation_seed"] == 3
    assert metadata["tasks"] == ["q1", "q2", "q3"]
    assert json.loads(metadata["mechanism"])["name"] == "rr"


def test_nothing_but_reports_reaches_the_file(path: Path) -> None:
    """Metadata: mechanism, tasks, seed, estimand. No counts, no answers."""
    metadata = json.loads(pq.read_metadata(path).metadata[b"forsooth"])
    assert set(metadata) == {"mechanism", "tasks", "simulation_seed", "estimand"}
    assert metadata["estimand"] is None


def test_the_requester_may_state_the_estimand(path: Path, answers: Answers) -> None:
    assert Reports.read(path).estimand is None
    replace(Reports.read(path), estimand="opinion").write(path)
    assert Reports.read(path).estimand == "opinion"
    with pytest.raises(ForsoothError, match="unknown estimand 'mood'; known: level, label, opin"):
        replace(Reports.read(path), estimand="mood")  # type: ignore[arg-type]


def test_files_of_version_0_1_0_state_no_estimand(path: Path) -> None:
    table = pq.read_table(path)
    metadata = json.loads(table.schema.metadata[b"forsooth"])
    del metadata["estimand"]
    pq.write_table(table.replace_schema_metadata({b"forsooth": json.dumps(metadata)}), path)
    assert Reports.read(path).estimand is None


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(path: Path, share: float) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(ForsoothError, match="not a whole reports file"):
        Reports.read(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"worker": ["a"]}), tmp_path / "other.parquet")
    with pytest.raises(ForsoothError, match="is not a reports file of forsooth"):
        Reports.read(tmp_path / "other.parquet")
    (tmp_path / "text.parquet").write_text("task,worker,label\n")
    with pytest.raises(ForsoothError, match="not a whole reports file"):
        Reports.read(tmp_path / "text.parquet")
    with pytest.raises(ForsoothError, match="does not exist"):
        Reports.read(tmp_path / "none.parquet")


def rewritten(path: Path, **columns: pa.Array) -> Path:
    table = pq.read_table(path)
    for name, column in columns.items():
        table = table.set_column(table.column_names.index(name), name, column)
    pq.write_table(table, path)
    return path


def test_an_impossible_symbol_names_worker_and_task(path: Path) -> None:
    report = pa.array([b"\0\0", b"\x30\0", b"\0\0"], pa.binary(2))
    with pytest.raises(ForsoothError, match="worker 'bob' holds a value that rr never.*'q2'"):
        Reports.read(rewritten(path, report=report))


def test_a_report_of_another_length_is_refused(path: Path) -> None:
    report = pa.array([b"\0"] * 3, pa.binary(1))
    with pytest.raises(ForsoothError, match=r"must be fixed_size_binary\[2\]"):
        Reports.read(rewritten(path, report=report))


def test_a_message_in_the_last_bits_is_refused(path: Path) -> None:
    report = pa.array([b"\0\0", b"\0\0", b"\0\x80"], pa.binary(2))
    with pytest.raises(ForsoothError, match="report 3 has bits set after its last value"):
        Reports.read(rewritten(path, report=report))


def test_a_file_from_before_packing_is_refused(path: Path) -> None:
    report = pa.array([b"\0\1\2"] * 3, pa.binary(3))
    with pytest.raises(ForsoothError, match="as an older forsooth wrote them.*Download"):
        Reports.read(rewritten(path, report=report))


def test_files_are_as_small_as_the_symbols(tmp_path: Path) -> None:
    """10,000 × 1,000 symbols of two bits: 2.5 MB, and names."""
    scale, none = Scale.parse("0,1,2"), np.empty(0, np.int32)
    workers, tasks = (tuple(map(str, range(count))) for count in (10_000, 1_000))
    answers = Answers(scale, workers, tasks, none, none, np.empty(0, np.uint8))
    reports = mechanisms.rr(scale, 1.0).perturb(answers, simulation_seed=1)
    reports.write(tmp_path / "r.parquet")
    assert reports.to_arrow()["report"].type == pa.binary(250)
    assert (tmp_path / "r.parquet").stat().st_size < 2_600_000
    assert np.array_equal(Reports.read(tmp_path / "r.parquet").values, reports.values)


def test_public_cells_are_checked(tmp_path: Path, answers: Answers) -> None:
    path = tmp_path / "r.parquet"
    mechanisms.grr(answers.scale, 1.0).perturb(answers).write(path)
    assert np.array_equal(Reports.read(path).answered[1], answers.task)  # type: ignore[index]
    lists = pa.array([[0, 1], [7], [0, 2]], pa.list_(pa.int32()))
    with pytest.raises(ForsoothError, match="outside the campaign's 3 tasks"):
        Reports.read(rewritten(path, tasks=lists))
    short = pa.array([[0], [0], [0, 2]], pa.list_(pa.int32()))
    with pytest.raises(ForsoothError, match="do not match"):
        Reports.read(rewritten(path, tasks=short))


def test_mf_reports_must_be_numbers(tmp_path: Path, answers: Answers) -> None:
    path = tmp_path / "r.parquet"
    mechanisms.mf(answers.scale, 1.0, tasks=3, d=2).perturb(answers).write(path)
    report = pa.array([np.array([np.nan, 1.0]).tobytes()] * 3, pa.binary(16))
    with pytest.raises(ForsoothError, match="worker 'ann' holds a value that mf never sends"):
        Reports.read(rewritten(path, report=report))


def public(tmp_path: Path, answers: Answers, name: str = "grr") -> Path:
    path = tmp_path / "public.parquet"
    mechanism = mechanisms.build(name, answers.scale, 1.0, tasks=3, protects="answers")
    mechanism.perturb(answers).write(path)
    return path


INT32, UINT8 = pa.list_(pa.int32()), pa.list_(pa.uint8())


@pytest.mark.parametrize(
    "columns",
    [
        {"report": pa.array([[256, 0], [0], [0, 0]], pa.list_(pa.int32()))},
        {"report": pa.array([[0.5, 0.0], [0.0], [0.0, 0.0]])},
        {"report": pa.array([[0, None], [0], [0, 0]], UINT8)},
        {"report": pa.array([[0, 0], None, [0, 0]], UINT8)},
        {"report": pa.array([0, 0, 0], pa.uint8())},
        {"report": pa.array([[0, 9], [0], [0, 0]], UINT8)},
        {"tasks": pa.array([[0, 2**32], [0], [0, 2]], pa.list_(pa.int64()))},
        {"tasks": pa.array([[0, -1], [0], [0, 2]], INT32)},
        {"tasks": pa.array([[0, 0], [0], [0, 2]], INT32)},
        {"tasks": pa.array([[1, 0], [0], [0, 2]], INT32)},
        {"tasks": pa.array([0, 0, 0], pa.int32())},
        {"worker": pa.array(["a", "a", "b"])},
        {"worker": pa.array(["a", None, "b"])},
        {"worker": pa.array([1, 2, 3])},
        {"worker": pa.array([["a"], ["b"], ["c"]])},
    ],
    ids=lambda columns: "".join(f"{name}-{column.type}" for name, column in columns.items()),
)
def test_columns_of_a_stranger(
    tmp_path: Path, answers: Answers, columns: dict[str, pa.Array]
) -> None:
    path = rewritten(public(tmp_path, answers), **columns)
    with pytest.raises(ForsoothError, match="public.parquet"):
        Reports.read(path)


@pytest.mark.parametrize(
    "change",
    [
        {"tasks": "abc"},
        {"tasks": {"a": 1}},
        {"tasks": [1, 2, 3]},
        {"tasks": ["a", "a", "b"]},
        {"simulation_seed": "7"},
        {"simulation_seed": -1},
        {"estimand": "mood"},
        {"estimand": 1},
        {"mechanism": {}},
        {"mechanism": "{}"},
    ],
    ids=str,
)
def test_metadata_of_a_stranger(path: Path, change: dict[str, object]) -> None:
    table = pq.read_table(path)
    metadata = json.loads(table.schema.metadata[b"forsooth"]) | change
    for text in (json.dumps(metadata), "[" * 50_000, "null", "{}"):
        pq.write_table(table.replace_schema_metadata({b"forsooth": text}), path)
        with pytest.raises(ForsoothError, match="reports.parquet"):
            Reports.read(path)


def test_rows_in_several_chunks_are_read_whole(tmp_path: Path, answers: Answers) -> None:
    """Row groups, and a slice with an offset."""
    reports = mechanisms.lp(answers.scale, 1.0).perturb(answers)
    reports.write(tmp_path / "r.parquet")
    table = pq.read_table(tmp_path / "r.parquet")
    pq.write_table(table, tmp_path / "r.parquet", row_group_size=1)
    assert np.array_equal(Reports.read(tmp_path / "r.parquet").values, reports.values)


@pytest.mark.parametrize("name", ["rr", "lp", "grr"])
def test_some_rows_of_a_table_are_reports_too(answers: Answers, name: str) -> None:
    """What reading a file row group by row group needs."""
    reports = mechanisms.build(name, answers.scale, 1.0, tasks=3).perturb(answers)
    table = reports.to_arrow()
    parts = [Reports.from_arrow(table.slice(start, 1)) for start in range(len(table))]
    assert [part.workers for part in parts] == [(worker,) for worker in reports.workers]
    assert np.array_equal(np.concatenate([part.values for part in parts]), reports.values)
