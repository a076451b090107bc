"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from forsooth.answers import ON_CONFLICT
from forsooth.errors import ForsoothError
from forsooth.mechanisms import BUILDERS
from forsooth.privacy import PROTECTS

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
ScaleText = Annotated[
    str | None, typer.Option("--scale", help="The answer scale: 0..9, 1..5 or G,P,R,X,B.")
]
Protection = Annotated[
    str | None,
    typer.Option(
        "--protects",
        help=f"{' or '.join(PROTECTS)}; by default whatever the mechanism can.",
        show_default=False,
    ),
]
Conflict = Annotated[
    str,
    typer.Option(
        "--on-conflict",
        help=f"If a worker answers a task twice, differently: {', '.join(ON_CONFLICT)}.",
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Where the data sets are; or set FORSOOTH_DATA."),
]
UnitName = Annotated[
    str,
    typer.Option("--unit", help="ε for each cell, or (worker) for all that a worker says."),
]
SampledTasks = Annotated[
    int,
    typer.Option(
        "--sampled-tasks", help="With --unit worker: publicly drawn tasks per worker.", min=1
    ),
]
MECHANISM_HELP = f"{', '.join(BUILDERS)}; options after a colon: mf:d=20,ridge=1."


def numbers(text: str, option: str) -> tuple[float, ...]:
    """``0.1,1,5`` as numbers."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ForsoothError(f"{option} takes numbers separated by commas, got {text!r}") from None


def protection_words(protects: str) -> str:
    """What is protected, short enough for a table."""
    return "answers only" if protects == "answers" else "participation too"


def specifications(text: str) -> tuple[str, ...]:
    """``rr,mf:d=20,ridge=1,lp`` as rr, mf:d=20,ridge=1 and lp: a bare key=value goes on."""
    found: list[str] = []
    for part in (part.strip() for part in text.split(",")):
        if "=" in part and ":" not in part and found:
            found[-1] += f",{part}"
        elif part:
            found.append(part)
    return tuple(found)
