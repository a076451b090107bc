"""forsooth reproduce: the paper's claims, figures and tables, recomputed, each with a verdict."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from forsooth.answers import OnConflict
from forsooth.cli import options
from forsooth.cli.console import notice, print_json, print_table, progress_bar, say
from forsooth.errors import ForsoothError
from forsooth.estimand import ESTIMANDS
from forsooth.plural import counted

if TYPE_CHECKING:
    from collections.abc import Callable


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
    workers = processes or os.cpu_count() or 1
    if left := run.unfinished():
        notice(
            f"{left:,} of {len(run.cells):,} cells to compute, about "
            f"{_minutes(run.forecast(workers))} with {counted(workers, 'process', 'processes')} on "
            "an idle machine. You can stop at any time: the same command continues"
        )
        with progress_bar("measuring", percent=True) as advance:
            run.measure(workers, Announcer(advance))
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


class Announcer:
    """Moves the progress bar, and says now and then how long the rest takes at this pace."""

    def __init__(self, advance: Callable[[int, int], None]) -> None:
        self._advance = advance
        self._start = time.monotonic()
        self._marks = [0.1, 0.25, 0.5, 0.75]

    def __call__(self, share: float) -> None:
        """A share of the work is done, by the seconds that its cells were expected to take."""
        self._advance(round(100 * share), 100)
        if not self._marks or share < self._marks[0]:
            return
        self._marks = [each for each in self._marks if each > share]
        elapsed = time.monotonic() - self._start
        if (left := elapsed * (1 - share) / share) >= 60:
            notice(f"{share:.0%} done after {_minutes(elapsed)}, about {_minutes(left)} left")


def _minutes(seconds: float) -> str:
    return counted(max(1, round(seconds / 60)), "minute")
