"""Planning: how many workers, which ε, what error. Two are given, the third is found.

The fast estimate (`estimate`) takes the crowd as known and answers at once. The plan itself
is made by rehearsals through the real code (`rehearsal`): the estimate says where to begin,
and `crossing` finds where the error of rehearsals reaches the target.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from forsooth.checks import check_number, check_whole
from forsooth.display import as_html, as_text, number
from forsooth.errors import ForsoothError
from forsooth.estimand import check_estimand
from forsooth.io.frames import frame_of
from forsooth.planning.crossing import Axis, crossing
from forsooth.planning.estimate import Expected, least
from forsooth.planning.rehearsal import PlannedCampaign, Point, rehearsals, spread
from forsooth.plural import counted
from forsooth.privacy import check_epsilon, check_protects
from forsooth.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from forsooth.planning.central import CentralPromise
    from forsooth.planning.rehearsal import Measure
    from forsooth.privacy import Privacy
    from forsooth.scale import ScaleLike
    from forsooth.shuffling import Certificate

    Progress = Callable[[int, int], None]

Asked = Literal["mae", "workers", "epsilon"]
CANDIDATES = ("staircase", "rr")  # if no mechanism is named, the one with the smaller estimate
OPINION_CANDIDATES = ("rr",)  # a staircase merges answers, whose shares are wanted
FEWEST_WORKERS, LEAST_EPSILON, MOST_EPSILON = 2, 0.01, 10.0  # answers are looked for within these
_MOST_ESTIMATED = 1e9  # workers
_MOST_DRAWN = 10_000  # workers, in a figure of a plan without an answer
_HOPELESS = 2.0  # ratio of estimate to target above which nothing is rehearsed


@dataclass(frozen=True)
class Question:
    """Two of workers, ε and error; the third is asked for."""

    workers: int | None
    epsilon: float | None
    target_mae: float | None
    max_workers: int

    def __post_init__(self) -> None:
        if (self.workers, self.epsilon, self.target_mae).count(None) != 1:
            raise ForsoothError(
                "give exactly two of workers, epsilon and target-mae: the third is the answer"
            )
        if self.workers is not None and check_whole(self.workers, "workers", 0) < FEWEST_WORKERS:
            raise ForsoothError(f"a plan needs at least two workers, got {self.workers}")
        if self.max_workers < FEWEST_WORKERS:
            raise ForsoothError(f"max-workers must be at least 2, got {self.max_workers}")
        if self.epsilon is not None:
            check_epsilon(self.epsilon)
        target = self.target_mae
        if target is not None and not 0 < check_number(target, "the target") < math.inf:
            raise ForsoothError(f"the target must be an error above 0, got {self.target_mae!r}")

    @property
    def asked(self) -> Asked:
        """What is to be found."""
        if self.target_mae is None:
            return "mae"
        return "workers" if self.workers is None else "epsilon"

    @property
    def axis(self) -> Axis:
        """Where the answer is looked for."""
        if self.asked == "workers":
            return Axis(FEWEST_WORKERS, self.max_workers, near=1.5, whole=True)
        return Axis(LEAST_EPSILON, MOST_EPSILON, near=1.25, whole=False)

    def at(self, value: float) -> tuple[float, float]:
        """Workers and ε, if `value` were the answer."""
        return (
            value if self.workers is None else self.workers,
            value if self.epsilon is None else self.epsilon,
        )

    def estimate(self, campaign: PlannedCampaign) -> float | None:
        """The fast answer; None where there is none."""
        if not campaign.has_estimate:
            return None
        if self.target_mae is None:
            return campaign.estimate(*self.at(math.nan))
        high = _MOST_ESTIMATED if self.asked == "workers" else self.axis.high
        return least(
            lambda value: campaign.estimate(*self.at(value)), self.target_mae, self.axis.low, high
        )


@dataclass(frozen=True, repr=False)
class Plan:
    """The answer, what it was found from, and the yardsticks beside it.

    If there is no answer, what was asked for is None and `reason` says why. `interval` is a 90 %
    interval of what was asked for. `estimate` is the fast answer, `others` those of mechanisms
    that were passed over, `answers_only` the one if participation were public; None where there
    is none. A fast plan has no error bars. A plan for a central promise has its `certificate`.
    """

    campaign: PlannedCampaign
    question: Question
    workers: int | None
    epsilon: float | None
    mae: float | None
    mae_unperturbed: float
    mae_se: float | None = None
    interval: tuple[float, float] | None = None
    reason: str | None = None
    estimate: float | None = None
    others: Mapping[str, float | None] = field(default_factory=dict)
    answers_only: float | None = None
    points: tuple[Point, ...] = ()
    certificate: Certificate | None = None

    def __repr__(self) -> str:
        return as_text(*self._described())

    def _repr_html_(self) -> str:
        columns = self.columns()
        return as_html(*self._described(), columns, len(self.points))

    def columns(self) -> dict[str, list[Any]]:
        """`workers, epsilon, mae, se`: one row per rehearsed point; a fast plan has none."""
        return {
            name: [getattr(point, name) for point in self.points]
            for name in ("workers", "epsilon", "mae", "se")
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """The rehearsed points, as pyarrow table or in `backend`."""
        return frame_of(self.columns(), backend)

    def _described(self) -> tuple[str, list[str]]:
        campaign = self.campaign
        title = f"Plan: {counted(campaign.tasks, 'task')}, mechanism {campaign.mechanism}"
        if self.reason is not None:
            return title, [f"no answer: {self.reason}"]
        how = "rehearsed" if self.points else "fast estimate"
        facts = [
            f"workers {self.workers:,}, ε = {number(self.epsilon)}, "
            f"mean error {number(self.mae)} ({how})"
        ]
        if self.interval:
            low, high = map(number, self.interval)
            facts.append(f"90 % interval of the {self.question.asked}: {low} to {high}")
        return title, [*facts, f"mean error of unperturbed answers: {number(self.mae_unperturbed)}"]

    @property
    def guarantee(self) -> Privacy | None:
        """What a worker is promised; None if no ε was found."""
        return None if self.epsilon is None else self.campaign.guarantee(self.epsilon)


def plan(
    scale: ScaleLike,
    *,
    tasks: int,
    density: float,
    workers: int | None = None,
    epsilon: float | None = None,
    target_mae: float | None = None,
    central: CentralPromise | None = None,
    truth: str = "flat",
    noise: str = "1",
    estimand: str | None = None,
    mechanism: str | None = None,
    protects: str | None = None,
    repeats: int = 3,
    seed: int = 0,
    max_workers: int = 100_000,
    fast: bool = False,
    processes: int = 1,
    progress: Progress | None = None,
) -> Plan:
    """The error, the workers or the ε of a campaign: whichever of the three is not given.

    `density`, `truth` and `noise` say what is expected of the crowd, `estimand` what the truth of a
    task is (by default level, for two answers label), as in `mechanisms.staircase`. Without
    `mechanism`, staircase or rr is taken, whichever has the smaller estimated error; for opinion
    rr. `fast` gives only the estimate. `central` takes the place of ε: the largest local ε is used
    that keeps the central promise, and the error is the answer.

    >>> found = plan("0..4", tasks=20, density=0.5, workers=500, epsilon=2.0, fast=True)
    >>> found.mae < found.campaign.expected.constant_error
    True
    """
    check_whole(tasks, "tasks", 0)
    check_number(density, "the density")
    check_whole(repeats, "repeats")
    if target_mae is not None:
        check_number(target_mae, "the target")
    stated = None if estimand is None else check_estimand(estimand)
    expected = Expected(Scale.parse(scale), density, truth, noise, stated)
    if target_mae is not None and target_mae >= expected.constant_error:
        raise ForsoothError(
            f"a mean error of {target_mae:g} needs no data: always saying {expected.constant:g} "
            f"has {expected.constant_error:.3g}. Aim lower"
        )
    wanted = None if protects is None else check_protects(protects)
    candidates = OPINION_CANDIDATES if stated == "opinion" else CANDIDATES
    names = (mechanism,) if mechanism else candidates
    campaigns = [PlannedCampaign(expected, tasks, name, wanted, seed) for name in names]
    certificate = None
    if central is not None:
        if workers is None or epsilon is not None or target_mae is not None:
            raise ForsoothError(
                "a central ε takes the place of epsilon and target-mae: give workers beside it"
            )
        best, epsilon = central.best_offer(campaigns, workers)
        certificate = central.certificate(best.built(epsilon), tasks, workers)
        campaigns = [best]
    question = Question(workers, epsilon, target_mae, max_workers)
    campaign = _best(question, campaigns)
    if fast:
        outcome = _estimated(question, campaign)
        found = _plan(question, campaign, outcome, lambda count: expected.error(None, count))
    else:
        campaign.rehearsed_tasks(workers or max_workers)
        with rehearsals(campaign, repeats, processes, progress) as measure:
            outcome = _rehearsed(question, campaign, measure)
            found = _plan(question, campaign, outcome, lambda count: measure(count, None).mae)
    others = {one.mechanism: question.estimate(one) for one in campaigns if one != campaign}
    public = None if central else _answers_only(question, campaigns)
    return replace(found, others=others, answers_only=public, certificate=certificate)


def curves(
    found: Plan, *, repeats: int, processes: int = 1, progress: Progress | None = None
) -> list[Point]:
    """Rehearsals around a plan, for a figure: three ε, four numbers of workers each."""
    workers, epsilons = around(found)
    with rehearsals(found.campaign, repeats, processes, progress) as measure:
        return [measure(count, epsilon) for epsilon in epsilons for count in workers]


def around(found: Plan) -> tuple[list[int], list[float]]:
    """Numbers of workers up to the plan's, and ε on both sides of the plan's."""
    most = found.workers or min(found.question.max_workers, _MOST_DRAWN)
    middle = found.epsilon or MOST_EPSILON / 2
    workers = sorted({max(FEWEST_WORKERS, round(most / share)) for share in (8, 4, 2, 1)})
    return workers, [middle / 2, middle, 2 * middle]


def _best(question: Question, campaigns: Sequence[PlannedCampaign]) -> PlannedCampaign:
    """The campaign with the better fast answer: smaller is better, whatever is asked for."""
    if len(campaigns) == 1:
        return campaigns[0]

    def merit(campaign: PlannedCampaign) -> tuple[float, float]:
        answer = question.estimate(campaign)
        left = campaign.estimate(*question.at(question.axis.high))
        return math.inf if answer is None else answer, left

    return min(campaigns, key=merit)


def _answers_only(question: Question, campaigns: Sequence[PlannedCampaign]) -> float | None:
    """The fast answer if participation, which is protected, were public."""
    first = campaigns[0]
    if not first.has_estimate or first.protected == "answers":
        return None
    public = [replace(campaign, protects="answers") for campaign in campaigns]
    return question.estimate(_best(question, public))


@dataclass(frozen=True)
class _Outcome:
    """The answer and its error; if the target is not reached, the axis's end and its error."""

    reached: bool
    value: float
    mae: float
    mae_se: float | None = None
    interval: tuple[float, float] | None = None
    points: tuple[Point, ...] = ()


def _estimated(question: Question, campaign: PlannedCampaign) -> _Outcome:
    """The answer without rehearsals."""
    target, most = question.target_mae, question.axis.high
    answer = question.estimate(campaign)
    if target is not None and answer is not None and answer <= most:
        return _Outcome(True, answer, target)
    return _Outcome(target is None, most, campaign.estimate(*question.at(most)))


def _rehearsed(question: Question, campaign: PlannedCampaign, measure: Measure) -> _Outcome:
    """The answer by rehearsals, if they are not hopeless from the beginning."""
    target, most = question.target_mae, question.axis.high
    points: list[Point] = []

    def rehearse(value: float) -> Point:
        workers, epsilon = question.at(value)
        points.append(measure(round(workers), epsilon))
        return points[-1]

    if target is None:
        point = rehearse(most)
        reach = spread([point])[1] * point.se
        interval = point.mae - reach, point.mae + reach
        return _Outcome(True, most, point.mae, point.se, interval, (point,))
    if campaign.has_estimate:
        guide = campaign
        left = campaign.estimate(*question.at(most))
        if left > _HOPELESS * target:
            return _Outcome(False, most, left)
    else:  # any decreasing curve can guide the search
        guide = replace(campaign, mechanism="rr", protects=campaign.protected)
    if question.workers is not None and measure(question.workers, None).mae > target:
        return _Outcome(False, most, guide.estimate(*question.at(most)))
    found = crossing(
        rehearse, lambda value: guide.estimate(*question.at(value)), target, question.axis
    )
    if found is None:
        return _Outcome(False, most, points[-1].mae, points=tuple(points))
    interval = found.low, found.high
    return _Outcome(True, found.value, target, found.relative_se * target, interval, tuple(points))


def _plan(
    question: Question,
    campaign: PlannedCampaign,
    outcome: _Outcome,
    unperturbed: Callable[[int], float],
) -> Plan:
    workers, epsilon = question.at(min(_rounded_up(outcome.value), question.axis.high))
    count = math.ceil(workers)
    found = Plan(
        campaign,
        question,
        count,
        epsilon,
        outcome.mae,
        unperturbed(count),
        outcome.mae_se,
        outcome.interval,
        estimate=question.estimate(campaign),
        points=outcome.points,
    )
    if outcome.reached:
        return found
    return replace(
        found,
        workers=question.workers,
        epsilon=question.epsilon,
        mae=None,
        reason=_reason(found),
    )


def _reason(found: Plan) -> str:
    """Why the target is out of reach, given what there would be at the end of the axis."""
    target = found.question.target_mae
    if target is not None and found.mae_unperturbed > target:
        return (
            f"even the unperturbed answers of {found.workers:,} workers would leave a mean error "
            f"of about {found.mae_unperturbed:.2g}"
        )
    if found.question.asked == "epsilon":
        return (
            f"at ε = {found.epsilon:g}, which gives hardly any protection, a mean error of about "
            f"{found.mae:.2g} is left: more workers are needed"
        )
    needed = (
        "" if found.estimate is None else f"; the fast estimate is {found.estimate:,.0f} workers"
    )
    return f"{found.workers:,} workers, the most allowed, leave about {found.mae:.2g}{needed}"


def _rounded_up(value: float) -> float:
    """To three digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 2)
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.10g}")
