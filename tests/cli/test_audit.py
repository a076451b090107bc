from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from forsooth import Reports, Scale, mechanisms
from forsooth.study.synthetic import SyntheticCrowd
from tests.conftest import Command

SCALE = Scale.parse("0..4")


def test_a_true_claim(forsooth: Command) -> None:
    done = forsooth("audit", "--mechanism", "rr", "--epsilon", 1, "--scale", "0..4", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["holds"] is True
    assert set(document) >= {"mechanism", "claimed", "protects", "exact", "sampled", "worker_total"}


def test_a_false_claim_prints_the_witness_and_exits_with_one(forsooth: Command) -> None:
    arguments = ("audit", "--mechanism", "mf", "--protects", "answers+participation")
    done = forsooth(*arguments, "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert document["holds"] is False
    assert document["exact"]["participation"] == "inf"
    assert document["witness"]["log_ratio"] > 1
    shown = forsooth(*arguments)
    assert shown.returncode == 1
    assert "witness: answers (0, NULL" in shown.stdout
    assert "FALSE" in shown.stdout
    assert forsooth("audit", "--mechanism", "mf", "--protects", "answers").returncode == 0


def test_the_table_of_all(forsooth: Command) -> None:
    done = forsooth("audit", "--all", "--markdown", "--draws", 5000)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 2 + 4 * len(mechanisms.BUILDERS)
    assert "| two-layer | participation too | value | 1 | 2 |" in done.stdout


def test_a_mechanism_from_a_file(forsooth: Command, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(mechanisms.rr(SCALE, 0.5).to_json())
    assert (
        json.loads(forsooth("audit", "--mechanism-file", path, "--json").stdout)["claimed"] == 0.5
    )
    path.write_text(path.read_text().replace('"epsilon": 0.5', '"epsilon": 0.4'))
    done = forsooth("audit", "--mechanism-file", path)
    assert done.returncode == 2
    assert "does not keep its promise" in done.stderr


def test_reports_of_another_client(forsooth: Command, tmp_path: Path) -> None:
    answers = (
        SyntheticCrowd(workers=2000, tasks=40, sparsity=0.5, truth_mean=2, scale=SCALE)
        .draw(1)
        .answers
    )
    answers.write(tmp_path / "inputs.csv")
    mechanism = mechanisms.rr(SCALE, 1.0)
    honest = mechanism.perturb(answers)
    honest.write(tmp_path / "reports.parquet")
    arguments = ("audit", "--reports", "reports.parquet", "--answers", "inputs.csv")
    assert forsooth(*arguments).returncode == 0
    leaky = np.where(
        np.arange(honest.values.size).reshape(honest.values.shape) % 10 == 0,
        answers.rows(0, 2000),
        honest.values,
    )
    Reports(mechanism, honest.tasks, honest.workers, leaky).write(tmp_path / "reports.parquet")
    done = forsooth(*arguments, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["holds"] is False


@pytest.fixture
def suspect(tmp_path: Path) -> None:
    """A mechanism that says ε = 2 for the answers, per cell, and reports that it made."""
    mechanism, scale = mechanisms.grr("0..2", 2.0, protects="answers"), Scale.parse("0..2")
    crowd = SyntheticCrowd(workers=200, tasks=6, sparsity=0.5, truth_mean=1, scale=scale)
    answers = crowd.draw(1).answers
    answers.write(tmp_path / "inputs.csv")
    mechanism.perturb(answers).write(tmp_path / "reports.parquet")
    (tmp_path / "m.json").write_text(mechanism.to_json())


MECHANISM = ("--mechanism-file", "m.json", "--draws", 1000)
REPORTS = ("--reports", "reports.parquet", "--answers", "inputs.csv")


@pytest.mark.usefixtures("suspect")
@pytest.mark.parametrize(
    ("files", "claim", "code", "verdict"),
    [
        (MECHANISM, (), 0, "the claim holds"),
        (MECHANISM, ("--epsilon", 1), 1, "the claim is FALSE"),
        (MECHANISM, ("--unit", "worker", "--epsilon", 12, "--tasks", 6), 0, "the claim holds"),
        (REPORTS, ("--epsilon", 1), 1, "the claim is FALSE"),
        (REPORTS, ("--epsilon", 2, "--unit", "worker"), 1, "the claim is FALSE"),
        (REPORTS, ("--protects", "answers+participation"), 1, "the claim is FALSE"),
    ],
)
def test_the_flags_are_the_claim(
    forsooth: Command, files: tuple[object, ...], claim: tuple[object, ...], code: int, verdict: str
) -> None:
    done = forsooth("audit", *files, *claim, "--json")
    assert done.returncode == code, done.stderr
    assert json.loads(done.stdout)["verdict"] == verdict


@pytest.mark.usefixtures("suspect")
def test_a_black_box_is_never_acquitted(forsooth: Command) -> None:
    shown = forsooth("audit", *REPORTS).stdout
    assert "no violation found" in shown
    assert "holds" not in shown.partition("\n")[2].replace("neighbours", "")
    assert shown.count("tested: symbols") == 6
    assert "An honest client is accused with a probability of at most 1e-06" in shown


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "audit needs --mechanism"),
        (("--mechanism", "magic"), "unknown mechanism"),
        (("--mechanism", "rr", "--epsilon", "nan"), "finite number above 0"),
        (("--mechanism", "rr", "--alpha", "2"), "between 0 and 1"),
        (("--mechanism", "mf-safe:kappa=-1"), "κ must be"),
        (("--mechanism", "mf-safe:centre=9"), "centre must lie"),
        (("--reports", "r.parquet"), "go together"),
        (("--mechanism-file", "none.json"), "cannot be read"),
        (("--mechanism-file", "m.json", "--scale", "0..4"), "leave out --scale"),
        (("--reports", "r.parquet", "--mechanism", "rr"), "leave out --mechanism"),
    ],
)
def test_bad_input(forsooth: Command, arguments: tuple[str, ...], complaint: str) -> None:
    done = forsooth("audit", *arguments)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


def test_the_worker_as_unit_everywhere(forsooth: Command, tmp_path: Path) -> None:
    done = forsooth(
        "audit", "--mechanism", "rr", "--unit", "worker", "--sampled-tasks", 3, "--json"
    )
    assert json.loads(done.stdout)["worker_total"] == pytest.approx(1)
    (tmp_path / "a.csv").write_text(
        "task,worker,label\n" + "".join(f"t{j},w{i},{j % 5}\n" for i in range(9) for j in range(6))
    )
    done = forsooth(
        "perturb",
        "a.csv",
        "--scale",
        "0..4",
        "--epsilon",
        2,
        "--unit",
        "worker",
        "--sampled-tasks",
        2,
        "-o",
        "r.parquet",
    )
    assert "one worker together, over 2 sampled tasks: ε = 2 at most" in done.stdout
    assert len(json.loads(forsooth("infer", "r.parquet", "--json").stdout)["truths"]) == 6
    done = forsooth(
        "evaluate",
        "--data",
        "synthetic:workers=200,tasks=10",
        "--epsilons",
        2,
        "--mechanisms",
        "rr",
        "--unit",
        "worker",
        "--repeats",
        1,
        "--json",
    )
    assert json.loads(done.stdout)["runs"][0]["guarantee"] == 2
