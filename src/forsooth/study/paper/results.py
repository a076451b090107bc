"""The numbers of a run: finished cells, brought together over their repeats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.study.evaluation import summarise
from forsooth.study.paper.cells import AuditCell, DescriptionCell, ErrorCell
from forsooth.study.paper.quality import QualityCell
from forsooth.study.paper.readings import Pipeline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

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
    """Errors by data, pipeline and ε; worker quality by data, mechanism and ε; audits by
    mechanism; descriptions by data.
    """

    def __init__(self, finished: Iterable[tuple[Cell, dict[str, Any]]]) -> None:
        runs: list[Run] = []
        self.sources: dict[DataSource, None] = {}  # in which errors were measured, each once
        self.audits: dict[str, dict[str, Any]] = {}
        self.descriptions: dict[str, dict[str, Any]] = {}
        self._quality: dict[tuple[str, str, float], list[dict[str, Any]]] = {}
        for cell, result in finished:
            if isinstance(cell, ErrorCell):
                runs.append(result)
                self.sources[cell.source] = None
            elif isinstance(cell, QualityCell):
                point = (cell.source.data, cell.mechanism, cell.epsilon)
                self._quality.setdefault(point, []).append(result)
            elif isinstance(cell, AuditCell):
                self.audits[cell.mechanism] = result
            elif isinstance(cell, DescriptionCell):
                self.descriptions[cell.source.data] = result
        self._rows = {
            (
                row["data"],
                Pipeline(row["mechanism"], row["method"], row["estimand"]),
                row["epsilon"],
            ): row
            for row in summarise(runs)
        }

    def row(self, source: DataSource, pipeline: Pipeline, epsilon: float) -> Run | None:
        """The summary of one point, if it was measured."""
        return self._rows.get((source.data, pipeline, epsilon))

    def epsilons(self, source: DataSource, pipeline: Pipeline) -> list[float]:
        """Every ε at which this was measured."""
        where = (source.data, pipeline)
        return sorted(epsilon for *point, epsilon in self._rows if tuple(point) == where)

    def measured(
        self,
        source: DataSource,
        pipeline: Pipeline,
        epsilon: float,
        *,
        measure: str = "mae_change",
    ) -> Measured:
        """One point's MAE change (or another measure)."""
        row = self._rows[source.data, pipeline, epsilon]
        return Measured(row[measure], row[f"{measure}_se"], row["repeats"])

    def baseline(self, source: DataSource, measure: str) -> Measured:
        """MAE change of a guess that looks at no data: ``mae_constant`` or ``mae_middle``."""
        rows = [row for (data, *_), row in self._rows.items() if data == source.data]
        row = max(rows, key=lambda row: row["repeats"])
        return Measured(row[measure] - row["mae_original"], None, row["repeats"])

    def quality(self, source: DataSource, mechanism: str, epsilon: float, measure: str) -> Measured:
        """A number about the distribution of worker quality, over the repeats."""
        values = self._of_quality(source, mechanism, epsilon, measure)
        se = float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
        return Measured(float(values.mean()), se, len(values))

    def quality_shares(
        self, source: DataSource, mechanism: str, epsilon: float, when: str
    ) -> tuple[float, ...]:
        """The shares of workers per bin of quality, ``before`` or ``after`` perturbation."""
        values = self._of_quality(source, mechanism, epsilon, when)
        return tuple(map(float, values.mean(axis=0)))

    def _of_quality(
        self, source: DataSource, mechanism: str, epsilon: float, key: str
    ) -> NDArray[np.float64]:
        repeats = self._quality[source.data, mechanism, epsilon]
        return np.array([repeat[key] for repeat in repeats])
