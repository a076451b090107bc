"""forsooth bound: the paper's bounds on the error of truth inference."""

from __future__ import annotations

from typing import Annotated

import typer

from forsooth.cli import options, renamed
from forsooth.cli.console import print_json, say
from forsooth.planning import bounds
from forsooth.scale import Scale

app = typer.Typer(
    help="Print the paper's upper bounds on the expected error.", no_args_is_help=True
)

Answered = Annotated[
    str,
    typer.Option(
        metavar="SHARE,…", help="The share of the tasks that a worker answers; one per worker."
    ),
]
Sigma = Annotated[
    str,
    typer.Option(
        metavar="SD,…",
        help="The standard deviation of a worker's answers around the truth; one per worker.",
    ),
]
TruthValues = Annotated[
    str,
    typer.Option("--truth-values", metavar="VALUE,…", help="The truth of a task; one per task."),
]


@app.command(cls=renamed.command("bound lp"))
def lp(
    scale: options.ScaleText = "0..9",
    epsilon: options.Epsilon = 1.0,
    answered: Answered = "0.1",
    sigma: Sigma = "1",
    truth_values: TruthValues = "0",
    null_value: Annotated[
        float | None,
        typer.Option(
            metavar="VALUE",
            help="The number that a skipped task is replaced by. Default: a random answer.",
            show_default=False,
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Print an upper bound on the expected mean absolute error with the mechanism lp.

    Theorem 2 of the paper: E[MAE] ≤ the printed number, in units of the scale, for Laplace
    perturbation. The defaults are the paper's example, 14.13. A bound above the range of the scale
    says nothing.

    Example: `forsooth bound lp --scale 0..9 --epsilon 1 --answered 0.1 --sigma 1 --truth-values 0`
    """
    bound = bounds.lp_bound(
        Scale.parse(scale),
        epsilon,
        answered=options.numbers(answered, "--answered"),
        sigma=options.numbers(sigma, "--sigma"),
        truth=options.numbers(truth_values, "--truth-values"),
        null_value=null_value,
    )
    _report(bound, json)


@app.command(cls=renamed.command("bound rr"))
def rr(
    scale: options.ScaleText = "0..9",
    epsilon: options.Epsilon = 1.0,
    answered: Answered = "0.1",
    sigma: Sigma = "1",
    truth_values: TruthValues = "0",
    literal: Annotated[
        bool,
        typer.Option(
            "--literal",
            help="Use the weights as printed in the paper, which do not sum to 1.",
        ),
    ] = False,
    json: options.Json = False,
) -> None:
    """Print an upper bound on the expected mean absolute error with the mechanism rr.

    Theorem 3 of the paper: E[MAE] ≤ the printed number, in units of the scale, for randomized
    response. The defaults are the paper's example, 3.551. A bound above the range of the scale says
    nothing.

    Example: `forsooth bound rr --scale 0..9 --epsilon 1 --answered 0.1 --sigma 1 --truth-values 0`
    """
    bound = bounds.rr_bound(
        Scale.parse(scale),
        epsilon,
        answered=options.numbers(answered, "--answered"),
        sigma=options.numbers(sigma, "--sigma"),
        truth=options.numbers(truth_values, "--truth-values"),
        normalised=not literal,
    )
    _report(bound, json)


@app.command()
def mf(
    scale: options.ScaleText = "0..9",
    epsilon: options.Epsilon = 1.0,
    tasks: options.Tasks = 1000,
    d: Annotated[
        int, typer.Option("--d", metavar="N", help="The number of factors of the factorization.")
    ] = 100,
    workers: options.Workers = 1,
    largest_quality: Annotated[
        float | None,
        typer.Option(
            metavar="QUALITY",
            help="The largest quality of a worker; qualities sum to 1. Default: 1/workers.",
            show_default=False,
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Print an upper bound on the expected mean absolute error with the mechanism mf.

    Theorem 5 of the paper: E[MAE] ≤ the printed number, in units of the scale, for matrix
    factorization. The defaults are the paper's example, 1.8. A bound above the range of the scale
    says nothing.

    Example: `forsooth bound mf --tasks 1000 --d 100 --scale 0..9 --epsilon 1`
    """
    bound = bounds.mf_bound(
        Scale.parse(scale),
        epsilon,
        tasks=tasks,
        d=d,
        workers=workers,
        largest_quality=largest_quality,
    )
    _report(bound, json)


def _report(bound: float, json: bool) -> None:
    if json:
        print_json({"bound": bound})
    else:
        say(f"E[MAE] ≤ {bound:.4g}")
