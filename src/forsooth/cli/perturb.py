"""forsooth perturb: perturb a whole table of answers as workers do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, cast

import typer

from forsooth import mechanisms
from forsooth.answers import Answers, OnConflict
from forsooth.cli import options
from forsooth.cli.console import notice, print_json, say
from forsooth.errors import ForsoothError
from forsooth.estimand import ESTIMANDS
from forsooth.io import tables
from forsooth.io.files import check_writable, read_text
from forsooth.io.report_files import write_in_pieces
from forsooth.mechanisms.base import Mechanism
from forsooth.privacy import check_epsilon, check_protects, check_unit


def perturb(
    answers: Annotated[Path, typer.Argument(help="CSV, TSV or Parquet: task, worker, label.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The reports file to write.")],
    scale: options.ScaleText = None,
    epsilon: Annotated[float | None, typer.Option(help="ε per cell.", show_default=False)] = None,
    mechanism: Annotated[
        str | None, typer.Option(help=f"{options.MECHANISM_HELP} Default: rr.", show_default=False)
    ] = None,
    mechanism_file: Annotated[
        Path | None, typer.Option(help="A mechanism as JSON, instead of name, scale and ε.")
    ] = None,
    protects: options.Protection = None,
    unit: options.UnitName = "cell",
    sampled_tasks: options.SampledTasks = 1,
    estimand: Annotated[
        str | None,
        typer.Option(
            help=f"State what the truth of a task is ({', '.join(ESTIMANDS)}), for `infer` to use. "
            "It does not change the reports.",
            show_default=False,
        ),
    ] = None,
    tasks: Annotated[
        Path | None,
        typer.Option(help="The campaign's public list of tasks: a table with a task column."),
    ] = None,
    workers: Annotated[
        Path | None,
        typer.Option(help="The public list of workers, those who answered nothing included."),
    ] = None,
    on_conflict: options.Conflict = "error",
    simulation_seed: Annotated[
        int | None, typer.Option(help="Repeatable noise for studies; it gives no privacy.", min=0)
    ] = None,
    json: options.Json = False,
) -> None:
    """Perturb a table of answers, each worker's separately: a simulation, or a trusted third party.

    Example: `forsooth perturb answers.csv --scale 0..9 --epsilon 1 -o reports.parquet`
    """
    check_writable(output, answers, mechanism_file, tasks, workers)
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
    table = Answers.read(
        answers,
        given.scale if given else cast("str", scale),
        tasks=_listed(tasks, "task"),
        workers=_listed(workers, "worker"),
        on_conflict=cast("OnConflict", on_conflict),
    )
    chosen = given or mechanisms.build(
        mechanism or "rr",
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
    pieces = chosen.perturb_in_pieces(table, simulation_seed=simulation_seed)
    write_in_pieces(output, (replace(piece, estimand=stated) for piece in pieces))
    for message in table.notices:
        notice(message)
    for role, path in (("tasks", tasks), ("workers", workers)):
        if path is None and chosen.protects == "answers+participation":
            notice(
                f"the list of {role} was taken from the answers and shows which {role} occur in "
                f"them at all; --{role} FILE gives the campaign's public list"
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
    say(f"{output}: {len(table.workers):,} reports on {len(table.tasks):,} tasks by {chosen.name}")
    say(guarantee.describe(len(table.tasks)))


def _listed(path: Path | None, role: str) -> list[str] | None:
    """A public list of names, from a table with a column for them."""
    names: list[str] | None = tables.read(path).identifiers(role).to_pylist() if path else None
    return names
