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


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(help=f"{', '.join(NAMES)}; all if none is given.", metavar="NAME"),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes: a minute, and figures that are no result.")
    ] = False,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output", "-o", help="Write a page (.md) or a document (.json); repeatable."
        ),
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw scale's time against cells: PNG, SVG, PDF.")
    ] = None,
    peers: Annotated[
        Path,
        typer.Option(
            help="The Python that has the other libraries; by default this one.",
            show_default=False,
        ),
    ] = Path(sys.executable),
    json: options.Json = False,
) -> None:
    """Measure what forsooth costs, beside what you would pick instead.

    Every line has a rate or a time of ours, the same of something else (numpy, pyarrow, crowd-kit,
    pure-ldp, multi-freq-ldpy, diffprivlib, OpenDP), their ratio, and the target if there is one.
    A library that is not installed is named as such; `make bench` installs all of them. A missed
    target is a result, not an error.

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
        check_writable(path, figure)
    if figure is not None:
        check_drawable(figure)
        if "scale" not in [each.name for each in chosen]:
            raise ForsoothError("--figure shows the benchmark scale: ask for it, too")
    if quick:
        notice(NO_RESULT)
    found, described = [], machine.describe()
    for number, each in enumerate(chosen, 1):
        aside.print(f"{number} of {len(chosen)}: {each.name} ({each.title})", markup=False)
        found.append(suite.run(each, quick=quick, peers=Peers(str(peers))))
    results = BenchResults(described, quick, found)
    if figure is not None:
        scale = next(outcome for outcome in found if outcome.benchmark.name == "scale")
        picture.draw(scale.rows, figure)
    results.write(output or [], figure)
    if json:
        print_json(results.to_dict())
        return
    for outcome in found:
        print_table(HEADINGS, (row.texts() for row in outcome.rows), title=outcome.benchmark.title)
        say(f"{outcome.problem}\n" if outcome.problem else "")
    say(f"{results.missed} target(s) missed." if results.missed else "No target missed.")
