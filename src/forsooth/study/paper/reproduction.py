"""All of it in one call: prepare, measure, conclude."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from forsooth.errors import ForsoothError
from forsooth.io.files import replacing
from forsooth.study import datasets
from forsooth.study.figures import check_drawable
from forsooth.study.paper import figures, measuring
from forsooth.study.paper.cells import RunSetting, known
from forsooth.study.paper.comparison import compare
from forsooth.study.paper.evidence import place
from forsooth.study.paper.judges import judge
from forsooth.study.paper.panels import FIGURES
from forsooth.study.paper.plan import plan
from forsooth.study.paper.results import Results
from forsooth.study.paper.scopes import Setup
from forsooth.study.paper.store import FIGURES_FOLDER, REPORT, ResultStore
from forsooth.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from forsooth.study.paper.cells import Cell, DataSource
    from forsooth.study.paper.charts import Chart
    from forsooth.study.paper.claims import Claim
    from forsooth.study.paper.comparison import ComparisonRow
    from forsooth.study.paper.scopes import Scope
    from forsooth.study.paper.verdicts import Judgement

_LIBRARIES = ("numpy", "scipy", "pyarrow", "matplotlib")


@dataclass(frozen=True)
class Reproduction:
    """What is to be done for some claims, and where the results go."""

    claims: tuple[Claim, ...]
    setup: Setup
    setting: RunSetting
    store: ResultStore
    cells: list[Cell]
    missing: dict[str, str]  # data sets that are not here, and what to do about it

    @classmethod
    def prepare(
        cls,
        claims: tuple[Claim, ...],
        scope: Scope,
        folder: Path,
        setting: RunSetting,
        *,
        own: DataSource | None = None,
        fresh: bool = False,
    ) -> Reproduction:
        """Look for the data, open the folder, and list the cells; nothing is computed yet."""
        real, missing = {}, {}
        for name in datasets.KNOWN:
            if any(name in claim.data for claim in claims):
                try:
                    real[name] = known(name, setting.data_dir)
                except ForsoothError as error:
                    missing[name] = str(error)
        setup = Setup(scope, real, own)
        possible = [claim for claim in claims if not missing.keys() & set(claim.data)]
        shown = _figures_of(possible, own)
        sweeps = [sweep for claim in possible for sweep in claim.sweeps]
        sweeps += [sweep for name in shown for sweep in FIGURES[name].sweeps]
        store = ResultStore.open(folder, seed=setting.seed, scope=scope.name, fresh=fresh)
        check_drawable(folder / FIGURES_FOLDER / "figure.png")
        return cls(claims, setup, setting, store, plan(setup, sweeps), missing)

    def unfinished(self) -> int:
        """How many cells are still to be computed."""
        return len(measuring.unfinished(self.cells, self.store))

    def forecast(self, processes: int) -> float:
        """About how many seconds that will take."""
        return measuring.forecast(self.cells, self.store, processes)

    def measure(self, processes: int = 1, progress: Callable[[float], None] | None = None) -> None:
        """Compute every cell that is not there yet."""
        measuring.measure(
            self.cells, self.setting, self.store, processes=processes, progress=progress
        )

    def conclude(self) -> Conclusion:
        """Judge the claims, draw the figures and write the report."""
        from forsooth.study.paper.page import page

        seconds, finished = 0.0, []
        for cell in self.cells:
            if (done := self.store.get(cell)) is None:
                raise ForsoothError(f"{self.store.path(cell)} is gone: run the same command again")
            seconds += done.seconds
            finished.append((cell, done.result))
        results = Results(finished)
        judgements = tuple(judge(claim, results, self.setup) for claim in self.claims)
        possible = [each.claim for each in judgements if not each.missing]
        drawn = [
            chart
            for name in _figures_of(possible, self.setup.own)
            if (chart := FIGURES[name].build(results, self.setup))
        ]
        for chart in drawn:
            figures.write(chart, self.store.folder / FIGURES_FOLDER)
        conclusion = Conclusion(self, results, judgements, tuple(drawn), seconds)
        with replacing(conclusion.report) as temporary:
            temporary.write_text(page(conclusion), encoding="utf-8")
        return conclusion


@dataclass(frozen=True)
class Conclusion:
    """What came out, and how long all cells took together on one core."""

    run: Reproduction
    results: Results
    judgements: tuple[Judgement, ...]
    charts: tuple[Chart, ...]
    seconds: float

    @property
    def report(self) -> Path:
        """The page."""
        return self.run.store.folder / REPORT

    @property
    def comparison(self) -> list[ComparisonRow]:
        """The paper's mechanisms and forsooth, wherever its default was measured."""
        return compare(self.results, sorted(self.results.sources, key=place))

    @property
    def versions(self) -> dict[str, str]:
        """What the numbers were computed with."""
        libraries = {name: version(name) for name in _LIBRARIES}
        return {"forsooth": __version__, "Python": platform.python_version()} | libraries

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "claims": [judgement.to_dict() for judgement in self.judgements],
            "comparison": [
                {"data": row.where, "epsilon": row.epsilon, "mae_change": row.values}
                for row in self.comparison
            ],
            "scope": self.run.setup.scope.name,
            "seed": self.run.setting.seed,
            "versions": self.versions,
            "cells": len(self.run.cells),
            "seconds": round(self.seconds, 1),
            "report": str(self.report),
            "figures": [
                str(self.run.store.folder / FIGURES_FOLDER / f"{chart.name}.svg")
                for chart in self.charts
            ],
        }


def _figures_of(claims: list[Claim], own: DataSource | None) -> list[str]:
    """The figures of these claims, and that of a person's own data, in the paper's order."""
    wanted = {name for claim in claims for name in claim.figures} | ({"own"} if own else set())
    return [name for name in FIGURES if name in wanted]
