"""The paper's mechanisms, the best constant and forsooth side by side, wherever forsooth's default
was measured: at every ε, also where it loses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forsooth.study.paper.evidence import place
from forsooth.study.paper.readings import (
    DEFAULT,
    LP,
    MF,
    MF_20,
    RR,
    RR_LP,
    TWO_LAYER,
    Pipeline,
    choices_of,
    default_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forsooth.study.paper.cells import DataSource
    from forsooth.study.paper.results import Results

PAPERS = {
    "LP": Pipeline(LP),
    "RR": Pipeline(RR),
    "RR+LP": Pipeline(RR_LP),
    "2-Layer": Pipeline(TWO_LAYER),
    "MF, d = 5": Pipeline(MF),
    "MF, d = 20": Pipeline(MF_20),
}
CONSTANT = "best constant"


@dataclass(frozen=True)
class ComparisonRow:
    """One data set at one ε: MAE change per column to two decimals, None where not measured."""

    where: str
    epsilon: float
    values: dict[str, float | None]

    @property
    def smallest(self) -> float:
        """The smallest error of all."""
        return min(value for value in self.values.values() if value is not None)

    @property
    def default_is_best(self) -> bool:
        """No mechanism of the paper and no constant is as good as forsooth's default.

        forsooth's other choices do not count, neither for it nor against it.
        """
        return not self.default_is_beaten_by((*PAPERS, CONSTANT))

    def default_is_beaten_by(self, columns: Iterable[str]) -> bool:
        """One of them is as good or better."""
        mine = self.values[DEFAULT]
        others = [self.values.get(name) for name in columns]
        return mine is None or any(other is not None and other <= mine for other in others)


def compare(results: Results, sources: list[DataSource]) -> list[ComparisonRow]:
    """Every point at which forsooth's default was measured."""
    ours = list(dict.fromkeys(name for source in sources for name in choices_of(source)))
    rows = []
    for source in sources:
        for epsilon in results.epsilons(source, default_of(source)):
            values: dict[str, float | None] = {}
            for name in ours:
                chosen = choices_of(source).get(name)
                values[name] = _change(results, source, chosen, epsilon) if chosen else None
            for name, pipeline in PAPERS.items():
                values[name] = _change(results, source, pipeline, epsilon)
            values[CONSTANT] = _rounded(results.baseline(source, "mae_constant").value)
            rows.append(ComparisonRow(place(source), epsilon, values))
    return rows


def _change(
    results: Results, source: DataSource, pipeline: Pipeline, epsilon: float
) -> float | None:
    row = results.row(source, pipeline, epsilon)
    return _rounded(row["mae_change"]) if row else None


def _rounded(value: float) -> float:
    return round(value, 2) + 0.0  # no −0.00
