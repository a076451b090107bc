"""forsooth bench: what it costs, as ratios in one run against what one would pick instead."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from forsooth.bench import NAMES
from forsooth.cli import options
from forsooth.cli.console import aside, notice, print_json, print_table, say
from forsooth.errors import ForsoothError
from forsooth.io.files import check_writable
from forsooth.plural import counted


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(help=f"{', '.join(NAMES)}; all if none is given.", metavar="NAME"),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Small sizes, for a first look: the numbers are not results."),
    ] = False,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="Write a page (.md) or a document (.json); repeatable.",
        ),
    ] = None,
    plot: options.Plot = None,
    peers: Annotated[
        Path,
        typer.Option(
            metavar="PYTHON",
            help="The Python that has the other libraries; by default this one.",
            show_default=False,
        ),
    ] = Path(sys.executable),
    json: options.Json = False,
) -> None:
    """Measure speed and memory, compared with other libraries.

    Every line has a rate or a time of forsooth, the same of another library (numpy, pyarrow,
    crowd-kit, pure-ldp, multi-freq-ldpy, diffprivlib, OpenDP), their ratio, and the target if there
    is one. --plot draws the time of the benchmark scale against cells. A library that is not
    installed is named as such; `make bench` installs all of them. A missed target is a result, not
    an error.

    Example: `forsooth bench rr dawid-skene --quick`
    """
    from forsooth.bench import figure as picture
    from forsooth.bench import machine, suite
    from forsooth.bench.page import NO_RESULT, BenchResults
    from forsooth.bench.peers import Peers
    from forsooth.bench.rows import HEADINGS
    from forsooth.study.figures import check_drawable

    chosen = suite.find(names or [])
    for path in output or []:
        if path.suffix not in (".md", ".json"):
            raise ForsoothError(f"cannot write {path}: its ending must be .md or .json")
        check_writable(path, plot)
    if plot is not None:
        check_drawable(plot)
        if "scale" not in [each.name for each in chosen]:
            raise ForsoothError("--plot draws the benchmark scale: ask for it, too")
    if quick:
        notice(NO_RESULT)
    found, described = [], machine.describe()
    for number, each in enumerate(chosen, 1):
        aside.print(f"{number} of {len(chosen)}: {each.name} ({each.title})", markup=False)
        found.append(suite.run(each, quick=quick, peers=Peers(str(peers))))
    results = BenchResults(described, quick, found)
    if plot is not None:
        scale = next(outcome for outcome in found if outcome.benchmark.name == "scale")
        picture.draw(scale.rows, plot)
    results.write(output or [], plot)
    if json:
        print_json(results.to_dict())
        return
    for outcome in found:
        print_table(HEADINGS, (row.texts() for row in outcome.rows), title=outcome.benchmark.title)
        say(f"{outcome.problem}\n" if outcome.problem else "")
    missed = counted(results.missed, "target") if results.missed else "No target"
    say(f"{missed} missed.")
