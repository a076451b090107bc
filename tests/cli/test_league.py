from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.study.league.test_sets import own

TINY = (
    *("--data", "mine.json", "--epsilons", "3", "--mechanisms", "plain,oue"),
    *("--methods", "majority", "--repeats", "2", "--quick", "--processes", "1", "-o", "out"),
)


def test_a_league_of_one_s_own(forsooth: Command, tmp_path: Path) -> None:
    """It is kept; another seed is refused, and so is another command, even with --fresh."""
    own(tmp_path)
    done = forsooth("league", *TINY, "--json")
    assert done.returncode == 0, done.stderr
    assert "5 of 5 runs to do" in done.stderr
    document = json.loads(done.stdout)
    assert (document["runs"], document["seed"], document["scope"]) == (5, 0, "quick")
    assert (tmp_path / document["page"]).exists()
    assert all((tmp_path / table).exists() for table in document["tables"])
    assert document["verdicts"] == [], "nothing of ours was asked for"
    assert "Where we win" not in (tmp_path / document["page"]).read_text(encoding="utf-8")
    refused = forsooth("league", *TINY, "--seed", 5)
    assert refused.returncode == 2
    assert "--fresh" in refused.stderr
    mixed = forsooth("reproduce", "1", "-o", "out", "--fresh")
    assert mixed.returncode == 2
    assert "holds results of forsooth league: name another folder" in mixed.stderr
    assert len(list((tmp_path / "out" / "cells").iterdir())) == 5, "nothing was removed"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--data", "magic"), "unknown data set 'magic'"),
        (("--mechanisms", "magic"), "unknown mechanism 'magic'"),
        (("--mechanisms", "rr,rr"), "twice"),
        (("--methods", "magic"), "unknown method 'magic'"),
        (("--methods", ""), "nothing is asked for"),
        (("--epsilons", "0"), "ε must be"),
        (("--data", "synthetic-low", "--mechanisms", "grr", "-o", "full"), "is not empty"),
    ],
)
def test_bad_input(
    forsooth: Command, tmp_path: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("x")
    done = forsooth("league", "--quick", *arguments)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "forsooth-league").exists()
