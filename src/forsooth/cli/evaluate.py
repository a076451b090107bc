"""forsooth evaluate: mechanisms and methods compared on data with known truths."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from forsooth.answers import OnConflict
from forsooth.cli import options
from forsooth.cli.console import print_json, print_table, progress_bar, say
from forsooth.inference import DEFAULT_METHOD, NAMES
from forsooth.privacy import check_protects, check_unit


def evaluate(
    data: Annotated[
        str, typer.Option(help="synthetic:workers=…,tasks=…,sparsity=…, wsd, adult, or a file.")
    ],
    epsilon: Annotated[str, typer.Option(help="One ε or several: 0.1,1,5.")] = "0.1,0.5,1,2,3,5",
    mechanism: Annotated[
        str, typer.Option(help=f"{options.MECHANISM_HELP} Or adaptive: rr first, then a design.")
    ] = "lp,rr,two-layer,mf",
    method: Annotated[str, typer.Option(help=f"{', '.join(NAMES)}.")] = DEFAULT_METHOD,
    estimand: options.EstimandName = None,
    protects: options.Protection = None,
    unit: options.UnitName = "cell",
    sampled_tasks: options.SampledTasks = 1,
    repeats: Annotated[int, typer.Option(help="Number of repeats, each with new noise.")] = 3,
    seed: Annotated[int, typer.Option(help="The same seed gives the same figures.")] = 0,
    mirror: Annotated[bool, typer.Option("--mirror", help="Mirror the scale: a → max−a.")] = False,
    truth: Annotated[Path | None, typer.Option(help="For a file: its task, truth table.")] = None,
    scale: options.ScaleText = None,
    data_dir: options.DataDir = None,
    on_conflict: options.Conflict = "error",
    plot: Annotated[
        Path | None, typer.Option(help="Draw MAE change against ε: PNG, SVG, PDF.")
    ] = None,
    processes: Annotated[
        int | None, typer.Option(help="Processes to use; by default one per core.", min=1)
    ] = None,
    json: options.Json = False,
) -> None:
    """Measure the error of truth inference on perturbed answers, beside trivial baselines.

    Example: `forsooth evaluate --data synthetic:workers=2000,tasks=200,sparsity=0.9
    --epsilon 0.1,1 --mechanism lp,rr,mf --method algorithm1 --repeats 5 --seed 1`
    """
    from forsooth.study import evaluation, figures

    if plot:
        figures.check_drawable(plot)
    study = evaluation.Study(
        data=data,
        epsilons=options.numbers(epsilon, "--epsilon"),
        mechanisms=options.specifications(mechanism),
        methods=options.specifications(method),
        protects=None if protects is None else check_protects(protects),
        unit=check_unit(unit),
        sampled=sampled_tasks,
        repeats=repeats,
        seed=seed,
        mirror=mirror,
        truth=str(truth) if truth else None,
        scale=scale,
        data_dir=str(data_dir) if data_dir else None,
        on_conflict=cast("OnConflict", on_conflict),
        estimand=options.estimand(estimand),
    )
    with progress_bar("evaluating") as advance:
        result = evaluation.evaluate(
            study, processes=processes or os.cpu_count() or 1, progress=advance
        )
    if plot:
        figures.plot_against_epsilon(result["summary"], plot)
    if json:
        print_json(cast("dict[str, Any]", result))
    else:
        _show(result["summary"], study.mirror)
        if plot:
            say(f"{plot}: MAE change against ε")


def _show(summary: list[dict[str, Any]], mirrored: bool) -> None:
    first = summary[0]
    print_table(
        ("ε", "mechanism", "method", "protects", "true ε", "MAE", "change", "± s.e."),
        (
            (
                f"{row['epsilon']:g}",
                row["mechanism"],
                row["method"],
                options.protection_words(row["protects"]),
                f"{row['guarantee']:g}",
                row["mae"],
                row["mae_change"],
                "" if row["mae_change_se"] is None else row["mae_change_se"],
            )
            for row in summary
        ),
        title=f"{first['data']}{' (mirrored)' if mirrored else ''}, {first['repeats']} repeat(s)",
    )
    say(
        f"Algorithm 1 on the unperturbed answers: MAE {first['mae_original']:.3f}. "
        f"Without any data: best constant {first['mae_constant']:.3f} "
        f"(change {first['mae_constant'] - first['mae_original']:+.3f}), "
        f"middle of the scale {first['mae_middle']:.3f} "
        f"(change {first['mae_middle'] - first['mae_original']:+.3f})."
    )
    if any(row["mechanism"] == "two-layer" for row in summary):
        say("two-layer: a worker's other cells reveal their budget; the true guarantee is 2ε.")
    for assumed in sorted({row["estimand"] for row in summary if row["estimand"]}):
        say(f"posterior: {options.assumption(assumed)}")
    if any(row["mechanism"].partition(":")[0] == "mf" for row in summary):
        say("mf: protects answers only; which tasks were answered is not protected.")
