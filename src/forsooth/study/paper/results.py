"""The numbers of a run: finished cells, brought together over their repeats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forsooth.study.evaluation import summarise
from forsooth.study.paper.cells import AuditCell, DescriptionCell, ErrorCell
from forsooth.study.paper.readings import ALGORITHM_1

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forsooth.study.evaluation import Run
    from forsooth.study.paper.cells import Cell, DataSource


@dataclass(frozen=True)
class Measured:
    """A mean over repeats with its standard error (None for a single repeat)."""

    value: float
    se: float | None = None
    repeats: int = 1

    def __str__(self) -> str:
        value = round(self.value, 2) + 0.0  # no −0.00
        return f"{value:.2f}" + (f" ± {self.se:.2f}" if self.se is not None else "")


class Results:
    """Errors by data, mechanism, ε and method; audits by mechanism; descriptions by data."""

    def __init__(self, finished: Iterable[tuple[Cell, dict[str, Any]]]) -> None:
        runs: list[Run] = []
        self.audits: dict[str, dict[str, Any]] = {}
        self.descriptions: dict[str, dict[str, Any]] = {}
        for cell, result in finished:
            if isinstance(cell, ErrorCell):
                runs.append(result)
            elif isinstance(cell, AuditCell):
                self.audits[cell.mechanism] = result
            elif isinstance(cell, DescriptionCell):
                self.descriptions[cell.source.data] = result
        self._rows = {
            (row["data"], row["mechanism"], row["epsilon"], row["method"], row["mirror"]): row
            for row in summarise(runs)
        }

    def row(
        self,
        source: DataSource,
        mechanism: str,
        epsilon: float,
        method: str = ALGORITHM_1,
        mirror: bool = False,
    ) -> Run | None:
        """The summary of one point, if it was measured."""
        return self._rows.get((source.data, mechanism, epsilon, method, mirror))

    def measured(
        self,
        source: DataSource,
        mechanism: str,
        epsilon: float,
        method: str = ALGORITHM_1,
        *,
        mirror: bool = False,
        measure: str = "mae_change",
    ) -> Measured:
        """One point's MAE change (or another measure)."""
        row = self._rows[source.data, mechanism, epsilon, method, mirror]
        return Measured(row[measure], row[f"{measure}_se"], row["repeats"])

    def baseline(self, source: DataSource, measure: str, mirror: bool = False) -> Measured:
        """MAE change of a guess that looks at no data: ``mae_constant`` or ``mae_middle``."""
        rows = [r for key, r in self._rows.items() if (key[0], key[4]) == (source.data, mirror)]
        row = max(rows, key=lambda row: row["repeats"])
        return Measured(row[measure] - row["mae_original"], None, row["repeats"])
