"""perturb and infer as a person uses them."""

from __future__ import annotations

import csv
import json
import os
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
    done = forsooth(
        "infer", "reports.parquet", "-o", "truths.csv", "--worker-output", "workers.csv"
    )
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
        "--task-list",
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
    assert "2 tasks without any answer" in done.stderr


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
            "--task-list",
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
    "tasks": (ANSWERS, ("--task-list", "none.csv"), "none.csv does not exist"),
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
    assert "known: posterior, algorithm1, mean, median, majority" in done.stderr
    done = forsooth("infer", table)
    assert done.returncode == 2
    assert "give their --scale" in done.stderr


def test_a_public_list_of_workers_hides_who_answered_nothing(
    forsooth: Command, tmp_path: Path
) -> None:
    """The neighbour without any answer has a report too: the same workers, the same shape."""
    (tmp_path / "workers.csv").write_text("worker\na\nb\n")
    (tmp_path / "tasks.csv").write_text("task\nq1\nq2\n")
    lists = ("--task-list", "tasks.csv", "--worker-list", "workers.csv")
    for name, rows_ in (("one", "q1,a,1\nq1,b,0\n"), ("none", "q1,a,1\n")):
        (tmp_path / f"{name}.csv").write_text(f"task,worker,label\n{rows_}")
        done = forsooth(
            "perturb",
            f"{name}.csv",
            "--scale",
            "0..4",
            "--epsilon",
            1,
            *lists,
            "-o",
            f"{name}.parquet",
        )
        assert "2 reports on 2 tasks" in done.stdout
        assert "note" not in done.stderr
    one, none = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("one", "none"))
    assert one.schema.equals(none.schema, check_metadata=True)
    assert one["worker"].equals(none["worker"])
    done = forsooth("perturb", "one.csv", "--scale", "0..4", "--epsilon", 1, "-o", "r.parquet")
    assert "--task-list FILE" in done.stderr
    assert "--worker-list FILE" in done.stderr


def test_no_file_is_eaten(forsooth: Command, table: Path) -> None:
    before = table.read_bytes()
    done = forsooth("perturb", table, "--scale", "0..4", "--epsilon", 1, "-o", table)
    assert done.returncode == 2
    assert "given twice" in done.stderr
    assert table.read_bytes() == before
    done = forsooth("infer", table, "--scale", "0..4", "-o", "t.csv", "--worker-output", "t.csv")
    assert done.returncode == 2
    assert not (table.parent / "t.csv").exists()


def test_links_are_followed_and_devices_refused(forsooth: Command, table: Path) -> None:
    target, link = table.parent / "target.csv", table.parent / "link.csv"
    target.write_text("old")
    link.symlink_to(target)
    assert forsooth("infer", table, "--scale", "0..4", "-o", link).returncode == 0
    assert link.is_symlink()
    assert list(rows(target)[0]) == ["task", "truth", "low", "high", "support"]
    os.mkfifo(table.parent / "pipe.csv")
    done = forsooth("infer", table, "--scale", "0..4", "-o", "pipe.csv")
    assert done.returncode == 2
    assert "not an ordinary file" in done.stderr


@pytest.mark.parametrize(
    ("extra", "complaint"),
    [
        (("--epsilon", "1e308", "--mechanism", "two-layer"), "at most 1e+06"),
        (("--epsilon", "900000", "--mechanism", "two-layer"), "at most 1e+06"),
        (("--epsilon", "1e-12"), "too small"),
        (("--mechanism", "mf:d=2,ridge=1e-20"), "ridge"),
        (("--mechanism", "mf:d=2,seed=-1"), "seed"),
        (("--scale", "-1e308,1e308"), "scale"),
        (("--scale", "0,1e-320,1"), "scale"),
        (("--scale", "1.." + "9" * 5000), "scale"),
        (("-o", "x" * 300), "cannot write"),
        (("--mechanism-file", "m.json"), "leave out"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else "",
)
def test_extremes(forsooth: Command, table: Path, extra: tuple[str, ...], complaint: str) -> None:
    done = forsooth("perturb", table, "--scale", "0..4", "--epsilon", 1, "-o", "r.parquet", *extra)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in table.parent.iterdir()] == ["answers.csv"]


def test_large_epsilon_is_no_trouble(forsooth: Command, table: Path) -> None:
    for mechanism in ("lp", "rr", "two-step", "mf:d=2", "mf-safe:d=2"):
        done = forsooth(
            "perturb",
            table,
            "--scale",
            "0..4",
            "--epsilon",
            1e6,
            "--mechanism",
            mechanism,
            "-o",
            "r.parquet",
        )
        assert done.returncode == 0, done.stderr


def test_endings_that_promise_something_else_are_refused(forsooth: Command, table: Path) -> None:
    common = ("perturb", table, "--scale", "0..4", "--epsilon", 1, "-o")
    assert forsooth(*common, "R.PQ").returncode == 0
    for name in ("r.csv", "r", "r.parquet.gz", "r.xlsx"):
        done = forsooth(*common, name)
        assert done.returncode == 2
        assert f"cannot write reports into {name}: its name must end in .parquet" in done.stderr
        assert not (table.parent / name).exists()
    for command, name, what in (
        (("infer", "R.PQ", "--report"), "r.csv", "a report into r.csv: its name must end in .html"),
        (("demo", "-o"), "demo.png", "the page into demo.png"),
        (("design", "--scale", "0..4", "--epsilon", 1, "-o"), "m.csv", "a mechanism into m.csv"),
    ):
        done = forsooth(*command, name)
        assert done.returncode == 2
        assert f"cannot write {what}" in done.stderr
    assert sorted(path.name for path in table.parent.iterdir()) == ["R.PQ", "answers.csv"]
    assert forsooth("infer", "R.PQ", "-o", "t.CSV").returncode == 0
    done = forsooth("infer", "R.PQ", "-o", "t.xlsx")
    assert done.returncode == 2
    assert "its ending must be one of" in done.stderr


@pytest.mark.parametrize("text", ["task,worker,label\n", "task,worker,label"])
def test_a_table_without_answers(forsooth: Command, tmp_path: Path, text: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    for mechanism in ("rr", "grr"):
        done = forsooth(
            "perturb",
            "a.csv",
            "--scale",
            "0..4",
            "--epsilon",
            1,
            "--mechanism",
            mechanism,
            "-o",
            "r.parquet",
        )
        assert done.returncode == 2
        assert "has no answers" in done.stderr


def test_an_ascii_terminal(forsooth: Command, table: Path) -> None:
    done = forsooth(
        "perturb",
        table,
        "--scale",
        "0..4",
        "--epsilon",
        1,
        "-o",
        "r.parquet",
        environment={"PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0, done.stderr
    assert "? = 1 per cell" in done.stdout


def test_a_report_to_send_on(forsooth: Command, table: Path) -> None:
    perturb = ("perturb", table, "--scale", "0..4", "--epsilon", 1, "-o", "reports.parquet")
    assert forsooth(*perturb).returncode == 0
    done = forsooth("infer", "reports.parquet", "--report", "report.html")
    assert done.returncode == 0, done.stderr
    assert "report.html: the report" in done.stdout
    page = (table.parent / "report.html").read_text()
    assert "12 workers on 8 tasks" in page
    assert "A single answer: ε = 1." in page
    document = json.loads(
        forsooth("infer", table, "--scale", "0..4", "--report", "plain.html", "--json").stdout
    )
    assert document["report"] == "plain.html"
    assert "Not private" in (table.parent / "plain.html").read_text()


def test_a_report_never_replaces_what_it_is_about(forsooth: Command, table: Path) -> None:
    for options in (("--report", table), ("-o", "x.csv", "--report", "x.csv")):
        done = forsooth("infer", table, "--scale", "0..4", *options)
        assert done.returncode == 2
        assert "the same file is given twice" in done.stderr
    done = forsooth("infer", table, "--scale", "0..4", "--report", "nowhere/r.html")
    assert done.returncode == 2
    assert "does not exist" in done.stderr


def test_tasks_are_in_natural_order_and_numbers_are_short(
    forsooth: Command, tmp_path: Path
) -> None:
    lines = [f"t{j},w{i},{(i + j) % 5}\n" for i in range(1, 13) for j in range(1, 13)]
    (tmp_path / "a.csv").write_text("task,worker,label\n" + "".join(lines))
    done = forsooth("infer", "a.csv", "--scale", "0..4", "-o", "t.csv", "--worker-output", "w.csv")
    assert done.returncode == 0, done.stderr
    expected = [f"t{j}" for j in range(1, 13)]
    assert [line.split()[0] for line in done.stdout.splitlines()[1:13]] == expected
    found = rows(tmp_path / "t.csv")
    assert [row["task"] for row in found] == expected
    assert [row["worker"] for row in rows(tmp_path / "w.csv")] == [f"w{i}" for i in range(1, 13)]
    assert max(len(row[name]) for row in found for name in ("truth", "low", "high")) <= 8
    done = forsooth("infer", "a.csv", "--scale", "0..4", "--json")
    assert [row["task"] for row in json.loads(done.stdout)["truths"]] == expected


def test_one_of_a_thing_is_not_several(forsooth: Command, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("task,worker,label\nq,ann,1\n")
    done = forsooth("perturb", "a.csv", "--scale", "0..4", "--epsilon", 1, "-o", "r.parquet")
    assert "1 report on 1 task by rr" in done.stdout
    done = forsooth("infer", "r.parquet", "--method", "mean")
    assert "1 task, 1 worker; mean" in done.stdout
