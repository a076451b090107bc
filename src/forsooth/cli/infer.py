"""forsooth infer: what the collector does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from forsooth import inference, tables
from forsooth.answers import Answers, OnConflict
from forsooth.cli import inferring, options
from forsooth.cli.console import notice, print_json, print_table, say
from forsooth.errors import ForsoothError
from forsooth.files import check_writable, replacing
from forsooth.inference import Estimate, Model, Rules, infers_in_passes
from forsooth.inference.posterior import Options
from forsooth.reports import Reports
from forsooth.truths import Posterior, Truths

_SHOWN = 20
_DOUBTFUL = 0.2


def infer(
    reports: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files or folders of one campaign's reports, or answers.", show_default=False
        ),
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
    model: Annotated[
        str, typer.Option(help="Of the posterior: auto, or pooled: one pass, no worker quality.")
    ] = "auto",
    state: Annotated[
        Path | None,
        typer.Option(help="What was counted so far: only new reports are read (pooled model)."),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="A Dask scheduler, tcp://host:8786; or local, all cores.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Kept after every pass, to go on from if killed.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Infer every task's truth and every worker's quality from reports.

    Takes plain answers too, with their --scale; then nothing is private.

    Example: `forsooth infer reports.parquet -o truths.csv --report report.html`
    """
    sources = reports or []
    _check_outputs([output, workers, report], sources, state, checkpoint)
    asked = Options(
        cast("Estimate", estimate), unordered, "pooled" if state else cast("Model", model)
    )
    rules = Rules(max_iterations=max_iterations, ties=cast("inference.Ties", ties))
    request = inferring.Request(method, asked, rules, gold, bool(workers))
    in_passes = state or cluster or checkpoint
    if in_passes and (campaign or scale or report or method != "posterior"):
        raise ForsoothError(
            "--state, --cluster and --checkpoint are for posterior inference from files of "
            "reports, and write no --report"
        )
    if asked.model == "pooled" and (workers or report):
        raise ForsoothError(
            "the pooled model (--model pooled, --state) knows nothing of single workers: "
            "leave out --workers and --report"
        )
    if state:
        found = inferring.from_state(state, sources, request, cluster)
    elif campaign:
        found = inferring.from_memory(inferring.from_service(campaign, key, sources), request)
    elif scale:
        answers = inferring.from_answers(sources, scale, cast("OnConflict", on_conflict))
        found = inferring.from_memory(answers, request)
    else:
        files = inferring.open_files(sources, cluster)
        if report or method != "posterior" or not infers_in_passes(files):
            found = inferring.from_memory(files.read(), request)
        else:
            kept = checkpoint or (_beside(output) if cluster else None)
            found = inferring.from_files(files, request, cluster, kept)
    _write(found, output, workers, report)
    if json:
        print_json(_document(found, output, workers, report))
    else:
        _show(found, output, workers, report)


def _beside(output: Path | None) -> Path | None:
    """Where a cluster's driver keeps its state if nothing else is said."""
    return output.with_name(f"{output.name}.checkpoint") if output else None


def _check_outputs(outputs: list[Path | None], sources: list[str], *kept: Path | None) -> None:
    here = [source for source in sources if "://" not in source]
    for place, path in enumerate(outputs):
        if path:
            check_writable(path, *outputs[place + 1 :], *kept, *here)
    for path in outputs[:-1]:  # the report is a page
        if path:
            tables.check_ending(path)
    for path in kept:
        if path:
            check_writable(path, *here)


def _write(
    found: inferring.Inferred, output: Path | None, workers: Path | None, report: Path | None
) -> None:
    truths = found.truths
    if output:
        truths.write(output)
    if workers:
        truths.write_workers(workers)
    if report and found.data is not None:
        _write_report(truths, found.data, report)
    if not truths.converged:
        notice(f"{truths.method} had not converged after {truths.iterations} iterations")
    if empty := int((truths.support == 0).sum()):
        notice(f"{empty:,} task(s) without any answer: estimated from the other tasks")


def _write_report(truths: Truths, data: list[Reports] | Answers, path: Path) -> None:
    from forsooth.study.campaign_page import campaign_page

    title = f"{len(truths.workers):,} workers on {len(truths.tasks):,} tasks"
    page = campaign_page(truths, [data] if isinstance(data, Answers) else data, title=title)
    with replacing(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


def _document(
    found: inferring.Inferred, output: Path | None, workers: Path | None, report: Path | None
) -> dict[str, object]:
    truths = found.truths
    document: dict[str, object] = {
        "method": truths.method,
        "tasks": len(truths.tasks),
        "workers": found.workers,
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


def _show(
    found: inferring.Inferred, output: Path | None, workers: Path | None, report: Path | None
) -> None:
    truths = found.truths
    columns = truths.columns()
    rows = list(zip(*(list(column)[:_SHOWN] for column in columns.values())))
    print_table(list(columns), [[_plain(cell) for cell in row] for row in rows])
    if len(truths.tasks) > _SHOWN:
        say(f"… and {len(truths.tasks) - _SHOWN:,} more tasks" + ("" if output else ": -o FILE"))
    steps = f", {truths.iterations} iterations" if truths.iterations else ""
    say(f"{len(truths.tasks):,} tasks, {found.workers:,} workers; {truths.method}{steps}")
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
