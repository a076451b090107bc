"""forsooth evaluate: mechanisms and methods compared on data with known truths."""

from __future__ import annotations

import os
from typing import Annotated, Any, cast

import typer

from forsooth.answers import OnConflict
from forsooth.cli import options
from forsooth.cli.console import print_json, print_table, progress_bar, say
from forsooth.inference import DEFAULT_METHOD, NAMES
from forsooth.plural import counted
from forsooth.privacy import check_protects, check_unit


def evaluate(
    data: Annotated[
        str,
        typer.Option(
            metavar="DATA",
            help="A file of answers, wsd, adult, or a simulated crowd (synthetic:workers=…).",
        ),
    ],
    epsilons: Annotated[
        str, typer.Option(metavar="E,…", help="The values of ε per cell to compare.")
    ] = "0.1,0.5,1,2,3,5",
    mechanisms: Annotated[
        str,
        typer.Option(
            metavar="MECHANISM,…",
            help=f"The mechanisms to compare: {options.MECHANISMS} Or adaptive: rr first, then a "
            "channel designed from what rr has shown.",
        ),
    ] = "lp,rr,two-layer,mf",
    methods: Annotated[
        str,
        typer.Option(metavar="METHOD,…", help=f"The methods to compare: {', '.join(NAMES)}."),
    ] = DEFAULT_METHOD,
    estimand: options.EstimandName = None,
    protects: options.Protection = None,
    unit: options.UnitName = "cell",
    sampled_tasks: options.SampledTasks = 1,
    repeats: options.Repeats = 3,
    seed: options.Seed = 0,
    mirror: Annotated[bool, typer.Option("--mirror", help="Mirror the scale: a → max−a.")] = False,
    truth_file: options.TruthFile = None,
    scale: options.ScaleTextOrNone = None,
    data_dir: options.DataDir = None,
    on_conflict: options.Conflict = "error",
    plot: options.Plot = None,
    processes: options.Processes = None,
    json: options.Json = False,
) -> None:
    """Measure the error of truth inference on perturbed answers, next to trivial baselines.

    --plot draws the MAE change against ε.

    Example: `forsooth evaluate --data synthetic:workers=2000,tasks=200,sparsity=0.9
    --epsilons 0.1,1 --mechanisms lp,rr,mf --methods algorithm1 --repeats 5 --seed 1`
    """
    from forsooth.study import evaluation, figures

    if plot:
        figures.check_drawable(plot)
    study = evaluation.Study(
        data=data,
        epsilons=options.numbers(epsilons, "--epsilons"),
        mechanisms=options.specifications(mechanisms),
        methods=options.specifications(methods),
        protects=None if protects is None else check_protects(protects),
        unit=check_unit(unit),
        sampled=sampled_tasks,
        repeats=repeats,
        seed=seed,
        mirror=mirror,
        truth=str(truth_file) if truth_file else None,
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
        title=f"{first['data']}{' (mirrored)' if mirrored else ''}, "
        + counted(first["repeats"], "repeat"),
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
