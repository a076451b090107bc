"""The results of a campaign on its page: one value, one answer, or shares of answers per task."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from forsooth.report.look import Bar, bars, columns, interval
from forsooth.report.tables import chart, ends, head, name, number, rest, table, text
from forsooth.report.words import NBSP, on_scale, percent, percent_interval

if TYPE_CHECKING:
    from forsooth.truths import Calibration, Difference, Posterior, Shares, Truths

# name               value  unit, reason
_MOST_TASKS = 1000  # rows: the page must be small enough for a mail
_MOST_QUESTIONS = 200  # blocks of bars, which take ten times the room of a row
_MOST_DIFFERENCES = 300  # rows
_LISTED = 4  # probable answers named for a task: what a line holds
_UNLIKELY = 0.005  # probability below which an answer is not named: it would read 0 %
_GUESSES = 0.1  # share of guesses in the example of what careless answers would do

_SORTING = "Click a heading to sort (intervals by their width)."


def results(truths: Truths) -> str:
    """The section of results, by what the truth of a task is."""
    posterior = truths.posterior
    if posterior is not None and posterior.shares is not None:
        found = _opinions(truths, posterior, posterior.shares)
    elif posterior is not None and posterior.estimand == "label":
        found = _labels(truths, posterior)
    else:
        found = _levels(truths)
    calibrated = _calibrated(truths.calibration, truths.prediction_sets is not None)
    return f"<h2>Results</h2>\n{found}{calibrated}"


def _levels(truths: Truths) -> str:
    note = (
        "The true value lies in the interval with a probability of 90 %."
        if truths.posterior
        else "The 90 % interval covers chance only. It does not cover the bias of reading reports "
        f"as answers, as {escape(truths.method)} does; posterior does not have this bias."
    )
    return f"<p>{note} {_SORTING}</p>\n{_values(truths, 'truth')}" + _left_out(truths)


def _values(truths: Truths, what: str) -> str:
    """A row per task: estimate and interval, as a dot plot that is sorted with its row."""
    scale = truths.scale
    worded = not scale.is_numeric and what == "truth"
    rows = []
    for task in range(min(len(truths.tasks), _MOST_TASKS)):
        low, value, high = (float(a[task]) for a in (truths.low, truths.estimate, truths.high))
        words = f"{on_scale(scale, low)} – {on_scale(scale, high)}"
        cells = [
            name(truths.tasks[task]),
            chart(interval(low, value, high, scale.values)),
            number(on_scale(scale, value), value),
            *([text(scale.nearest_label(value), "less")] if worded else ()),
            number(words, high - low, "range"),
            number(f"{truths.support[task]:,}", float(truths.support[task]), "less"),
        ]
        rows.append("".join(cells))
    heads = [head("task"), ends(scale.labels[0], scale.labels[-1]), head(what, "number")]
    heads += [head("nearest", "less")] if worded else []
    heads += [head("90 % interval", "number"), head("reports", "number less")]
    return table(heads, rows)


def _labels(truths: Truths, posterior: Posterior) -> str:
    """A row per task: the estimated answer, and the probability of each answer."""
    scale = truths.scale
    nearest = np.abs(truths.estimate[:, None] - posterior.grid).argmin(axis=1)
    rows = []
    for task in range(min(len(truths.tasks), _MOST_TASKS)):
        mass = posterior.mass[task]
        chance = float(mass[nearest[task]])
        cells = [
            name(truths.tasks[task]),
            chart(columns(mass, scale.labels) + _legend(truths, mass, task)),
            text(scale.labels[nearest[task]]),
            number(percent(chance), chance, "less"),
        ]
        cells.append(number(f"{truths.support[task]:,}", float(truths.support[task]), "less"))
        rows.append("".join(cells))
    heads = [head("task"), ends(scale.labels[0], scale.labels[-1]), head("answer")]
    heads += [head("probability", "number less"), head("reports", "number less")]
    which = "most probable answer" if posterior.unordered else "middle answer (posterior median)"
    note = (
        f"The {which} of every task, and the probability that each answer is the right one: "
        f"one column of the chart per answer, from {escape(scale.labels[0])} to "
        f"{escape(scale.labels[-1])}."
    )
    return f"<p>{note} Click a heading to sort.</p>\n{table(heads, rows)}" + _left_out(truths)


def _legend(truths: Truths, mass: np.ndarray, task: int) -> str:
    """The probable answers, and the prediction set where gold tasks calibrated it; HTML."""
    labels, order = truths.scale.labels, np.argsort(-mass, kind="stable")[:_LISTED]
    probable = [
        f"{labels[code]}{NBSP}{percent(mass[code])}" for code in order if mass[code] >= _UNLIKELY
    ]
    lines = [", ".join(probable)]
    if truths.prediction_sets is not None:
        lines.append(f"prediction set: {', '.join(truths.prediction_sets[task]) or 'empty'}")
    return "".join(f'<div class="legend">{escape(line)}</div>' for line in lines)


def _left_out(truths: Truths) -> str:
    return rest(
        _MOST_TASKS, len(truths.tasks), "The first {} of {} tasks are shown", "-o truths.csv"
    )


# Opinion


def _opinions(truths: Truths, posterior: Posterior, shares: Shares) -> str:
    """The mean answers in one table, then a bar per answer for every question."""
    parts = [f"<p>{_as_given(shares)}</p>"]
    if not posterior.unordered:
        parts += [f"<p>{_means(truths)} {_SORTING}</p>", _values(truths, "mean"), _left_out(truths)]
    count = min(len(truths.tasks), _MOST_QUESTIONS)
    top = float(shares.high[:count].max())
    blocks = "\n".join(_question(truths, posterior, shares, task, top) for task in range(count))
    parts += [
        "<h2>Answer by answer</h2>",
        "<p>The share of people who give each answer, with 90 % intervals. All bars have the same "
        "scale.</p>",
        f'<div class="questions">\n{blocks}\n</div>',
        rest(
            _MOST_QUESTIONS,
            len(truths.tasks),
            "The first {} of {} questions are shown",
            "-o truths.csv",
        ),
        _differences(truths),
    ]
    return "\n".join(part for part in parts if part)


def _as_given(shares: Shares) -> str:
    """What the shares are shares of, and how much careless answers could change them."""
    largest = float(shares.estimate.max())
    guessed = _GUESSES / shares.estimate.shape[1]
    honest = min(1.0, (largest - guessed) / (1 - _GUESSES))
    return (
        "These are answers as given; careless answers count too. For example, if "
        f"{percent(_GUESSES)} of the answers were guesses, the largest share found here, "
        f"{percent(largest)}, would be {percent(honest)} among the other answers."
    )


def _means(truths: Truths) -> str:
    scale = truths.scale
    numbered = (
        ""
        if scale.is_numeric
        else f" The answers count from {scale.low:g} ({escape(scale.labels[0])}) to "
        f"{scale.high:g} ({escape(scale.labels[-1])})."
    )
    return (
        "Mean answers. The mean of all people lies in the interval with a probability of 90 %."
        + numbered
    )


def _question(truths: Truths, posterior: Posterior, shares: Shares, task: int, top: float) -> str:
    rows = [
        Bar(label, float(share), percent_interval(share, low, high), (float(low), float(high)))
        for label, share, low, high in zip(
            truths.scale.labels, shares.estimate[task], shares.low[task], shares.high[task]
        )
    ]
    low, mean, high = (
        on_scale(truths.scale, float(a[task])) for a in (truths.low, truths.estimate, truths.high)
    )
    words = "" if posterior.unordered else f"Mean {mean} ({low} – {high}). "
    took_part = percent_interval(
        shares.participation[task],
        shares.participation_low[task],
        shares.participation_high[task],
    )
    return (
        f'<section class="question">\n<h3>{escape(truths.tasks[task])}</h3>\n'
        f'<p class="soft">{words}Answered by {took_part}.</p>\n{bars("share", rows, top)}\n'
        "</section>"
    )


def _differences(truths: Truths) -> str:
    """Differences between the mean answers of groups of people."""
    if not truths.differences:
        return ""
    width = max(max(abs(each.low), abs(each.high)) for each in truths.differences) or 1.0
    rows = [_difference(truths, each, width) for each in truths.differences[:_MOST_DIFFERENCES]]
    end = on_scale(truths.scale, width)
    heads = [head("task"), head("group"), head("minus"), ends(f"−{end}", f"+{end}")]
    heads += [head("difference", "number"), head("90 % interval", "number less")]
    note = (
        "The mean answer of the first group minus that of the second. Where the interval does not "
        "contain 0, the groups differ."
    )
    return f"<h2>Differences between groups</h2>\n<p>{note}</p>\n{table(heads, rows)}" + rest(
        _MOST_DIFFERENCES,
        len(truths.differences),
        "The first {} of {} differences are shown",
        "--differences-output differences.csv",
    )


def _difference(truths: Truths, each: Difference, width: float) -> str:
    low, value, high = (on_scale(truths.scale, v) for v in (each.low, each.estimate, each.high))
    return "".join(
        (
            name(each.task),
            text(each.group),
            text(each.other),
            chart(interval(each.low, each.estimate, each.high, (-width, 0.0, width))),
            number(value, each.estimate),
            number(f"{low} – {high}", each.high - each.low, "range less"),
        )
    )


# Gold


def _calibrated(calibration: Calibration | None, sets: bool) -> str:
    """Both widths: as the model says, and as the gold tasks require."""
    if calibration is None:
        return ""
    what, width = ("prediction sets", "labels per set") if sets else ("intervals", "mean width")
    rows = [
        Bar("without calibration", calibration.width_before, f"{calibration.width_before:.3g}"),
        Bar("calibrated, as shown", calibration.width_after, f"{calibration.width_after:.3g}"),
    ]
    return (
        f"\n<h2>Calibration on gold tasks</h2>\n<p>The {what} above were calibrated on "
        f"{calibration.gold:,} gold tasks, whose truths are known. The truth of a further task "
        f"lies inside with a probability of at least {percent(calibration.coverage)}, if the gold "
        f"tasks are like the others.</p>\n{bars(width, rows)}"
    )
