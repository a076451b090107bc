"""The analyst: infers truths from what has come in, and designs better tables while it goes on.

It runs in a process of its own, with low priority and one thread, so that accepting reports never
waits for it. What it learns goes into the database, where every process of the service finds it.
Several analysts (of several machines) do no harm: a redesign is claimed before it is made.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import delete, func, insert, select, update

from forsooth.errors import ForsoothError
from forsooth.estimand import MEANING, check_estimand
from forsooth.inference.enough import enough
from forsooth.planning.further import further_workers
from forsooth.report.page import campaign_page
from forsooth.service import logs, models
from forsooth.service.campaigns import StoredCampaign, StoredDesign, add_design, load
from forsooth.service.erasure import Eraser
from forsooth.service.life import is_closed, shown_at_the_end
from forsooth.service.payload import all_reports
from forsooth.service.schemas_truths import (
    EnoughView,
    IntervalView,
    MoreReportsView,
    QualityView,
    TruthScaleView,
    TruthsView,
    TruthView,
    ValleyView,
)
from forsooth.service.store import UNAVAILABLE, Store, reason

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from forsooth.inference.enough import Enough
    from forsooth.reports import Reports
    from forsooth.service.settings import Settings
    from forsooth.service.status import Progress
    from forsooth.truths import Posterior, Shares, Truths, Valleys

_BINS = 12  # of the histogram of workers: what a phone shows
_DIGITS = 4  # decimals of shares and probabilities: a document holds one per task and answer
_REST = 4  # after an inference of one second, a campaign is left alone for four
_log = logging.getLogger(__name__)


def latest(connection: Connection, campaign: StoredCampaign, now: Progress) -> TruthsView:
    """What was inferred last, and how many reports are shown by now.

    How many more are needed is said only as long as more can come.
    """
    scale, received = campaign.scale, now.reports
    found = TruthsView(
        state="pending" if received else "no-reports",
        reports=0,
        received=received,
        scale=TruthScaleView(
            values=list(scale.labels), labels=list(campaign.labels), numbers=list(scale.values)
        ),
    )
    table = models.analysis
    row = connection.execute(
        select(table.c.reports, table.c.document).where(table.c.campaign == campaign.id)
    ).one_or_none()
    if row is None:
        return found
    shown = TruthsView.model_validate(
        found.model_dump() | row.document | {"state": "ready", "reports": row.reports}
    )
    if now.life.has_ended and shown.enough is not None:
        shown.enough.more_reports = None
    return shown


def report_page(connection: Connection, campaign: StoredCampaign) -> str | None:
    """The report of the latest inference; None if there is none yet."""
    table = models.analysis
    page = connection.scalar(select(table.c.page).where(table.c.campaign == campaign.id))
    return None if page is None else str(page)


def analyse(store: Store, campaign_id: str) -> None:
    """Infer from all reports of a campaign; if it is time, design a better table from them."""
    from forsooth.inference import infer

    with store.reading() as connection:
        campaign = load(connection, campaign_id)
        if campaign is None:
            return
        reports = all_reports(connection, campaign)
    count = sum(len(part.workers) for part in reports)
    truths = infer(reports, estimand=campaign.estimand)
    document, page = _document(campaign, truths, count), _page(campaign, truths, reports)
    _keep(store, campaign, {"reports": count, "document": document, "page": page})
    if _claim_redesign(store, campaign, count):
        _redesign(store, campaign, reports)


def run(settings: Settings) -> None:
    """Look for campaigns with new reports for as long as the service is there.

    It may be ended at any moment: what it writes is written in one transaction or not at all.
    """
    from threadpoolctl import threadpool_limits

    logs.configure()
    if hasattr(os, "nice"):
        os.nice(10)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the service ends it, not ctrl-C
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    parent = os.getppid()
    store, rest = Store(settings.database), _Rest()
    eraser = Eraser(store)
    with threadpool_limits(1):
        while os.getppid() == parent:
            try:
                for campaign, count in _due(store):
                    if rest.is_over(campaign, count):
                        _attempt(store, campaign, count, rest)
                eraser.sweep()
            except UNAVAILABLE as error:
                _log.error("database unavailable", extra={"reason": reason(error)})
            time.sleep(settings.analysis_seconds)


class _Rest:
    """When each campaign may be looked at again: a long inference earns a long rest.

    The process's first does not: most of its time goes into loading the kernels.
    """

    def __init__(self) -> None:
        self._warm = False
        self._until: dict[str, float] = {}
        self._failed: dict[str, int] = {}

    def is_over(self, campaign: str, count: int) -> bool:
        return time.monotonic() >= self._until.get(campaign, 0) and (
            self._failed.get(campaign) != count
        )

    def begin(self, campaign: str, seconds: float) -> None:
        self._until[campaign] = time.monotonic() + _REST * seconds * self._warm
        self._warm = True

    def failed(self, campaign: str, count: int) -> None:
        self._failed[campaign] = count


def _attempt(store: Store, campaign: str, count: int, rest: _Rest) -> None:
    start = time.monotonic()
    try:
        analyse(store, campaign)
    except UNAVAILABLE:
        raise
    except Exception:  # one campaign must not keep the others from their truths
        _log.exception("inference failed", extra={"campaign": campaign})
        rest.failed(campaign, count)
    rest.begin(campaign, time.monotonic() - start)


def _due(store: Store) -> list[tuple[str, int]]:
    """Campaigns with released reports that no inference has seen, and how many they have."""
    table, design, analysis = models.campaign, models.design, models.analysis
    received, seen = func.sum(design.c.reports), func.coalesce(analysis.c.reports, 0)
    closing = table.c.closed_at, table.c.closes_at, table.c.max_reports, table.c.batch
    waits = models.report.c.waiting & (models.report.c.campaign == table.c.id)
    wanted = (
        select(received, seen, select(func.count()).where(waits).scalar_subquery(), table.c.id)
        .add_columns(*closing)
        .join(design, design.c.campaign == table.c.id)
        .outerjoin(analysis, analysis.c.campaign == table.c.id)
        .group_by(table.c.id, *closing, seen)
        .having(received > seen)
    )
    found = []
    with store.reading() as connection:
        for row in connection.execute(wanted):
            closed = is_closed(row, row[0])
            shown = shown_at_the_end(row, row[0]) if closed else row[0] - row[2]
            if shown > row[1]:
                found.append((str(row.id), int(shown)))
    return found


def _keep(store: Store, campaign: StoredCampaign, found: dict[str, Any]) -> None:
    """Replace the campaign's inference by one from more reports."""
    table, count = models.analysis, found["reports"]
    with store.writing() as connection:
        if not _locked(connection, campaign):
            return
        older = table.c.campaign == campaign.id, table.c.reports <= count
        connection.execute(delete(table).where(*older))
        kept = connection.scalar(select(table.c.reports).where(table.c.campaign == campaign.id))
        if kept is None:
            connection.execute(insert(table).values(found | {"campaign": campaign.id}))


def _page(campaign: StoredCampaign, truths: Truths, reports: list[Reports]) -> str:
    """The report that the command line writes, with the campaign's questions and labels."""
    return campaign_page(
        truths,
        reports,
        title=campaign.title,
        lead=campaign.description,
        target_width=campaign.target_width,
        labels=campaign.labels,
        questions={task.id: task.text for task in campaign.tasks},
    )


def _document(campaign: StoredCampaign, truths: Truths, count: int) -> dict[str, Any]:
    """An inference as it is stored and shown."""
    posterior = truths.posterior
    assert posterior is not None  # the analyst infers by the posterior only
    found = TruthsView(
        state="ready",
        reports=count,
        received=count,
        scale=TruthScaleView(values=[], labels=[], numbers=[]),
        estimand=check_estimand(posterior.estimand),
        meaning=MEANING[posterior.estimand],
        truths=_truths(campaign, truths),
        model=posterior.model,
        converged=truths.converged,
        participation=_participation(posterior),
        quality=None if posterior.estimand == "opinion" else _quality(truths),
        enough=_enough(campaign, truths, count),
    )
    return found.model_dump(exclude={"state", "reports", "received", "scale"})


def _truths(campaign: StoredCampaign, truths: Truths) -> list[TruthView]:
    values = np.array(campaign.scale.values)
    worded = campaign.labels != campaign.scale.labels or not campaign.scale.is_numeric
    worded &= campaign.estimand != "opinion"  # a mean answer is none of the answers
    columns = zip(
        campaign.tasks,
        truths.estimate.tolist(),
        truths.low.tolist(),
        truths.high.tolist(),
        truths.support.tolist(),
        _details(truths),
    )
    return [
        TruthView(
            task=task.id,
            text=task.text,
            truth=truth,
            label=campaign.labels[np.abs(values - truth).argmin()] if worded else None,
            low=low,
            high=high,
            support=support,
            **details,
        )
        for task, truth, low, high, support, details in columns
    ]


def _details(truths: Truths) -> Iterator[dict[str, Any]]:
    """Per task what the estimand adds: a probability or a share for each answer."""
    posterior = truths.posterior
    if posterior is not None and posterior.shares is not None:
        valleys = posterior.valleys
        for task in range(len(truths.tasks)):
            yield _opinion(posterior.shares, task) | {"valley": _valley(valleys, task)}
    elif posterior is not None and posterior.estimand == "label":
        yield from ({"probabilities": row} for row in posterior.mass.round(_DIGITS).tolist())
    else:
        yield from ({} for _ in truths.tasks)


def _opinion(shares: Shares, task: int) -> dict[str, Any]:
    bounds = zip(shares.estimate[task], shares.low[task], shares.high[task])
    return {
        "shares": [_interval(*each) for each in bounds],
        "participation": _interval(
            shares.participation[task],
            shares.participation_low[task],
            shares.participation_high[task],
        ),
    }


def _valley(valleys: Valleys | None, task: int) -> ValleyView | None:
    if valleys is None:
        return None
    bounds = _interval(valleys.estimate[task], valleys.low[task], valleys.high[task])
    return ValleyView(
        **bounds.model_dump(),
        divided=bool(valleys.divided[task]),
        camps=valleys.camps[task].tolist(),
    )


def _interval(estimate: float, low: float, high: float) -> IntervalView:
    estimate, low, high = (round(float(each), _DIGITS) for each in (estimate, low, high))
    return IntervalView(estimate=estimate, low=low, high=high)


def _participation(posterior: Posterior) -> float | None:
    """The share of answered cells; for `opinion` the mean over the questions."""
    if posterior.participation is None and posterior.shares is not None:
        return float(posterior.shares.participation.mean())
    return posterior.participation


def _enough(campaign: StoredCampaign, truths: Truths, count: int) -> EnoughView | None:
    found = enough(truths, campaign.target_width)
    if found is None:
        return None
    return EnoughView(**asdict(found), more_reports=_more_reports(campaign, truths, count, found))


def _more_reports(
    campaign: StoredCampaign, truths: Truths, count: int, found: Enough
) -> MoreReportsView | None:
    posterior = truths.posterior
    if posterior is None or found.median_width is None or found.target_width is None:
        return None
    share = _participation(posterior)
    if share is None:  # it is public, so every answered cell has been counted
        share = float(truths.support.mean()) / count
    more = further_workers(
        truths,
        campaign.current.mechanism,
        count,
        density=share,
        width=found.median_width,
        target=found.target_width,
    )
    return None if more is None else MoreReportsView(low=more.low, high=more.high)


def _quality(truths: Truths) -> QualityView:
    """A histogram of the workers' distances from the truths; workers without cells are left out."""
    known = truths.deviation[np.isfinite(truths.deviation)]
    counts, edges = np.histogram(known, _BINS, (0, truths.scale.range))
    return QualityView(edges=edges.tolist(), counts=counts.tolist())


# Adaptive campaigns


def _claim_redesign(store: Store, campaign: StoredCampaign, count: int) -> bool:
    """True if a redesign is due and this process is to make it; the next is due at 2 × `count`."""
    table = models.campaign
    with store.writing() as connection:
        claimed = connection.execute(
            update(table)
            .where(table.c.id == campaign.id, table.c.redesign_at <= count)
            .values(redesign_at=2 * count)
        )
        return bool(claimed.rowcount)


def _redesign(store: Store, campaign: StoredCampaign, reports: list[Reports]) -> None:
    """Add the best mechanism for what was learned, for further workers; earlier ones stay valid."""
    from forsooth.planning.adaptive import redesigned

    try:
        text = redesigned(reports, campaign.estimand).to_json()
    except ForsoothError as error:
        _log.info("no better design", extra={"campaign": campaign.id, "reason": str(error)})
        return
    with store.writing() as connection:
        now = load(connection, campaign.id) if _locked(connection, campaign) else None
        if now is None:
            return
        new = StoredDesign(now.current.number + 1, text)
        if now.design(new.digest) is not None:
            return
        add_design(connection, campaign.id, new)
    _log.info("redesigned", extra={"campaign": campaign.id, "design": new.digest})


def _locked(connection: Connection, campaign: StoredCampaign) -> bool:
    """Let others who write to this campaign wait; False if it was erased meanwhile."""
    wanted = select(models.campaign.c.id).where(models.campaign.c.id == campaign.id)
    return connection.scalar(wanted.with_for_update()) is not None
