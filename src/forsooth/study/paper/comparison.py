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
    from forsooth.study.paper.results import Results

_EPSILONS = (1.0, 3.0, 5.0)
_COLUMNS = {
    "LP": (LP, ALGORITHM_1),
    "RR": (RR, ALGORITHM_1),
    "2-Layer": (TWO_LAYER, ALGORITHM_1),
    "MF, d = 5": (MF, ALGORITHM_1),
    "MF, d = 20": (MF_20, ALGORITHM_1),
}
_OURS = {"forsooth": (OURS, POSTERIOR), "RR + posterior": (RR, POSTERIOR)}


@dataclass(frozen=True)
class ComparisonRow:
    """One data set at one ε: MAE change per column to two decimals, None where not measured."""

    where: str
    values: dict[str, float | None]

    @property
    def smallest(self) -> float:
        """The smallest error of all."""
        return min(value for value in self.values.values() if value is not None)

    @property
    def ours_is_best(self) -> bool:
        """Only forsooth has the smallest error; a tie does not count."""
        best = {name for name, value in self.values.items() if value == self.smallest}
        return best <= _OURS.keys()


def compare(results: Results, setup: Setup) -> list[ComparisonRow]:
    """At ε = 1, 3 and 5, where forsooth's default was measured."""
    sources = [small(SPARSE), small(HALF), large(SPARSE), *setup.real.values()]
    rows = []
    for source in sources:
        measured = [e for e in _EPSILONS if results.row(source, OURS, e, POSTERIOR)]
        for epsilon in measured:
            values: dict[str, float | None] = {}
            for name, (mechanism, method) in (_OURS | _COLUMNS).items():
                row = results.row(source, mechanism, epsilon, method)
                values[name] = _rounded(row["mae_change"]) if row else None
            constant = results.baseline(source, "mae_constant")
            values["best constant"] = _rounded(constant.value)
            rows.append(ComparisonRow(f"{place(source)}, ε = {epsilon:g}", values))
    return rows


def _rounded(value: float) -> float:
    return round(value, 2) + 0.0  # no −0.00
