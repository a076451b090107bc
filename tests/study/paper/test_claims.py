from __future__ import annotations

import re
from pathlib import Path

import pytest

from forsooth import ForsoothError
from forsooth.study.datasets import KNOWN
from forsooth.study.paper.cells import ErrorCell
from forsooth.study.paper.claims import CLAIMS, find
from forsooth.study.paper.judges import RULES
from forsooth.study.paper.panels import FIGURES
from forsooth.study.paper.plan import SWEEPS, plan
from forsooth.study.paper.scopes import FULL, QUICK, Setup
from tests.study.paper.worlds import REAL


def test_every_claim_is_there_once() -> None:
    assert [claim.number for claim in CLAIMS] == list(range(1, len(CLAIMS) + 1))
    assert [claim.slug for claim in CLAIMS] == list(RULES)
    texts = [claim.text for claim in CLAIMS]
    assert texts == sorted(texts, reverse=True)  # what is printed, then what is commented out


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_claim_says_what_it_needs_and_how_it_is_tested(claim) -> None:  # type: ignore[no-untyped-def]
    assert claim.title
    assert claim.statement.endswith(".")
    assert "{tolerance" in claim.rule
    assert "{" not in claim.test
    assert claim.sweeps
    assert set(claim.sweeps) <= SWEEPS.keys()
    assert set(claim.figures) <= FIGURES.keys()
    assert set(claim.data) <= KNOWN.keys()


def test_every_figure_and_sweep_is_used() -> None:
    shown = {name for claim in CLAIMS for name in claim.figures} | {"own"}
    assert shown == FIGURES.keys()
    swept = {name for claim in CLAIMS for name in claim.sweeps}
    assert swept.union(*(figure.sweeps for figure in FIGURES.values())) == SWEEPS.keys()


def test_claims_are_found_by_number_slug_or_both() -> None:
    assert find([]) == CLAIMS
    assert [claim.number for claim in find(["rr-falls", "3", "5-rr-falls"])] == [3, 5]
    last = CLAIMS[-1]
    wanted = rf"unknown claim '{last.number + 1}'.*1 datasets.*{last.number} {last.slug}"
    with pytest.raises(ForsoothError, match=wanted):
        find(["3", str(last.number + 1)])


def test_cells_are_shared_and_the_quick_ones_are_among_the_full_ones() -> None:
    quick = plan(Setup(QUICK, REAL), SWEEPS)
    assert (
        len({cell.key for cell in quick})
        == len(quick)
        < sum(len(sweep(Setup(QUICK, REAL))) for sweep in SWEEPS.values())
    )
    full = set(plan(Setup(FULL, REAL), SWEEPS))
    only_quick = [cell for cell in quick if cell not in full]
    assert {cell.kind for cell in only_quick} == {"audit"}  # fewer draws


def test_the_paper_s_grids() -> None:
    assert FULL.sparsities == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    assert (FULL.epsilons[0], FULL.epsilons[-1]) == (0.1, 5.0)
    sizes = {
        (cell.source.workers, cell.source.tasks)
        for cell in plan(Setup(QUICK), ["sparsity", "large", "splits"])
        if isinstance(cell, ErrorCell)
    }
    assert sizes == {(2000, 200), (10_000, 1000), (200, 20)}


def test_no_page_counts_the_claims() -> None:
    """Numbers that nothing updates become wrong with the next claim."""
    root = Path(__file__).parents[3]
    pages = [root / "README.md", *(root / "docs").rglob("*.md"), *(root / "src").rglob("*.py")]
    counted = re.compile(r"(fourteen|twenty[- ]?\w*|\b\d+) claims")
    for page in pages:
        found = counted.findall(page.read_text(encoding="utf-8"))
        assert not found, f"{page}: {found}"
