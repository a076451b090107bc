from __future__ import annotations

import json
from pathlib import Path

import pytest

from forsooth.mechanisms.base import Mechanism
from tests.conftest import Command

ASKED = ("design", "--scale", "0..9", "--epsilon", 1, "--density", 0.1)


@pytest.mark.parametrize("more", [(), ("--truth-prior", "normal:0,1", "--noise", "1,5")])
def test_worth_more_than_two_and_a_half_workers(forsooth: Command, more: tuple[str, ...]) -> None:
    done = forsooth(*ASKED, *more, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["ratio"] >= 2.5
    assert document["ratio"] == document["information"] / document["information_rr"]
    assert document["exact_epsilon"] <= document["epsilon"] == 1
    mechanism = Mechanism.from_json(json.dumps(document["mechanism"]))
    assert mechanism.name == "staircase"
    assert len(document["columns"]) == document["symbols"]


def test_the_mechanism_can_be_written_audited_and_drawn(forsooth: Command, tmp_path: Path) -> None:
    done = forsooth(*ASKED, "-o", "m.json", "--plot", "m.png")
    assert done.returncode == 0, done.stderr
    assert "one worker is worth 4.69 with rr" in done.stdout
    assert "4–5, NULL" in done.stdout
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")
    Mechanism.from_json((tmp_path / "m.json").read_text())
    audited = forsooth("audit", "--mechanism-file", "m.json", "--draws", 20000, "--json")
    assert audited.returncode == 0, audited.stderr
    assert json.loads(audited.stdout)["holds"] is True


def test_the_estimand_decides_what_the_channel_tells(forsooth: Command) -> None:
    level, label = (
        json.loads(forsooth(*ASKED, "--estimand", estimand, "--json").stdout)
        for estimand in ("level", "label")
    )
    assert (level["estimand"], label["estimand"]) == ("level", "label")
    assert level["mechanism"] != label["mechanism"]
    assert "(estimand level). Change with --estimand" in forsooth(*ASKED).stdout


def test_public_participation_has_no_null(forsooth: Command) -> None:
    done = forsooth("design", "--scale", "0..9", "--epsilon", 1, "--protects", "answers")
    assert done.returncode == 0, done.stderr
    assert "NULL" not in done.stdout
    assert "density" not in done.stdout


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--density", 0), "density must lie above 0"),
        (("--density", "nan"), "density must lie above 0"),
        (("--noise", "-1"), "standard deviation above 0"),
        (("--noise", "nan"), "standard deviation above 0"),
        (("--truth-prior", "gamma:1,2"), "flat or normal:MEAN,SD"),
        (("--epsilon", "1e-9"), "too small for a table"),
        (("--protects", "all"), "protects must be one of"),
        (("--estimand", "mood"), "unknown estimand 'mood'"),
        (("--estimand", "opinion"), "use rr for the estimand opinion"),
        (("--scale", "9"), "cannot read the scale"),
        (("--plot", "m.txt"), "its ending must be"),
        (("--plot", "m.json"), "the same file is given twice"),
    ],
)
def test_bad_input_is_one_sentence_and_no_file(
    forsooth: Command, tmp_path: Path, options: tuple[object, ...], complaint: str
) -> None:
    done = forsooth(*ASKED, *options, "-o", "m.json")
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_help_has_an_example(forsooth: Command) -> None:
    done = forsooth("design", "--help")
    assert done.returncode == 0
    assert "Example" in done.stdout
