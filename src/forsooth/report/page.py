"""The report of a campaign as one self-contained page that a requester can read and send on.

No external request; one small script, which sorts tables; light and dark; readable on a phone.
This module collects what the page says; `templates/campaign.html` lays it out and escapes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forsooth.answers import Answers
from forsooth.estimand import ESTIMANDS, MEANING
from forsooth.inference.enough import enough, expected_error
from forsooth.report.anonymity import anonymity
from forsooth.report.look import render
from forsooth.report.results import campaign_results
from forsooth.report.sections import all_answers, more_workers, participated
from forsooth.report.wording import Wording
from forsooth.report.words import has_sums, is_private, percent, promises, verdict_in_words
from forsooth.report.workers import worker_quality
from forsooth.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forsooth.inference.enough import Enough
    from forsooth.report.anonymity import Anonymity
    from forsooth.report.results import CampaignResults
    from forsooth.report.sections import AllAnswers, MoreWorkers, Participated
    from forsooth.report.workers import WorkerQuality
    from forsooth.reports import Reports
    from forsooth.truths import Posterior, Truths


@dataclass(frozen=True)
class Tile:
    """A number of the summary; `kind` is yes or no where it is good or bad news."""

    name: str
    value: str
    kind: str = ""


@dataclass(frozen=True)
class Assumption:
    """What the truth of a task is taken to be, and what else it could be."""

    estimand: str
    meaning: str
    others: tuple[str, ...]  # none: these reports allow no other


@dataclass(frozen=True)
class Verdict:
    """Was it enough? `word` is yes, no or not known."""

    word: str
    why: str


@dataclass(frozen=True)
class MethodNote:
    """How the results were made."""

    name: str
    posterior: Posterior | None
    iterations: int
    scale: str
    version: str
    converged: bool


@dataclass(frozen=True)
class CampaignPage:
    """Everything that the page says, in its order."""

    lead: str
    tiles: tuple[Tile, ...]
    assumption: Assumption | None
    results: CampaignResults
    verdict: Verdict
    answers: AllAnswers | None
    workers: WorkerQuality | None
    participation: Participated
    more_workers: MoreWorkers
    private: bool
    promises: tuple[str, ...]
    anonymity: Anonymity | None
    method: MethodNote


def campaign_page(
    truths: Truths,
    parts: Sequence[Reports | Answers],
    *,
    title: str,
    lead: str = "",
    target_width: float | None = None,
    labels: Sequence[str] | None = None,
    questions: Mapping[str, str] | None = None,
) -> str:
    """The whole page: what was found, how sure it is, and what was promised to the workers.

    `parts` is what the truths were inferred from; `lead`, if given, is a paragraph for the top.
    `target_width` is the requested precision, as in `forsooth.inference.enough`. `labels` are words
    for the answers of the scale, `questions` the texts of tasks by their names.
    """
    parts = tuple(parts)
    wording = Wording(truths.scale, tuple(labels or truths.scale.labels), questions or {})
    private, verdict = is_private(parts), enough(truths, target_width)
    word, why = verdict_in_words(truths, verdict)
    page = CampaignPage(
        lead=lead,
        tiles=_summary(truths, parts, verdict),
        assumption=_assumption(truths, parts),
        results=campaign_results(truths, wording),
        verdict=Verdict(word, why),
        answers=all_answers(truths, parts, wording),
        workers=worker_quality(truths, private=private),
        participation=participated(truths, parts),
        more_workers=more_workers(truths, parts),
        private=private,
        promises=tuple(promises(parts)),
        anonymity=anonymity(parts),
        method=MethodNote(
            truths.method,
            truths.posterior,
            truths.iterations,
            str(truths.scale),
            __version__,
            truths.converged,
        ),
    )
    return render("campaign.html", title=title, page=page)


def _summary(
    truths: Truths, parts: Sequence[Reports | Answers], verdict: Enough | None
) -> tuple[Tile, ...]:
    posterior = truths.posterior
    word = verdict.word if verdict else "not known"
    tiles = [
        Tile("tasks", f"{len(truths.tasks):,}"),
        Tile("workers", f"{sum(len(part.workers) for part in parts):,}"),
    ]
    if posterior:
        error = expected_error(truths)
        what = "expected wrong labels" if posterior.unordered else "expected mean error"
        tiles.append(Tile(what, percent(error) if posterior.unordered else f"{error:.2g}"))
    if posterior and posterior.valleys:
        divided, count = int(posterior.valleys.divided.sum()), len(truths.tasks)
        tiles.append(Tile("people divided on", f"{divided:,} of {count:,}"))
    epsilon = _epsilon(parts)
    tiles.append(Tile("ε per cell", epsilon or "not private", "" if epsilon else "no"))
    tiles.append(Tile("enough?", word, word.split()[0]))
    return tuple(tiles)


def _epsilon(parts: Sequence[Reports | Answers]) -> str | None:
    if not is_private(parts):
        return None
    reports = (part for part in parts if not isinstance(part, Answers))
    found = sorted({part.mechanism.guarantee.epsilon for part in reports})
    return " and ".join(f"{epsilon:g}" for epsilon in found)


def _assumption(truths: Truths, parts: Sequence[Reports | Answers]) -> Assumption | None:
    posterior = truths.posterior
    if posterior is None:
        return None
    others = [each for each in ESTIMANDS if each != posterior.estimand]
    if posterior.unordered:
        others.remove("level")
    if has_sums(parts):
        others = []
    return Assumption(posterior.estimand, MEANING[posterior.estimand], tuple(others))
