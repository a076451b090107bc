"""What the figures call forsooth's default is what the commands do by default."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forsooth import Reports, mechanisms
from forsooth.estimand import default_estimand
from forsooth.study import datasets
from forsooth.study.paper.cells import RunSetting, known, own
from forsooth.study.paper.plan import plan
from forsooth.study.paper.readings import DEFAULT, choices_of, default_of
from forsooth.study.paper.scopes import QUICK, Setup, small
from tests.conftest import Command
from tests.study.paper.worlds import REAL


@pytest.mark.parametrize(
    ("scale", "answers"), [("0..4", "0 1 2 3 4"), ("no,yes", "no yes")], ids=["levels", "labels"]
)
def test_it_is_perturb_and_infer_without_options(
    forsooth: Command, tmp_path: Path, scale: str, answers: str
) -> None:
    labels = answers.split()
    rows = [f"t{j},w{i},{labels[(i + j) % len(labels)]}" for i in range(30) for j in range(4)]
    (tmp_path / "a.csv").write_text("task,worker,label\n" + "\n".join(rows) + "\n")
    (tmp_path / "t.csv").write_text(f"task,truth\nt0,{labels[0]}\nt1,{labels[1]}\n")
    made = forsooth("perturb", "a.csv", "--scale", scale, "--epsilon", 1, "-o", "r.parquet")
    assert made.returncode == 0, made.stderr
    read = forsooth("infer", "r.parquet", "-o", "truths.csv", "--json")
    assert read.returncode == 0, read.stderr
    document = json.loads(read.stdout)

    answered, truth = str(tmp_path / "a.csv"), str(tmp_path / "t.csv")
    source = own(answered, truth, scale, "error", None, "opinion")
    default = default_of(source)
    reports = Reports.read(tmp_path / "r.parquet")
    assert mechanisms.build(default.mechanism, scale, 1.0, tasks=4) == reports.mechanism
    assert (default.method, default.estimand) == (document["method"], document["estimand"])
    ran = [cell for cell in plan(Setup(QUICK, own=source), ["own"]) if cell.seconds < 1]
    wanted = {"mechanism": "rr", "method": "posterior", "estimand": document["estimand"]}
    (cell, *_) = (cell for cell in ran if cell.description.items() >= wanted.items())
    assert cell.run(RunSetting(3))["estimand"] == document["estimand"]


def test_another_choice_has_another_name() -> None:
    assert [*choices_of(small(0.9))] == [DEFAULT, "forsooth, adaptive"]
    assert [*choices_of(REAL["wsd"])] == [
        DEFAULT,
        "forsooth, estimand label",
        "forsooth, adaptive, estimand label",
    ]
    assert [*choices_of(REAL["adult"])] == [DEFAULT, "forsooth, estimand label"]


@pytest.mark.parametrize("name", ["wsd", "adult"])
def test_real_data_state_what_their_truth_is(name: str, data_dir: Path) -> None:
    dataset, source = datasets.load(name, data_dir), known(name, str(data_dir))
    assert source.estimand == dataset.estimand
    assert source.default_estimand == default_estimand(dataset.answers.scale)
    assert (source.workers, source.tasks) == (
        len(dataset.answers.workers),
        len(dataset.answers.tasks),
    )
