"""What a campaign promised and what it found out, in words for people who are not statisticians."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from forsooth.answers import Answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forsooth.privacy import Privacy
    from forsooth.reports import Reports
    from forsooth.truths import Truths

DOUBTFUL, HOPELESS = 0.05, 0.2  # probabilities that one constant for all tasks would do as well
_WEAK = 100.0  # odds that change by more than this are hardly protected
_COUNTABLE = 1e6
_LEAST = 0.001  # the probability is counted in some thousand draws


def is_private(parts: Sequence[Reports | Answers]) -> bool:
    """Do all parts protect those who answered?"""
    return not any(isinstance(part, Answers) or part.simulation_seed is not None for part in parts)


def promises(parts: Sequence[Reports | Answers]) -> list[str]:
    """A paragraph for each different promise, and one on what all of them rest on."""
    said: dict[str, int] = {}
    for part in parts:
        words = _promise(part)
        said[words] = said.get(words, 0) + len(part.workers)
    paragraphs = [
        f"{workers:,} workers: {words}" if len(said) > 1 else words
        for words, workers in said.items()
    ]
    if any(not isinstance(part, Answers) for part in parts):
        paragraphs.append(
            "The promise needs no trust in whoever collects: it holds if the rule ran on the "
            "worker's own device, or with somebody whom the worker trusts. It does not hide that "
            "a worker took part in the campaign, and it does not prevent true conclusions about "
            "everybody together, which is what the campaign is for. Taking part in several "
            "campaigns adds up."
        )
    return paragraphs


def _promise(part: Reports | Answers) -> str:
    if isinstance(part, Answers):
        return (
            "Not private. These are plain answers: whoever holds the file can read who answered "
            "what. Nothing in this report protects anybody."
        )
    if part.simulation_seed is not None:
        return (
            f"Not private. The noise was made from the simulation seed {part.simulation_seed}, "
            "and whoever knows the seed can take the noise off again. This is a rehearsal."
        )
    guarantee, tasks = part.mechanism.guarantee, len(part.tasks)
    hidden = guarantee.protects == "answers+participation"
    what = (
        "The rule hides each answer, and also whether a task was answered at all."
        if hidden
        else "The rule hides each answer. It does not hide which tasks a worker answered: "
        "that is public."
    )
    about = "one answer, or about whether it was given," if hidden else "one answer"
    sure = 1 / (1 + math.exp(-guarantee.epsilon))
    led = f"at most {_percent(sure)} and at least {_percent(1 - sure)}"
    return (
        "Every report was changed at random before it left the worker, by a published rule "
        f"({part.mechanism.name}). {what} Whoever reads a report, whatever else they know and "
        f"however long they compute, can change their odds about {about} by a factor of at most "
        f"{_factor(guarantee.epsilon)} (ε = {guarantee.epsilon:g} per cell): what seemed as likely "
        f"as not, 50 %, can come to seem {led} likely. {_together(guarantee, tasks)}"
    )


def _together(guarantee: Privacy, tasks: int) -> str:
    total = guarantee.worker_total(tasks)
    cells = tasks if guarantee.cells is None else min(guarantee.cells, tasks)
    words = (
        f"All that one worker says, up to {cells:,} cells together, is protected with a total of "
        f"at most ε = {total:g}: odds about the whole can change by a factor of at most "
        f"{_factor(total)}."
    )
    if total > math.log(_WEAK):
        words += " That is a weak promise for the whole; the strong one is for each cell."
    return words


def _factor(epsilon: float) -> str:
    """e^ε as a person reads it."""
    if epsilon > math.log(_COUNTABLE):
        return f"e to the power of {epsilon:g}, which is more than a million"
    return f"{math.exp(epsilon):.3g}" if epsilon < math.log(_WEAK) else f"{math.exp(epsilon):,.0f}"


def _percent(share: float) -> str:
    if 0.001 <= share <= 0.999:
        return f"{share:.1%}".replace("%", " %")
    return "99.9 % or more" if share > 0.5 else "0.1 % or less"


def verdict(truths: Truths, parts: Sequence[Reports | Answers]) -> tuple[str, str]:
    """Was ε large enough? A word, and why."""
    posterior, plain = truths.posterior, all(isinstance(part, Answers) for part in parts)
    if posterior is None:
        return "not known", (
            f"the method {truths.method} does not say how sure it is of the whole; posterior does."
        )
    if len(truths.tasks) == 1:
        return "see the interval", "with a single task there is nothing to tell apart."
    chance = posterior.constant_as_good
    size = f"{chance:.2g}" if chance >= _LEAST else f"below {_LEAST:g}"
    odds = f"One constant for all tasks would do as well with probability {size}"
    few = "the answers are too few" if plain else "ε is too small, or the reports are too few"
    if chance > HOPELESS:
        return "no", (
            f"{odds}: either the tasks are all alike, or {few} to tell them apart. "
            "Do not rank tasks by this report."
        )
    if chance > DOUBTFUL:
        return "barely", f"{odds}. Take differences between tasks with care."
    width = float(np.median(truths.high - truths.low))
    spread = f" Half of the 90 % intervals are at most {width:.2g} wide." if width else ""
    return "yes", f"{odds}: the tasks are told apart.{spread}"
