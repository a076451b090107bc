from __future__ import annotations

import json
from pathlib import Path

import pytest

from forsooth import Answers, mechanisms
from forsooth.shuffling import certify
from tests.cli.test_campaign import ANSWERS
from tests.conftest import Command

PLANNED = ("--mechanism", "rr", "--epsilon", 2, "--scale", "0..4", "--workers", 3000, "--tasks", 10)


def one_answer() -> Answers:
    return Answers.of({"ann": {"q": 1}}, "0..4", tasks=["q"], workers=["ann"])


def test_a_planned_campaign(forsooth: Command) -> None:
    done = forsooth("certify", *PLANNED, "--delta", 1e-6, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document == certify(mechanisms.rr("0..4", 2.0), tasks=10, reports=3000).to_dict()
    assert (document["honest"], document["honest_share"]) == (1500, 0.5)
    shown = forsooth("certify", *PLANNED, "--honest", 0.9).stdout
    assert "2,700 of them assumed honest" in shown
    for words in ("counts per task", "whole reports", "Local: ε = 20", "Nobody can tell whose"):
        assert words in shown


@pytest.mark.parametrize("name", ["rr", "grr"])
def test_reports_of_a_campaign(forsooth: Command, tmp_path: Path, name: str) -> None:
    """Where participation is public, the task with the fewest answers counts."""
    (tmp_path / "answers.csv").write_text(ANSWERS)
    answers = Answers.read(tmp_path / "answers.csv", "0..4")
    counts = [int((answers.task == task).sum()) for task in range(len(answers.tasks))]
    made = forsooth(
        *("perturb", "answers.csv", "--scale", "0..4", "--epsilon", 1),
        *("--mechanism", name, "-o", "r.parquet"),
    )
    assert made.returncode == 0, made.stderr
    done = forsooth("certify", "r.parquet", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["received"] == (len(answers.workers) if name == "rr" else min(counts))
    assert document["tasks"] == len(answers.tasks)
    assert done.stderr == ""


def test_simulated_reports_are_not_private(forsooth: Command, tmp_path: Path) -> None:
    mechanism = mechanisms.rr("0..4", 1.0)
    mechanism.perturb(one_answer(), simulation_seed=1).write(tmp_path / "r.parquet")
    assert "not private" in forsooth("certify", "r.parquet").stderr


def test_several_mechanisms_tell_their_reports_apart(forsooth: Command, tmp_path: Path) -> None:
    for number in (1, 2):
        mechanism = mechanisms.rr("0..4", float(number))
        mechanism.perturb(one_answer()).write(tmp_path / f"{number}.parquet")
    done = forsooth("certify", "1.parquet", "2.parquet")
    assert done.returncode == 2
    assert "several mechanisms" in done.stderr


def test_a_mechanism_as_json(forsooth: Command, tmp_path: Path) -> None:
    mechanism = mechanisms.rr("0..4", 2.0)
    (tmp_path / "m.json").write_text(mechanism.to_json())
    whole = ("certify", "--mechanism-file", "m.json", "--workers", 300, "--tasks", 2, "--json")
    assert json.loads(forsooth(*whole).stdout) == certify(mechanism, tasks=2, reports=300).to_dict()
    done = forsooth(*whole, "--epsilon", 1)
    assert done.returncode == 2
    assert "--mechanism-file says" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "needs files of reports"),
        (("--workers", 9, "--tasks", 2), "needs --mechanism, --epsilon and --scale"),
        ((*PLANNED, "--delta", 0), "δ must lie"),
        (("nowhere.parquet", "--tasks", 2), "leave it out"),
        (("--mechanism", "lp", *PLANNED[2:]), "not for lp"),
    ],
)
def test_bad_input(
    forsooth: Command, tmp_path: Path, arguments: tuple[object, ...], complaint: str
) -> None:
    done = forsooth("certify", *arguments)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
