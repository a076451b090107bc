"""What a judge looks at: the results, and a record of every number that was asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from forsooth.study.paper.readings import Pipeline, label
from forsooth.study.paper.verdicts import Number
from forsooth.study.synthetic import PREFIX, SyntheticCrowd

if TYPE_CHECKING:
    from forsooth.study.paper.cells import DataSource
    from forsooth.study.paper.results import Measured, Results
    from forsooth.study.paper.scopes import Setup

_REAL = {"wsd": "Web", "adult": "AdultContent"}


@dataclass
class ClaimEvidence:
    """The results, seen through one claim; `numbers` and `remarks` fill as it is judged."""

    results: Results
    setup: Setup
    tolerance: float
    numbers: dict[str, Number] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def change(self, source: DataSource, mechanism: str, epsilon: float) -> Measured:
        """The MAE change of Algorithm 1 at one point."""
        return self._measured(source, mechanism, epsilon, "mae_change")

    def error(self, source: DataSource, mechanism: str, epsilon: float) -> Measured:
        """The MAE of Algorithm 1 at one point."""
        return self._measured(source, mechanism, epsilon, "mae")

    def quality(
        self, source: DataSource, mechanism: str, epsilon: float, measure: str, words: str
    ) -> Measured:
        """A number about worker quality before and after perturbation."""
        found = self.results.quality(source, mechanism, epsilon, measure)
        return self._record(words, found, source, mechanism, epsilon)

    def _measured(
        self, source: DataSource, mechanism: str, epsilon: float, measure: str
    ) -> Measured:
        found = self.results.measured(source, Pipeline(mechanism), epsilon, measure=measure)
        words = {"mae_change": "MAE change", "mae": "MAE"}[measure]
        return self._record(words, found, source, mechanism, epsilon)

    def _record(
        self, words: str, found: Measured, source: DataSource, mechanism: str, epsilon: float
    ) -> Measured:
        name = f"{words}: {label(mechanism)}; {place(source)}; ε = {epsilon:g}"
        self.numbers[name] = Number(name, found.value, found.se, found.repeats)
        return found

    def note(self, name: str, value: float | str, *, printed: float | None = None) -> None:
        """Record a number that is not a mean over repeats."""
        self.numbers[name] = Number(name, value, printed=printed)


def place(source: DataSource) -> str:
    """A data set in the paper's words."""
    if source.data.partition(":")[0] == PREFIX:
        crowd = SyntheticCrowd.parse(source.data)
        truths = f", truths N({crowd.truth_mean:g}, 1)" if crowd.truth_mean else ""
        return f"{crowd.workers:,}×{crowd.tasks:,}, sparsity {crowd.sparsity:g}{truths}"
    return _REAL.get(source.data, Path(source.data).name)
