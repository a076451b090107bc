"""The command line: one thin file per command, which parses, calls the library and prints."""

from __future__ import annotations

import io
import platform
import shutil
import sys
from typing import Annotated

import typer

from forsooth import ForsoothError
from forsooth.cli import (
    audit,
    bench,
    bound,
    certify,
    datasets,
    demo,
    design,
    evaluate,
    infer,
    init,
    league,
    perturb,
    plan,
    renamed,
    reproduce,
    serve,
    verify_page,
)
from forsooth.cli.console import complain
from forsooth.version import __version__, extras

_STOPPED = 130  # the exit code after ctrl-C: 128 + SIGINT
app = typer.Typer(
    name="forsooth",
    help="Ask a crowd sensitive questions, learn the truth, never learn anybody's answers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={
        "help_option_names": ["-h", "--help"],
        "terminal_width": shutil.get_terminal_size().columns,
    },
)
app.command()(demo.demo)
app.command()(init.init)
app.command(cls=renamed.command("perturb"))(perturb.perturb)
app.command(cls=renamed.command("infer"))(infer.infer)
app.command(cls=renamed.command("evaluate"))(evaluate.evaluate)
app.command(cls=renamed.command("audit"))(audit.audit)
app.command()(certify.certify)
app.command(cls=renamed.command("design"))(design.design)
app.command(cls=renamed.command("plan"))(plan.plan)
app.command(cls=renamed.command("reproduce"))(reproduce.reproduce)
app.command()(league.league)
app.command(cls=renamed.command("bench"))(bench.bench)
app.command()(verify_page.verify_page)
app.add_typer(bound.app, name="bound")
app.add_typer(datasets.app, name="datasets")
app.add_typer(serve.app, name="serve", cls=renamed.group("serve"))


@app.callback(invoke_without_command=True)
def _about(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version, Python's and the extras found.")
    ] = False,
) -> None:
    if version:
        typer.echo(_versions())
        raise typer.Exit


def _versions() -> str:
    found = extras()
    installed = ", ".join(extra for extra in found if found[extra]) or "none"
    missing = ", ".join(extra for extra in found if not found[extra])
    lines = [
        f"forsooth {__version__}",
        f"Python {platform.python_version()}",
        f"extras found: {installed}",
    ]
    if missing:
        lines.append(f"extras not found: {missing} (pip install 'forsooth[all]' adds them)")
    return "\n".join(lines)


def main() -> None:
    """Run the command; bad input ends in one clear sentence and exit code 2, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an ASCII terminal shows ? for ε
    try:
        app()
    except SystemExit as leaving:
        if leaving.code == _STOPPED:
            complain("stopped")
        raise
    except KeyboardInterrupt:
        complain("stopped")
        sys.exit(_STOPPED)
    except ForsoothError as error:
        complain(str(error))
        sys.exit(2)
    except OSError as error:  # standard output is full or gone
        complain(f"cannot write the result: {error.strerror or error}")
        sys.exit(2)
