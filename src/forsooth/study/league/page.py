"""What the league says: a summary, a table and figures per estimand, wins, losses and reasons."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from forsooth.plural import counted
from forsooth.study.league.blocks import Grid, Headline, Items, Listing, Picture, Prose
from forsooth.study.league.comparisons import (
    SMALLEST,
    STANDARD_ERRORS,
    VERDICTS,
    all_comparisons,
    compare,
    counted_verdicts,
)
from forsooth.study.league.entries import DEFAULTS, GUESS, GUESSES, PROMISES, Entry
from forsooth.study.league.figures import ERROR
from forsooth.study.rivals import INFERENCE, PRIVATE, PrivateRival, Rival

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forsooth.estimand import Estimand
    from forsooth.study.league.blocks import Block
    from forsooth.study.league.comparisons import Comparison
    from forsooth.study.league.entries import Promise
    from forsooth.study.league.figures import LeagueChart
    from forsooth.study.league.results import LeagueResults
    from forsooth.study.league.run import LeagueRun
    from forsooth.study.paper.results import Measured

TITLE = "The league"
_NAMES: dict[str, str] = {"label": "Labels", "level": "Levels"}
_SHORT: dict[Promise, str] = {
    "none": "plain answers",
    "cell": "answer and participation",
    "values": "answer only",
    "person": "whole person",
}
_NO_VALUE = "–"
_COLUMN: dict[Promise, str] = {
    "none": "method",
    "cell": "mechanism · method",
    "values": "mechanism · method",
    "person": "mechanism · method",
}
_BLIND: dict[str, str] = {"label": "a random label", "level": "the middle of the scale"}
_LAST_COLUMNS = ("coverage", "seconds", "sets")
_OPENING = (
    "Data sets with known truths, each perturbed at several ε by mechanisms of ours, of the paper "
    "and of others, and inferred by our method and by others. `forsooth league` measures it and "
    "writes this page."
)
_HOW_TO_READ = (
    "**What is compared.** {error}. A mean over sets, ± its standard error over the repeats; "
    "**bold** is forsooth's default under that promise. Coverage is the share of truths in their "
    "90 % intervals, seconds are processor time per run, both at the largest ε. The log loss is "
    "the mean of −ln P(true label), where a method has probabilities."
)
_NEW_METHOD = """\
# src/forsooth/study/rivals/my_method.py
def my_method(data: Annotations) -> Aggregated:
    return Aggregated.from_probability(data.vote_shares, data)  # tasks × answers

# src/forsooth/study/rivals/__init__.py, one line in INFERENCE:
Rival("my-method", ("label",), my_method, "Me, 2027"),"""
_NEW_SET = """\
{
 "mine": {"scale": "0..4", "estimand": "label"}
}"""


def blocks(results: LeagueResults, charts: Sequence[LeagueChart], run: LeagueRun) -> list[Block]:
    """The whole page."""
    found: list[Block] = [Prose(_OPENING), *_summary(results)]
    for estimand in results.estimands:
        found += _of_estimand(results, estimand, charts)
    return [
        *found,
        *_wins_and_losses(results),
        *_how_to_add(),
        *_how_it_was_done(results, run),
    ]


def _summary(results: LeagueResults) -> list[Block]:
    """All comparisons, then one line per estimand and promise; nothing without a rival."""
    if not (found := all_comparisons(results)):
        return []
    lines = [
        f"{_NAMES[estimand]}, {_SHORT[promise]}: {_counted(some)}."
        for estimand in results.estimands
        for promise in PROMISES
        if (some := compare(results, estimand, promise))
    ]
    return [
        Headline("In short"),
        Prose(f"**{_counted(found)[0].upper()}{_counted(found)[1:]}.**"),
        Prose(
            "That is forsooth's default against the **best** rival under the same promise, set by "
            "set and ε by ε; the rival is the one that turned out best there. A difference below "
            f"{STANDARD_ERRORS:g} standard errors, or below {SMALLEST:g}, is a tie. Where neither "
            f"has an error {SMALLEST:g} below that of the best constant, which knows the truths, "
            "the reports were of no use."
        ),
        Items(tuple(lines)),
    ]


def _counted(found: Sequence[Comparison]) -> str:
    count = counted_verdicts(found)
    return (
        f"in {counted(len(found), 'comparison')} we win {count['win']}, tie {count['tie']} and "
        f"lose {count['loss']}"
        + (f"; in {count['neither']} neither beats the best constant" if count["neither"] else "")
    )


def _of_estimand(
    results: LeagueResults, estimand: Estimand, charts: Sequence[LeagueChart]
) -> list[Block]:
    """Under every promise a table and a figure."""
    sets = results.sets(estimand)
    names = ", ".join(source.name for source in sets)
    found: list[Block] = [
        Headline(_NAMES[estimand]),
        Prose(f"{counted(len(sets), 'data set')}: {names}."),
        Prose(_HOW_TO_READ.format(error=f"The error is the {ERROR[estimand]}")),
    ]
    for promise in PROMISES:
        if rows := _rows(results, estimand, promise):
            columns = (
                _COLUMN[promise],
                *_error_columns(results, estimand, promise),
                *_LAST_COLUMNS,
            )
            found += [Headline(_heading(promise), 3), Grid(columns, tuple(rows))]
            found += [_picture(c) for c in charts if (c.estimand, c.promise) == (estimand, promise)]
    found.append(Prose(_guesses(results, estimand)))
    return [*found, *_set_by_set(results, estimand)]


def _heading(promise: Promise) -> str:
    words = PROMISES[promise]
    return words if words.startswith("ε") else words[0].upper() + words[1:]


def _error_columns(results: LeagueResults, estimand: Estimand, promise: Promise) -> list[str]:
    if promise != "none":
        return [f"ε = {epsilon:g}" for epsilon in results.epsilons()]
    return ["error", "log loss"] if estimand == "label" else ["error"]


def _rows(results: LeagueResults, estimand: Estimand, promise: Promise) -> list[tuple[str, ...]]:
    """One per entry, the best first; those that did not run on all sets last."""
    ranked, sets = [], results.sets(estimand)
    epsilons = [0.0] if promise == "none" else results.epsilons()
    for entry in results.entries(estimand, promise):
        means = [results.mean(estimand, entry, epsilon) for epsilon in epsilons]
        errors = [_mean(results, estimand, entry, epsilon) for epsilon in epsilons]
        if promise == "none" and estimand == "label":
            errors.append(_mean(results, estimand, entry, 0.0, "log_loss"))
        total = sum(mean[0].value for mean in means if mean)
        complete = all(mean and mean[1] == len(sets) for mean in means)
        row = (_named(entry), *errors, *_ending(results, estimand, entry, epsilons[-1]))
        ranked.append((not complete, total, row))
    return [row for _, _, row in sorted(ranked)]


def _picture(chart: LeagueChart) -> Picture:
    caption = (
        f"Mean error against ε, {PROMISES[chart.promise]}: our entries and the best rivals that "
        "ran on every set; bars are ± one standard error."
    )
    return Picture(chart.name, chart.words, caption)


def _named(entry: Entry) -> str:
    return f"**{entry.label}**" if entry.is_default else entry.label


def _mean(
    results: LeagueResults, estimand: Estimand, entry: Entry, epsilon: float, measure: str = "error"
) -> str:
    mean = results.mean(estimand, entry, epsilon, measure)
    return _shown(mean[0]) if mean else _NO_VALUE


def _shown(measured: Measured) -> str:
    return f"{measured.value:.3f}" + (f" ± {measured.se:.3f}" if measured.se else "")


def _ending(
    results: LeagueResults, estimand: Estimand, entry: Entry, epsilon: float
) -> tuple[str, str, str]:
    """Coverage, seconds and the number of sets."""
    coverage = results.mean(estimand, entry, epsilon, "coverage")
    scores = [results.get(source, entry, epsilon) for source in results.sets(estimand)]
    seconds = [score.seconds for score in scores if score]
    return (
        f"{coverage[0].value:.2f}" if coverage else _NO_VALUE,
        f"{sum(seconds) / len(seconds):.2f}" if seconds else _NO_VALUE,
        str(len(seconds)),
    )


def _guesses(results: LeagueResults, estimand: Estimand) -> str:
    """What can be had without any answer, and what the last column says."""
    sets = results.sets(estimand)
    constant, blind = (sum(results.guess(s, each) for s in sets) / len(sets) for each in GUESSES)
    return (
        f"Without any answer, the best constant, which knows the truths, has the error "
        f"{constant:.3f}, {_BLIND[estimand]} {blind:.3f}. Entries that ran on fewer sets stand "
        "last: their means are not comparable."
        + (
            " A rival that estimates means takes labels only if there are two."
            if estimand == "label"
            else ""
        )
    )


def _set_by_set(results: LeagueResults, estimand: Estimand) -> list[Block]:
    """Our default and the best rival, for every set and ε."""
    rows = []
    for promise in PROMISES:
        for each in compare(results, estimand, promise):
            epsilon = f"{each.ours.epsilon:g}" if each.ours.epsilon else _NO_VALUE
            rows.append(
                (
                    each.ours.source.name,
                    _SHORT[promise],
                    epsilon,
                    _shown(each.ours.error),
                    _shown(each.rival.error),
                    each.rival.entry.label,
                    f"{each.constant:.3f}",
                    each.verdict,
                )
            )
    columns = ("set", "ε covers", "ε", "ours", "best rival", "which", "constant", "we")
    return [Headline("Set by set", 3), Grid(columns, tuple(rows))] if rows else []


def _wins_and_losses(results: LeagueResults) -> list[Block]:
    """By how much, at which ε, and why."""
    if not (found := all_comparisons(results)):
        return []
    wins = sorted((d for d in found if d.verdict == "win"), key=lambda each: each.difference)
    losses = sorted((d for d in found if d.verdict == "loss"), key=lambda each: -each.difference)
    parts = [
        Headline("Where we win"),
        _largest(wins),
        _by_epsilon(found),
        Headline("Where we lose, and why"),
        _largest(losses),
    ]
    if losses:
        why = Counter(each.reason for each in losses)
        said = "All losses by reason, which follows from the plain answers of the same set:"
        parts.append(Prose(said))
        parts.append(Items(tuple(f"{number} × {reason}." for reason, number in why.most_common())))
    return parts


def _by_epsilon(found: Sequence[Comparison]) -> Grid:
    rows = []
    for epsilon in sorted({each.ours.epsilon for each in found}):
        count = counted_verdicts(each for each in found if each.ours.epsilon == epsilon)
        name = f"ε = {epsilon:g}" if epsilon else _SHORT["none"]
        rows.append((name, *(str(count[verdict]) for verdict in VERDICTS)))
    return Grid(("all sets and promises", *VERDICTS), tuple(rows))


_MOST_SHOWN = 8  # wins or losses in a list


def _largest(found: Sequence[Comparison]) -> Block:
    if not found:
        return Prose("Nowhere.")
    return Items(tuple(map(_sentence, found[:_MOST_SHOWN])))


def _sentence(each: Comparison) -> str:
    epsilon = f", ε = {each.ours.epsilon:g}" if each.ours.epsilon else ""
    because = f" Why: {each.reason}." if each.reason else ""
    return (
        f"{each.ours.source.name} ({_SHORT[each.ours.entry.promise]}{epsilon}): ours "
        f"{each.ours.error.value:.3f}, {each.rival.entry.label} {each.rival.error.value:.3f}, best "
        f"constant {each.constant:.3f}.{because}"
    )


def _how_to_add() -> list[Block]:
    return [
        Headline("Add your method, add your data"),
        Prose(
            "One file and one line. A method of inference goes from answers to a number and a "
            "label, or the probabilities of all answers, for every task; it is run on plain "
            "answers and on private reports that are read as answers:"
        ),
        Listing("text", _NEW_METHOD),
        Prose(
            "A private pipeline goes from answers, ε and a random generator to the same, and has "
            "its line in `PRIVATE`; `grr.py` there is an example of one page. A data set needs "
            "`mine.answers.csv` (`task,worker,label`), `mine.truth.csv` (`task,truth`) and, beside "
            "them, three lines in `mine.json`:"
        ),
        Listing("json", _NEW_SET),
        Prose("Then: `forsooth league --data mine.json,synthetic-low --quick -o mine`."),
    ]


def _command(run: LeagueRun) -> str:
    """What makes this page again; of files the name only."""
    choice = run.choice
    data = [Path(each).name if each.endswith(".json") else each for each in choice.data or ()]
    epsilons = [f"{epsilon:g}" for epsilon in choice.epsilons or ()]
    given = {
        "data": data,
        "epsilons": epsilons,
        "mechanisms": choice.mechanisms,
        "methods": choice.methods,
    }
    parts = ["forsooth league", *(["--quick"] if run.scope.name == "quick" else [])]
    parts += [f"--{name} {','.join(values)}" for name, values in given.items() if values]
    parts += [f"--repeats {choice.repeats}"] if choice.repeats else []
    return " ".join([*parts, f"--seed {run.setting.seed} -o DIR"])


def _how_it_was_done(results: LeagueResults, run: LeagueRun) -> list[Block]:
    everyone: list[Rival | PrivateRival] = [*INFERENCE.values(), *PRIVATE.values()]
    rivals = [(f"`{rival.name}`", rival.citation) for rival in everyone]
    defaults = ", ".join(
        f"`{DEFAULTS[promise]}` ({_SHORT[promise]})" for promise in PROMISES if promise != "none"
    )
    seconds = sum(each.seconds for each in results.runs)
    return [
        Headline("How it was done"),
        Items(
            (
                f"{counted(len(results.runs), 'run')}, {seconds / 60:.0f} minutes of one core: "
                f"`{_command(run)}`. The same seed gives the same `runs.csv` and `summary.csv`; "
                "times are in `times.csv`.",
                f"Repeats: {run.choice.repeats or run.scope.repeats}, with new noise; drawn "
                "crowds are drawn again, too. Real answers without noise are measured once.",
                "ε per cell adds up over the tasks of a person; the last tables have one ε for all "
                "that a person says.",
                "ε is the true guarantee. `two-layer` at ε protects as `rr` does at 2ε only, so "
                "that it is built with ε/2.",
                f"Our defaults are {defaults}, with posterior inference; other entries with it are "
                "ours, too, and are not counted as rivals.",
                "`pckv-grr` and `pckv-ue` give every cell a protocol of its own, with ε per cell "
                "as for the others. The paper's own way, one sampled task per person with ε for "
                "the whole person, is `pckv-grr-person` and `pckv-ue-person`; it stands beside "
                "`rr-person`, where each person reports on one task with the same ε.",
                "`square-wave`, `pm` and `hm` cannot hide who answered what; they protect the "
                "answer only.",
                f"The two guesses are the lines of `{GUESS}` in the tables: "
                f"{'; '.join(f'`{name}`, {words}' for name, words in GUESSES.items())}.",
            )
        ),
        Headline("Where the rivals come from", 3),
        Grid(("rival", "published"), tuple(rivals)),
    ]
