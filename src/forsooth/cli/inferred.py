"""What `forsooth infer` writes and prints."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.answers import Answers
from forsooth.cli import options
from forsooth.cli.console import notice, print_table, say, working
from forsooth.cli.outputs import PAGE, check_output
from forsooth.inference.enough import Enough, enough
from forsooth.io import tables
from forsooth.io.files import check_writable, replacing
from forsooth.natural import reading_order
from forsooth.plural import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forsooth.cli.inferring import Inferred
    from forsooth.reports import Reports
    from forsooth.truths import Calibration, Difference, Posterior, Shares, Truths, Valleys

# name            value  unit, reason
_SHOWN = 20  # rows of a printed table: one screen
_MOST_SHARES = 11  # answers with a column of their own: what 80 characters hold
_MOST_FREQUENT = 3  # answers named for a longer scale: what is left of 80 characters


@dataclass(frozen=True)
class Outputs:
    """The files to write."""

    truths: Path | None
    workers: Path | None
    report: Path | None
    differences: Path | None

    def check(self, sources: list[str], *kept: Path | None) -> None:
        """Refuse files that cannot be written, or that are something else, before any work."""
        local = [source for source in sources if "://" not in source]
        listed = [self.truths, self.workers, self.report, self.differences]
        for place, path in enumerate(listed):
            if path:
                check_writable(path, *listed[place + 1 :], *kept, *local)
        if self.report:
            check_output(self.report, "a report", PAGE)
        for path in (self.truths, self.workers, self.differences):
            if path:
                tables.check_ending(path)
        for path in kept:
            if path:
                check_writable(path, *local)


@dataclass(frozen=True)
class Result:
    """What was inferred and where it goes."""

    found: Inferred
    outputs: Outputs

    @property
    def truths(self) -> Truths:
        """The result itself."""
        return self.found.truths

    @cached_property
    def verdict(self) -> Enough | None:
        """Was it enough? None for methods without a posterior."""
        return enough(self.truths)

    def write(self) -> None:
        """Write all files, and print what the reader should know about them."""
        truths, outputs = self.truths, self.outputs
        if outputs.truths:
            tables.write(self.columns, outputs.truths)
        if outputs.workers:
            tables.write(_in_reading_order(truths.worker_columns(), "worker"), outputs.workers)
        if outputs.differences:
            replace(truths, differences=self.differences).write_differences(outputs.differences)
        if outputs.report and self.found.data is not None:
            with working("writing the report"):
                _write_report(truths, self.found.data, outputs.report)
        for message in truths.notices:
            notice(message)
        if not truths.converged:
            steps = counted(truths.iterations, "iteration")
            notice(f"{truths.method} had not converged after {steps}")
        if empty := int((truths.support == 0).sum()):
            notice(f"{counted(empty, 'task')} without any answer: estimated from the other tasks")

    @cached_property
    def columns(self) -> dict[str, Any]:
        """The truths, tasks in the order for readers."""
        return _in_reading_order(self.truths.columns(), "task")

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """The differences between groups in the same order of tasks."""
        place = {task: place for place, task in enumerate(self.columns["task"])}
        return tuple(sorted(self.truths.differences, key=lambda each: place[each.task]))

    def document(self) -> dict[str, Any]:
        """For --json."""
        truths, outputs = self.truths, self.outputs
        document: dict[str, Any] = {
            "method": truths.method,
            "tasks": len(truths.tasks),
            "workers": self.found.workers,
            "iterations": truths.iterations,
            "converged": truths.converged,
            "notices": truths.notices,
            "output": _name(outputs.truths),
            "workers_output": _name(outputs.workers),
            "report": _name(outputs.report),
            "differences_output": _name(outputs.differences),
        }
        if truths.posterior:
            document |= {
                "estimand": truths.posterior.estimand,
                "seed": truths.posterior.seed,
                "model": truths.posterior.model,
                "participation": truths.posterior.participation,
                "participation_interval": truths.posterior.participation_interval,
            }
        if self.verdict:
            document |= {
                "enough": self.verdict.enough,
                "why": self.verdict.why,
                "expected_error": self.verdict.expected_error,
                "constant_error": self.verdict.constant_error,
                "constant_as_good": self.verdict.constant_as_good,
            }
        if truths.posterior and truths.posterior.valleys:
            document["divided"] = _divided(truths, truths.posterior.valleys)
        if truths.calibration:
            document["calibration"] = asdict(truths.calibration)
        if truths.differences:
            document["differences"] = [asdict(each) for each in self.differences]
        if outputs.truths is None:
            document["truths"] = _records(self.columns)
        return document

    def show(self) -> None:
        """Print for people."""
        truths, outputs = self.truths, self.outputs
        posterior = truths.posterior
        if posterior and posterior.shares:
            _show_shares(truths, posterior.shares)
        else:
            _show_columns(self.columns)
        if len(truths.tasks) > _SHOWN:
            _say_more(len(truths.tasks), "task", outputs.truths, "-o FILE")
        if truths.differences:
            self._show_differences()
        steps = f", {counted(truths.iterations, 'iteration')}" if truths.iterations else ""
        tasks = counted(len(truths.tasks), "task")
        workers = counted(self.found.workers, "worker")
        say(f"{tasks}, {workers}; {truths.method}{steps}")
        if posterior:
            say(options.assumption(posterior.estimand))
            if posterior.participation is not None:
                say(f"estimated share of answered cells: {_participation(posterior)}")
            if posterior.valleys:
                say(_divided_in_words(_divided(truths, posterior.valleys), len(truths.tasks)))
        if truths.calibration:
            say(_calibration(truths.calibration, truths.prediction_sets is not None))
        if self.verdict:
            say(f"Enough: {self.verdict.word}. {self.verdict.why}")
        for path, what in (
            (outputs.truths, "truths"),
            (outputs.workers, "worker quality"),
            (outputs.report, "the report"),
            (outputs.differences, "differences between groups"),
        ):
            if path:
                say(f"{path}: {what}")

    def _show_differences(self) -> None:
        differences = self.differences
        print_table(
            ("task", "group", "minus", "difference", "interval"),
            (
                (
                    each.task,
                    each.group,
                    each.other,
                    each.estimate,
                    f"{each.low:.2f} to {each.high:.2f}",
                )
                for each in differences[:_SHOWN]
            ),
            title="Differences between the groups' mean answers, with 90 % intervals",
            decimals=2,
        )
        if len(differences) > _SHOWN:
            output = self.outputs.differences
            _say_more(len(differences), "difference", output, "--differences-output FILE")


def _in_reading_order(columns: dict[str, Any], names: str) -> dict[str, Any]:
    """Rows in the order for readers, by the column of names."""
    order = reading_order(columns[names])
    return {name: [column[place] for place in order] for name, column in columns.items()}


def _show_columns(columns: dict[str, Any]) -> None:
    rows = zip(*(list(column)[:_SHOWN] for column in columns.values()))
    print_table(list(columns), ([_plain(cell) for cell in row] for row in rows))


def _show_shares(truths: Truths, shares: Shares) -> None:
    """Per task the mean answer with its interval, and the share of every answer in per cent."""
    labels, first = truths.scale.labels, reading_order(truths.tasks)[:_SHOWN]
    if len(labels) <= _MOST_SHARES:
        headings: tuple[str, ...] = labels
        cells: dict[int, list[object]] = {
            task: [round(100 * float(share)) for share in shares.estimate[task]] for task in first
        }
    else:
        headings = ("most frequent",)
        cells = {task: [_most_frequent(labels, shares.estimate[task])] for task in first}
    print_table(
        ("task", "mean", "interval", *headings),
        (
            (
                truths.tasks[task],
                float(truths.estimate[task]),
                f"{truths.low[task]:.2f}–{truths.high[task]:.2f}",
                *cells[task],
            )
            for task in first
        ),
        title="Mean answer with 90 % interval, and share of each answer in %",
        decimals=2,
    )
    say(
        "Shares are of the answers as given; careless answers count too. Intervals of the shares: "
        "-o FILE or --json."
    )


def _divided(truths: Truths, valleys: Valleys) -> list[str]:
    """The tasks on which people disagree, in the order for readers."""
    places = [place for place in reading_order(truths.tasks) if valleys.divided[place]]
    return [truths.tasks[place] for place in places]


def _divided_in_words(tasks: list[str], count: int) -> str:
    named = ", ".join(tasks[:_SHOWN]) + (", …" if len(tasks) > _SHOWN else "")
    return f"People are divided on {len(tasks):,} of {counted(count, 'task')}" + (
        f": {named}" if tasks else ""
    )


def _most_frequent(labels: Iterable[str], shares: Iterable[float]) -> str:
    ranked = sorted(zip(labels, shares), key=lambda pair: -pair[1])[:_MOST_FREQUENT]
    return ", ".join(f"{label}: {100 * share:.0f}" for label, share in ranked)


def _say_more(count: int, what: str, written: Path | None, option: str) -> None:
    more = counted(count - _SHOWN, f"more {what}")
    say(f"… and {more}" + ("" if written else f": {option}"))


def _participation(posterior: Posterior) -> str:
    text = f"{posterior.participation:.1%}"
    if posterior.participation_interval is None:
        return text
    low, high = posterior.participation_interval
    return f"{text} (90 %: {low:.1%} to {high:.1%})"


def _calibration(calibration: Calibration, sets: bool) -> str:
    what, width = ("Prediction sets", "size") if sets else ("Intervals", "width")
    return (
        f"{what} calibrated on {calibration.gold:,} gold tasks: the truth of a further task lies "
        f"inside with a probability of at least {calibration.coverage:.0%}. Mean {width} "
        f"{calibration.width_after:.3g}; without calibration {calibration.width_before:.3g}."
    )


def _write_report(truths: Truths, data: list[Reports] | Answers, path: Path) -> None:
    from forsooth.report.page import campaign_page

    parts = [data] if isinstance(data, Answers) else data
    workers = sum(len(part.workers) for part in parts)
    title = f"{counted(workers, 'worker')} on {counted(len(truths.tasks), 'task')}"
    page = campaign_page(truths, parts, title=title)
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """One dictionary per row."""
    names = list(columns)
    return [dict(zip(names, map(_plain, row))) for row in zip(*columns.values())]


def _plain(cell: object) -> object:
    """Numpy's numbers as Python's."""
    return cell.item() if isinstance(cell, np.generic) else cell


def _name(path: Path | None) -> str | None:
    return str(path) if path else None
