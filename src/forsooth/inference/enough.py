"""Was it enough? One decision for the command line, the report and the service.

Estimates are worth using if they are clearly better than the same value for every task, and if
their intervals are as narrow as requested. Both are read from the posterior:

    expected error      mean over tasks of E|estimate - truth|
    constant's error    E min_c mean |c - truth|: the constant may know all truths
    constant as good    P(the best constant has no larger error than the estimates)

Errors are distances on the scale; for unordered labels an estimate is right (0) or wrong (1). For
`opinion` the truth of a task is its mean answer.

The last two are computed from draws of all truths. Tasks are drawn independently, although they
share the uncertainty of the model's global numbers (place and spread of the truths, participation),
so the probability alone is too sure. `MARGIN` makes up for that. The aim: of the campaigns that are
called enough at most 5 % are beaten by a constant fitted to their own truths.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.truths import COVERAGE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.truths import Posterior, Truths

# name            value    unit, reason
# The two limits: in simulations 2.3 % of the campaigns that are called enough are beaten (levels;
# 1.4 % with labels, at most 4.0 % for any number of tasks); with 0.8 and 0.05 it is 3.7 % (4.9 %).
MARGIN = 0.7  # expected error per constant's error, at most
DOUBT = 0.02  # probability that the constant is as good, at most
SINGLE_WIDTH = 0.25  # of the range: the target of a single task, as in a service campaign
DRAWS = 200  # of all truths: a share of 0.02 is known to ± 0.01
MOST_TASKS = 2000  # in a draw, chosen at random: more tasks change the result by less than DRAWS
SEED = 0  # the same posterior gives the same verdict


@dataclass(frozen=True)
class Enough:
    """Was it enough, and the numbers behind it, in units of the scale.

    `why` is one or two sentences for people. `median_width` is that of the 90 % intervals; it is
    None for unordered labels, which have none. `target_width` is None if no precision was required.
    """

    enough: bool
    why: str
    expected_error: float
    constant_error: float
    constant_as_good: float
    median_width: float | None
    target_width: float | None

    @property
    def word(self) -> str:
        """`yes` or `no`."""
        return "yes" if self.enough else "no"

    def __str__(self) -> str:
        return f"enough: {self.word}. {self.why}"


def enough(truths: Truths, target_width: float | None = None) -> Enough | None:
    """The verdict on a result; None for methods without a posterior.

    `target_width` is the requested precision: half of the 90 % intervals are to be at most this
    wide, in units of the scale. Unordered labels have no intervals, so it does not matter for them.
    A single task cannot be compared with a constant: its interval decides alone, and without a
    target it is to be at most a quarter of the scale wide; an unordered label is to be right with a
    probability of 90 %.
    """
    posterior = truths.posterior
    if posterior is None:
        return None
    if target_width is not None and not target_width > 0:
        raise ForsoothError(f"the requested width of intervals must be above 0, not {target_width}")
    single, width = len(truths.tasks) == 1, None
    if posterior.unordered:
        target_width = None
    else:
        width = float(np.median(truths.high - truths.low))
        if single and target_width is None:
            target_width = SINGLE_WIDTH * truths.scale.range
    error, found = expected_error(truths), _constant(truths, posterior)
    if not single:
        better, why = _against_constant(truths, posterior, error, found)
    elif posterior.unordered:
        better, why = _single_label(error)
    else:
        better, why = True, ""
    narrow = True
    if target_width is not None and width is not None:
        narrow = width <= target_width
        why = f"{why} {_widths_in_words(width, target_width, single)}".lstrip()
    return Enough(
        enough=better and narrow,
        why=why,
        expected_error=error,
        constant_error=found.error,
        constant_as_good=found.as_good,
        median_width=width,
        target_width=target_width,
    )


def expected_error(truths: Truths) -> float:
    """The posterior mean of |estimate - truth|, averaged over tasks; unordered: P(wrong)."""
    posterior = _posterior(truths)
    if posterior.unordered:
        return float(1 - _chance_of_estimate(truths, posterior).mean())
    distance = np.abs(posterior.grid[None, :] - truths.estimate[:, None])
    return float(np.einsum("jg,jg->", posterior.mass, distance) / len(truths.tasks))


def constant_error(truths: Truths) -> float:
    """The posterior mean of the error of one constant for all tasks that knows the truths."""
    return _constant(truths, _posterior(truths)).error


def constant_as_good(truths: Truths) -> float:
    """The posterior probability that the best constant has no larger error than the estimates."""
    return _constant(truths, _posterior(truths)).as_good


@dataclass(frozen=True)
class _Constant:
    error: float
    as_good: float


def _constant(truths: Truths, posterior: Posterior) -> _Constant:
    """The best constant against the estimates, over draws of all truths."""
    random = np.random.default_rng(SEED)
    count = len(truths.tasks)
    chosen = np.arange(count)
    if count > MOST_TASKS:
        chosen = np.sort(random.choice(count, MOST_TASKS, replace=False))
    codes = _draws(posterior.mass[chosen], random)
    if posterior.unordered:
        own = (codes != _estimated_code(truths, posterior)[chosen]).mean(axis=1)
        constant = 1 - _commonest(codes, len(posterior.grid)) / len(chosen)
    else:
        drawn = posterior.grid[codes]
        own = np.abs(drawn - truths.estimate[chosen]).mean(axis=1)
        constant = np.abs(drawn - np.median(drawn, axis=1, keepdims=True)).mean(axis=1)
    return _Constant(float(constant.mean()), float((constant <= own).mean()))


def _draws(mass: NDArray[np.float64], random: np.random.Generator) -> NDArray[np.intp]:
    """Codes of grid points, draws × tasks, each from its task's distribution.

    One search serves all tasks: the distribution function of task j is raised by j.
    """
    tasks, points = mass.shape
    level = np.arange(tasks)[:, None]
    cumulative = mass.cumsum(axis=1)
    cumulative /= cumulative[:, -1:]
    cumulative += level
    uniform = random.random((tasks, DRAWS)) + level
    codes = np.searchsorted(cumulative.ravel(), uniform.ravel(), side="right")
    codes = codes.reshape(tasks, DRAWS) - points * level
    return np.ascontiguousarray(np.minimum(codes, points - 1).T)


def _commonest(codes: NDArray[np.intp], labels: int) -> NDArray[np.intp]:
    """How often the commonest label occurs in each draw."""
    draws = len(codes)
    place = codes + labels * np.arange(draws)[:, None]
    counts = np.bincount(place.ravel(), minlength=draws * labels)
    return np.asarray(counts.reshape(draws, labels).max(axis=1), np.intp)


def _chance_of_estimate(truths: Truths, posterior: Posterior) -> NDArray[np.float64]:
    return posterior.mass[np.arange(len(truths.tasks)), _estimated_code(truths, posterior)]


def _estimated_code(truths: Truths, posterior: Posterior) -> NDArray[np.intp]:
    """The grid points of the estimates of unordered labels."""
    distance = np.abs(truths.estimate[:, None] - posterior.grid)
    return np.asarray(distance.argmin(axis=1), np.intp)


def _posterior(truths: Truths) -> Posterior:
    if truths.posterior is None:
        raise ForsoothError(
            f"the method {truths.method} has no posterior, so its error is not known: "
            "use the method posterior"
        )
    return truths.posterior


# Reasons, each with its sentence


def _against_constant(
    truths: Truths, posterior: Posterior, error: float, constant: _Constant
) -> tuple[bool, str]:
    """Are the estimates clearly better than the constant?"""
    words = _errors_in_words(truths, posterior, error, constant.error)
    if error > MARGIN * constant.error:
        doubt = "That is not clearly better: the tasks are alike, or the reports tell too little"
    elif constant.as_good > DOUBT:
        doubt = (
            f"But with a probability of {_percent(constant.as_good)} the single value is as good: "
            "there are few tasks, and the reports tell little"
        )
    else:
        return True, words
    return False, f"{words} {doubt}. Do not rank the tasks by these estimates."


def _single_label(error: float) -> tuple[bool, str]:
    right = 1 - error
    return right >= COVERAGE, (
        f"The label is right with a probability of {_percent(right)}; {_percent(COVERAGE)} is "
        "required."
    )


def _errors_in_words(truths: Truths, posterior: Posterior, error: float, constant: float) -> str:
    if posterior.unordered:
        return (
            f"On average {_percent(error)} of the estimated labels are expected to be wrong; with "
            f"the best single label for all tasks it would be {_percent(constant)}."
        )
    what = "estimated means" if posterior.estimand == "opinion" else "estimates"
    low, high = truths.scale.low, truths.scale.high
    return (
        f"The {what} are expected to be off by {_number(error)} on average, on a scale from "
        f"{low:g} to {high:g}; the best single value for all tasks would be off by "
        f"{_number(constant)}."
    )


def _widths_in_words(width: float, target: float, single: bool) -> str:
    found = f"{_number(width)} wide"
    if single:
        words = f"The 90 % interval is {found}"
    elif width <= target:
        words = f"Half of the 90 % intervals are at most {found}"
    else:
        words = f"Half of the 90 % intervals are {found} or more"
    return f"{words}; at most {_number(target)} is required."


def _number(value: float) -> str:
    return f"{value:.2g}" if value < 100 else f"{value:,.0f}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
