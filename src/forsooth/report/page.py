"""The report of a campaign as one self-contained page that a requester can read and send on.

No external request; one small script, which sorts tables; light and dark; readable on a phone.
Everything that comes from the data is escaped.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from forsooth.answers import Answers
from forsooth.inference.enough import Enough, enough, expected_error
from forsooth.plural import counted
from forsooth.report.look import Bar, bars, document
from forsooth.report.outlook import answered_cells, outlook, participation
from forsooth.report.results import results
from forsooth.report.words import (
    assumption,
    is_private,
    percent,
    percent_interval,
    promises,
    verdict_in_words,
)
from forsooth.report.workers import workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forsooth.reports import Reports
    from forsooth.truths import Posterior, Truths


def campaign_page(
    truths: Truths,
    parts: Sequence[Reports | Answers],
    *,
    title: str,
    lead: str = "",
    target_width: float | None = None,
) -> str:
    """The whole page: what was found, how sure it is, and what was promised to the workers.

    `parts` is what the truths were inferred from; `lead`, if given, is a paragraph for the top.
    `target_width` is the requested precision, as in `forsooth.inference.enough`.
    """
    page = _Page(truths, tuple(parts), target_width)
    sections = (
        f'<p class="big">{escape(lead)}</p>' if lead else "",
        page.summary(),
        assumption(truths, page.parts),
        results(truths),
        page.enough(),
        page.answers(),
        workers(truths, private=is_private(page.parts)),
        page.participation(),
        page.more_workers(),
        page.guarantee(),
        page.method(),
    )
    return document(title, "\n".join(section for section in sections if section))


@dataclass(frozen=True, eq=False)
class _Page:
    truths: Truths
    parts: tuple[Reports | Answers, ...]
    target_width: float | None

    @cached_property
    def verdict(self) -> Enough | None:
        return enough(self.truths, self.target_width)

    def summary(self) -> str:
        truths, posterior = self.truths, self.truths.posterior
        word = self.verdict.word if self.verdict else "not known"
        tiles = [
            ("tasks", f"{len(truths.tasks):,}", ""),
            ("workers", f"{sum(len(part.workers) for part in self.parts):,}", ""),
            ("ε per cell", self._epsilon(), "" if is_private(self.parts) else "no"),
            ("enough?", word, word.split()[0]),
        ]
        if posterior:
            error = expected_error(truths)
            what = "expected wrong labels" if posterior.unordered else "expected mean error"
            tiles.insert(2, (what, percent(error) if posterior.unordered else f"{error:.2g}", ""))
        cells = "\n".join(
            f'<div><dt>{escape(name)}</dt><dd class="{kind}">{escape(value)}</dd></div>'
            for name, value, kind in tiles
        )
        return f'<dl class="tiles">\n{cells}\n</dl>'

    def _epsilon(self) -> str:
        if not is_private(self.parts):
            return "not private"
        reports = (part for part in self.parts if not isinstance(part, Answers))
        found = sorted({part.mechanism.guarantee.epsilon for part in reports})
        return " and ".join(f"{epsilon:g}" for epsilon in found)

    def enough(self) -> str:
        word, why = verdict_in_words(self.truths, self.verdict)
        return (
            f'<h2>Was it enough?</h2>\n<p><strong class="{word.split()[0]}">{word.capitalize()}'
            f"</strong>. {escape(why)}</p>"
        )

    def answers(self) -> str:
        """The distribution of all answers, counted or estimated; `opinion` has it per question."""
        truths, posterior = self.truths, self.truths.posterior
        if posterior and posterior.estimand == "opinion":
            return ""
        if all(isinstance(part, Answers) for part in self.parts):
            codes = [part.code for part in self.parts if isinstance(part, Answers)]
            counts = np.bincount(np.concatenate(codes), minlength=truths.scale.size)
            shares, how = counts / max(1, counts.sum()), "As counted."
        elif posterior:
            shares = posterior.mass.mean(axis=0) @ posterior.answers
            how = (
                "No individual answers were collected. This distribution of all answers together "
                "is estimated from the reports and the known noise."
            )
        else:
            return ""
        rows = [
            Bar(label, float(share), f"{share:.1%}")
            for label, share in zip(truths.scale.labels, shares)
        ]
        return f"<h2>Distribution of the answers</h2>\n<p>{how}</p>\n{bars('share', rows)}"

    def participation(self) -> str:
        truths, counts = self.truths, answered_cells(self.parts)
        share = participation(truths, self.parts)
        if counts is not None and counts.size:
            words = (
                f"It is public which tasks a worker answered. The median worker answered "
                f"{np.median(counts):,.0f} of {len(truths.tasks):,} tasks (from {counts.min():,} "
                f"to {counts.max():,}), and {share:.1%} of all cells were answered."
            )
        elif share is not None:
            words = (
                "Whether a worker answered a task is hidden. All reports together indicate that "
                f"{_estimated(share, truths.posterior)} of all cells were answered, about "
                f"{share * len(truths.tasks):,.1f} of {len(truths.tasks):,} tasks per worker."
            )
        else:
            words = f"These reports do not show it, or {truths.method} does not estimate it."
        silent = int((truths.support == 0).sum())
        if silent:
            have = "has no report; it is" if silent == 1 else "have no report; they are"
            words += f" {counted(silent, 'task')} {have} estimated from the others."
        return f"<h2>Participation</h2>\n<p>{words}</p>"

    def more_workers(self) -> str:
        title = "<h2>What more workers would bring</h2>"
        posterior = self.truths.posterior
        if posterior and posterior.estimand == "opinion":
            return (
                f"{title}\n<p>The widths of the intervals fall like 1/√people: four times as many "
                "people make them about half as wide.</p>"
            )
        found, count = outlook(self.truths, self.parts), len(self.truths.workers)
        if found is None:
            return (
                f"{title}\n<p>There is no quick estimate for these reports and this method; "
                "<code>forsooth plan</code> simulates campaigns.</p>"
            )
        errors = [(f"{count:,} workers, as now", found.now)]
        errors += [(f"{times * count:,} workers", err) for times, err in found.with_times.items()]
        if found.unperturbed is not None:
            errors.append((f"{count:,} workers, without privacy", found.unperturbed))
        rows = [Bar(name, error, f"{error:.2g}") for name, error in errors]
        return (
            f"{title}\n<p>The expected mean error if further workers are like these: today's from "
            "the posterior, the others from the quick estimate of <code>forsooth plan</code>.</p>\n"
            f"{bars('mean error', rows)}"
        )

    def guarantee(self) -> str:
        kind = "promise" if is_private(self.parts) else "promise warning"
        words = "\n".join(f'<p class="{kind}">{escape(text)}</p>' for text in promises(self.parts))
        return f"<h2>What the workers were promised</h2>\n{words}"

    def method(self) -> str:
        from forsooth.version import __version__

        truths, posterior = self.truths, self.truths.posterior
        steps = f", {truths.iterations} iterations" if truths.iterations else ""
        how = f", estimand {posterior.estimand}, seed {posterior.seed}" if posterior else ""
        ended = "" if truths.converged else " The method had not converged: use with care."
        return (
            f'<p class="soft">Inferred by {escape(truths.method)}{how}{steps}; scale '
            f"{escape(str(truths.scale))}; forsooth {escape(__version__)}.{ended}</p>"
        )


def _estimated(share: float, posterior: Posterior | None) -> str:
    if posterior is None or posterior.participation_interval is None:
        return f"about {percent(share)}"
    return percent_interval(share, *posterior.participation_interval)
