"""forsooth perturb: what workers do, for a whole table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from forsooth import mechanisms, tables
from forsooth.answers import Answers, OnConflict
from forsooth.cli import options
from forsooth.cli.console import notice, print_json, say
from forsooth.errors import ForsoothError
from forsooth.files import check_writable
from forsooth.mechanism import Mechanism
from forsooth.privacy import check_epsilon, check_protects, check_unit


def perturb(
    answers: Annotated[Path, typer.Argument(help="CSV, TSV or Parquet: task, worker, label.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The reports file to write.")],
    scale: options.ScaleText = None,
    epsilon: Annotated[float | None, typer.Option(help="ε per cell.", show_default=False)] = None,
    mechanism: Annotated[str, typer.Option(help=options.MECHANISM_HELP)] = "rr",
    mechanism_file: Annotated[
        Path | None, typer.Option(help="A mechanism as JSON, instead of name, scale and ε.")
    ] = None,
    protects: options.Protection = None,
    unit: options.UnitName = "cell",
    sampled_tasks: options.SampledTasks = 1,
    tasks: Annotated[
        Path | None,
        typer.Option(help="The campaign's public list of tasks: a table with a task column."),
    ] = None,
    on_conflict: options.Conflict = "error",
    simulation_seed: Annotated[
        int | None, typer.Option(help="Repeatable noise for studies. It protects nobody.", min=0)
    ] = None,
    json: options.Json = False,
) -> None:
    """Perturb a table of answers, each worker's on its own: a simulation, or a trusted go-between.

    Example: `forsooth perturb answers.csv --scale 0..9 --epsilon 1 -o reports.parquet`
    """
    check_writable(output)
    given = Mechanism.from_json(_read_text(mechanism_file)) if mechanism_file else None
    if given is None and (scale is None or epsilon is None):
        raise ForsoothError("perturb needs --scale and --epsilon (or --mechanism-file)")
    if epsilon is not None:
        check_epsilon(epsilon)
    listed = (
        [str(task) for task in tables.read(tasks).column("task").to_pylist()] if tasks else None
    )
    table = Answers.read(
        answers,
        given.scale if given else cast("str", scale),
        tasks=listed,
        on_conflict=cast("OnConflict", on_conflict),
    )
    chosen = given or mechanisms.build(
        mechanism,
        table.scale,
        cast("float", epsilon),
        tasks=len(table.tasks),
        protects=None if protects is None else check_protects(protects),
        unit=check_unit(unit),
        sampled=sampled_tasks,
    )
    reports = chosen.perturb(table, simulation_seed=simulation_seed)
    reports.write(output)

    for message in table.notices:
        notice(message)
    if listed is None:
        notice("the list of tasks was taken from the answers; --tasks FILE gives the public list")
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
            }
        )
        return
    say(f"{output}: {len(table.workers):,} reports on {len(table.tasks):,} tasks by {chosen.name}")
    say(guarantee.describe(len(table.tasks)))


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ForsoothError(f"{path} cannot be read: {error}") from error
