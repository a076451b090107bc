"""forsooth perturb: perturb a whole table of answers as workers do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, cast

import typer

from forsooth import mechanisms
from forsooth.answers import Answers, OnConflict
from forsooth.cli import options, outputs
from forsooth.cli.console import notice, print_json, progress_bar, say, working
from forsooth.errors import ForsoothError
from forsooth.estimand import ESTIMANDS, Estimand
from forsooth.io import tables
from forsooth.io.files import read_text
from forsooth.io.report_files import write_in_pieces
from forsooth.mechanisms.base import Mechanism
from forsooth.plural import counted
from forsooth.privacy import check_epsilon, check_protects, check_unit
from forsooth.reports import Reports


def perturb(
    answers: Annotated[
        Path, typer.Argument(help="CSV, TSV, Parquet or Excel: task, worker, label.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="PATH", help="The file of reports to write: Parquet."
        ),
    ],
    scale: options.ScaleTextOrNone = None,
    epsilon: options.EpsilonOrNone = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            metavar="MECHANISM",
            help=f"{options.MECHANISMS} Default: {mechanisms.DEFAULT_MECHANISM}.",
            show_default=False,
        ),
    ] = None,
    mechanism_file: options.MechanismFile = None,
    protects: options.Protection = None,
    unit: options.UnitName = "cell",
    sampled_tasks: options.SampledTasks = 1,
    estimand: Annotated[
        str | None,
        typer.Option(
            metavar="ESTIMAND",
            help=f"State what the truth of a task is ({', '.join(ESTIMANDS)}), for `infer` to use. "
            "It does not change the reports.",
            show_default=False,
        ),
    ] = None,
    task_list: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The campaign's public list of tasks: a table with a task column."
        ),
    ] = None,
    worker_list: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The campaign's public list of workers, including those who answered nothing: a "
            "table with a worker column.",
        ),
    ] = None,
    on_conflict: options.Conflict = "error",
    simulation_seed: options.SimulationSeed = None,
    json: options.Json = False,
) -> None:
    """Perturb a table of answers as the workers would, each worker's answers separately.

    It is for simulations, and for someone whom the workers trust with their answers.

    Example: `forsooth perturb answers.csv --scale 0..9 --epsilon 1 -o reports.parquet`
    """
    inputs = (answers, mechanism_file, task_list, worker_list)
    outputs.check_output(output, "reports", outputs.REPORTS, *inputs)
    stated = options.estimand(estimand)
    given = None
    if mechanism_file:
        if given_too := [o for o in (scale, epsilon, mechanism, protects) if o is not None]:
            raise ForsoothError(
                f"--mechanism-file has its own scale, ε and protection; leave out {given_too[0]!r}"
            )
        given = Mechanism.from_json(read_text(mechanism_file))
    elif scale is None or epsilon is None:
        raise ForsoothError("perturb needs --scale and --epsilon (or --mechanism-file)")
    else:
        check_epsilon(epsilon)
    with working("reading the answers"):
        table = Answers.read(
            answers,
            given.scale if given else cast("str", scale),
            tasks=_listed(task_list, "task"),
            workers=_listed(worker_list, "worker"),
            on_conflict=cast("OnConflict", on_conflict),
        )
    chosen = given or mechanisms.build(
        mechanism or mechanisms.DEFAULT_MECHANISM,
        table.scale,
        cast("float", epsilon),
        tasks=len(table.tasks),
        protects=None if protects is None else check_protects(protects),
        unit=check_unit(unit),
        sampled=sampled_tasks,
    )
    if stated not in (None, "level") and mechanisms.reports_sums(chosen):
        raise ForsoothError(
            f"{chosen.name} reports sums over tasks, from which only levels can be inferred: leave "
            f"out --estimand {stated}, or choose another mechanism"
        )
    pieces = chosen.perturb_in_pieces(replace(table, assumed=()), simulation_seed=simulation_seed)
    with progress_bar("perturbing") as advance:
        write_in_pieces(output, _counting(pieces, len(table.workers), stated, advance))
    for message in table.notices:
        notice(message)
    if chosen.protects == "answers+participation":
        for name in table.assumed:
            notice(
                f"the list of {name} was taken from the answers, so it shows which {name} occur in "
                f"them; give the campaign's public list with --{name.removesuffix('s')}-list FILE"
            )
    if simulation_seed is not None:
        notice("made with a simulation seed: these reports protect nobody")
    guarantee = chosen.guarantee
    if json:
        print_json(
            {
                "reports": str(output),
                "mechanism": chosen.name,
                "epsilon": guarantee.epsilon,
                "protects": guarantee.protects,
                "worker_total": guarantee.worker_total(len(table.tasks)),
                "workers": len(table.workers),
                "tasks": len(table.tasks),
                "simulation_seed": simulation_seed,
                "estimand": stated,
            }
        )
        return
    reports, tasks = counted(len(table.workers), "report"), counted(len(table.tasks), "task")
    say(f"{output}: {reports} on {tasks} by {chosen.name}")
    say(guarantee.describe(len(table.tasks)))


def _counting(
    pieces: Iterable[Reports],
    workers: int,
    estimand: Estimand | None,
    advance: Callable[[int, int], None],
) -> Iterator[Reports]:
    """The pieces with the stated estimand, counted as they are written."""
    done = 0
    for piece in pieces:
        yield replace(piece, estimand=estimand)
        done += len(piece.workers)
        advance(done, workers)


def _listed(path: Path | None, role: str) -> list[str] | None:
    """A public list of names, from a table with a column for them."""
    names: list[str] | None = tables.read(path).identifiers(role).to_pylist() if path else None
    return names
