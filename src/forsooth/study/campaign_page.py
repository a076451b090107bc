"""The report of a campaign as one self-contained page that a requester can read and send on.

No external request; one small script, which sorts tables; light and dark; readable on a telephone.
Everything that comes from the data is escaped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from forsooth.answers import Answers
from forsooth.study.campaign_look import bars, document, interval
from forsooth.study.campaign_outlook import (
    answered_cells,
    is_unordered,
    mean_error,
    outlook,
    participation,
)
from forsooth.study.campaign_words import is_private, promises, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from forsooth.reports import Reports
    from forsooth.truths import Truths

_MOST_TASKS, _MOST_WORKERS = 1000, 300  # rows of a table; the page is to be sent by mail
_LONG = 30  # rows; a longer table scrolls by itself
_BINS = 8


def campaign_page(
    truths: Truths, parts: Sequence[Reports | Answers], *, title: str, lead: str = ""
) -> str:
    """The whole page: what was found, how sure it is, and what was promised to the workers.

    `parts` is what the truths were inferred from; `lead`, if given, is a paragraph for the top.
    """
    page = _Page(truths, tuple(parts))
    sections = (
        f'<p class="big">{escape(lead)}</p>' if lead else "",
        page.summary(),
        page.truths_table(),
        page.enough(),
        page.answers(),
        page.workers(),
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

    def number(self, value: float) -> str:
        """A value of the scale, with as many decimals as its range asks for."""
        decimals = max(0, 2 - math.floor(math.log10(self.truths.scale.range)))
        return f"{value:.{decimals}f}"

    def summary(self) -> str:
        truths = self.truths
        word, _ = verdict(truths, self.parts)
        tiles = [
            ("tasks", f"{len(truths.tasks):,}", ""),
            ("workers", f"{len(truths.workers):,}", ""),
            ("ε per cell", self._epsilon(), "" if is_private(self.parts) else "no"),
            (self._enough_title(), word, word.split()[0]),
        ]
        if truths.posterior and not is_unordered(truths):
            error = mean_error(truths, truths.posterior)
            tiles.insert(2, ("expected mean error", f"{error:.2g}", ""))
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

    def truths_table(self) -> str:
        """A row per task: estimate, interval, a dot plot that is sorted along with the table."""
        truths, scale = self.truths, self.truths.scale
        unordered = is_unordered(truths)
        chance = truths.posterior.mass.max(axis=1) if truths.posterior else np.ones(0)
        rows = []
        for row in range(min(len(truths.tasks), _MOST_TASKS)):
            low, value, high = (float(a[row]) for a in (truths.low, truths.estimate, truths.high))
            label = scale.nearest_label(value)
            cells = [f'<td class="name">{escape(truths.tasks[row])}</td>']
            if unordered:
                cells.append(f"<td>{escape(label)}</td>")
                cells.append(_number(f"{chance[row]:.0%}", float(chance[row])))
            else:
                cells.append(f'<td class="chart">{interval(low, value, high, scale.values)}</td>')
                cells.append(_number(self.number(value), value))
                if not scale.is_numeric:
                    cells.append(f'<td class="less">{escape(label)}</td>')
                words = f"{self.number(low)} – {self.number(high)}"
                cells.append(_number(words, high - low, "range"))
            support = int(truths.support[row])
            cells.append(_number(f"{support:,}", support, "less"))
            rows.append("".join(cells))
        heads = [_head("task")]
        if unordered:
            heads += [_head("label"), _head("its chance", "number")]
            note = "The likeliest label of every task, and the probability that it is the true one."
        else:
            heads += [_ends(scale.labels[0], scale.labels[-1]), _head("truth", "number")]
            heads += [] if scale.is_numeric else [_head("nearest", "less")]
            heads += [_head("90 % interval", "number")]
            note = (
                "The true value lies in the interval with a probability of 90 %."
                if truths.posterior
                else "The 90 % interval covers chance. It does not cover the bias of taking "
                f"reports for answers, as {escape(truths.method)} does: posterior does not."
            )
        heads.append(_head("reports", "number less"))
        note += " Click a heading to sort (intervals by their width)."
        return f"<h2>What is true</h2>\n<p>{note}</p>\n{_table(heads, rows)}" + _rest(
            _MOST_TASKS, len(truths.tasks), "The first {} of {} tasks", "-o truths.csv"
        )

    def _enough_title(self) -> str:
        plain = all(isinstance(part, Answers) for part in self.parts)
        return "enough answers?" if plain else "ε large enough?"

    def enough(self) -> str:
        word, why = verdict(self.truths, self.parts)
        title = "Was ε large enough?" if "ε" in self._enough_title() else "Were they enough?"
        return (
            f'<h2>{title}</h2>\n<p><strong class="{word.split()[0]}">{word.capitalize()}</strong>: '
            f"{escape(why)}</p>"
        )

    def answers(self) -> str:
        """The distribution of what workers answered, counted or recovered through the noise."""
        truths = self.truths
        if all(isinstance(part, Answers) for part in self.parts):
            codes = [part.code for part in self.parts if isinstance(part, Answers)]
            counts = np.bincount(np.concatenate(codes), minlength=truths.scale.size)
            shares, how = counts / max(1, counts.sum()), "As counted."
        elif truths.posterior:
            shares = truths.posterior.mass.mean(axis=0) @ truths.posterior.answers
            how = (
                "Nobody's answers were seen. This is what all of them together look like, "
                "recovered from the reports by what is known of the noise."
            )
        else:
            return ""
        rows = [
            (label, float(share), f"{share:.1%}")
            for label, share in zip(truths.scale.labels, shares)
        ]
        return f"<h2>What was answered</h2>\n<p>{how}</p>\n{bars('share of answers', rows)}"

    def workers(self) -> str:
        """How far each worker is from the truths, and how sure that is."""
        truths, unordered = self.truths, is_unordered(self.truths)
        known = np.flatnonzero(~np.isnan(truths.deviation))
        if not known.size:
            return ""
        order = known[np.argsort(truths.deviation[known], kind="stable")]
        if len(order) > _MOST_WORKERS:
            half = _MOST_WORKERS // 2
            order = np.concatenate([order[:half], order[-half:]])
        bounds = truths.posterior.deviation_interval if truths.posterior else None
        top = float(max(truths.deviation[known].max(), bounds[1].max() if bounds else 0.0)) or 1.0
        rows = []
        for index in order:
            value = float(truths.deviation[index])
            low, high = (float(bound[index]) for bound in bounds) if bounds else (value, value)
            shown = [
                f"{each:.0%}" if unordered else self.number(each) for each in (value, low, high)
            ]
            cells = [
                f'<td class="name">{escape(truths.workers[index])}</td>',
                f'<td class="chart">{interval(low, value, high, (0.0, top))}</td>',
                _number(shown[0], value),
            ]
            if bounds:
                cells.append(_number(f"{shown[1]} – {shown[2]}", high - low, "range"))
            rows.append("".join(cells))
        what = "share of wrong answers" if unordered else "typical error"
        end = f"{top:.0%}" if unordered else self.number(top)
        heads = [_head("worker"), _ends("0", end), _head("error", "number")]
        heads += [_head("90 % interval", "number")] if bounds else []
        note = f"The {what} of the workers."
        if not truths.posterior:
            note = "How far from the estimates the workers' reports are, noise included."
        elif is_private(self.parts):
            note += (
                " From reports that were changed at random little can be told of one person, "
                "which is the purpose."
            )
        return (
            f"<h2>How good the workers are</h2>\n<p>{note}</p>\n"
            f"{self._deviations(truths.deviation[known], unordered)}\n"
            f"<details><summary>Worker by worker</summary>\n{_table(heads, rows)}"
            + _rest(
                _MOST_WORKERS,
                known.size,
                "The {} best and worst of {} workers",
                "--workers workers.csv",
            )
            + "</details>"
        )

    def _deviations(self, deviations: NDArray[np.float64], unordered: bool) -> str:
        counts, edges = np.histogram(deviations, bins=_BINS, range=(0.0, deviations.max() or 1.0))
        shown = [f"{edge:.0%}" if unordered else self.number(edge) for edge in edges]
        rows = [
            (f"{low} – {high}", float(count), f"{count:,}")
            for low, high, count in zip(shown, shown[1:], counts)
        ]
        return bars("workers", rows)

    def participation(self) -> str:
        truths, counts = self.truths, answered_cells(self.parts)
        share = participation(truths, self.parts)
        if counts is not None and counts.size:
            words = (
                f"Who answered what is public here. A worker answered {np.median(counts):,.0f} of "
                f"{len(truths.tasks):,} tasks (the median; from {counts.min():,} to "
                f"{counts.max():,}), {share:.1%} of all cells."
            )
        elif share is not None:
            words = (
                f"Whether a worker answered a task is hidden. All reports together say that about "
                f"{share:.1%} of all cells were answered, {share * len(truths.tasks):,.1f} of "
                f"{len(truths.tasks):,} tasks per worker."
            )
        else:
            words = f"It is not in these reports, or {truths.method} does not estimate it."
        silent = int((truths.support == 0).sum())
        if silent:
            words += f" {silent:,} task(s) have no report; they are estimated from the others."
        return f"<h2>Who took part</h2>\n<p>{words}</p>"

    def more_workers(self) -> str:
        found, workers = outlook(self.truths, self.parts), len(self.truths.workers)
        if found is None:
            return (
                "<h2>What more workers would buy</h2>\n<p>There is no quick estimate for these "
                "reports and this method; <code>forsooth plan</code> rehearses campaigns.</p>"
            )
        errors = [(f"{workers:,} workers, as now", found.now)]
        errors += [(f"{times * workers:,} workers", err) for times, err in found.with_times.items()]
        if found.unperturbed is not None:
            errors.append((f"{workers:,} workers, without privacy", found.unperturbed))
        rows = [(name, error, f"{error:.2g}") for name, error in errors]
        return (
            "<h2>What more workers would buy</h2>\n<p>The mean error to expect if further workers "
            "are like these: today's from the posterior, the others by the quick estimate of "
            f"<code>forsooth plan</code>.</p>\n{bars('mean error', rows)}"
        )

    def guarantee(self) -> str:
        kind = "promise" if is_private(self.parts) else "promise warning"
        words = "\n".join(f'<p class="{kind}">{escape(text)}</p>' for text in promises(self.parts))
        return f"<h2>What the workers were promised</h2>\n{words}"

    def method(self) -> str:
        from forsooth import __version__

        truths = self.truths
        steps = f", {truths.iterations} iterations" if truths.iterations else ""
        ended = "" if truths.converged else " It had not converged: take the numbers with care."
        return (
            f'<p class="soft">Inferred by {escape(truths.method)}{steps}; scale '
            f"{escape(str(truths.scale))}; forsooth {escape(__version__)}.{ended}</p>"
        )


def _head(name: str, kind: str = "") -> str:
    return f'<th class="{kind}" scope="col"><button type="button">{escape(name)}</button></th>'


def _ends(first: str, last: str) -> str:
    ends = f"<span><span>{escape(first)}</span><span>{escape(last)}</span></span>"
    return f'<th class="chart" scope="col">{ends}</th>'


def _number(words: str, value: float, kind: str = "") -> str:
    return f'<td class="number {kind}" data-value="{value:.6g}">{escape(words)}</td>'


def _table(heads: Sequence[str], rows: Sequence[str]) -> str:
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    box = "scroll long" if len(rows) > _LONG else "scroll"
    return (
        f'<div class="{box}"><table class="sortable"><thead><tr>{"".join(heads)}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _rest(shown: int, number: int, words: str, option: str) -> str:
    if number <= shown:
        return ""
    which = words.format(f"{shown:,}", f"{number:,}")
    return f'<p class="soft">{which}; <code>forsooth infer {option}</code> writes all.</p>'
