"""forsooth demo: a private campaign end to end on a built-in crowd."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from forsooth.cli import options, outputs
from forsooth.cli.console import print_json, print_table, say, working
from forsooth.estimand import ESTIMANDS, MEANING, check_estimand
from forsooth.io.files import replacing


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PATH", help="The HTML page to write.")
    ] = Path("forsooth-demo.html"),
    epsilon: options.Epsilon = 1.0,
    estimand: Annotated[
        str,
        typer.Option(
            metavar="ESTIMAND", help=f"What the truth of a question is: {', '.join(ESTIMANDS)}."
        ),
    ] = "level",
    json: options.Json = False,
) -> None:
    """Run a private campaign end to end on a built-in crowd, and write a page to open.

    Example: `forsooth demo -o demo.html`
    """
    from forsooth.study import demo as study

    outputs.check_output(output, "the page", outputs.PAGE)
    stated = check_estimand(estimand)
    with working("running the campaign") as say_now:
        result = study.run(epsilon, stated, progress=say_now)
        say_now("writing the page")
        with replacing(output) as temporary:
            temporary.write_text(result.page(), encoding="utf-8")
    private, hidden = result.outcomes
    campaign, tasks = result.campaign, len(result.campaign.answers.tasks)
    questions = list(
        zip(
            campaign.answers.tasks,
            campaign.truth.tolist(),
            result.open_truths.estimate.tolist(),
            private.truths.estimate.tolist(),
            hidden.truths.estimate.tolist(),
            hidden.truths.low.tolist(),
            hidden.truths.high.tolist(),
        )
    )
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
                "assumed": MEANING[stated],
                "questions": [
                    {
                        "question": task,
                        "true": truth,
                        "open": openly,
                        "private": privately,
                        "hidden": too,
                        "low": low,
                        "high": high,
                    }
                    for task, truth, openly, privately, too, low, high in questions
                ],
                "outcomes": [
                    {
                        "name": name,
                        "mechanism": outcome.mechanism.name,
                        "protects": outcome.mechanism.guarantee.protects,
                        "epsilon": outcome.mechanism.guarantee.epsilon,
                        "worker_total": outcome.mechanism.guarantee.worker_total(tasks),
                        "guarantee": outcome.mechanism.guarantee.describe(tasks),
                        "mae": outcome.mae,
                        "mae_algorithm1": outcome.naive_mae,
                    }
                    for name, outcome in zip(("private", "hidden"), result.outcomes)
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
            for task, truth, openly, privately, too, low, high in questions
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
