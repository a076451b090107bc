"""forsooth certify: what anonymity adds to the local promise, and under which assumption."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from forsooth import mechanisms
from forsooth.cli import options
from forsooth.cli.console import notice, print_json, print_table, say, working
from forsooth.errors import ForsoothError
from forsooth.io.files import read_text
from forsooth.io.report_files import ReportFiles
from forsooth.mechanisms.base import Mechanism
from forsooth.odds import amount
from forsooth.privacy import check_protects
from forsooth.reports import Reports
from forsooth.scale import Scale
from forsooth.shuffling import DELTA, HONEST_SHARE, Certificate, fewest_reports
from forsooth.shuffling import certify as run
from forsooth.shuffling.certificate import rounded_up

_COLUMNS = ("published", "covers", "local ε", "central ε", "δ")
_PUBLISHED = {"counts": "counts per task", "reports": "whole reports"}
_COVERS = {"worker": "all that one person says", "cell": "one answer"}


def certify(
    reports: Annotated[
        list[str] | None,
        typer.Argument(help="Files or folders of one campaign's reports.", show_default=False),
    ] = None,
    mechanism: Annotated[
        str | None, typer.Option(metavar="MECHANISM", help=options.MECHANISMS)
    ] = None,
    mechanism_file: options.MechanismFile = None,
    epsilon: options.EpsilonOrNone = None,
    scale: options.ScaleTextOrNone = None,
    protects: options.Protection = None,
    workers: options.WorkersOrNone = None,
    tasks: options.TasksOrNone = None,
    delta: options.Delta = DELTA,
    honest: options.HonestShare = HONEST_SHARE,
    json: options.Json = False,
) -> None:
    """Certify the central ε of a campaign whose reports are anonymous.

    Give reports, or a mechanism with --workers and --tasks. The bounds are proved for integer
    tables (rr, grr, two-step, staircase), and rounded up. They hold if nobody can tell whose report
    is whose; the local ε holds always.

    Example: `forsooth certify --mechanism rr --epsilon 2 --scale 0..4 --workers 3000 --tasks 10`
    """
    planned = {
        "--mechanism": mechanism,
        "--mechanism-file": mechanism_file,
        "--epsilon": epsilon,
        "--scale": scale,
        "--protects": protects,
        "--workers": workers,
        "--tasks": tasks,
    }
    if reports:
        if given := [flag for flag, value in planned.items() if value is not None]:
            raise ForsoothError(f"the reports already say what {given[0]} would: leave it out")
        known, tasks, received = _read(reports)
    elif workers is None or tasks is None:
        raise ForsoothError(
            "certify needs files of reports, or a mechanism with --workers and --tasks"
        )
    else:
        known = _planned(mechanism, mechanism_file, epsilon, scale, protects, tasks)
        received = workers
    with working("certifying"):
        found = run(known, tasks=tasks, reports=received, delta=delta, honest_share=honest)
    if json:
        print_json(found.to_dict())
    else:
        _show(found)


def _read(sources: list[str]) -> tuple[Mechanism, int, int]:
    """The mechanism, the number of tasks, and the smallest number of reports on a task."""
    files = ReportFiles.open(sources)
    if len(files.parts) > 1:
        raise ForsoothError(
            "these reports were made with several mechanisms, which tell them apart: certify the "
            "reports of each by themselves"
        )
    (part,) = files.parts
    seeds: set[int | None] = set()

    def pieces() -> Iterator[Reports]:
        for piece in part.pieces:
            for each in piece.reports():
                seeds.add(each.simulation_seed)
                yield each

    with working("reading"):
        received = fewest_reports(pieces())
    if seeds != {None}:
        notice("these reports were simulated with a seed, so they are not private")
    return part.mechanism, len(files.tasks), received


def _planned(
    name: str | None,
    path: Path | None,
    epsilon: float | None,
    scale: str | None,
    protects: str | None,
    tasks: int,
) -> Mechanism:
    if path is not None:
        if (name, epsilon, scale, protects) != (None, None, None, None):
            raise ForsoothError(
                "--mechanism-file says all of it: give no other mechanism beside it"
            )
        return Mechanism.from_json(read_text(path))
    if name is None or epsilon is None or scale is None:
        raise ForsoothError("certify needs --mechanism, --epsilon and --scale, or --mechanism-file")
    wanted = None if protects is None else check_protects(protects)
    return mechanisms.build(name, Scale.parse(scale), epsilon, tasks=tasks, protects=wanted)


def _show(found: Certificate) -> None:
    rows = [
        (
            _PUBLISHED[bound.release],
            _COVERS[bound.unit],
            amount(bound.local),
            rounded_up(bound.epsilon) if bound.amplified else amount(bound.local),
            f"{found.delta:g}" if bound.amplified else "0",
        )
        for bound in found.bounds
    ]
    senders = found.senders
    print_table(
        _COLUMNS,
        rows,
        title=f"{found.mechanism}, {found.tasks:,} tasks, {senders.received:,} reports on each, "
        f"{senders.honest:,} of them assumed honest",
    )
    for sentence in found.sentences():
        say(sentence)
