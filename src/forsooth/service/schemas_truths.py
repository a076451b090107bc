"""Results over the wire: what was inferred from the reports so far."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from forsooth.estimand import Estimand
from forsooth.service.schemas import Message, ScaleView


class IntervalView(Message):
    """An estimate with its 90 % interval."""

    estimate: float
    low: float
    high: float


class ValleyView(IntervalView):
    """How much rarer an answer is than answers on both of its sides, as a share of the people."""

    divided: bool = Field(
        description="Do people disagree? Yes if this is above 0.05 with a probability of 95 %."
    )
    camps: list[int] = Field(
        description="The places on the scale of the answers on the left, in between, on the right."
    )


class TruthView(Message):
    """A task's truth with its 90 % interval; for `opinion` the truth is the mean answer."""

    task: str
    text: str
    truth: float
    label: str | None
    low: float
    high: float
    support: int
    probabilities: list[float] | None = Field(
        default=None, description="label: for each answer the probability that it is the right one."
    )
    shares: list[IntervalView] | None = Field(
        default=None, description="opinion: for each answer the share of people who give it."
    )
    participation: IntervalView | None = Field(
        default=None, description="opinion: the share of workers who answered the task."
    )
    valley: ValleyView | None = Field(
        default=None,
        description="opinion: where people disagree; null for two answers, for more than eleven, "
        "and without an order.",
    )


class TruthScaleView(ScaleView):
    """The scale, and the number that each answer stands for."""

    numbers: list[float]


class QualityView(Message):
    """A histogram of how far workers are from the truths, in units of the scale."""

    edges: list[float]
    counts: list[int]


class MoreReportsView(Message):
    """Roughly how many more reports the requested width needs."""

    low: int
    high: int


class EnoughView(Message):
    """Is it enough? Errors and widths are in units of the scale."""

    enough: bool
    why: str = Field(description="The reason, in complete sentences.")
    expected_error: float = Field(description="Expected mean distance of estimates from truths.")
    constant_error: float = Field(description="The same for the best single value for all tasks.")
    constant_as_good: float = Field(
        description="The probability that the best single value is at least as good."
    )
    median_width: float | None
    target_width: float | None
    more_reports: MoreReportsView | None = Field(
        description="Null if the width is reached, if it is too early to say or there is no quick "
        "estimate (labels, lp, mf, mf-safe), and when the campaign is closed."
    )


class TruthsView(Message):
    """The latest inference."""

    state: Literal["no-reports", "pending", "ready"]
    reports: int = Field(description="How many reports are in this inference.")
    received: int = Field(description="How many are shown by now: see batch in the status.")
    scale: TruthScaleView
    estimand: Estimand | None = Field(
        default=None, description="What the truth of a task is taken to be."
    )
    meaning: str | None = Field(default=None, description="The same as a sentence.")
    truths: list[TruthView] = Field(default_factory=list)
    model: str | None = None
    converged: bool | None = None
    participation: float | None = None
    quality: QualityView | None = Field(default=None, description="Null for opinion.")
    enough: EnoughView | None = None
