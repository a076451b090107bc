"""forsooth demo: a private campaign end to end on a built-in crowd."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from forsooth.cli import options
from forsooth.cli.console import print_json, print_table, say
from forsooth.estimand import ESTIMANDS, check_estimand
from forsooth.io.files import check_writable, replacing


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path(
        "forsooth-demo.html"
    ),
    epsilon: Annotated[float, typer.Option(help="ε per cell.")] = 1.0,
    estimand: Annotated[
        str, typer.Option(help=f"What the truth of a question is: {', '.join(ESTIMANDS)}.")
    ] = "level",
    json: options.Json = False,
) -> None:
    """Run a private campaign end to end on a built-in crowd, and write a page to open.

    Example: `forsooth demo -o demo.html`
    """
    from forsooth.study import demo as study

    check_writable(output)
    result = study.run(epsilon, check_estimand(estimand))
    with replacing(output) as temporary:
        temporary.write_text(result.page(), encoding="utf-8")
    private, hidden = result.outcomes
    campaign, tasks = result.campaign, len(result.campaign.answers.tasks)
    if json:
        print_json(
            {
                "page": str(output),
                "epsilon": epsilon,
                "estimand": estimand,
                "workers": len(campaign.answers.workers),
                "tasks": tasks,
                "mae_open": result.open_mae,
                "mae_constant": campaign.constant_error(),
                "outcomes": [
                    {
                        "mechanism": outcome.mechanism.name,
                        "protects": outcome.mechanism.guarantee.protects,
                        "epsilon": outcome.mechanism.guarantee.epsilon,
                        "mae": outcome.mae,
                        "mae_algorithm1": outcome.naive_mae,
                    }
                    for outcome in result.outcomes
                ],
            }
        )
        return
    say(
        f"{len(campaign.answers.workers):,} people answered {tasks} sensitive questions "
        f"(0 never … 4 always). The collector saw perturbed reports only.\n"
    )
    print_table(
        ("question", "true", "open", "private", "hidden", "interval"),
        (
            (task, truth, openly, privately, too, f"{low:.1f} – {high:.1f}")
            for task, truth, openly, privately, too, low, high in zip(
                campaign.answers.tasks,
                campaign.truth.tolist(),
                result.open_truths.estimate.tolist(),
                private.truths.estimate.tolist(),
                hidden.truths.estimate.tolist(),
                hidden.truths.low.tolist(),
                hidden.truths.high.tolist(),
            )
        ),
        decimals=2,
    )
    say(
        f"\nMean error: open {result.open_mae:.2f}, private {private.mae:.2f}, "
        f"hidden {hidden.mae:.2f}; the best constant guess {campaign.constant_error():.2f}. "
        f"The same reports taken for answers (the paper's Algorithm 1): {private.naive_mae:.2f} "
        f"and {hidden.naive_mae:.2f}."
    )
    say(options.assumption(estimand))
    say(f"private ({private.mechanism.name}): {private.mechanism.guarantee.describe(tasks)}.")
    say(f"hidden ({hidden.mechanism.name}): {hidden.mechanism.guarantee.describe(tasks)}.")
    say(f"\nOpen {output} in a browser for the report.")
