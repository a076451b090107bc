"""What `infer` passes on, prints and writes for each estimand; then the whole line, with errors."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from forsooth import Answers, ForsoothError, Truths, mechanisms
from forsooth.cli import app
from forsooth.truths import Calibration, Difference
from tests.cli.test_campaign import ANSWERS
from tests.conftest import Command
from tests.test_truths import result

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command in this process and an empty folder; what it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def invoke(*arguments: object) -> str:
        done = CliRunner().invoke(app, [str(each) for each in arguments])
        if done.exception is not None:
            raise done.exception
        return done.stdout

    return invoke


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What inference was asked for; `result` is what it returns."""
    seen: dict[str, Any] = {"result": result()}

    def infer(data: object, method: str = "posterior", **options: Any) -> Truths:
        seen.update(options, data=data)
        found: Truths = seen["result"]
        return found

    monkeypatch.setattr("forsooth.inference.infer", infer)
    monkeypatch.setattr("forsooth.cli.infer.infers_in_passes", lambda files: False)
    return seen


@pytest.fixture
def reports(tmp_path: Path, answers: Answers) -> Path:
    """Reports that state opinion."""
    made = mechanisms.rr(answers.scale, 1.0).perturb(answers)
    replace(made, estimand="opinion").write(tmp_path / "r.parquet")
    return tmp_path / "r.parquet"


# What is asked for and what is shown


def test_the_estimand_of_the_file_counts_unless_one_is_given(
    run: Run, asked: dict[str, Any], reports: Path
) -> None:
    run("infer", reports)
    assert asked["estimand"] == "opinion"
    run("infer", reports, "--estimand", "label", "--unordered")
    assert (asked["estimand"], asked["unordered"]) == ("label", True)
    run("infer", reports, "--method", "mean")
    assert asked["estimand"] is None


def test_files_that_disagree_need_the_option(
    run: Run, asked: dict[str, Any], reports: Path, answers: Answers
) -> None:
    other = mechanisms.lp(answers.scale, 1.0).perturb(answers)
    replace(other, estimand="level").write(reports.with_name("s.parquet"))
    with pytest.raises(ForsoothError, match="different estimands: level, opinion.*--estimand"):
        run("infer", reports, "s.parquet")
    run("infer", reports, "s.parquet", "--estimand", "level")
    assert asked["estimand"] == "level"


def test_the_assumption_is_named(run: Run, asked: dict[str, Any], reports: Path) -> None:
    shown = " ".join(run("infer", reports).split())
    assert "Assumed: each task has one true value on the ordered scale" in shown
    assert "(estimand level). Change with --estimand label or opinion." in shown
    assert "Enough: " in shown
    document = json.loads(run("infer", reports, "--json"))
    assert (document["estimand"], document["seed"]) == ("level", 7)
    assert document["participation_interval"] == [0.4, 0.6]
    assert 0 <= document["constant_as_good"] <= 1
    assert document["expected_error"] > 0
    assert document["enough"] in (True, False)


def test_labels_have_a_probability(run: Run, asked: dict[str, Any], reports: Path) -> None:
    asked["result"] = result("label")
    assert "probability" in run("infer", reports)
    (first, _) = json.loads(run("infer", reports, "--json"))["truths"]
    assert (first["label"], first["probability"]) == ("never", 0.7)


def test_opinions_are_shown_as_shares(run: Run, asked: dict[str, Any], reports: Path) -> None:
    asked["result"] = result("opinion")
    shown = run("infer", reports)
    assert max(map(len, shown.splitlines()[:4])) <= 80
    (row,) = [line for line in shown.splitlines() if line.startswith("q2")]
    assert row.split() == ["q2", "1.70", "1.60–1.80", "10", "10", "80"]
    assert "answers as given" in shown
    (first, _) = json.loads(run("infer", reports, "--json"))["truths"]
    assert (first["share_never"], first["participation_low"]) == (0.7, 0.4)


def test_differences_are_shown_and_written(run: Run, asked: dict[str, Any], reports: Path) -> None:
    difference = Difference("q1", "north", "south", 0.5, -0.1, 1.1)
    asked["result"] = replace(result("opinion"), differences=(difference,))
    Path("g.csv").write_text("worker,group\nann,north\nbob,south\ncyd,north\n")
    arguments = ("infer", reports, "--groups", "g.csv", "--differences-output", "d.csv")
    shown = run(*arguments)
    assert asked["groups"] == {"ann": "north", "bob": "south", "cyd": "north"}
    assert "north" in shown
    assert "-0.10 to 1.10" in shown
    assert "d.csv: differences between groups" in shown
    with Path("d.csv").open(newline="") as file:
        assert [row["other"] for row in csv.DictReader(file)] == ["south"]
    assert json.loads(run(*arguments, "--json"))["differences"][0]["estimate"] == 0.5


def test_calibration_is_passed_on_and_named(run: Run, asked: dict[str, Any], reports: Path) -> None:
    asked["result"] = replace(result(), calibration=Calibration(0.9, 12, 0.2, 0.5))
    Path("g.csv").write_text("task,truth\nq1,3\n")
    shown = run("infer", reports, "--gold", "g.csv", "--gold-use", "calibrate")
    assert (asked["gold"], asked["gold_use"]) == ({"q1": 3.0}, "calibrate")
    assert "calibrated on 12 gold tasks" in shown
    assert "Mean width 0.5; without calibration 0.2" in " ".join(shown.split())
    run("infer", reports)
    assert asked["gold_use"] == "pin"


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--estimand", "mood"), "unknown estimand 'mood'; known: level, label, opinion"),
        (("--worker-output", "w.csv"), "careless people cannot be identified"),
        (("--gold-use", "guess"), "unknown gold use 'guess'; known: pin, calibrate"),
        (("--gold-use", "calibrate"), "give them with --gold FILE"),
        (("--differences-output", "d.csv"), "give their table with --groups FILE"),
        (("--groups", "g.csv", "--estimand", "level"), "needs --estimand opinion"),
        (("--groups", "g.csv", "--state", "s.parquet"), "--groups needs all reports in memory"),
        (("--groups", "none.csv"), "none.csv does not exist"),
        (("--groups", "twice.csv"), "line 3: worker 'ann' has a second group"),
        (("--groups", "column.csv"), "has no column 'group'"),
        (("--method", "mean", "--estimand", "label"), "are for the method posterior"),
        (("--unordered", "--estimand", "level"), "labels without an order have no level"),
        (("--groups", "g.csv", "--differences-output", "t.csv"), "the same file is given twice"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else "",
)
def test_bad_requests_write_nothing(
    run: Run, asked: dict[str, Any], reports: Path, options: tuple[str, ...], complaint: str
) -> None:
    asked["result"] = result("opinion")
    Path("g.csv").write_text("worker,group\nann,north\nbob,south\n")
    Path("twice.csv").write_text("worker,group\nann,north\nann,south\n")
    Path("column.csv").write_text("worker,region\nann,north\n")
    before = sorted(Path().iterdir())
    with pytest.raises(ForsoothError, match=complaint):
        run("infer", reports, "-o", "t.csv", *options)
    assert sorted(Path().iterdir()) == before


def test_perturb_states_the_estimand(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(ANSWERS)
    common = ("perturb", "a.csv", "--scale", "0..4", "--epsilon", 1, "-o", "r.parquet")
    assert json.loads(run(*common, "--json"))["estimand"] is None
    assert json.loads(run(*common, "--estimand", "opinion", "--json"))["estimand"] == "opinion"
    with pytest.raises(ForsoothError, match="unknown estimand"):
        run(*common, "--estimand", "mood")
    with pytest.raises(ForsoothError, match="mf reports sums over tasks.*--estimand opinion"):
        run(*common, "--estimand", "opinion", "--mechanism", "mf:d=2")


# The whole line


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text(ANSWERS)
    return path


PERTURB = ("perturb", "answers.csv", "--scale", "0..4", "--epsilon", 3, "-o", "r.parquet")


def test_opinions_from_the_answers_to_the_table(forsooth: Command, table: Path) -> None:
    assert forsooth(*PERTURB, "--estimand", "opinion").returncode == 0
    done = forsooth("infer", "r.parquet", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["estimand"] == "opinion"
    for row in document["truths"]:
        assert sum(row[f"share_{label}"] for label in range(5)) == pytest.approx(1)
        assert 0 <= row["participation_low"] <= row["participation"] <= row["participation_high"]
    done = forsooth("infer", "r.parquet", "--estimand", "label", "--json")
    assert all(0 <= row["probability"] <= 1 for row in json.loads(done.stdout)["truths"])


def test_people_are_divided(forsooth: Command, tmp_path: Path) -> None:
    """Half never and half always on "split", all sometimes on "joint"."""
    rows = (f"split,w{i},{4 * (i % 2)}\njoint,w{i},2\n" for i in range(200))
    (tmp_path / "answers.csv").write_text("task,worker,label\n" + "".join(rows))
    infer = ("infer", "answers.csv", "--scale", "0..4", "--estimand", "opinion")
    assert json.loads(forsooth(*infer, "--json").stdout)["divided"] == ["split"]
    assert "People are divided on 1 of 2 tasks: split" in forsooth(*infer).stdout
    assert "divided" not in forsooth(*infer[:-1], "level").stdout


def test_groups_are_compared(forsooth: Command, table: Path) -> None:
    names = "".join(f"worker {i},{'even' if i % 2 == 0 else 'odd'}\n" for i in range(12))
    (table.parent / "groups.csv").write_text("worker,group\n" + names)
    forsooth(*PERTURB)
    arguments = ("infer", "r.parquet", "--estimand", "opinion", "--groups", "groups.csv", "--json")
    done = forsooth(*arguments)
    assert done.returncode == 0, done.stderr
    differences = json.loads(done.stdout)["differences"]
    assert len(differences) == 8
    assert all(each["low"] <= each["estimate"] <= each["high"] for each in differences)


@pytest.mark.parametrize(
    ("mechanism", "options", "complaint"),
    [
        ("mf:d=2", ("--estimand", "label"), "sums"),
        ("mf-safe:d=2", ("--estimand", "opinion"), "sums"),
        ("rr", ("--estimand", "label", "--gold", "between.csv"), "no answer of the scale"),
        ("rr", ("--gold", "few.csv", "--gold-use", "calibrate"), "needs at least 10"),
        ("rr", ("--estimand", "opinion", "--groups", "one.csv"), "one group"),
    ],
)
def test_what_cannot_be_inferred(
    forsooth: Command, table: Path, mechanism: str, options: tuple[str, ...], complaint: str
) -> None:
    folder = table.parent
    (folder / "between.csv").write_text("task,truth\nquestion 1,2.5\n")
    (folder / "few.csv").write_text("task,truth\nquestion 1,2\n")
    (folder / "one.csv").write_text(
        "worker,group\n" + "".join(f"worker {i},a\n" for i in range(12))
    )
    forsooth(*PERTURB, "--mechanism", mechanism)
    before = sorted(folder.iterdir())
    done = forsooth("infer", "r.parquet", "-o", "t.csv", *options)
    assert done.returncode == 2
    assert complaint in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert sorted(folder.iterdir()) == before
