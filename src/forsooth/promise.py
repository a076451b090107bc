"""What a guarantee promises to one person, in words: everything they say first, then one answer.

The bound for a single answer holds only if the person's other answers tell nothing about it; ten
similar questions are like one question asked ten times. So the total leads, always.

`clients/js/src/promise.js` says the same to the worker; the words are shared vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forsooth.odds import HALF, RARE, Strength, amount, chance, is_countable, odds, strength
from forsooth.plural import counted

if TYPE_CHECKING:
    from forsooth.privacy import Privacy

# What anonymity rests on (the shuffle model), word for word as the worker's page says it
ANONYMITY = (
    "Nobody can tell whose report is whose, as long as nobody compares times and network "
    "addresses, and enough other people draw their noise as the mechanism says and show their "
    "report to nobody."
)


@dataclass(frozen=True)
class StatedBound:
    """One bound: what it is about, its ε, how strong that is, and the odds it allows."""

    about: str
    epsilon: float
    strength: Strength
    odds: str


@dataclass(frozen=True)
class StatedConclusion:
    """What a reader may conclude about one thing, by what they thought before."""

    about: str
    half: str  # if they thought 50 %
    rare: str  # if they thought 1 %


@dataclass(frozen=True)
class Promise:
    """A guarantee in words; `strength` and `title` are those of everything one person says."""

    strength: Strength
    title: str
    bounds: tuple[StatedBound, ...]
    sentences: tuple[str, ...]
    conclusions: tuple[StatedConclusion, ...]


@dataclass(frozen=True)
class _Voice:
    """Who is spoken of."""

    says: str
    person: str
    others: str
    report: str


_VOICES = {
    True: _Voice("you say", "you", "your other answers", "your report"),
    False: _Voice("one person says", "the person", "the person's other answers", "the report"),
}


def promise(guarantee: Privacy, tasks: int, *, you: bool = False) -> Promise:
    """The promise of a campaign of `tasks` tasks, said to the worker (`you`) or about one."""
    voice, total = _VOICES[you], guarantee.worker_total(tasks)
    bounds = [(f"Everything {voice.says}", f"Anything that concerns {voice.person}", total)]
    if guarantee.cells is None and tasks > 1:
        one = f"One answer, if {voice.others} tell nothing about it"
        bounds.append((one, one, guarantee.epsilon))
    sentences = [_together(guarantee, tasks, voice), _hidden(guarantee, voice)]
    sentences[1:1] = [_single(guarantee.epsilon, voice) for _ in bounds[1:]]
    return Promise(
        strength(total),
        f"{strength(total).capitalize()} protection of everything {voice.says} here",
        tuple(StatedBound(what, each, strength(each), odds(each)) for what, _, each in bounds),
        tuple(sentences),
        tuple(
            StatedConclusion(what, chance(HALF, each), chance(RARE, each))
            for _, what, each in bounds
        )
        + tuple(StatedConclusion(what, "known", "known") for what in _public(guarantee, voice)),
    )


def _together(guarantee: Privacy, tasks: int, voice: _Voice) -> str:
    total = guarantee.worker_total(tasks)
    counting = tasks if guarantee.cells is None else min(guarantee.cells, tasks)
    words = f"All {counting:,} answers together" if counting > 1 else "The answer"
    words += f": ε = {amount(total)}"
    if guarantee.protects == "answers" and counting > 1:
        words += " if all are given, less if some are not"
    if guarantee.cells is not None:
        words = (
            f"Only {counted(counting, 'question')} of {tasks:,} can influence {voice.report}, "
            f"drawn by lot by a public rule that knows no answers. {words}"
        )
    if is_countable(total):
        after, why = f"think at most {odds(total)}", f"50 % can become {chance(HALF, total)}"
    else:
        after, why = "be practically certain", f"odds of {odds(total)}"
    return (
        f"{words}. Whatever else they know, somebody who thought 1 to 1 before about anything that "
        f"concerns {voice.person} can {after} after reading {voice.report} ({why})."
    )


def _single(epsilon: float, voice: _Voice) -> str:
    rise = f"at most {odds(epsilon)}" if is_countable(epsilon) else odds(epsilon)
    return (
        f"A single answer: ε = {amount(epsilon)}. 1 to 1 can become {rise} (50 % can become "
        f"{chance(HALF, epsilon)}), but only if {voice.others} tell nothing about it. Answers that "
        "go together, such as those to similar questions, count together."
    )


def _hidden(guarantee: Privacy, voice: _Voice) -> str:
    open_ = " and ".join(what[0].lower() + what[1:] for what in _public(guarantee, voice))
    skipped = guarantee.protects == "answers+participation"
    what = (
        "every answer, and whether a question was answered or skipped"
        if skipped
        else "every answer"
    )
    return f"Protected: {what}. Not protected: {open_}."


def _public(guarantee: Privacy, voice: _Voice) -> list[str]:
    """What everybody may know of the person."""
    known = [f"That {voice.person} took part"]
    return known if guarantee.protects != "answers" else [*known, "Which questions were answered"]
