"""forsooth plan: how many workers, which ε, what error."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from forsooth.cli import options
from forsooth.cli.console import print_json, print_table, progress_bar, say
from forsooth.errors import ForsoothError
from forsooth.privacy import check_unit
from forsooth.shuffling import DELTA, HONEST_SHARE

if TYPE_CHECKING:
    from forsooth.planning.central import CentralPromise
    from forsooth.planning.plans import Plan
    from forsooth.planning.rehearsal import PlannedCampaign, Point

_STEPS = 15  # of an estimated curve in the figure


def plan(
    tasks: options.Tasks,
    scale: options.ScaleText,
    density: options.Density,
    workers: options.WorkersOrNone = None,
    epsilon: options.EpsilonOrNone = None,
    target_mae: Annotated[
        float | None,
        typer.Option(metavar="ERROR", help="The mean absolute error to reach.", show_default=False),
    ] = None,
    central_epsilon: Annotated[
        float | None,
        typer.Option(
            metavar="E",
            help="The central ε to keep if reports are anonymous and only the counts of each task "
            "are published; it takes the place of --epsilon.",
            show_default=False,
        ),
    ] = None,
    central_unit: Annotated[
        str | None,
        typer.Option(
            metavar="UNIT",
            help="What --central-epsilon covers: all answers of a worker (worker), or each cell "
            "(cell).",
            show_default="worker",
        ),
    ] = None,
    delta: options.DeltaOrNone = None,
    honest: options.HonestShareOrNone = None,
    truth_prior: options.TruthPrior = "flat",
    noise: options.Noise = "1",
    estimand: options.EstimandName = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            metavar="MECHANISM",
            help=f"{options.MECHANISMS} Or adaptive. Default: staircase or rr, whichever has "
            "the smaller estimated error.",
            show_default=False,
        ),
    ] = None,
    protects: options.Protection = None,
    repeats: options.Repeats = 3,
    seed: options.Seed = 0,
    max_workers: Annotated[
        int, typer.Option(metavar="N", help="The maximum number of workers to consider.", min=1)
    ] = 100_000,
    fast: Annotated[bool, typer.Option("--fast", help="Estimate only; do not simulate.")] = False,
    plot: options.Plot = None,
    processes: options.Processes = None,
    json: options.Json = False,
) -> None:
    """Plan a campaign: give two of --workers, --epsilon and --target-mae, and get the third.

    With --central-epsilon and --workers, the largest ε that keeps the central promise is used.
    Campaigns like yours are simulated, more often where the errors differ from run to run.
    --plot draws the error against the number of workers for three ε. The exit code is 1 if the
    target cannot be reached.

    Example: `forsooth plan --tasks 200 --scale 0..9 --density 0.1 --epsilon 1 --target-mae 0.3`
    """
    from forsooth.planning import plans
    from forsooth.study import figures

    if plot:
        figures.check_drawable(plot)
    cores = processes or os.cpu_count() or 1
    central = _central(central_epsilon, central_unit, delta, honest)
    with progress_bar("simulating") as advance:
        found = plans.plan(
            scale,
            tasks=tasks,
            density=density,
            workers=workers,
            epsilon=epsilon,
            target_mae=target_mae,
            central=central,
            truth=truth_prior,
            noise=noise,
            estimand=estimand,
            mechanism=mechanism,
            protects=protects,
            repeats=repeats,
            seed=seed,
            max_workers=max_workers,
            fast=fast,
            processes=cores,
            progress=advance,
        )
    drawn: list[Point] = []
    if plot:
        if not fast:
            with progress_bar("drawing") as advance:
                drawn = plans.curves(found, repeats=repeats, processes=cores, progress=advance)
        _draw(found, drawn, plot)
    if json:
        print_json(_document(found, drawn))
    else:
        _show(found)
        if plot:
            say(f"{plot}: error against workers")
    if found.reason:
        raise typer.Exit(1)


def _central(
    epsilon: float | None, unit: str | None, delta: float | None, honest: float | None
) -> CentralPromise | None:
    """The central promise, if one is asked for."""
    from forsooth.planning.central import CentralPromise

    others = {"--central-unit": unit, "--delta": delta, "--honest": honest}
    if epsilon is None:
        if given := [flag for flag, value in others.items() if value is not None]:
            raise ForsoothError(f"{given[0]} needs --central-epsilon")
        return None
    return CentralPromise(
        epsilon,
        DELTA if delta is None else delta,
        HONEST_SHARE if honest is None else honest,
        "worker" if unit is None else check_unit(unit),
    )


def _document(found: Plan, drawn: list[Point]) -> dict[str, Any]:
    campaign, expected = found.campaign, found.campaign.expected
    document = {
        "asked": found.question.asked,
        "workers": found.workers,
        "epsilon": found.epsilon,
        "mae": found.mae,
        "mae_se": found.mae_se,
        "target_mae": found.question.target_mae,
        "interval": found.interval,
        "reason": found.reason,
        "mechanism": campaign.mechanism,
        "protects": campaign.protected,
        "guarantee": found.guarantee and found.guarantee.epsilon,
        "worker_total": found.guarantee and found.guarantee.worker_total(campaign.tasks),
        "constant": expected.constant,
        "mae_constant": expected.constant_error,
        "mae_unperturbed": found.mae_unperturbed,
        "estimate": found.estimate,
        "other_estimates": found.others,
        "estimate_answers_only": found.answers_only,
        "scale": str(expected.scale),
        "tasks": campaign.tasks,
        "density": expected.density,
        "truth": expected.truth,
        "noise": expected.noise,
        "estimand": expected.assumed,
        "certificate": found.certificate and found.certificate.to_dict(),
        "points": [_row(campaign, point) for point in found.points],
    }
    return document | ({"curves": [_row(campaign, point) for point in drawn]} if drawn else {})


def _row(campaign: PlannedCampaign, point: Point) -> dict[str, Any]:
    estimate = None
    if point.epsilon is not None and campaign.has_estimate:
        estimate = campaign.estimate(point.workers, point.epsilon)
    return {
        "workers": point.workers,
        "epsilon": point.epsilon,
        "mae": point.mae,
        "mae_se": point.se,
        "repeats": len(point.errors),
        "tasks": point.tasks,
        "estimate": estimate,
    }


def _show(found: Plan) -> None:
    campaign, expected = found.campaign, found.campaign.expected
    rows = [_row(campaign, point) for point in found.points]
    if rows:
        print_table(
            ("workers", "ε", "mean error", "± s.e.", "simulations", "fast estimate"),
            (
                (
                    row["workers"],
                    f"{row['epsilon']:g}",
                    row["mae"],
                    row["mae_se"],
                    row["repeats"],
                    "" if row["estimate"] is None else row["estimate"],
                )
                for row in rows
            ),
            title=f"{campaign.mechanism} with {campaign.tasks:,} tasks, answers {expected.scale}",
        )
    say(_answer(found))
    most = found.workers or found.question.max_workers
    say(
        f"Without any data: always saying {expected.constant:g} has {expected.constant_error:.3g}. "
        f"Without any privacy: {most:,} workers have {found.mae_unperturbed:.2g}."
    )
    asked = found.question.asked
    for name, estimate in found.others.items():
        say(f"With {name} instead: {_estimated(asked, estimate)}.")
    if found.answers_only is not None:
        say(
            "If it may be known who answers which tasks (--protects answers): "
            f"{_estimated(asked, found.answers_only)}."
        )
    say(f"Expected: truth {expected.truth}, noise {expected.noise}, density {expected.density:g}.")
    say(options.assumption(expected.assumed))
    if simulated := [point.tasks for point in found.points if point.tasks < campaign.tasks]:
        say(f"Simulated on {min(simulated):,} of the tasks, to save time.")
    if found.guarantee:
        say(found.guarantee.describe(campaign.tasks))
    if found.certificate:
        for sentence in found.certificate.sentences():
            say(sentence)


def _answer(found: Plan) -> str:
    asked, target = found.question.asked, found.question.target_mae
    if found.reason:
        return f"A mean error of {target:g} cannot be reached: {found.reason}."
    setting = f"{found.workers:,} workers at ε = {found.epsilon:g} with {found.campaign.mechanism}"
    if found.interval is None:
        return f"{setting}: a mean error of about {found.mae:.3g} (fast estimate)."
    low, high = (_number(asked, end) for end in found.interval)
    unit = {"mae": "", "workers": " workers", "epsilon": " for ε"}[asked]
    error = f"{found.mae:.3g} ± {found.mae_se:.2g}"
    return f"{setting}: a mean error of {error} (90 %: {low} to {high}{unit})."


def _estimated(asked: str, estimate: float | None) -> str:
    """The fast answer in words."""
    if estimate is None:
        return "out of reach, by the fast estimate"
    number = _number(asked, estimate)
    words = {
        "mae": f"a mean error of about {number}",
        "workers": f"about {number} workers",
        "epsilon": f"an ε of about {number}",
    }
    return f"{words[asked]}, by the fast estimate"


def _number(asked: str, value: float) -> str:
    return f"{float(f'{value:.3g}'):,.0f}" if asked == "workers" else f"{value:.3g}"


def _draw(found: Plan, drawn: list[Point], path: Path) -> None:
    """Error against workers: estimated curves, and rehearsals with error bars."""
    from forsooth.planning.plans import around
    from forsooth.study.figures import COLOURS, GREY, MARKERS, drawing

    campaign, expected = found.campaign, found.campaign.expected
    workers, epsilons = around(found)
    estimated = campaign.has_estimate
    along = np.geomspace(workers[0] / 1.25, workers[-1] * 1.25, _STEPS)
    with drawing(path, (8.5, 4.4)) as axes:
        for epsilon, colour, marker in zip(epsilons, COLOURS, MARKERS):
            points = [point for point in drawn if point.epsilon == epsilon]
            curve = [campaign.estimate(count, epsilon) for count in along] if estimated else []
            axes.plot(along[: len(curve)], curve, color=colour, linewidth=1)
            axes.errorbar(
                [point.workers for point in points],
                [point.mae for point in points],
                yerr=[point.se for point in points],
                color=colour,
                marker=marker,
                linestyle="none" if estimated else "-",
                capsize=2,
                label=f"ε = {epsilon:g}",
            )
        levels = {f"always saying {expected.constant:g}": expected.constant_error}
        if found.question.target_mae is not None:
            levels["target"] = found.question.target_mae
        for name, level in levels.items():
            axes.axhline(level, color=GREY, linestyle="--", linewidth=1)
            axes.annotate(
                name,
                (0, level),
                xycoords=("axes fraction", "data"),
                xytext=(4, 3),
                textcoords="offset points",
                color=GREY,
                fontsize=8,
            )
        axes.set_xscale("log")
        axes.set_xticks(workers, [f"{count:,}" for count in workers])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.set_xlabel("workers (log scale)")
        axes.set_ylabel("mean error" + (" (lines: fast estimate)" if estimated else ""))
        axes.grid(axis="y", color="#DDDDDD", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9)
        title = (
            f"{campaign.mechanism}, {campaign.tasks:,} tasks, answers {expected.scale}, density "
            f"{expected.density:g}, truth {expected.truth}, noise {expected.noise}"
        )
        axes.set_title(title, fontsize=9, color=GREY, loc="left")
