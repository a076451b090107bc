"""The paper's mechanisms, the best constant and forsooth side by side, at a few points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forsooth.study.paper.evidence import place
from forsooth.study.paper.plan import HALF, SPARSE, large, small
from forsooth.study.paper.readings import (
    ALGORITHM_1,
    LP,
    MF,
    MF_20,
    OURS,
    POSTERIOR,
    RR,
    TWO_LAYER,
)

if TYPE_CHECKING:
    from forsooth.study.paper.plan import Setup
    from forsooth.study.paper.results import Measured, Results

_EPSILONS = (1.0, 3.0)
_COLUMNS = {
    "LP": (LP, ALGORITHM_1),
    "RR": (RR, ALGORITHM_1),
    "2-Layer": (TWO_LAYER, ALGORITHM_1),
    "MF, d = 5": (MF, ALGORITHM_1),
    "MF, d = 20": (MF_20, ALGORITHM_1),
}
_OURS = {"forsooth": (OURS, POSTERIOR), "RR + posterior": (RR, POSTERIOR)}


@dataclass(frozen=True)
class Row:
    """One data set at one ε: MAE change per column, None where it was not measured."""

    where: str
    values: dict[str, Measured | None]

    @property
    def best(self) -> str:
        """The column with the smallest error."""
        measured = {name: found for name, found in self.values.items() if found}
        return min(measured, key=lambda name: measured[name].value)

    @property
    def ours_is_best(self) -> bool:
        """It is one of forsooth's two."""
        return self.best in _OURS


def compare(results: Results, setup: Setup) -> list[Row]:
    """At ε = 1 and 3, or else the largest ε, where forsooth's default was measured."""
    sources = [small(SPARSE), small(HALF), large(SPARSE), *setup.real.values()]
    rows = []
    for source in sources:
        measured = [e for e in setup.scope.epsilons if results.row(source, OURS, e, POSTERIOR)]
        for epsilon in [e for e in _EPSILONS if e in measured] or measured[-1:]:
            values: dict[str, Measured | None] = {
                name: results.measured(source, mechanism, epsilon, method)
                if results.row(source, mechanism, epsilon, method)
                else None
                for name, (mechanism, method) in (_OURS | _COLUMNS).items()
            }
            values["best constant"] = results.baseline(source, "mae_constant")
            rows.append(Row(f"{place(source)}, ε = {epsilon:g}", values))
    return rows
