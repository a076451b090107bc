"""forsooth reproduce: the paper's claims, figures and tables, recomputed, each with a verdict."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from forsooth.answers import OnConflict
from forsooth.cli import options
from forsooth.cli.console import notice, print_json, print_table, say
from forsooth.cli.long_runs import finish
from forsooth.errors import ForsoothError
from forsooth.estimand import ESTIMANDS

if TYPE_CHECKING:
    pass


def reproduce(
    claims: Annotated[
        list[str] | None,
        typer.Argument(help="Claims by number or name; all of them if none is given."),
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="PATH", help="The folder for report, figures and results."
        ),
    ] = Path("forsooth-reproduce"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer points and repeats: a fraction of the work.")
    ] = False,
    seed: options.Seed = 0,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Delete the results of an earlier run in the folder.")
    ] = False,
    data: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Your own file of answers: adds its figure against ε."),
    ] = None,
    truth_file: options.TruthFile = None,
    scale: options.ScaleTextOrNone = None,
    estimand: Annotated[
        str | None,
        typer.Option(
            metavar="ESTIMAND",
            help=f"For --data: what the truth of a task is ({', '.join(ESTIMANDS)}).",
            show_default=False,
        ),
    ] = None,
    on_conflict: options.Conflict = "error",
    data_dir: options.DataDir = None,
    processes: options.Processes = None,
    json: options.Json = False,
) -> None:
    """Recompute the paper claim by claim, with verdicts, figures and a report to open.

    Finished work is kept in the folder: a run that was stopped or killed continues.
    A claim that is not reproduced is a result, not an error.

    Example: `forsooth reproduce --quick -o out`
    """
    from forsooth.study.paper import cells, scopes
    from forsooth.study.paper.claims import find
    from forsooth.study.paper.reproduction import Reproduction

    chosen = find(claims or [])
    if data is None and (truth_file or scale or estimand):
        raise ForsoothError("--truth-file, --scale and --estimand belong to --data FILE")
    folder = str(data_dir) if data_dir else None
    own = None
    if data is not None:
        truths = str(truth_file) if truth_file else None
        conflict, stated = cast("OnConflict", on_conflict), options.estimand(estimand)
        own = cells.own(data, truths, scale, conflict, folder, stated)
    run = Reproduction.prepare(
        chosen,
        scopes.QUICK if quick else scopes.FULL,
        output,
        cells.RunSetting(seed, folder),
        own=own,
        fresh=fresh,
    )
    for complaint in run.missing.values():
        notice(complaint)
    finish(run, "cells to compute", processes)
    conclusion = run.conclude()
    if json:
        print_json(conclusion.to_dict())
        return
    print_table(
        ("claim", "", "text", "verdict", "checks"),
        (
            (
                f"{each.claim.number} {each.claim.slug}",
                each.claim.title,
                each.claim.text,
                each.verdict,
                f"{len(each.held)} of {len(each.counted)}" if each.checks else "",
            )
            for each in conclusion.judgements
        ),
    )
    say(f"\nOpen {conclusion.report} in a browser: what held, what did not, and why.")
