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
from forsooth.shuffling import DELTA, HONEST_SHARE


def _check_seed(seed: int) -> int:
    if not 0 <= seed < 2**63:
        raise ForsoothError(f"--seed takes a whole number from 0 to 2**63 - 1, got {seed}")
    return seed


# A flag has one type, one metavar and one meaning in every command; a test walks over all of them.
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
_SCALE = typer.Option("--scale", metavar="SCALE", help="The answer scale: 0..9, 1..5 or G,P,R,X,B.")
ScaleText = Annotated[str, _SCALE]
ScaleTextOrNone = Annotated[str | None, _SCALE]
_EPSILON = typer.Option("--epsilon", metavar="E", help="ε per cell.")
Epsilon = Annotated[float, _EPSILON]
EpsilonOrNone = Annotated[float | None, _EPSILON]
_NUMBER_OF_TASKS = typer.Option("--tasks", metavar="N", help="The number of tasks.", min=1)
Tasks = Annotated[int, _NUMBER_OF_TASKS]
TasksOrNone = Annotated[int | None, _NUMBER_OF_TASKS]
_NUMBER_OF_WORKERS = typer.Option("--workers", metavar="N", help="The number of workers.", min=1)
Workers = Annotated[int, _NUMBER_OF_WORKERS]
WorkersOrNone = Annotated[int | None, _NUMBER_OF_WORKERS]
Processes = Annotated[
    int | None,
    typer.Option(
        "--processes", metavar="N", help="Processes to use; by default one per core.", min=1
    ),
]
Repeats = Annotated[
    int,
    typer.Option("--repeats", metavar="N", help="Number of repeats, each with new noise.", min=1),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="N",
        help="The same seed gives the same numbers.",
        callback=_check_seed,
    ),
]
SimulationSeed = Annotated[
    int | None,
    typer.Option(
        "--simulation-seed",
        metavar="N",
        help="Repeatable noise for simulations; it gives no privacy.",
        min=0,
    ),
]
Density = Annotated[
    float,
    typer.Option(
        "--density", metavar="SHARE", help="The share of the cells that you expect to be answered."
    ),
]
TruthPrior = Annotated[
    str,
    typer.Option(
        "--truth-prior",
        metavar="PRIOR",
        help="Where you expect the truths: flat or normal:MEAN,SD.",
    ),
]
Noise = Annotated[
    str,
    typer.Option(
        "--noise",
        metavar="SD,…",
        help="Standard deviation of the answers around the truth; 1,5 if half of the workers have "
        "1 and half have 5.",
    ),
]
TruthFile = Annotated[
    Path | None,
    typer.Option(
        "--truth-file",
        metavar="FILE",
        help="Known truths for --data FILE: a table with the columns task and truth.",
    ),
]
MechanismFile = Annotated[
    Path | None,
    typer.Option(
        "--mechanism-file",
        metavar="FILE",
        help="A mechanism as JSON, instead of its name, scale and ε.",
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Draw the result: PNG, SVG or PDF."),
]
Protection = Annotated[
    str | None,
    typer.Option(
        "--protects",
        metavar="WHAT",
        help=f"{' or '.join(PROTECTS)}; by default all that the mechanism can protect.",
        show_default=False,
    ),
]
Conflict = Annotated[
    str,
    typer.Option(
        "--on-conflict",
        metavar="RULE",
        help="What to do if a worker gives two different answers to a task: "
        f"{', '.join(ON_CONFLICT)}.",
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", metavar="FOLDER", help="Where the data sets are; or set FORSOOTH_DATA."
    ),
]
_UNIT = typer.Option(
    "--unit",
    metavar="UNIT",
    help="What ε covers: each cell (cell), or all answers of a worker (worker).",
)
UnitName = Annotated[str, _UNIT]
UnitNameOrNone = Annotated[str | None, _UNIT]
SampledTasks = Annotated[
    int,
    typer.Option(
        "--sampled-tasks",
        metavar="N",
        help="With --unit worker: the number of tasks drawn, publicly, for each worker.",
        min=1,
    ),
]
EstimandName = Annotated[
    str | None,
    typer.Option(
        "--estimand",
        metavar="ESTIMAND",
        help="The truth of a task: level (one true value), label (one answer is right) or opinion "
        "(the distribution of answers). Default: what the data state, else level (label for two "
        "answers).",
        show_default=False,
    ),
]
_DELTA = typer.Option(
    "--delta",
    metavar="D",
    help="δ of the central guarantee: how much probability its ε may leave out.",
    show_default=f"{DELTA:g}",
)
Delta = Annotated[float, _DELTA]
DeltaOrNone = Annotated[float | None, _DELTA]
_HONEST_SHARE = typer.Option(
    "--honest",
    metavar="SHARE",
    help="The share of the reports that you assume honest: noise drawn as the mechanism says, and "
    "shown to nobody.",
    show_default=f"{HONEST_SHARE:g}",
)
HonestShare = Annotated[float, _HONEST_SHARE]
HonestShareOrNone = Annotated[float | None, _HONEST_SHARE]
MECHANISMS = f"{', '.join(BUILDERS)}; options after a colon: mf:d=20,ridge=1."


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
