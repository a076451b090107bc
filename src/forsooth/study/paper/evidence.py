"""What a judge looks at: the results, and a record of every number that was asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from forsooth.study.paper.readings import ALGORITHM_1, label
from forsooth.study.paper.verdicts import Number
from forsooth.study.synthetic import PREFIX, SyntheticCrowd

if TYPE_CHECKING:
    from forsooth.study.paper.cells import DataSource
    from forsooth.study.paper.plan import Setup
    from forsooth.study.paper.results import Measured, Results

_REAL = {"wsd": "Web", "adult": "AdultContent"}


@dataclass
class ClaimEvidence:
    """The results, seen through one claim; `numbers` and `remarks` fill as it is judged."""

    results: Results
    setup: Setup
    tolerance: float
    numbers: dict[str, Number] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def change(
        self, source: DataSource, mechanism: str, epsilon: float, *, mirror: bool = False
    ) -> Measured:
        """The MAE change of Algorithm 1 at one point."""
        return self._measured(source, mechanism, epsilon, "mae_change", mirror)

    def error(self, source: DataSource, mechanism: str, epsilon: float) -> Measured:
        """The MAE of Algorithm 1 at one point."""
        return self._measured(source, mechanism, epsilon, "mae", False)

    def _measured(
        self, source: DataSource, mechanism: str, epsilon: float, measure: str, mirror: bool
    ) -> Measured:
        found = self.results.measured(
            source, mechanism, epsilon, ALGORITHM_1, mirror=mirror, measure=measure
        )
        what = {"mae_change": "MAE change", "mae": "MAE"}[measure]
        mirrored = ", mirrored" if mirror else ""
        name = f"{what}: {label(mechanism)}; {place(source)}{mirrored}; ε = {epsilon:g}"
        self.numbers[name] = Number(name, found.value, found.se, found.repeats)
        return found

    def note(self, name: str, value: float | str, *, printed: float | None = None) -> None:
        """Record a number that is not a mean over repeats."""
        self.numbers[name] = Number(name, value, printed=printed)


def place(source: DataSource) -> str:
    """A data set in the paper's words."""
    if source.data.partition(":")[0] == PREFIX:
        crowd = SyntheticCrowd.parse(source.data)
        return f"{crowd.workers:,}×{crowd.tasks:,}, sparsity {crowd.sparsity:g}"
    return _REAL.get(source.data, Path(source.data).name)
