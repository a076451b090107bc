"""forsooth init: a small simulated table of answers to begin with."""

from __future__ import annotations

from pathlib import Path

from forsooth.cli import options
from forsooth.cli.console import print_json, say
from forsooth.errors import ForsoothError
from forsooth.io.files import check_writable
from forsooth.plural import counted

_FILE = Path("answers.csv")


def init(json: options.Json = False) -> None:
    """Write answers.csv, a small simulated table of answers, into this folder.

    The names of workers and tasks say that they are simulated. A file of that name that exists
    already is kept, and nothing is written.

    Example: `forsooth init`
    """
    from forsooth.study import example

    check_writable(_FILE)
    if _FILE.exists():
        raise ForsoothError(
            f"{_FILE} exists already and is kept: remove it, or run init in an empty folder"
        )
    answers = example.answers()
    answers.write(_FILE)
    following = [
        f"forsooth perturb {_FILE} --scale {answers.scale} --epsilon {example.EPSILON:g} "
        "-o reports.parquet",
        "forsooth infer reports.parquet -o truths.csv --report report.html",
    ]
    if json:
        print_json(
            {
                "answers": str(_FILE),
                "simulated": True,
                "workers": len(answers.workers),
                "tasks": len(answers.tasks),
                "size": answers.size,
                "scale": str(answers.scale),
                "next": following,
            }
        )
        return
    say(
        f"{_FILE}: {counted(answers.size, 'simulated answer')} by "
        f"{counted(len(answers.workers), 'worker')} to {counted(len(answers.tasks), 'task')}, on "
        f"the scale {answers.scale}. No real person gave them."
    )
    say("\nNext, perturb the answers as the workers would, and infer the truths:\n")
    for command in following:
        say(f"  {command}")
