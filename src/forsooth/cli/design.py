"""forsooth design: the most informative channel for a given ε."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from forsooth.cli import options, outputs
from forsooth.cli.console import print_json, print_table, say, working
from forsooth.estimand import default_estimand
from forsooth.io.files import replacing
from forsooth.mechanisms.channel import TOTAL, Channel, ChannelMechanism
from forsooth.privacy import check_protects
from forsooth.scale import Scale

_MOST_NUMBERS = 250  # cells up to which a figure shows every probability as a number


def design(
    scale: options.ScaleText,
    epsilon: options.Epsilon,
    density: options.Density = 0.5,
    truth_prior: options.TruthPrior = "flat",
    noise: options.Noise = "1",
    estimand: Annotated[
        str | None,
        typer.Option(
            metavar="ESTIMAND",
            help="The truth of a task: level (one true value) or label (one answer is right). "
            "Default: level; label for two answers.",
            show_default=False,
        ),
    ] = None,
    protects: options.Protection = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="PATH", help="Write the mechanism as JSON."),
    ] = None,
    plot: options.Plot = None,
    json: options.Json = False,
) -> None:
    """Design the most informative channel for a given ε, and compare it with rr.

    What you expect of the crowd decides how useful the channel is, never how well it protects.

    Example: `forsooth design --scale 0..9 --epsilon 1 --density 0.1 --truth-prior normal:0,1
    --noise 1,5 -o mechanism.json`, then `forsooth perturb … --mechanism-file mechanism.json`
    """
    from forsooth.mechanisms.staircase_channel import designed
    from forsooth.study.figures import check_drawable

    if output:
        outputs.check_output(output, "a mechanism", outputs.MECHANISM, plot)
    if plot:
        check_drawable(plot)
    answer_scale, stated = Scale.parse(scale), options.estimand(estimand)
    with working("designing the channel"):
        mechanism, found = designed(
            answer_scale,
            epsilon,
            protects=check_protects(protects or "answers+participation"),
            density=density,
            truth=truth_prior,
            noise=noise,
            estimand=stated,
        )
    if output:
        with replacing(output) as temporary:
            temporary.write_text(mechanism.to_json() + "\n", encoding="utf-8")
    if plot:
        _draw(mechanism, plot)
    assumed = stated or default_estimand(answer_scale)
    beliefs: dict[str, Any] = {
        "density": density,
        "truth": truth_prior,
        "noise": noise,
        "estimand": assumed,
    }
    if json:
        print_json(_document(mechanism, found, beliefs))
    else:
        _show(mechanism, found, beliefs)
        for path, what in ((output, "the mechanism, for --mechanism-file"), (plot, "the table")):
            if path:
                say(f"{path}: {what}")


def favoured(channel: Channel) -> list[list[int]]:
    """For every symbol the inputs that send it with the larger of its two weights."""
    return [
        [row for row, weight in enumerate(column) if weight**2 > max(column) * min(column)]
        for column in zip(*channel.weights)
    ]


def _names(mechanism: ChannelMechanism) -> list[str]:
    """Symbols by the inputs that they favour: ``0–4``, ``5–9, NULL``."""
    return [_runs(inputs, mechanism.scale) for inputs in favoured(mechanism.channel)]


def _runs(inputs: list[int], scale: Scale) -> str:
    parts: list[list[int]] = []
    for code in inputs:
        if parts and code == parts[-1][-1] + 1 and code != scale.null:
            parts[-1].append(code)
        else:
            parts.append([code])
    labels = (*scale.labels, "NULL")
    ends = [(labels[part[0]], labels[part[-1]]) for part in parts]
    return ", ".join(first if first == last else f"{first}–{last}" for first, last in ends)


def _document(mechanism: ChannelMechanism, found: Any, beliefs: dict[str, Any]) -> dict[str, Any]:
    labels = (*mechanism.scale.labels, "NULL")
    return {
        "epsilon": mechanism.epsilon,
        "exact_epsilon": mechanism.channel.epsilon(),
        "protects": mechanism.protects,
        **beliefs,
        "symbols": mechanism.channel.symbols,
        "columns": [
            {"favours": [labels[code] for code in inputs], "reads_as": reading}
            for inputs, reading in zip(favoured(mechanism.channel), mechanism.reads_as)
        ],
        "information": found.information,
        "information_rr": found.information_rr,
        "ratio": found.ratio,
        "guaranteed": {
            "information": found.guaranteed,
            "information_rr": found.guaranteed_rr,
            "ratio": found.guaranteed_ratio,
        },
        "lost_by_rounding": found.lost,
        "exhaustive": found.exhaustive,
        "mechanism": json_module.loads(mechanism.to_json()),
    }


def _show(mechanism: ChannelMechanism, found: Any, beliefs: dict[str, Any]) -> None:
    hidden = mechanism.protects == "answers+participation"
    print_table(
        ("symbol", "favours", "sent by these", "by others", "reads as"),
        (
            (
                symbol,
                name,
                max(column) / TOTAL,
                min(column) / TOTAL,
                "NULL" if reading is None else f"{reading:.2f}",
            )
            for symbol, (name, column, reading) in enumerate(
                zip(_names(mechanism), zip(*mechanism.channel.weights), mechanism.reads_as)
            )
        ),
        title=f"staircase, ε = {mechanism.epsilon:g}, answers {mechanism.scale}",
        decimals=4,
    )
    answered = f", density {beliefs['density']:g}" if hidden else ""
    say(f"expected: truth {beliefs['truth']}, noise {beliefs['noise']}{answered}")
    say(options.assumption(beliefs["estimand"], ("level", "label")))
    say(
        f"information per report: {found.information:.4g} nats, rr {found.information_rr:.4g}: "
        f"one worker is worth {found.ratio:.2f} with rr"
    )
    if hidden:
        say(
            f"for any density within a factor of 2: {found.guaranteed:.4g} nats, "
            f"rr {found.guaranteed_rr:.4g}: one is worth {found.guaranteed_ratio:.2f}"
        )
    say(
        f"lost by rounding to integers: {found.lost:.2g} nats; exact ε "
        f"{mechanism.channel.epsilon():.9g}"
    )
    if not found.exhaustive:
        say("the scale is long: only intervals of answers were considered as symbols")


def _draw(mechanism: ChannelMechanism, path: Path) -> None:
    """The table as a heat map, a row per input and a column per symbol."""
    from forsooth.study.figures import GREY, drawing

    labels = (*mechanism.scale.labels, "NULL")[: mechanism.channel.inputs]
    table = [[weight / TOTAL for weight in row] for row in mechanism.channel.weights]
    names = _names(mechanism)
    size = (min(2.2 + 0.9 * len(names), 14), min(1.6 + 0.34 * len(labels), 14))
    largest = max(map(max, table))
    with drawing(path, size) as axes:
        image = axes.imshow(table, aspect="auto", cmap="Blues", vmin=0, vmax=largest)
        every = max(1, len(labels) // 40)
        places = [*range(0, mechanism.scale.size, every), *range(mechanism.scale.size, len(labels))]
        axes.set_yticks(places, [labels[place] for place in places])
        sideways = 90 if max(map(len, names)) > 9 or len(names) > 12 else 0
        axes.set_xticks(range(len(names)), names, rotation=sideways)
        axes.set_ylabel("answer")
        axes.set_xlabel("symbol, by the inputs that it favours")
        axes.set_title(f"ε = {mechanism.epsilon:g}", fontsize=9, color=GREY, loc="left")
        axes.figure.colorbar(image, ax=axes, label="P(symbol | answer)")
        if len(names) * len(labels) <= _MOST_NUMBERS:
            for row, column in ((r, c) for r in range(len(labels)) for c in range(len(names))):
                share = table[row][column]
                colour = "white" if share > 0.6 * largest else "black"
                text = axes.text(column, row, f"{share:.3f}".lstrip("0"), fontsize=8, color=colour)
                text.set(ha="center", va="center")
