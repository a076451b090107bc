"""forsooth bound: the paper's bounds on the error of truth inference."""

from __future__ import annotations

from typing import Annotated

import typer

from forsooth.cli import options
from forsooth.cli.console import print_json, say
from forsooth.planning import bounds
from forsooth.scale import Scale

app = typer.Typer(help="The paper's bounds on the expected error.", no_args_is_help=True)

ScaleText = Annotated[str, typer.Option("--scale", help="The answer scale.")]
Epsilon = Annotated[float, typer.Option(help="ε per cell.")]
Answered = Annotated[str, typer.Option(help="Share of tasks a worker answers; one per worker.")]
Sigma = Annotated[str, typer.Option(help="A worker's error deviation; one per worker.")]
Truth = Annotated[str, typer.Option(help="A task's truth; one per task.")]


@app.command()
def lp(
    scale: ScaleText = "0..9",
    epsilon: Epsilon = 1.0,
    answered: Answered = "0.1",
    sigma: Sigma = "1",
    truth: Truth = "0",
    null_value: Annotated[
        float | None, typer.Option(help="What NULL becomes; uniform if not given.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Laplace perturbation (Theorem 2). The defaults are the paper's example, 14.13.

    Example: `forsooth bound lp --scale 0..9 --epsilon 1 --answered 0.1 --sigma 1 --truth 0`
    """
    bound = bounds.lp_bound(
        Scale.parse(scale),
        epsilon,
        answered=options.numbers(answered, "--answered"),
        sigma=options.numbers(sigma, "--sigma"),
        truth=options.numbers(truth, "--truth"),
        null_value=null_value,
    )
    _report(bound, json)


@app.command()
def rr(
    scale: ScaleText = "0..9",
    epsilon: Epsilon = 1.0,
    answered: Answered = "0.1",
    sigma: Sigma = "1",
    truth: Truth = "0",
    literal: Annotated[
        bool, typer.Option("--literal", help="As printed: normal weights that do not sum to 1.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Randomized response (Theorem 3). The defaults are the paper's example, 3.551.

    Example: `forsooth bound rr --scale 0..9 --epsilon 1 --answered 0.1 --sigma 1 --truth 0`
    """
    bound = bounds.rr_bound(
        Scale.parse(scale),
        epsilon,
        answered=options.numbers(answered, "--answered"),
        sigma=options.numbers(sigma, "--sigma"),
        truth=options.numbers(truth, "--truth"),
        normalised=not literal,
    )
    _report(bound, json)


@app.command()
def mf(
    scale: ScaleText = "0..9",
    epsilon: Epsilon = 1.0,
    tasks: Annotated[int, typer.Option(help="Number of tasks.")] = 1000,
    d: Annotated[int, typer.Option("--d", help="Factorization parameter.")] = 100,
    workers: Annotated[int, typer.Option(help="Number of workers.")] = 1,
    largest_quality: Annotated[
        float | None, typer.Option(help="The largest worker quality; 1/workers if not given.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Matrix factorization (Theorem 5). The defaults are the paper's example, 1.8.

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
