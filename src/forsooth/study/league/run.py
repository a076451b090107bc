"""A whole league in one call: prepare, measure, conclude."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forsooth.errors import ForsoothError
from forsooth.io.files import replacing
from forsooth.study.figures import check_drawable
from forsooth.study.league import figures, page, plan, tables
from forsooth.study.league.blocks import as_html, as_markdown
from forsooth.study.league.comparisons import all_comparisons, compare, counted_verdicts
from forsooth.study.league.entries import PROMISES
from forsooth.study.league.results import FinishedRun, LeagueResults
from forsooth.study.paper import measuring
from forsooth.study.paper.store import FIGURES_FOLDER, ResultStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from forsooth.study.league.cells import LeagueCell
    from forsooth.study.league.plan import Choice, LeagueScope
    from forsooth.study.paper.cells import RunSetting

HTML, MARKDOWN = "league.html", "league.md"


@dataclass(frozen=True)
class LeagueRun:
    """What is to be measured, and where the results go."""

    choice: Choice
    scope: LeagueScope
    setting: RunSetting
    store: ResultStore
    cells: list[LeagueCell]

    @classmethod
    def prepare(
        cls,
        choice: Choice,
        scope: LeagueScope,
        folder: Path,
        setting: RunSetting,
        *,
        fresh: bool = False,
    ) -> LeagueRun:
        """Look for the data, open the folder, and list the runs; nothing is computed yet."""
        sources = plan.chosen_sets(choice, scope, setting.data_dir, setting.seed)
        cells = plan.cells(choice, scope, sources)
        store = ResultStore.open(
            folder, seed=setting.seed, scope=scope.name, command="league", fresh=fresh
        )
        check_drawable(folder / FIGURES_FOLDER / "figure.svg")
        return cls(choice, scope, setting, store, cells)

    def unfinished(self) -> int:
        """How many runs are still to be done."""
        return len(measuring.unfinished(self.cells, self.store))

    def forecast(self, processes: int) -> float:
        """About how many seconds that will take."""
        return measuring.forecast(self.cells, self.store, processes)

    def measure(self, processes: int = 1, progress: Callable[[float], None] | None = None) -> None:
        """Do every run that is not there yet."""
        measuring.measure(
            self.cells, self.setting, self.store, processes=processes, progress=progress
        )

    def conclude(self) -> LeagueOutcome:
        """Bring the runs together; write tables, figures and pages."""
        found = []
        for cell in self.cells:
            if (done := self.store.get(cell)) is None:
                raise ForsoothError(f"{self.store.path(cell)} is gone: run the same command again")
            found.append(FinishedRun(cell, done.result, done.seconds))
        results = LeagueResults(found)
        folder = self.store.folder
        tables.write(results, folder)
        charts = figures.charts(results)
        figures.write(charts, folder / FIGURES_FOLDER)
        blocks = page.blocks(results, charts, self)
        for name, text in (
            (HTML, as_html(page.TITLE, blocks, folder / FIGURES_FOLDER)),
            (MARKDOWN, as_markdown(page.TITLE, blocks, FIGURES_FOLDER)),
        ):
            with replacing(folder / name) as temporary:
                temporary.write_text(text, encoding="utf-8")
        return LeagueOutcome(self, results)


@dataclass(frozen=True)
class LeagueOutcome:
    """What came out."""

    run: LeagueRun
    results: LeagueResults

    @property
    def page(self) -> Path:
        """The page to open."""
        return self.run.store.folder / HTML

    def verdicts(self) -> list[dict[str, Any]]:
        """By estimand and promise: how often our default wins against the best rival."""
        rows = []
        for estimand in self.results.estimands:
            for promise in PROMISES:
                if found := compare(self.results, estimand, promise):
                    count = counted_verdicts(found)
                    rows.append(
                        {
                            "estimand": estimand,
                            "promise": promise,
                            "comparisons": len(found),
                            "wins": count["win"],
                            "ties": count["tie"],
                            "losses": count["loss"],
                            "neither": count["neither"],
                        }
                    )
        return rows

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        folder = self.run.store.folder
        return {
            "scope": self.run.scope.name,
            "seed": self.run.setting.seed,
            "runs": len(self.run.cells),
            "seconds": round(sum(each.seconds for each in self.results.runs), 1),
            "verdicts": self.verdicts(),
            "losses": [_loss(each) for each in all_comparisons(self.results) if each.reason],
            "page": str(self.page),
            "tables": [str(folder / name) for name in (tables.RUNS, tables.SUMMARY, tables.TIMES)],
        }


def _loss(each: Any) -> dict[str, Any]:
    return {
        "set": each.ours.source.name,
        "promise": each.ours.entry.promise,
        "epsilon": each.ours.epsilon or None,
        "error": each.ours.error.value,
        "rival": each.rival.entry.label,
        "rival_error": each.rival.error.value,
        "why": each.reason,
    }
