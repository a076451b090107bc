"""forsooth league: mechanisms and methods, ours and those of others, on data with known truths."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from forsooth.cli import options
from forsooth.cli.console import notice, print_json, print_table, say
from forsooth.cli.long_runs import finish
from forsooth.errors import ForsoothError
from forsooth.privacy import check_epsilon

T = TypeVar("T")


def league(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="PATH", help="The folder for page, tables, figures, results."
        ),
    ] = Path("forsooth-league"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sets, fewer ε and repeats: below ten minutes.")
    ] = False,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="Data sets, separated by commas: names, synthetic:…, or a JSON file about your "
            "own. By default all that are here.",
            show_default=False,
        ),
    ] = None,
    epsilons: Annotated[
        str | None,
        typer.Option(metavar="E,…", help="The values of ε to compare.", show_default=False),
    ] = None,
    mechanisms: Annotated[
        str | None,
        typer.Option(
            metavar="MECHANISM,…",
            help="Mechanisms and private pipelines to compare; plain stands for the answers "
            "without noise.",
            show_default=False,
        ),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD,…",
            help="Methods to compare, on every mechanism that needs one.",
            show_default=False,
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Number of repeats, each with new noise.",
            min=1,
            show_default=False,
        ),
    ] = None,
    seed: options.Seed = 0,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Delete the results of an earlier run in the folder.")
    ] = False,
    data_dir: options.DataDir = None,
    processes: options.Processes = None,
    json: options.Json = False,
) -> None:
    """Compare forsooth with published rivals on data with known truths; write page and tables.

    Finished work is kept in the folder: a run that was stopped or killed continues.

    Example: `forsooth league --quick -o league`
    """
    from forsooth.study.league import plan
    from forsooth.study.league.entries import check_mechanism, check_method
    from forsooth.study.league.run import LeagueRun
    from forsooth.study.paper.cells import RunSetting

    choice = plan.Choice(
        data=options.specifications(data) if data is not None else None,
        epsilons=_epsilons(epsilons),
        mechanisms=_each(mechanisms, check_mechanism),
        methods=_each(methods, check_method),
        repeats=repeats,
    )
    setting = RunSetting(seed, str(data_dir) if data_dir else None)
    scope = plan.QUICK if quick else plan.FULL
    run = LeagueRun.prepare(choice, scope, output, setting, fresh=fresh)
    names = dict.fromkeys(cell.source.name for cell in run.cells)
    notice(f"data sets: {', '.join(names)}; more are found through --data-dir or FORSOOTH_DATA")
    finish(run, "runs to do", processes)
    table = run.conclude()
    if json:
        print_json(table.to_dict())
        return
    columns = ("estimand", "promise", "comparisons", "wins", "ties", "losses", "neither")
    if verdicts := table.verdicts():
        print_table(columns, ([row[name] for name in columns] for row in verdicts))
    say(f"\nOpen {table.page} in a browser: who wins, where we lose, and why.")


def _each(text: str | None, check: Callable[[str], str]) -> tuple[str, ...] | None:
    """The checked names; a name that is given twice is refused."""
    if text is None:
        return None
    return _distinct(tuple(check(name) for name in options.specifications(text)))


def _epsilons(text: str | None) -> tuple[float, ...] | None:
    if text is None:
        return None
    return _distinct(tuple(map(check_epsilon, options.numbers(text, "--epsilons"))))


def _distinct(values: tuple[T, ...]) -> tuple[T, ...]:
    if not values or len(set(values)) < len(values):
        raise ForsoothError(f"nothing is asked for, or the same value twice: {values}")
    return values
