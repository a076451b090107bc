"""evaluate, bound, datasets, demo and help."""

from __future__ import annotations

import json
import platform
from html import unescape
from pathlib import Path

import pytest
from PIL import Image

from forsooth import __version__
from forsooth.study.demo import QUESTIONS
from tests.conftest import Command

SMALL = "synthetic:workers=100,tasks=20,sparsity=0.7"


def test_evaluate(forsooth: Command, tmp_path: Path) -> None:
    arguments = (
        "evaluate",
        "--data",
        SMALL,
        "--epsilons",
        "0.5,2",
        "--mechanisms",
        "lp,mf:d=4,ridge=2,rr",
        "--methods",
        "algorithm1,median",
        "--repeats",
        2,
        "--seed",
        1,
    )
    done = forsooth(*arguments, "--json", "--plot", "figure.png")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert len(document["runs"]) == 2 * 3 * 2 * 2
    assert {row["mechanism"] for row in document["summary"]} == {"lp", "mf:d=4,ridge=2", "rr"}
    with Image.open(tmp_path / "figure.png") as image:
        assert image.width > 800
    assert json.loads(forsooth(*arguments, "--json").stdout) == document
    shown = forsooth(*arguments)
    assert "best constant" in shown.stdout
    assert "mf: protects answers only" in shown.stdout


def test_evaluate_a_table_of_one_s_own(forsooth: Command, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "task,worker,label\n" + "".join(f"t{j},w{i},{j % 3}\n" for i in range(9) for j in range(6))
    )
    (tmp_path / "t.csv").write_text("task,truth\n" + "".join(f"t{j},{j % 3}\n" for j in range(6)))
    done = forsooth(
        "evaluate",
        "--data",
        "a.csv",
        "--truth-file",
        "t.csv",
        "--scale",
        "0..2",
        "--epsilons",
        2,
        "--mechanisms",
        "rr",
        "--mirror",
        "--repeats",
        1,
        "--json",
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"][0]["mae_original"] == pytest.approx(0, abs=1e-9)


def test_evaluate_on_real_data(forsooth: Command, data_dir: Path) -> None:
    done = forsooth(
        "evaluate",
        "--data",
        "wsd",
        "--data-dir",
        data_dir,
        "--epsilons",
        "1,5",
        "--mechanisms",
        "lp,rr,two-layer,mf",
        "--methods",
        "algorithm1",
        "--seed",
        1,
        "--json",
    )
    assert done.returncode == 0, done.stderr
    change = {
        (r["mechanism"], r["epsilon"]): r["mae_change"] for r in json.loads(done.stdout)["summary"]
    }
    assert change["rr", 1] == pytest.approx(1.35, abs=0.1)
    assert change["lp", 1] == pytest.approx(1.48, abs=0.2)
    assert change["rr", 5] < 0.2 < change["mf", 5]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--data", SMALL, "--epsilons", "0"), "finite number above 0"),
        (("--data", SMALL, "--epsilons", "a,b"), "--epsilons takes numbers"),
        (("--data", SMALL, "--methods", "magic"), "unknown method"),
        (("--data", SMALL, "--estimand", "mood"), "unknown estimand"),
        (("--data", SMALL, "--mechanisms", "magic"), "unknown mechanism"),
        (("--data", SMALL, "--mechanisms", "mf:d=21"), "d = 21 with 20 tasks"),
        (("--data", "wsd"), "Get it from"),
        (("--data", "none.csv"), "neither a file nor a data set"),
        (("--data", SMALL, "--plot", "nowhere/f.png"), "does not exist"),
        (("--data", SMALL, "--plot", "f.txt"), "its ending must be"),
        (("--data", SMALL, "--epsilons", "1,1.0"), "asked for twice"),
        (("--data", "wsd", "--scale", "0..9"), "has its own scale"),
        (("--data", "synthetic:workers=1e3"), "a whole number"),
        (
            ("--data", "synthetic:workers=1000000000,tasks=1000000000"),
            "at most 1,000,000,000",
        ),
    ],
)
def test_evaluate_bad_input(forsooth: Command, arguments: tuple[str, ...], complaint: str) -> None:
    done = forsooth("evaluate", *arguments)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("which", "bound"), [("lp", 14.13), ("rr", 3.551), ("mf", 1.798)])
def test_bound_is_the_paper_s_example_by_default(
    forsooth: Command, which: str, bound: float
) -> None:
    done = forsooth("bound", which, "--json")
    assert json.loads(done.stdout) == {"bound": pytest.approx(bound, rel=0.002)}
    assert forsooth("bound", which).stdout.startswith("E[MAE] ≤ ")
    assert forsooth("bound", which, "--epsilon", "-1").returncode == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("lp", "--sigma", "inf"),
        ("rr", "--sigma", "inf"),
        ("rr", "--sigma", "0"),
        ("lp", "--null-value", "nan"),
        ("lp", "--epsilon", "1e-320"),
        ("mf", "--largest-quality", "nan"),
        ("mf", "--largest-quality", "-1"),
        ("mf", "--workers", "0"),
        ("mf", "--d", "2000"),
    ],
)
def test_bound_bad_input(forsooth: Command, arguments: tuple[str, ...]) -> None:
    done = forsooth("bound", *arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_bound_extremes_are_numbers(forsooth: Command) -> None:
    for arguments in (("--epsilon", "1000"), ("--sigma", "0.001", "--truth-values", "0.5")):
        assert json.loads(forsooth("bound", "rr", *arguments, "--json").stdout)["bound"] >= 0


def test_datasets(forsooth: Command, data_dir: Path) -> None:
    found = {"FORSOOTH_DATA": str(data_dir)}
    listed = json.loads(forsooth("datasets", "list", "--json", environment=found).stdout)
    assert [(entry["name"], entry["found"]) for entry in listed["datasets"]] == [
        ("wsd", True),
        ("adult", True),
    ]
    about = json.loads(forsooth("datasets", "describe", "wsd", "--json", environment=found).stdout)
    assert (about["workers"], about["tasks"], about["answers"]) == (34, 177, 1770)
    assert forsooth("datasets", "path", "wsd", environment=found).stdout.strip().endswith("wsd")
    assert "177 tasks" in forsooth("datasets", "describe", "wsd", environment=found).stdout


def test_datasets_that_are_not_here(forsooth: Command) -> None:
    assert forsooth("datasets", "list").returncode == 0
    done = forsooth("datasets", "describe", "adult")
    assert done.returncode == 2
    assert "labels.txt" in done.stderr
    about = json.loads(forsooth("datasets", "describe", SMALL, "--json").stdout)
    assert (about["workers"], about["tasks"]) == (100, 20)


def test_demo(forsooth: Command, tmp_path: Path) -> None:
    done = forsooth("demo")
    assert done.returncode == 0, done.stderr
    assert "Mean error" in done.stdout
    page = (tmp_path / "forsooth-demo.html").read_text()
    assert page.count("<svg") > 24
    assert "http:" not in page
    assert "https:" not in page
    assert "with everybody's answers in the open" in unescape(page)
    document = json.loads(forsooth("demo", "--json", "-o", "d.html").stdout)
    private, hidden = document["outcomes"]
    assert document["mae_open"] < private["mae"] < 0.3
    assert hidden["mae"] < 0.4 < hidden["mae_algorithm1"] < document["mae_constant"] + 0.1
    assert document["estimand"] == "level"
    assert [each["question"] for each in document["questions"]] == list(QUESTIONS)
    for each in document["questions"]:
        assert each["low"] <= each["hidden"] <= each["high"]
        assert abs(each["true"] - each["open"]) < 0.2
    assert "12 cells together: ε = 12 at most" in hidden["guarantee"]
    assert (private["name"], hidden["name"]) == ("private", "hidden")
    assert "one true value" in document["assumed"]


@pytest.mark.parametrize(
    "command",
    [
        (),
        ("demo",),
        ("perturb",),
        ("infer",),
        ("evaluate",),
        ("bound", "lp"),
        ("bound", "rr"),
        ("bound", "mf"),
        ("datasets", "list"),
        ("datasets", "describe"),
        ("datasets", "path"),
    ],
)
def test_help_shows_an_example(forsooth: Command, command: tuple[str, ...]) -> None:
    done = forsooth(*command, "--help")
    assert done.returncode == 0
    assert not command or "Example" in done.stdout


def test_version(forsooth: Command) -> None:
    first, python, *rest = forsooth("--version").stdout.splitlines()
    assert first == f"forsooth {__version__}"
    assert python == f"Python {platform.python_version()}"
    for extra in ("fast", "plots", "service", "cluster", "excel"):
        assert extra in " ".join(rest)
