"""perturb and infer as a person uses them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.conftest import Command

ANSWERS = "task,worker,label\n" + "".join(
    f"question {j},worker {i},{(i + j) % 5}\n" for i in range(12) for j in range(8) if (i + j) % 3
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text(ANSWERS)
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("mechanism", ["lp", "rr", "grr", "two-step", "two-layer", "mf:d=3"])
def test_a_row_for_every_task(forsooth: Command, table: Path, mechanism: str) -> None:
    done = forsooth(
        "perturb",
        table,
        "--scale",
        "0..4",
        "--epsilon",
        1,
        "--mechanism",
        mechanism,
        "-o",
        "reports.parquet",
    )
    assert done.returncode == 0, done.stderr
    assert "per cell" in done.stdout
    assert "together" in done.stdout
    done = forsooth("infer", "reports.parquet", "-o", "truths.csv", "--workers", "workers.csv")
    assert done.returncode == 0, done.stderr
    truths = rows(table.parent / "truths.csv")
    assert [row["task"] for row in truths] == [f"question {j}" for j in range(8)]
    assert all(float(row["low"]) <= float(row["truth"]) <= float(row["high"]) for row in truths)
    assert len(rows(table.parent / "workers.csv")) == 12


@pytest.mark.parametrize("mechanism", ["lp", "rr", "two-step", "two-layer"])
def test_the_same_with_public_participation(forsooth: Command, table: Path, mechanism: str) -> None:
    done = forsooth(
        "perturb",
        table,
        "--scale",
        "0..4",
        "--epsilon",
        1,
        "--mechanism",
        mechanism,
        "--protects",
        "answers",
        "-o",
        "r.parquet",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["protects"] == "answers"
    done = forsooth("infer", "r.parquet", "--json")
    assert len(json.loads(done.stdout)["truths"]) == 8


def test_a_public_list_of_tasks(forsooth: Command, table: Path) -> None:
    names = table.parent / "tasks.csv"
    names.write_text("task\n" + "".join(f"question {j}\n" for j in reversed(range(10))))
    done = forsooth(
        "perturb",
        table,
        "--scale",
        "0..4",
        "--epsilon",
        3,
        "--tasks",
        names,
        "--protects",
        "answers",
        "-o",
        "r.parquet",
        "--json",
    )
    document = json.loads(done.stdout)
    assert (document["tasks"], document["worker_total"]) == (10, 30)
    done = forsooth("infer", "r.parquet", "-o", "t.csv")
    assert [row["task"] for row in rows(table.parent / "t.csv")][:2] == ["question 9", "question 8"]
    assert "2 task(s) without any answer" in done.stderr


def test_seeds(forsooth: Command, table: Path) -> None:
    common = ("perturb", table, "--scale", "0..4", "--epsilon", 1, "-o")
    for name, extra in (
        ("a", ()),
        ("b", ()),
        ("c", ("--simulation-seed", 7)),
        ("d", ("--simulation-seed", 7)),
    ):
        done = forsooth(*common, f"{name}.parquet", *extra)
        assert ("protect nobody" in done.stderr) == bool(extra)
    read = {name: pq.read_table(table.parent / f"{name}.parquet") for name in "abcd"}
    assert not read["a"].equals(read["b"])
    assert read["c"].equals(read["d"], check_metadata=True)


def test_plain_answers_are_called_what_they_are(forsooth: Command, table: Path) -> None:
    done = forsooth("infer", table, "--scale", "0..4", "--method", "median", "--ties", "low")
    assert done.returncode == 0
    assert "nothing is private" in done.stderr
    assert "question 7" in done.stdout


def test_a_mechanism_from_a_file(forsooth: Command, table: Path) -> None:
    from forsooth import Scale, mechanisms

    chosen = mechanisms.rr(Scale.parse("0..4"), 0.7)
    (table.parent / "m.json").write_text(chosen.to_json())
    done = forsooth("perturb", table, "--mechanism-file", "m.json", "-o", "r.parquet", "--json")
    assert json.loads(done.stdout)["epsilon"] == 0.7


def test_several_files_of_one_campaign(forsooth: Command, tmp_path: Path) -> None:
    header, *lines = ANSWERS.splitlines(keepends=True)
    names = tmp_path / "tasks.csv"
    names.write_text("task\n" + "".join(f"question {j}\n" for j in range(8)))
    for name, mechanism, half in (("a", "rr", lines[:30]), ("b", "lp", lines[40:])):
        (tmp_path / f"{name}.csv").write_text(header + "".join(half))
        forsooth(
            "perturb",
            f"{name}.csv",
            "--scale",
            "0..4",
            "--epsilon",
            2,
            "--mechanism",
            mechanism,
            "--tasks",
            names,
            "-o",
            f"{name}.parquet",
        )
    done = forsooth("infer", "a.parquet", "b.parquet", "--json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["truths"]) == 8


BAD = {
    "missing column": ("task,who,label\nq,a,1\n", (), "Columns found: 'task', 'who', 'label'"),
    "off the scale": (
        "task,worker,label\nq,a,1\nq,b,9\n",
        (),
        "answers.csv, line 3: the answer '9'",
    ),
    "empty": ("task,worker,label\nq,a,\n", (), "line 2: the answer is empty"),
    "contradiction": ("task,worker,label\nq,a,1\nq,a,2\n", (), "--on-conflict last, first or drop"),
    "mechanism": (ANSWERS, ("--mechanism", "magic"), "known: lp, rr, grr"),
    "zero": (ANSWERS, ("--epsilon", "0"), "finite number above 0"),
    "negative": (ANSWERS, ("--epsilon", "-1"), "finite number above 0"),
    "nan": (ANSWERS, ("--epsilon", "nan"), "finite number above 0"),
    "infinite": (ANSWERS, ("--epsilon", "inf"), "finite number above 0"),
    "d": (ANSWERS, ("--mechanism", "mf:d=9"), "d = 9 with 8 tasks"),
    "scale": (ANSWERS, ("--scale", "4..0"), "LOW < HIGH"),
    "protects": (ANSWERS, ("--protects", "all"), "protects must be one of"),
    "mf": (
        ANSWERS,
        ("--mechanism", "mf:d=2", "--protects", "answers+participation"),
        "mf protects",
    ),
    "output": (ANSWERS, ("-o", "nowhere/r.parquet"), "nowhere does not exist"),
    "tasks": (ANSWERS, ("--tasks", "none.csv"), "none.csv does not exist"),
    "conflict rule": (ANSWERS, ("--on-conflict", "best"), "on_conflict must be one of"),
}


@pytest.mark.parametrize(("text", "extra", "complaint"), BAD.values(), ids=BAD)
def test_bad_input_is_one_clear_sentence(
    forsooth: Command, tmp_path: Path, text: str, extra: tuple[str, ...], complaint: str
) -> None:
    (tmp_path / "answers.csv").write_text(text)
    (tmp_path / "r.parquet").write_bytes(b"the old file")
    done = forsooth(
        "perturb", "answers.csv", "--scale", "0..4", "--epsilon", "1", "-o", "r.parquet", *extra
    )
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert (tmp_path / "r.parquet").read_bytes() == b"the old file"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.csv", "r.parquet"]


@pytest.mark.parametrize(
    ("content", "extra", "complaint"),
    [
        (b"", (), "not a whole reports file"),
        (b"PAR1garbagePAR1", (), "not a whole reports file"),
        (None, (), "does not exist"),
        (b"", ("--method", "magic"), "not a whole reports file"),
    ],
)
def test_bad_reports(
    forsooth: Command, tmp_path: Path, content: bytes | None, extra: tuple[str, ...], complaint: str
) -> None:
    if content is not None:
        (tmp_path / "r.parquet").write_bytes(content)
    done = forsooth("infer", "r.parquet", "-o", "t.csv", *extra)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "t.csv").exists()


def test_unknown_method_and_foreign_table(forsooth: Command, table: Path) -> None:
    done = forsooth("infer", table, "--scale", "0..4", "--method", "magic")
    assert done.returncode == 2
    assert "known: algorithm1, mean, median, majority" in done.stderr
    done = forsooth("infer", table)
    assert done.returncode == 2
    assert "give their --scale" in done.stderr
