"""forsooth infer: what the collector does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from forsooth import inference, tables
from forsooth.answers import Answers, OnConflict
from forsooth.cli import options
from forsooth.cli.console import aside, notice, print_json, print_table, say
from forsooth.errors import ForsoothError
from forsooth.files import check_writable, replacing
from forsooth.reports import Reports
from forsooth.study.dataset import read_truths
from forsooth.truths import Posterior, Truths

_SHOWN = 20
_DOUBTFUL = 0.2


def infer(
    reports: Annotated[
        list[Path] | None,
        typer.Argument(help="Reports of one campaign, or answers.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Truths, as CSV, TSV or Parquet.")
    ] = None,
    workers: Annotated[Path | None, typer.Option(help="Worker quality, likewise.")] = None,
    report: Annotated[
        Path | None, typer.Option(help="A report to read and send on, as one HTML page.")
    ] = None,
    method: Annotated[
        str, typer.Option(help=f"{', '.join(inference.NAMES)}.")
    ] = inference.DEFAULT_METHOD,
    estimate: Annotated[
        str, typer.Option(help=f"Of the posterior: {', '.join(inference.ESTIMATES)}.")
    ] = "median",
    unordered: Annotated[
        bool, typer.Option("--unordered", help="The labels have no order (posterior).")
    ] = False,
    ties: Annotated[
        str, typer.Option(help=f"Median and majority, when tied: {', '.join(inference.TIES)}.")
    ] = "middle",
    max_iterations: Annotated[int, typer.Option(help="At most so many iterations.")] = 1000,
    gold: Annotated[
        Path | None, typer.Option(help="Known truths of some tasks: a task, truth table.")
    ] = None,
    scale: options.ScaleText = None,
    on_conflict: options.Conflict = "error",
    campaign: Annotated[
        str | None, typer.Option(help="The link of a campaign of yours, instead of files.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(envvar="FORSOOTH_KEY", help="With --campaign: your key.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Infer every task's truth and every worker's quality from reports.

    Takes plain answers too, with their --scale; then nothing is private.

    Example: `forsooth infer reports.parquet -o truths.csv --report report.html`
    """
    outputs = [output, workers, report]
    for place, path in enumerate(outputs):
        if path:
            check_writable(path, *outputs[place + 1 :], *(reports or ()))
            if path is not report:
                tables.check_ending(path)
    data = (
        _download(campaign, key, reports)
        if campaign
        else _read(reports or [], scale, cast("OnConflict", on_conflict))
    )
    first = data if isinstance(data, Answers) else data[0]
    with aside.status(f"inferring by {method}"):
        truths = inference.infer(
            data,
            method,
            max_iterations=max_iterations,
            ties=cast("inference.Ties", ties),
            gold=read_truths(gold, first.scale) if gold else None,
            estimate=cast("inference.Estimate", estimate),
            unordered=unordered,
        )
    if output:
        truths.write(output)
    if workers:
        truths.write_workers(workers)
    if report:
        _write_report(truths, data, report)
    if not truths.converged:
        notice(f"{method} had not converged after {truths.iterations} iterations")
    if empty := int((truths.support == 0).sum()):
        notice(f"{empty:,} task(s) without any answer: estimated from the other tasks")
    if json:
        print_json(_document(truths, output, workers, report))
    else:
        _show(truths, output, workers, report)


def _download(campaign: str, key: str | None, paths: list[Path] | None) -> list[Reports]:
    """The reports of a campaign from the service that collects them."""
    from forsooth.client import download_reports

    if paths:
        raise ForsoothError("give files of reports or --campaign, not both")
    if not key:
        raise ForsoothError("--campaign needs the requester's --key (or FORSOOTH_KEY)")
    with aside.status("fetching the reports"):
        return download_reports(campaign, key)


def _read(paths: list[Path], scale: str | None, on_conflict: OnConflict) -> list[Reports] | Answers:
    """Reports, or a single table of plain answers if a scale is given."""
    if not paths:
        raise ForsoothError("infer needs files of reports, or a --campaign and its --key")
    if scale is None:
        try:
            return [Reports.read(path) for path in paths]
        except ForsoothError as error:
            hint = "To infer from plain answers, give their --scale."
            raise ForsoothError(f"{error}. {hint}") from error
    if len(paths) > 1:
        raise ForsoothError("with --scale, infer takes one table of plain answers")
    notice("these are plain answers: nothing is private")
    answers = Answers.read(paths[0], scale, on_conflict=on_conflict)
    for message in answers.notices:
        notice(message)
    return answers


def _write_report(truths: Truths, data: list[Reports] | Answers, path: Path) -> None:
    from forsooth.study.campaign_page import campaign_page

    title = f"{len(truths.workers):,} workers on {len(truths.tasks):,} tasks"
    page = campaign_page(truths, [data] if isinstance(data, Answers) else data, title=title)
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _document(
    truths: Truths, output: Path | None, workers: Path | None, report: Path | None
) -> dict[str, object]:
    document: dict[str, object] = {
        "method": truths.method,
        "tasks": len(truths.tasks),
        "workers": len(truths.workers),
        "iterations": truths.iterations,
        "converged": truths.converged,
        "output": str(output) if output else None,
        "workers_output": str(workers) if workers else None,
        "report": str(report) if report else None,
    }
    if truths.posterior:
        document["model"] = truths.posterior.model
        document["participation"] = truths.posterior.participation
        document["constant_as_good"] = truths.posterior.constant_as_good
    if output is None:
        columns = truths.columns()
        names = list(columns)
        listed = zip(
            *(getattr(column, "tolist", lambda c=column: c)() for column in columns.values())
        )
        document["truths"] = [dict(zip(names, row)) for row in listed]
    return document


def _show(truths: Truths, output: Path | None, workers: Path | None, report: Path | None) -> None:
    columns = truths.columns()
    rows = list(zip(*(list(column)[:_SHOWN] for column in columns.values())))
    print_table(list(columns), [[_plain(cell) for cell in row] for row in rows])
    if len(truths.tasks) > _SHOWN:
        say(f"… and {len(truths.tasks) - _SHOWN:,} more tasks" + ("" if output else ": -o FILE"))
    steps = f", {truths.iterations} iterations" if truths.iterations else ""
    say(f"{len(truths.tasks):,} tasks, {len(truths.workers):,} workers; {truths.method}{steps}")
    if truths.posterior:
        _say_what_was_learned(truths.posterior)
    for path, what in ((output, "truths"), (workers, "worker quality"), (report, "the report")):
        if path:
            say(f"{path}: {what}")


def _say_what_was_learned(posterior: Posterior) -> None:
    if posterior.participation is not None:
        say(f"estimated share of answered cells: {posterior.participation:.1%}")
    chance = posterior.constant_as_good
    if chance > _DOUBTFUL:
        say("ε is too small, or the reports are too few, to tell the tasks apart:")
    say(f"one constant for all tasks would do as well with probability {chance:.2g}")


def _plain(cell: object) -> object:
    """Numpy's numbers as Python's."""
    return cell.item() if hasattr(cell, "item") else cell
