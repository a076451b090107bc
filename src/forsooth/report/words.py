"""What a campaign promised and what it found out, in words for people who are not statisticians."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from forsooth.answers import Answers
from forsooth.mechanisms import MatrixFactorization, SafeFactorization
from forsooth.promise import promise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forsooth.inference.enough import Enough
    from forsooth.reports import Reports
    from forsooth.scale import Scale
    from forsooth.truths import Truths

NBSP = "\N{NO-BREAK SPACE}"  # keeps a number and its sign on one line
_SUMS = MatrixFactorization | SafeFactorization  # mechanisms whose reports are sums over tasks


def is_private(parts: Sequence[Reports | Answers]) -> bool:
    """Do all parts protect the workers?"""
    return not any(isinstance(part, Answers) or part.simulation_seed is not None for part in parts)


def promises(parts: Sequence[Reports | Answers]) -> list[str]:
    """A paragraph for each different promise, and one on what all of them require."""
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
            "The promise does not rely on the collector: it holds if the mechanism ran on the "
            "worker's own device, or on that of someone whom the worker trusts. It does not hide "
            "that a worker took part in the campaign, and it does not prevent conclusions about "
            "all workers together, which is the purpose of the campaign. The ε of several "
            "campaigns adds up."
        )
    return paragraphs


def _promise(part: Reports | Answers) -> str:
    if isinstance(part, Answers):
        return (
            "Not private. These are plain answers: anyone with the file can read who answered what."
        )
    if part.simulation_seed is not None:
        return (
            f"Not private. The noise was made from the simulation seed {part.simulation_seed}, "
            "and anyone who knows the seed can remove the noise. This is a simulation."
        )
    said = promise(part.mechanism.guarantee, len(part.tasks))
    return (
        "Every report was randomised before it left the worker, by a published mechanism "
        f"({part.mechanism.name}). {said.title}. {' '.join(said.sentences)}"
    )


def verdict_in_words(truths: Truths, verdict: Enough | None) -> tuple[str, str]:
    """A word and the reason; `not known` for methods without a posterior."""
    if verdict is None:
        return "not known", (
            f"The method {truths.method} does not say how large its error is; posterior does."
        )
    return verdict.word, verdict.why


def has_sums(parts: Sequence[Reports | Answers]) -> bool:
    """Are there reports of sums over tasks? They allow the estimand level only."""
    return any(
        not isinstance(part, Answers) and isinstance(part.mechanism, _SUMS) for part in parts
    )


def on_scale(scale: Scale, value: float) -> str:
    """A value of the scale, with two decimals for a range from 1 to 10 and fewer for wider ones."""
    decimals = max(0, 2 - math.floor(math.log10(scale.range)))
    return f"{value:.{decimals}f}"


def percent(share: float) -> str:
    """A share in per cent; 100 % and 0 % only if it is exactly that."""
    if share != round(share) and not 0.005 <= share < 0.995:
        return f"> 99{NBSP}%" if share > 0.5 else f"< 1{NBSP}%"
    return f"{100 * share:.0f}{NBSP}%"


def percent_interval(share: float, low: float, high: float) -> str:
    """A share with its interval: 41 % (36 – 46 %)."""
    return f"{100 * share:.0f}{NBSP}% ({100 * low:.0f} – {100 * high:.0f}{NBSP}%)"
