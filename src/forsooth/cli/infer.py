"""forsooth infer: what the collector does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from forsooth import inference
from forsooth.answers import OnConflict
from forsooth.cli import inferred, inferring, options
from forsooth.cli.console import print_json
from forsooth.errors import ForsoothError
from forsooth.estimand import GOLD_USES, check_gold_use
from forsooth.inference import Rules, infers_in_passes
from forsooth.inference.posterior.options import ESTIMATES, Estimate, Model, Options


def infer(
    reports: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files or folders of one campaign's reports, or answers.", show_default=False
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="PATH", help="Write the truths, as CSV, TSV or Parquet."
        ),
    ] = None,
    worker_output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the quality of each worker, as CSV, TSV or Parquet."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a report to read and send on: one HTML page."),
    ] = None,
    method: Annotated[
        str, typer.Option(metavar="METHOD", help=f"{', '.join(inference.NAMES)}.")
    ] = inference.DEFAULT_METHOD,
    estimand: options.EstimandName = None,
    estimate: Annotated[
        str | None,
        typer.Option(
            metavar="ESTIMATE",
            help=f"What the method posterior estimates: {', '.join(ESTIMATES)}. Default: median; "
            "mode for unordered labels, mean for opinion.",
            show_default=False,
        ),
    ] = None,
    unordered: Annotated[
        bool, typer.Option("--unordered", help="The labels have no order (method posterior).")
    ] = False,
    ties: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help=f"How median and majority resolve ties: {', '.join(inference.TIES)}.",
        ),
    ] = "middle",
    max_iterations: Annotated[
        int, typer.Option(metavar="N", help="The maximum number of iterations.")
    ] = 1000,
    gold: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Known truths of some tasks: a table with the columns task and truth.",
        ),
    ] = None,
    gold_use: Annotated[
        str,
        typer.Option(
            metavar="USE",
            help=f"{' or '.join(GOLD_USES)}: the known truths are kept as they are, or the "
            "intervals are calibrated on them (needs 10 or more).",
        ),
    ] = "pin",
    groups: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Groups to compare (opinion): a table with the columns worker and group.",
        ),
    ] = None,
    differences_output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the differences between groups, as CSV, TSV or Parquet."
        ),
    ] = None,
    scale: options.ScaleTextOrNone = None,
    on_conflict: options.Conflict = "error",
    campaign: Annotated[
        str | None,
        typer.Option(metavar="LINK", help="The link of your campaign, instead of files."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="KEY", envvar="FORSOOTH_KEY", help="With --campaign: your key."),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="The model of the method posterior: auto, or pooled (one pass, no worker "
            "quality).",
        ),
    ] = "auto",
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep the counts in this file, so that only new reports are read (pooled model).",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A Dask scheduler (tcp://host:8786), or local: a process per core.",
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Save the progress in this file after every pass; an interrupted run continues.",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Infer every task's truth and every worker's quality from reports.

    With --scale it infers from a table of plain answers; then nothing is private.

    Example: `forsooth infer reports.parquet -o truths.csv --report report.html`
    """
    sources = reports or []
    outputs = inferred.Outputs(output, worker_output, report, differences_output)
    outputs.check(sources, state, checkpoint)
    request = inferring.Request(
        method,
        Options(
            estimand=options.estimand(estimand),
            estimate=cast("Estimate | None", estimate),
            unordered=unordered,
            model="pooled" if state else cast("Model", model),
        ),
        Rules(max_iterations=max_iterations, ties=cast("inference.Ties", ties)),
        gold,
        check_gold_use(gold_use),
        groups,
        bool(worker_output),
    )
    in_passes = bool(state or cluster or checkpoint)
    _refuse_conflicts(request, outputs, in_passes, campaign or scale)
    if state:
        found = inferring.from_state(state, sources, request, cluster)
    elif campaign:
        found = inferring.from_memory(inferring.from_service(campaign, key, sources), request)
    elif scale:
        answers = inferring.from_answers(sources, scale, cast("OnConflict", on_conflict))
        found = inferring.from_memory(answers, request)
    else:
        files = inferring.open_files(sources, cluster)
        if report or groups or method != "posterior" or not infers_in_passes(files):
            found = inferring.from_memory(files.read(), request)
        else:
            kept = checkpoint or (_beside(output) if cluster else None)
            found = inferring.from_files(files, request, cluster, kept)
    result = inferred.Result(found, outputs)
    result.write()
    if json:
        print_json(result.document())
    else:
        result.show()


def _beside(output: Path | None) -> Path | None:
    """The default checkpoint of a run on a cluster."""
    return output.with_name(f"{output.name}.checkpoint") if output else None


def _refuse_conflicts(
    request: inferring.Request,
    outputs: inferred.Outputs,
    in_passes: bool,
    not_files: str | None,
) -> None:
    """Refuse options that do not go together, before anything is read."""
    if in_passes and (not_files or outputs.report or request.method != "posterior"):
        raise ForsoothError(
            "--state, --cluster and --checkpoint are for posterior inference from files of "
            "reports, and write no --report"
        )
    if in_passes and request.groups:
        raise ForsoothError(
            "--groups needs all reports in memory: leave out --state, --cluster and --checkpoint"
        )
    if request.options.model == "pooled" and (outputs.workers or outputs.report):
        raise ForsoothError(
            "the pooled model (--model pooled, --state) knows nothing of single workers: "
            "leave out --worker-output and --report"
        )
    if request.method != "posterior" and (
        request.options.estimand or request.groups or request.gold_use != "pin"
    ):
        raise ForsoothError(
            f"--estimand, --groups and --gold-use calibrate are for the method posterior: leave "
            f"them out, or leave out --method {request.method}"
        )
    if outputs.differences and not request.groups:
        raise ForsoothError(
            "--differences-output compares groups: give their table with --groups FILE"
        )
    if request.gold_use == "calibrate" and not request.gold:
        raise ForsoothError("--gold-use calibrate needs known truths: give them with --gold FILE")
