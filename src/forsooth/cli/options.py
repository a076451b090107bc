"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from forsooth.answers import ON_CONFLICT
from forsooth.errors import ForsoothError
from forsooth.estimand import ESTIMANDS, MEANING, Estimand, check_estimand
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
        help=f"{' or '.join(PROTECTS)}; by default all that the mechanism can protect.",
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
    typer.Option("--unit", help="What ε covers: each cell, or (worker) all answers of a worker."),
]
SampledTasks = Annotated[
    int,
    typer.Option(
        "--sampled-tasks", help="With --unit worker: publicly drawn tasks per worker.", min=1
    ),
]
EstimandName = Annotated[
    str | None,
    typer.Option(
        "--estimand",
        help="The truth of a task: level (one true value), label (one answer is right) or opinion "
        "(the distribution of answers). Default: as the data state, else level; label for two "
        "answers.",
        show_default=False,
    ),
]
MECHANISM_HELP = f"{', '.join(BUILDERS)}; options after a colon: mf:d=20,ridge=1."


def numbers(text: str, option: str) -> tuple[float, ...]:
    """``0.1,1,5`` as numbers."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ForsoothError(f"{option} takes numbers separated by commas, got {text!r}") from None


def estimand(text: str | None) -> Estimand | None:
    """The estimand of this name, if one is given."""
    return None if text is None else check_estimand(text)


def assumption(assumed: str, offered: Sequence[str] = ESTIMANDS) -> str:
    """Which estimand was assumed, and which other ones the command offers."""
    others = " or ".join(each for each in offered if each != assumed)
    return f"Assumed: {MEANING[assumed]} (estimand {assumed}). Change with --estimand {others}."


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
