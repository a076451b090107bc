"""Whole leagues of a tiny size: the same bytes for the same seed, and a page that can be read."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from forsooth.study.league import plan
from forsooth.study.league.run import LeagueOutcome, LeagueRun
from forsooth.study.paper.cells import RunSetting
from tests.study.league.test_sets import own

CROWD = "synthetic:workers=60,tasks=8,sparsity=0.2"
BYTES = ("runs.csv", "summary.csv")


def league(folder: Path, name: str, seed: int = 0, processes: int = 1) -> LeagueOutcome:
    choice = plan.Choice(
        data=(own(folder), CROWD),
        epsilons=(3.0,),
        mechanisms=("plain", "rr", "oue", "pckv-grr"),
        methods=("posterior", "majority", "median"),
        repeats=2,
    )
    run = LeagueRun.prepare(choice, plan.QUICK, folder / name, RunSetting(seed))
    run.measure(processes)
    return run.conclude()


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LeagueOutcome]:
    folder = tmp_path_factory.mktemp("league")
    return {
        "one": league(folder, "one"),
        "two": league(folder, "two", processes=2),
        "other": league(folder, "other", seed=5),
    }


def folder_of(outcome: LeagueOutcome) -> Path:
    return outcome.run.store.folder


def test_one_seed_gives_the_same_bytes(outcomes: dict[str, LeagueOutcome]) -> None:
    """With one process or two; another seed gives other numbers. Times have their own file."""
    found = {
        name: [(folder_of(outcome) / file).read_bytes() for file in BYTES]
        for name, outcome in outcomes.items()
    }
    assert found["one"] == found["two"]
    assert found["one"] != found["other"]
    assert b"seconds" not in b"".join(found["one"])
    assert "seconds" in (folder_of(outcomes["one"]) / "times.csv").read_text()


def test_what_is_finished_is_not_done_again(outcomes: dict[str, LeagueOutcome]) -> None:
    """A run that was stopped does what is missing and ends with the same tables."""
    folder = folder_of(outcomes["other"])
    before = (folder / "runs.csv").read_bytes()
    gone = sorted((folder / "cells").iterdir())[:2]
    for file in gone:
        file.unlink()
    times = {file: file.stat().st_mtime_ns for file in (folder / "cells").iterdir()}
    league(folder.parent, folder.name, seed=5)
    assert (folder / "runs.csv").read_bytes() == before
    assert all(file.exists() for file in gone)
    assert all(file.stat().st_mtime_ns == time for file, time in times.items())


def test_the_tables(outcomes: dict[str, LeagueOutcome]) -> None:
    outcome = outcomes["one"]
    with (folder_of(outcome) / "runs.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(outcome.run.cells)
    pckv = {row["set"] for row in rows if row["mechanism"] == "pckv-grr"}
    assert pckv == {CROWD}, "three labels have no mean"
    assert {row["promise"] for row in rows} == {"none", "cell"}
    document = outcome.to_dict()
    assert {(row["estimand"], row["promise"]) for row in document["verdicts"]} == {
        (estimand, promise) for estimand in ("label", "level") for promise in ("none", "cell")
    }
    for row in document["verdicts"]:
        counts = (row["wins"], row["ties"], row["losses"], row["neither"])
        assert sum(counts) == row["comparisons"]


def test_page_and_markdown_say_the_same(outcomes: dict[str, LeagueOutcome]) -> None:
    folder = folder_of(outcomes["one"])
    page = (folder / "league.html").read_text(encoding="utf-8")
    text = (folder / "league.md").read_text(encoding="utf-8")
    headings = re.findall(r"^##+ (.+)$", text, re.M)
    assert {"In short", "Labels", "Levels", "Where we win", "Where we lose, and why"} <= {*headings}
    assert re.findall(r"<h[23]>([^<]+)</h", page) == headings
    pictures = re.findall(r"\]\((figures/[^)]+)\)", text)
    assert len(pictures) == page.count("<svg") == 2
    assert all((folder / picture).exists() for picture in pictures)
    assert "<script" not in page
    assert "**" not in page
    assert str(folder.parent) not in text + page, "no path of this machine"
    again = f"--data mine.json,{CROWD} --epsilons 3 --mechanisms plain,rr,oue,pckv-grr"
    assert (
        f"forsooth league --quick {again} --methods posterior,majority,median --repeats 2" in text
    )


def test_the_page_fits_the_window(outcomes: dict[str, LeagueOutcome]) -> None:
    browser = pytest.importorskip("tests.service.browser")
    with browser.chromium() as chromium:
        for width in (390, 1280):
            visitor = browser.visit(chromium, outcomes["one"].page.as_uri(), width=width)
            wide = visitor.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width
            assert visitor.complaints == []
            assert [r.url for r in visitor.requests if not r.url.startswith("file:")] == []
