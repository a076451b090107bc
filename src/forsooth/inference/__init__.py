"""What the collector runs: reports in, truths out; one file per method."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from forsooth.cells import Cells
from forsooth.errors import ForsoothError
from forsooth.estimand import Estimand, GoldUse, agreed, check_gold_use
from forsooth.inference import algorithm1, catd, crh, dawid_skene, gtm
from forsooth.inference.averages import majority, mean, median
from forsooth.inference.calibration import calibrated, check_calibration
from forsooth.inference.data import given
from forsooth.inference.estimates import TIES, Rules, Ties, pinned, quality, smallest_deviation
from forsooth.inference.gold import gold_array
from forsooth.inference.options import UNORDERED, check_rules, without_order
from forsooth.inference.posterior import infer_posterior
from forsooth.inference.posterior.options import ESTIMATES, MODELS, Estimate, Model, Options
from forsooth.known import groups_of
from forsooth.mechanisms import reports_sums
from forsooth.reports import Reports
from forsooth.truths import Truths

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from forsooth.answers import Answers
    from forsooth.inference.checkpoint import Checkpoint
    from forsooth.inference.estimates import Estimates
    from forsooth.inference.posterior.evidence import Campaign
    from forsooth.io.report_files import ReportFiles
    from forsooth.scale import Scale, ScaleLike

METHODS: dict[str, Callable[[Cells, Scale, Rules, NDArray[np.float64]], Estimates]] = {
    "algorithm1": algorithm1.algorithm1,
    "mean": mean,
    "median": median,
    "majority": majority,
    "crh": crh.crh,
    "catd": catd.catd,
    "gtm": gtm.gtm,
    "dawid-skene": dawid_skene.dawid_skene,
}
NAMES = ("posterior", *METHODS)
DEFAULT_METHOD = "posterior"


def infer(
    data: object,
    method: str = DEFAULT_METHOD,
    *,
    scale: ScaleLike | None = None,
    tolerance: float = Rules.tolerance,
    max_iterations: int = Rules.max_iterations,
    ties: Ties = Rules.ties,
    gold: object = None,
    gold_use: GoldUse = "pin",
    groups: object = None,
    estimand: Estimand | None = None,
    estimate: Estimate | None = None,
    unordered: bool = False,
    model: Model = "auto",
) -> Truths:
    """Each task's truth and each worker's quality, from reports (or, not privately, from answers).

    `data` are Reports, several of them, or the path of reports files; or plain answers: Answers,
    or any table that `Answers.of` takes, with `scale`. A scale that is not given is taken from the
    plain answers: an AssumptionWarning and the result's `notices` say what is assumed.

    Several reports of one campaign, even from different mechanisms, are taken together. A task
    without any cell gets the median of the other tasks' estimates and the whole scale as interval.

    `estimand` says what the truth of a task is: a `level` on the ordered scale (the default), a
    `label` (the default for two answers), or the distribution of everybody's own `opinion`; None
    takes what the reports state. `gold` gives the known truths of some tasks, as a mapping, a
    series or a table: they are kept, and workers are measured by them (`gold_use="pin"`), or
    intervals are calibrated by them. `groups` names every worker's group, to compare their mean
    opinions. `unordered` says that the labels have no order: the estimate is the likeliest label.
    An option that the method does not have is refused.
    """
    if method not in NAMES:
        raise ForsoothError(f"unknown method {method!r}; known: {', '.join(NAMES)}")
    if not isinstance(unordered, bool):
        raise ForsoothError(f"unordered is True or False, got {unordered!r}")
    options = Options(estimand, estimate, unordered, model)
    rules = check_rules(method, Rules(tolerance, max_iterations, ties))
    if method != "posterior" and (options != Options() or groups is not None or gold_use != "pin"):
        raise ForsoothError(
            f"estimand, estimate, unordered, model, groups and gold_use are for the method "
            f"posterior, not for {method}; majority and dawid-skene never use the labels' order"
        )
    found = given(data, scale)
    _check_one_campaign(found.parts)
    tasks, of_scale = found.parts[0].tasks, found.parts[0].scale
    known_truth = gold_array({} if gold is None else gold, tasks, of_scale)
    if method == "posterior":
        if found.words:
            options = without_order(options)
        group_of = None if groups is None else groups_of(groups)
        truths = _by_posterior(found.parts, known_truth, options, gold_use, group_of)
    else:
        if found.words and method not in UNORDERED:
            raise ForsoothError(
                f"the method {method} needs the order of the labels: pass scale= with the labels "
                f"from lowest to highest, or use {' or '.join(sorted(UNORDERED))}"
            )
        truths = _by_cells(method, found.parts, known_truth, rules)
    return replace(truths, notices=found.notices, backend=found.backend)


def _by_posterior(
    parts: Sequence[Reports | Answers],
    known_truth: NDArray[np.float64],
    options: Options,
    gold_use: GoldUse,
    groups: Mapping[str, str] | None,
) -> Truths:
    """The default method; the reports may state the estimand."""
    from forsooth.inference.posterior.evidence import campaign_of  # scipy is slow to import

    stated = agreed(part.estimand for part in parts if isinstance(part, Reports))
    options = replace(options, estimand=options.estimand or stated)
    return by_posterior(campaign_of(parts), known_truth, options, gold_use, groups)


def _by_cells(
    method: str,
    parts: Sequence[Reports | Answers],
    known_truth: NDArray[np.float64],
    rules: Rules,
) -> Truths:
    """A method that reads every cell as an answer."""
    scale = parts[0].scale
    cells = Cells.stack([part.cells() for part in parts])
    is_gold = ~np.isnan(known_truth)
    result = METHODS[method](cells, scale, rules, known_truth)
    support = cells.per_task().astype(np.int64)
    known = result.truth[(support > 0) | is_gold]
    fallback = float(np.median(known)) if known.size else scale.middle
    return Truths(
        method=method,
        scale=scale,
        tasks=parts[0].tasks,
        estimate=np.where((support > 0) | is_gold, result.truth, fallback),
        low=pinned(np.where(np.isnan(result.low), scale.low, result.low), known_truth),
        high=pinned(np.where(np.isnan(result.high), scale.high, result.high), known_truth),
        support=support,
        workers=tuple(worker for part in parts for worker in part.workers),
        quality=quality(result.deviation, smallest_deviation(scale)),
        deviation=result.deviation,
        iterations=len(result.history),
        converged=result.converged,
        history=result.history,
    )


def by_posterior(
    campaign: Campaign,
    gold: NDArray[np.float64],
    options: Options,
    gold_use: GoldUse,
    groups: Mapping[str, str] | None = None,
    checkpoint: Checkpoint | None = None,
) -> Truths:
    """By the posterior; known truths are pinned, or calibrate the intervals."""
    if check_gold_use(gold_use) == "pin":
        return infer_posterior(campaign, gold, options, groups=groups, checkpoint=checkpoint)
    check_calibration(gold)
    unknown = np.full(len(gold), np.nan)
    truths = infer_posterior(campaign, unknown, options, groups=groups, checkpoint=checkpoint)
    return calibrated(truths, gold)


def infers_in_passes(files: ReportFiles) -> bool:
    """Can the posterior be computed in passes over these files?"""
    return not any(reports_sums(part.mechanism) for part in files.parts)


def _check_one_campaign(parts: Sequence[Reports | Answers]) -> None:
    if not parts:
        raise ForsoothError("there are no reports to infer from")
    first, seen = parts[0], set(parts[0].workers)
    for part in parts[1:]:
        if part.scale != first.scale:
            raise ForsoothError(
                f"reports of different campaigns: scales {first.scale} and {part.scale}"
            )
        if part.tasks != first.tasks:
            raise ForsoothError("reports of different campaigns: their lists of tasks differ")
        if twice := seen.intersection(part.workers):
            raise ForsoothError(
                f"worker {min(twice)!r} reports twice ({len(twice)} such): "
                "a worker reports once per campaign"
            )
        seen.update(part.workers)


__all__ = [
    "DEFAULT_METHOD",
    "ESTIMATES",
    "METHODS",
    "MODELS",
    "NAMES",
    "TIES",
    "Estimate",
    "Model",
    "Rules",
    "Ties",
    "infer",
    "infers_in_passes",
]
