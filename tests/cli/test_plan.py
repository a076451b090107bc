from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Command

ASKED = ("plan", "--tasks", 30, "--scale", "0..4", "--density", 0.5, "--processes", 1)


def test_the_error_of_a_campaign(forsooth: Command) -> None:
    arguments = (*ASKED, "--workers", 150, "--epsilon", 2, "--mechanism", "rr", "--seed", 1)
    done = forsooth(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["asked"], document["workers"], document["epsilon"]) == ("mae", 150, 2)
    assert 0 < document["mae_unperturbed"] < document["mae"] < document["mae_constant"]
    assert document["mae_constant"] == pytest.approx(1)
    assert document["interval"][0] < document["mae"] < document["interval"][1]
    assert document["worker_total"] == 60
    assert document["estimate_answers_only"] < document["estimate"]
    (point,) = document["points"]
    assert (point["mae"], point["mae_se"]) == (document["mae"], document["mae_se"])
    shown = forsooth(*arguments).stdout
    assert f"{document['mae']:.3g} ± {document['mae_se']:.2g}" in shown
    for words in ("always saying 2 has 1.", "--protects answers", "cells together: ε = 60 at most"):
        assert words in shown


def test_the_workers_for_an_error_and_the_figure(forsooth: Command, tmp_path: Path) -> None:
    arguments = (*ASKED, "--epsilon", 1, "--target-mae", 0.3, "--fast", "--plot", "plan.svg")
    done = forsooth(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["mechanism"], document["mae"], document["mae_se"]) == ("staircase", 0.3, None)
    assert document["workers"] == pytest.approx(document["estimate"], rel=0.01)
    assert document["estimate_answers_only"] < document["workers"]
    assert document["other_estimates"]["rr"] > document["estimate"]
    figure = (tmp_path / "plan.svg").read_text()
    for words in ("ε = 0.5", "ε = 1", "ε = 2", "always saying 2", "target", "workers"):
        assert words in figure


def test_the_epsilon_for_an_error(forsooth: Command) -> None:
    done = forsooth(
        *ASKED, "--workers", 600, "--target-mae", 0.3, "--mechanism", "rr", "--fast", "--json"
    )
    document = json.loads(done.stdout)
    assert document["asked"] == "epsilon"
    assert 0.5 < document["epsilon"] < 1.5
    assert document["worker_total"] == pytest.approx(30 * document["epsilon"])


def test_a_central_promise(forsooth: Command) -> None:
    question = ("--workers", 3000, "--central-epsilon", 0.5, "--central-unit", "cell")
    arguments = (*ASKED, *question, "--mechanism", "rr", "--fast")
    document = json.loads(forsooth(*arguments, "--json").stdout)
    certified = {
        (each["release"], each["unit"]): each["epsilon"]
        for each in document["certificate"]["bounds"]
    }
    assert 0.48 < certified["counts", "cell"] <= 0.5
    assert document["epsilon"] > 2
    assert "Assumed for every central ε: Nobody can tell" in forsooth(*arguments).stdout


def test_out_of_reach_is_an_answer_with_exit_code_1(forsooth: Command) -> None:
    question = ("--epsilon", 0.1, "--target-mae", 0.1, "--max-workers", 1000)
    arguments = (*ASKED, *question, "--mechanism", "rr", "--fast")
    done = forsooth(*arguments, "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert (document["workers"], document["mae"]) == (None, None)
    assert "1,000 workers, the most allowed" in document["reason"]
    shown = forsooth(*arguments)
    assert shown.returncode == 1
    assert "cannot be reached: " + document["reason"] in shown.stdout


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ((), "exactly two of workers, epsilon and target-mae"),
        (("--epsilon", 1, "--target-mae", 2), "always saying 2 has 1. Aim lower"),
        (("--epsilon", 1, "--workers", 9, "--noise", "-1"), "standard deviation above 0"),
        (("--epsilon", 1, "--workers", 9, "--fast", "--mechanism", "mf"), "no fast estimate"),
        (("--epsilon", 1, "--workers", 9, "--plot", "plan.txt"), "its ending must be"),
        (("--epsilon", 1, "--workers", 9, "--honest", 0.9), "--honest needs --central-epsilon"),
        (("--central-epsilon", 1, "--workers", 9, "--central-unit", "me"), "the unit is cell or"),
    ],
)
def test_bad_input(
    forsooth: Command, tmp_path: Path, options: tuple[object, ...], complaint: str
) -> None:
    done = forsooth(*ASKED, *options)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_help_has_an_example(forsooth: Command) -> None:
    done = forsooth("plan", "--help")
    assert done.returncode == 0
    assert "Example" in done.stdout
