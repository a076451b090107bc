"""Which cells must be computed: sweeps by name, for a quick look or for the full study.

A sweep is a set of cells that belong together; claims and figures name the sweeps that they need.
Sweeps may overlap: equal cells are one cell. The quick scope's cells are among the full one's
wherever they can be, so that a full run begins with what a quick one has done.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

from forsooth.study.paper.cells import AuditCell, DataSource, DescriptionCell, ErrorCell, synthetic
from forsooth.study.paper.readings import (
    ALGORITHM_1,
    LP,
    LP_READINGS,
    MF,
    MF_20,
    MF_READINGS,
    OURS,
    POSTERIOR,
    RR,
    TWO_LAYER,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from forsooth.study.paper.cells import Cell

SPARSE, HALF = 0.9, 0.5  # the sparsities of the figures against ε
BUDGETS = (0.1, 1.0)  # the ε of the figures against sparsity
EXAMPLE = DataSource("synthetic:workers=2000,tasks=1000,sparsity=0.9,truth-sd=0,good=1", 2000, 1000)
EXAMPLE_EPSILON = 1.0
EXAMPLE_MF = "mf:d=100"
AUDIT_SCALE = "0..9"
AUDIT_EPSILON = 1.0
AUDITED = (LP, RR, MF, TWO_LAYER)


@dataclass(frozen=True)
class Scope:
    """How much is measured; less of the inference that knows the channel, which is slower."""

    name: str
    epsilons: tuple[float, ...]
    sparsities: tuple[float, ...]
    large_sparsities: tuple[float, ...]
    large_mf: tuple[str, ...]  # the readings of MF on the larger crowd
    repeats: Mapping[str, int]  # per kind of data
    posterior_repeats: Mapping[str, int]
    large_posterior_sparsities: tuple[float, ...]
    adult_epsilons: tuple[float, ...]
    adult_posterior_epsilons: tuple[float, ...]
    draws: int

    def repeats_of(self, kind: str, method: str) -> int:
        """How often a cell on this kind of data is repeated."""
        return (self.posterior_repeats if method == POSTERIOR else self.repeats)[kind]

    def epsilons_of(self, name: str, method: str = ALGORITHM_1) -> tuple[float, ...]:
        """The ε that are measured on a real data set."""
        if name != "adult":
            return self.epsilons
        return self.adult_posterior_epsilons if method == POSTERIOR else self.adult_epsilons


QUICK = Scope(
    name="quick",
    epsilons=(0.1, 0.5, 1.0, 3.0, 5.0),
    sparsities=(0.1, 0.5, 0.9),
    large_sparsities=(0.1, 0.9),
    large_mf=(MF_20,),  # Algorithm 1 takes very long on what d = 5 predicts
    repeats={"small": 2, "large": 1, "wsd": 5, "adult": 1, "own": 3},
    posterior_repeats={"small": 1, "large": 1, "wsd": 3, "adult": 1, "own": 1},
    large_posterior_sparsities=(0.9,),
    adult_epsilons=(0.1, 1.0, 3.0, 5.0),
    adult_posterior_epsilons=(1.0, 5.0),
    draws=100_000,
)
FULL = Scope(
    name="full",
    epsilons=(0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0),
    sparsities=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    large_sparsities=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    large_mf=(MF, MF_20),
    repeats={"small": 5, "large": 2, "wsd": 20, "adult": 3, "own": 10},
    posterior_repeats={"small": 3, "large": 1, "wsd": 10, "adult": 1, "own": 3},
    large_posterior_sparsities=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    adult_epsilons=(0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0),
    adult_posterior_epsilons=(0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0),
    draws=300_000,
)


@dataclass(frozen=True)
class Setup:
    """A scope, and the data that is here."""

    scope: Scope
    real: Mapping[str, DataSource] = field(default_factory=dict)
    own: DataSource | None = None

    def cells(self, sweeps: Iterable[str]) -> list[Cell]:
        """Every cell of these sweeps once; the largest data first, neighbours of one kind."""
        unique: dict[Cell, None] = {}
        for name in sweeps:
            unique |= dict.fromkeys(SWEEPS[name](self))
        return sorted(unique, key=_order)


def small(sparsity: float) -> DataSource:
    """The paper's smaller crowd."""
    return synthetic(2000, 200, sparsity)


def large(sparsity: float) -> DataSource:
    """The paper's larger crowd."""
    return synthetic(10_000, 1000, sparsity)


def real_mf_readings(name: str) -> tuple[str, ...]:
    """The readings of MF that are measured on a real data set, if they are affordable there."""
    return (MF, MF_20) if name == "adult" else tuple(MF_READINGS)


def own_mechanisms(source: DataSource) -> tuple[str, ...]:
    """What suits any scale and any number of tasks."""
    return ("lp", RR, TWO_LAYER, f"mf:d={min(5, source.tasks)}")


def _order(cell: Cell) -> tuple[object, ...]:
    """Cells on the same data stand together, so that a process can keep the data it has drawn."""
    if not isinstance(cell, ErrorCell):
        return (0,)
    where = (-cell.source.size, cell.source.data, cell.mirror, cell.method, cell.repeat)
    return (1, *where, cell.mechanism, cell.epsilon)


def _errors(
    sources: Iterable[DataSource],
    mechanisms: Iterable[str],
    epsilons: Iterable[float],
    repeats: int,
    method: str = ALGORITHM_1,
    mirror: bool = False,
) -> list[Cell]:
    combined = product(sources, mechanisms, epsilons, range(repeats))
    return [ErrorCell(s, m, e, method, repeat, mirror) for s, m, e, repeat in combined]


def _against_epsilon(
    mechanisms: Iterable[str], method: str = ALGORITHM_1, mirror: bool = False
) -> Callable[[Setup], list[Cell]]:
    """The smaller crowd at two sparsities, over ε."""

    def cells(setup: Setup) -> list[Cell]:
        scope, sources = setup.scope, (small(SPARSE), small(HALF))
        repeats = scope.repeats_of("small", method)
        return _errors(sources, mechanisms, scope.epsilons, repeats, method, mirror)

    return cells


def _against_sparsity(
    mechanisms: Iterable[str], method: str = ALGORITHM_1
) -> Callable[[Setup], list[Cell]]:
    """The smaller crowd at two budgets, over sparsity."""

    def cells(setup: Setup) -> list[Cell]:
        scope, sources = setup.scope, map(small, setup.scope.sparsities)
        return _errors(sources, mechanisms, BUDGETS, scope.repeats_of("small", method), method)

    return cells


def _large(method: str) -> Callable[[Setup], list[Cell]]:
    """The larger crowd at two budgets, over sparsity."""

    def cells(setup: Setup) -> list[Cell]:
        scope, ours = setup.scope, method == POSTERIOR
        sources = map(large, scope.large_posterior_sparsities if ours else scope.large_sparsities)
        compared = (OURS,) if ours else (LP, RR, *scope.large_mf)
        return _errors(sources, compared, BUDGETS, scope.repeats_of("large", method), method)

    return cells


def _real(method: str) -> Callable[[Setup], list[Cell]]:
    """The real data sets that are here, over ε."""

    def cells(setup: Setup) -> list[Cell]:
        scope, found = setup.scope, []
        for name, source in setup.real.items():
            paper = (LP, RR, TWO_LAYER, *real_mf_readings(name))
            compared = (RR, OURS) if method == POSTERIOR else paper
            epsilons, repeats = scope.epsilons_of(name, method), scope.repeats_of(name, method)
            found += _errors((source,), compared, epsilons, repeats, method)
        return found

    return cells


def _own(setup: Setup) -> list[Cell]:
    if setup.own is None:
        return []
    scope, found = setup.scope, []
    for method, compared in (
        (ALGORITHM_1, own_mechanisms(setup.own)),
        (POSTERIOR, (RR, OURS)),
    ):
        repeats = scope.repeats_of("own", method)
        found += _errors((setup.own,), compared, scope.epsilons, repeats, method)
    return found


def _example(setup: Setup) -> list[Cell]:
    repeats = setup.scope.repeats["small"]
    return _errors((EXAMPLE,), (LP, RR, EXAMPLE_MF), (EXAMPLE_EPSILON,), repeats)


def _audits(setup: Setup) -> list[Cell]:
    return [AuditCell(name, AUDIT_SCALE, AUDIT_EPSILON, setup.scope.draws) for name in AUDITED]


def _descriptions(setup: Setup) -> list[Cell]:
    return [DescriptionCell(source) for source in setup.real.values()]


_COMPARED = (LP, RR, MF, MF_20)
SWEEPS: dict[str, Callable[[Setup], list[Cell]]] = {
    "epsilon": _against_epsilon(_COMPARED),
    "epsilon-readings": _against_epsilon((*LP_READINGS, *MF_READINGS)),
    "epsilon-ours": _against_epsilon((RR, OURS), POSTERIOR),
    "mirrored": _against_epsilon(_COMPARED, mirror=True),
    "mirrored-ours": _against_epsilon((OURS,), POSTERIOR, mirror=True),
    "sparsity": _against_sparsity((LP, RR, *MF_READINGS)),
    "sparsity-ours": _against_sparsity((RR, OURS), POSTERIOR),
    "large": _large(ALGORITHM_1),
    "large-ours": _large(POSTERIOR),
    "real": _real(ALGORITHM_1),
    "real-ours": _real(POSTERIOR),
    "own": _own,
    "example": _example,
    "audits": _audits,
    "descriptions": _descriptions,
}
