"""The CSV files: every run, the means over repeats, and the times, which differ from run to run."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from forsooth.io.files import replacing
from forsooth.study.league.cells import MEASURES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from forsooth.study.league.results import LeagueResults, LeagueScore

RUNS, SUMMARY, TIMES = "runs.csv", "summary.csv", "times.csv"


def write(results: LeagueResults, folder: Path) -> None:
    """The same seed and source give the same bytes in `RUNS` and `SUMMARY`."""
    _write(folder / RUNS, _runs(results))
    _write(folder / SUMMARY, _summary(results))
    times = ({**_about(score), "seconds": _text(score.seconds)} for score in results.scores)
    _write(folder / TIMES, times)


def _runs(results: LeagueResults) -> Iterable[dict[str, object]]:
    for run in results.runs:
        cell = run.cell
        yield {
            "set": cell.source.name,
            "estimand": cell.source.estimand,
            "promise": cell.entry.promise,
            "mechanism": cell.entry.mechanism,
            "epsilon": f"{cell.epsilon:g}" if cell.epsilon else "",
            "method": cell.entry.method,
            "repeat": cell.repeat,
            **{name: _text(run.measures[name]) for name in MEASURES},
        }


def _summary(results: LeagueResults) -> Iterable[dict[str, object]]:
    for score in results.scores:
        row = _about(score) | {"repeats": score.error.repeats}
        for name, measured in score.measures.items():
            row[name] = _text(measured.value if measured else None)
            row[f"{name}_se"] = _text(measured.se if measured else None)
        yield row


def _about(score: LeagueScore) -> dict[str, object]:
    return {
        "set": score.source.name,
        "estimand": score.source.estimand,
        "promise": score.entry.promise,
        "mechanism": score.entry.mechanism,
        "epsilon": f"{score.epsilon:g}" if score.epsilon else "",
        "method": score.entry.method,
    }


def _text(value: float | None) -> str:
    """Six digits: the last bits of a sum may differ between machines."""
    return "" if value is None else f"{value:.6g}"


def _write(path: Path, rows: Iterable[Mapping[str, object]]) -> None:
    listed = list(rows)
    with (
        replacing(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.DictWriter(file, list(listed[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(listed)
