"""Figures and page, from made-up results in a real folder."""

from __future__ import annotations

import csv
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image

from forsooth.study.paper.cells import DataSource, ErrorCell, RunSetting
from forsooth.study.paper.claims import find
from forsooth.study.paper.comparison import ComparisonRow, compare
from forsooth.study.paper.evidence import place
from forsooth.study.paper.panels import FIGURES
from forsooth.study.paper.plan import plan
from forsooth.study.paper.readings import DEFAULT
from forsooth.study.paper.reproduction import Conclusion, Reproduction
from forsooth.study.paper.scopes import QUICK, Setup
from forsooth.study.paper.store import Finished, ResultStore
from tests.study.paper.worlds import REAL, result_of

OWN = DataSource("folder/<b>my & $own.csv", 10, 5, "truth.csv", "0..4")
CLAIMS = find(["distributions", "rr-falls", "adult-drop", "bounds"])
_VOID = {"meta", "br", "hr", "img", "input", "link"}


@pytest.fixture(scope="module")
def conclusion(tmp_path_factory: pytest.TempPathFactory) -> Conclusion:
    folder = tmp_path_factory.mktemp("out") / "run"
    store = ResultStore.open(folder, seed=7, scope="quick")
    setup = Setup(QUICK, REAL, OWN)
    shown = ("answers", "epsilon", "real", "own")
    sweeps = {sweep for claim in CLAIMS for sweep in claim.sweeps}
    cells = plan(setup, sweeps.union(*(FIGURES[name].sweeps for name in shown)))
    for cell in cells:
        store.put(cell, Finished(result_of(cell), 1.0))
    return Reproduction(CLAIMS, setup, RunSetting(7), store, cells, {}).conclude()


class Strict(HTMLParser):
    """Every element is closed in its turn; what the page would load is collected."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: Counter[str] = Counter()
        self.links: list[str] = []
        self.tags: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._seen(tag, attrs)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._seen(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def _seen(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        for name, value in attrs:
            if name == "id":
                self.ids[value or ""] += 1
            if name in ("src", "href", "xlink:href", "data", "action"):
                self.links.append(value or "")


def test_the_page_is_well_formed_and_alone(conclusion: Conclusion) -> None:
    text = conclusion.report.read_text(encoding="utf-8")
    parser = Strict()
    parser.feed(text)
    assert parser.open == []
    assert max(parser.ids.values()) == 1
    assert all(link.startswith("#") and link[1:] in parser.ids for link in parser.links)
    assert "http" not in text
    assert not {"script", "link", "img", "iframe"} & parser.tags.keys()
    references = re.findall(r"url\(#([^)]*)\)", text)
    assert references
    assert set(references) <= parser.ids.keys()
    assert "@import" not in text
    assert parser.tags["svg"] == 2 + 2 + 2 + 1


def test_everything_is_said_and_escaped(conclusion: Conclusion) -> None:
    text = conclusion.report.read_text(encoding="utf-8")
    assert (
        "Of 4 claims of the paper, 3 are reproduced, 1 under a condition, 0 differ in detail, "
        "0 are contradicted." in text
    )
    assert "<b>my" not in text
    assert "folder" not in text
    assert "&lt;b&gt;my &amp; $own.csv" in text
    for claim in CLAIMS:
        assert f'id="{claim.id}"' in text
    assert "--quick --seed 7" in text
    assert "forsooth beside the paper's mechanisms" in text
    assert "prefers-color-scheme: dark" in text


def test_a_tie_is_no_win() -> None:
    assert ComparisonRow("here", 1.0, {DEFAULT: 0.1, "RR": 0.2, "LP": None}).default_is_best
    assert not ComparisonRow("here", 1.0, {DEFAULT: 0.1, "best constant": 0.1}).default_is_best
    adaptive: dict[str, float | None] = {DEFAULT: 0.2, "forsooth, adaptive": 0.1, "RR": 0.15}
    assert not ComparisonRow(
        "here", 1.0, adaptive
    ).default_is_best  # another choice is not the default


def test_every_epsilon_that_was_measured_is_compared(conclusion: Conclusion) -> None:
    wanted = {
        (cell.source, cell.epsilon)
        for cell in conclusion.run.cells
        if isinstance(cell, ErrorCell) and cell.method == "posterior"
    }
    rows = compare(conclusion.results, list(conclusion.results.sources))
    assert {(row.where, row.epsilon) for row in rows} == {(place(s), e) for s, e in wanted}
    assert len(rows) == len(wanted)
    text = conclusion.report.read_text(encoding="utf-8")
    assert f"of {len(wanted)} rows the default" in " ".join(text.split())


def test_figures_come_with_their_numbers(conclusion: Conclusion) -> None:
    folder = conclusion.report.parent / "figures"
    names = [chart.name for chart in conclusion.charts]
    assert names == ["answers", "epsilon", "real", "own"]
    for name in names:
        with Image.open(folder / f"{name}.png") as image:
            assert min(image.size) > 400
        assert (folder / f"{name}.svg").read_text().lstrip().startswith("<?xml")
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert rows
        if name != "answers":
            lines = {row["line"] for row in rows}
            assert {"best constant", "middle of the scale"} <= lines
            assert "forsooth (its default)" in lines
    svg = (folder / "real.svg").read_text()
    for words in ("2-Layer", "AdultContent", "Web", "MF, d = 20"):
        assert words in svg


def test_the_csv_has_what_was_measured(conclusion: Conclusion) -> None:
    path = conclusion.report.parent / "figures" / "epsilon.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["line"] == "RR"]
    assert [row["epsilon"] for row in rows] == [str(epsilon) for epsilon in QUICK.epsilons] * 2
    assert rows[0]["panel"] == "2,000×200, sparsity 0.9"
    assert float(rows[0]["mae_change"]) == pytest.approx(3 - 0.05 + 0.18 + 0.0005)
    assert float(rows[0]["se"]) == pytest.approx(0.0005)
    assert rows[0]["repeats"] == "2"


def test_the_document(conclusion: Conclusion) -> None:
    document = conclusion.to_dict()
    assert [claim["id"] for claim in document["claims"]] == [claim.id for claim in CLAIMS]
    for claim in document["claims"]:
        assert {"id", "title", "verdict", "numbers"} <= claim.keys()
    assert document["seed"] == 7
    for row in document["comparison"]:
        assert row["mae_change"].keys() >= {DEFAULT, "LP", "RR", "best constant"}
    compared = {(row["data"], row["epsilon"]) for row in document["comparison"]}
    assert {("Web", 0.1), ("Web", 0.5), ("AdultContent", 0.1)} <= compared
    assert Path(document["report"]) == conclusion.report
