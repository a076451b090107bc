from __future__ import annotations

import pytest

from forsooth import ForsoothError
from forsooth.study.datasets import KNOWN
from forsooth.study.paper.cells import ErrorCell
from forsooth.study.paper.charts import FIGURES
from forsooth.study.paper.claims import CLAIMS, find
from forsooth.study.paper.judges import RULES
from forsooth.study.paper.plan import FULL, QUICK, SWEEPS, Setup
from tests.study.paper.worlds import REAL


def test_all_fourteen_are_there_once() -> None:
    assert [claim.number for claim in CLAIMS] == list(range(1, 15))
    assert len({claim.slug for claim in CLAIMS}) == 14
    assert RULES.keys() == {claim.slug for claim in CLAIMS}


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
    with pytest.raises(ForsoothError, match=r"unknown claim '15'.*1 datasets.*14 privacy"):
        find(["3", "15"])


def test_cells_are_shared_and_the_quick_ones_are_among_the_full_ones() -> None:
    quick = Setup(QUICK, REAL).cells(SWEEPS)
    assert (
        len({cell.key for cell in quick})
        == len(quick)
        < sum(len(sweep(Setup(QUICK, REAL))) for sweep in SWEEPS.values())
    )
    full = set(Setup(FULL, REAL).cells(SWEEPS))
    only_quick = [cell for cell in quick if cell not in full]
    assert {cell.kind for cell in only_quick} == {"audit"}  # fewer draws


def test_the_paper_s_grids() -> None:
    assert FULL.sparsities == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    assert (FULL.epsilons[0], FULL.epsilons[-1]) == (0.1, 5.0)
    sizes = {
        (cell.source.workers, cell.source.tasks)
        for cell in Setup(QUICK).cells(["sparsity", "large"])
        if isinstance(cell, ErrorCell)
    }
    assert sizes == {(2000, 200), (10_000, 1000)}
