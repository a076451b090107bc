"""Which cells must be computed: sweeps by name.

A sweep is a set of cells that belong together; claims and figures name the sweeps that they need.
Sweeps may overlap: equal cells are one cell. The quick scope's cells are among the full one's
wherever they can be, so that a full run begins with what a quick one has done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from forsooth.study.paper.cells import AuditCell, Cell, DataSource, DescriptionCell, ErrorCell
from forsooth.study.paper.quality import QualityCell
from forsooth.study.paper.readings import (
    DEFAULT,
    LP,
    LP_READINGS,
    MF,
    MF_20,
    MF_READINGS,
    RR,
    RR_LP,
    SPLITS,
    TWO_LAYER,
    Pipeline,
    choices_of,
)
from forsooth.study.paper.scopes import (
    BUDGETS,
    CENTRE,
    CENTRE_BUDGETS,
    DENSE,
    EXAMPLE,
    EXAMPLE_EPSILON,
    EXAMPLE_MF,
    HALF,
    SPARSE,
    TOP,
    Scope,
    Setup,
    large,
    large_panels,
    quality_sources,
    small,
    tiny,
)

if TYPE_CHECKING:
    from forsooth.study.paper.cells import DataSource

AUDIT_SCALE = "0..9"
AUDIT_EPSILON = 1.0
AUDITED = (LP, RR, MF, TWO_LAYER)

Sweep = Callable[[Setup], list[Cell]]


@dataclass(frozen=True)
class PointGrid:
    """The points of a figure: crowds and budgets; `kind` says how often each is repeated."""

    kind: str
    crowds: Callable[[Scope], Iterable[DataSource]]
    epsilons: Callable[[Scope], Iterable[float]]


def plan(setup: Setup, sweeps: Iterable[str]) -> list[Cell]:
    """Every cell of these sweeps once; the largest data first, neighbours of one kind."""
    unique: dict[Cell, None] = {}
    for name in sweeps:
        unique |= dict.fromkeys(SWEEPS[name](setup))
    return sorted(unique, key=_order)


def real_mf_readings(name: str) -> tuple[str, ...]:
    """The readings of MF that are measured on a real data set, if they are affordable there."""
    return (MF, MF_20) if name == "adult" else tuple(MF_READINGS)


def own_mechanisms(source: DataSource) -> tuple[str, ...]:
    """What suits any scale and any number of tasks."""
    return ("lp", RR, TWO_LAYER, RR_LP, f"mf:d={min(5, source.tasks)}")


def _order(cell: Cell) -> tuple[object, ...]:
    """Cells on the same data stand together, so that a process can keep the data it has drawn."""
    match cell:
        case ErrorCell():
            what = (cell.method, str(cell.estimand))
        case QualityCell():
            what = ("", "")
        case _:
            return (0,)
    where = (-cell.source.size, cell.source.data, what, cell.repeat)
    return (1, *where, cell.mechanism, cell.epsilon)


def _errors(
    sources: Iterable[DataSource],
    pipelines: Iterable[Pipeline],
    epsilons: Iterable[float],
    repeats: int,
) -> list[Cell]:
    return [
        ErrorCell(source, each.mechanism, epsilon, each.method, repeat, each.estimand)
        for source, each, epsilon, repeat in product(sources, pipelines, epsilons, range(repeats))
    ]


def _theirs(
    sources: Iterable[DataSource], mechanisms: Iterable[str], epsilons: Iterable[float], times: int
) -> list[Cell]:
    """What the paper measures: mechanisms, read by Algorithm 1."""
    return _errors(sources, map(Pipeline, mechanisms), epsilons, times)


def _ours(
    sources: Iterable[DataSource], epsilons: Iterable[float], times: int, *, only: str | None = None
) -> list[Cell]:
    """What forsooth makes of the same data: its default and the other choices."""
    return [
        cell
        for source in sources
        for name, pipeline in choices_of(source).items()
        if only in (None, name)
        for cell in _errors((source,), (pipeline,), epsilons, times)
    ]


def _of_paper(grid: PointGrid, mechanisms: Iterable[str]) -> Sweep:
    def cells(setup: Setup) -> list[Cell]:
        scope = setup.scope
        compared = (*mechanisms, *(scope.large_mf if grid.kind == "large" else ()))
        epsilons, repeats = grid.epsilons(scope), scope.repeats[grid.kind]
        return _theirs(grid.crowds(scope), compared, epsilons, repeats)

    return cells


def _of_forsooth(grid: PointGrid, only: str | None = DEFAULT) -> Sweep:
    def cells(setup: Setup) -> list[Cell]:
        scope = setup.scope
        repeats = scope.posterior_repeats[grid.kind]
        return _ours(grid.crowds(scope), grid.epsilons(scope), repeats, only=only)

    return cells


def _over_epsilon(mean: float, *sparsities: float) -> PointGrid:
    return PointGrid("small", lambda _: [small(s, mean) for s in sparsities], lambda s: s.epsilons)


def _over_sparsity(mean: float, budgets: tuple[float, ...]) -> PointGrid:
    return PointGrid(
        "small", lambda scope: [small(s, mean) for s in scope.sparsities], lambda _: budgets
    )


def _large_over_sparsity(mean: float, budgets: tuple[float, ...]) -> PointGrid:
    return PointGrid(
        "large", lambda scope: [large(s, mean) for s in scope.large_sparsities], lambda _: budgets
    )


def _real(setup: Setup) -> list[Cell]:
    """The real data sets that are here, over ε."""
    scope, found = setup.scope, []
    for name, source in setup.real.items():
        compared = (LP, RR, TWO_LAYER, *real_mf_readings(name))
        found += _theirs((source,), compared, scope.epsilons_of(name), scope.repeats[name])
    return found


def _real_ours(setup: Setup) -> list[Cell]:
    scope, found = setup.scope, []
    for name, source in setup.real.items():
        found += _ours((source,), scope.epsilons_of(name), scope.posterior_repeats[name])
    return found


def _own(setup: Setup) -> list[Cell]:
    if setup.own is None:
        return []
    scope, own = setup.scope, setup.own
    return [
        *_theirs((own,), own_mechanisms(own), scope.epsilons, scope.repeats["own"]),
        *_ours((own,), scope.epsilons, scope.posterior_repeats["own"]),
    ]


def _quality(setup: Setup) -> list[Cell]:
    scope = setup.scope
    return [
        QualityCell(source, mechanism, epsilon, repeat)
        for kind, source in quality_sources(setup).items()
        for mechanism, epsilon in product((LP, RR, MF, MF_20), scope.quality_epsilons)
        for repeat in range(scope.repeats[kind])
    ]


def _example(setup: Setup) -> list[Cell]:
    repeats = setup.scope.repeats["small"]
    return _theirs((EXAMPLE,), (LP, RR, EXAMPLE_MF), (EXAMPLE_EPSILON,), repeats)


def _audits(setup: Setup) -> list[Cell]:
    return [AuditCell(name, AUDIT_SCALE, AUDIT_EPSILON, setup.scope.draws) for name in AUDITED]


def _descriptions(setup: Setup) -> list[Cell]:
    return [DescriptionCell(source) for source in setup.real.values()]


_STRAW_MEN = (LP, RR, RR_LP)
_COMPARED = (*_STRAW_MEN, MF, MF_20)
_READINGS = (*LP_READINGS, *MF_READINGS)
_EPSILON, _SPARSITY = _over_epsilon(0, SPARSE, HALF), _over_sparsity(0, BUDGETS)
_CENTRE = _over_epsilon(CENTRE, SPARSE, HALF, DENSE)
_CENTRE_SPARSITY = _over_sparsity(CENTRE, CENTRE_BUDGETS)
_TOP = _over_epsilon(TOP, SPARSE, HALF)
_LARGE = _large_over_sparsity(0, BUDGETS)
_LARGE_CENTRE_SPARSITY = _large_over_sparsity(CENTRE, CENTRE_BUDGETS)
_LARGE_CENTRE = PointGrid(
    "large",
    lambda scope: [large(s, CENTRE) for s in large_panels(scope)],
    lambda scope: scope.large_epsilons,
)
_TINY = PointGrid("tiny", lambda _: map(tiny, (SPARSE, HALF, DENSE)), lambda scope: scope.epsilons)

SWEEPS: dict[str, Sweep] = {
    "epsilon": _of_paper(_EPSILON, _COMPARED),
    "epsilon-readings": _of_paper(_EPSILON, _READINGS),
    "epsilon-ours": _of_forsooth(_EPSILON, None),
    "sparsity": _of_paper(_SPARSITY, (*_STRAW_MEN, *MF_READINGS)),
    "sparsity-ours": _of_forsooth(_SPARSITY),
    "large": _of_paper(_LARGE, _STRAW_MEN),
    "large-ours": _of_forsooth(_LARGE),
    "splits": _of_paper(_TINY, SPLITS),
    "centre": _of_paper(_CENTRE, _COMPARED),
    "centre-ours": _of_forsooth(_CENTRE),
    "centre-sparsity": _of_paper(_CENTRE_SPARSITY, _COMPARED),
    "centre-sparsity-ours": _of_forsooth(_CENTRE_SPARSITY),
    "large-centre": _of_paper(_LARGE_CENTRE, _STRAW_MEN),
    "large-centre-ours": _of_forsooth(_LARGE_CENTRE),
    "large-centre-sparsity": _of_paper(_LARGE_CENTRE_SPARSITY, _STRAW_MEN),
    "large-centre-sparsity-ours": _of_forsooth(_LARGE_CENTRE_SPARSITY),
    "top": _of_paper(_TOP, _COMPARED),
    "top-ours": _of_forsooth(_TOP),
    "quality": _quality,
    "real": _real,
    "real-ours": _real_ours,
    "own": _own,
    "example": _example,
    "audits": _audits,
    "descriptions": _descriptions,
}
