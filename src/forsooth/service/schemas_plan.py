"""A plan over the wire: what is asked while somebody fills in the form, and the answer."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from forsooth.estimand import Estimand
from forsooth.odds import Strength
from forsooth.privacy import MAX_EPSILON, Protects, Unit
from forsooth.service.schemas import MAX_TASKS, Long, Message, Short

MAX_WORKERS = 1_000_000


class PlannedOrder(Message):
    """A campaign that might be made, and the people who are expected to answer."""

    model_config = ConfigDict(frozen=True)  # so that answers can be remembered

    scale: Long = Field(description='"0..4" or "G,P,R", as in a campaign.')
    tasks: int = Field(ge=1, le=MAX_TASKS)
    epsilon: float = Field(gt=0, le=MAX_EPSILON, allow_inf_nan=False)
    unit: Unit = "cell"
    sampled: int = Field(1, ge=1, le=MAX_TASKS)
    protects: Protects = "answers+participation"
    mechanism: Short = "rr"
    estimand: Estimand | None = None
    workers: int = Field(ge=1, le=MAX_WORKERS, description="How many people will answer.")
    density: float = Field(
        0.8, gt=0, le=1, description="The share of the questions they are asked that they answer."
    )
    noise: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="How much answers to one question differ: a standard deviation, in units of "
        "the scale. Default: a quarter of the scale; a half for two answers.",
    )


class ExpectedErrorView(Message):
    """What to expect with this many people."""

    workers: int
    error: float = Field(description="The expected mean distance of estimates from truths.")
    useful: bool = Field(description="Is it at most 70 % of the error of the best guess?")


class ForecastView(Message):
    """What to expect. Errors are in units of the scale."""

    worker_total: float = Field(description="ε for all that one person says.")
    strength: Strength = Field(description="The same as a word.")
    estimand: Estimand
    expected: list[ExpectedErrorView] = Field(
        description="With the given number of people, three and ten times as many. Empty if there "
        "is no quick estimate: for lp, mf and mf-safe, and for a staircase of more than 7 answers."
    )
    answers: int = Field(description="How many the scale has.")
    low: float = Field(description="The scale's ends.")
    high: float
    constant_error: float = Field(description="The error of the best guess without any report.")
    needed: int | None = Field(
        description="How many people make the estimates useful; null if more than 100,000."
    )
    largest_ratio: float = Field(
        description="Errors of real inferences were between 1 and this many times the estimate."
    )
    density: float = Field(description="As assumed.")
    noise: float = Field(description="As assumed.")
