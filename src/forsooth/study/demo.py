"""The built-in campaign of `forsooth demo`: a simulated staff survey with sensitive questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth import mechanisms
from forsooth.answers import Answers, code_dtype
from forsooth.dataset import Dataset
from forsooth.inference import infer
from forsooth.mechanisms.staircase_channel import answer_model
from forsooth.report.page import campaign_page
from forsooth.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from forsooth.estimand import Estimand
    from forsooth.mechanisms.base import Mechanism
    from forsooth.reports import Reports
    from forsooth.truths import Truths

SCALE = Scale.parse("never,rarely,sometimes,often,always")
WORKERS = 2000
# name            value     unit, reason
_CROWD_SEED = 2018  # the same survey every time
_SHARE_ANSWERED = 0.6  # of the cells
_CAREFUL, _CARELESS = 0.7, 2.5  # standard deviations of errors, in steps of the scale
_SHARE_CAREFUL = 0.7  # of the people

QUESTIONS: dict[str, float] = {
    "Kept quiet about a mistake of yours?": 2.13,
    "Treated unfairly because of your sex?": 1.27,
    "Taken secret work home?": 2.66,
    "Used a colleague's password?": 0.94,
    "Drunk so much that work suffered?": 0.37,
    "Told to hide a problem from a client?": 1.72,
    "Skipped a safety check unseen?": 2.45,
    "Afraid of your superior?": 1.08,
    "Thinking about leaving?": 3.14,
    "Reported sick when you were not?": 0.68,
    "Would you report a crime here?": 3.37,
    "Sure that this survey is anonymous?": 1.53,
}


@dataclass(frozen=True, eq=False)
class DemoOutcome:
    """What one guarantee allowed the collector to learn."""

    reports: Reports
    truths: Truths
    mae: float
    naive_mae: float  # of Algorithm 1, which takes the same reports for answers

    @property
    def mechanism(self) -> Mechanism:
        """What every person ran."""
        return self.reports.mechanism


@dataclass(frozen=True, eq=False)
class Demonstration:
    """The campaign, the collector's results, and the yardsticks beside them."""

    campaign: Dataset
    open_truths: Truths
    outcomes: tuple[DemoOutcome, ...]

    @property
    def open_mae(self) -> float:
        """MAE of the same inference on the answers themselves."""
        return self.open_truths.error(self.campaign.truth)

    def page(self) -> str:
        """The report of the campaign that hides most, with the truths of the simulation."""
        _, hidden = self.outcomes
        people, questions = len(self.campaign.answers.workers), len(self.campaign.answers.tasks)
        return campaign_page(
            hidden.truths,
            [hidden.reports],
            title=f"{people:,} people answered {questions} sensitive questions. "
            "Nobody learned their answers.",
            lead="A simulated staff survey, so that the truths are known. From perturbed reports "
            f"alone this report is off by {hidden.mae:.2f} of a step on average; with everybody's "
            f"answers in the open it would be {self.open_mae:.2f}, with the best constant guess "
            f"{self.campaign.constant_error():.2f}, and with the paper's Algorithm 1 on the same "
            f"reports {hidden.naive_mae:.2f}.",
        )


def run(
    epsilon: float,
    estimand: Estimand = "level",
    *,
    progress: Callable[[str], None] = lambda step: None,
) -> Demonstration:
    """The whole line: answers, mechanism, reports, inference, truths; with real randomness.

    `progress` is told what is being done.
    """
    campaign = survey(estimand)
    outcomes = []
    for mechanism in (
        mechanisms.grr(SCALE, epsilon, protects="answers"),
        mechanisms.rr(SCALE, epsilon, protects="answers+participation"),
    ):
        progress(f"perturbing the answers with {mechanism.name}")
        reports = mechanism.perturb(campaign.answers)
        progress(f"inferring from the reports of {mechanism.name}")
        truths, naive = infer(reports, estimand=estimand), infer(reports, "algorithm1")
        errors = truths.error(campaign.truth), naive.error(campaign.truth)
        outcomes.append(DemoOutcome(reports, truths, *errors))
    progress("inferring from the answers themselves, to compare")
    openly = infer(campaign.answers, estimand=estimand)
    return Demonstration(campaign, openly, tuple(outcomes))


def survey(estimand: Estimand = "level") -> Dataset:
    """The simulated staff and its answers, the same every time.

    With the estimand label the true levels are rounded to answers; with opinion the truth of a
    question is the mean answer that they lead to.
    """
    random = np.random.default_rng(_CROWD_SEED)
    level = np.array(list(QUESTIONS.values()))
    if estimand == "label":
        level = np.rint(level)
    truth = _mean_answers(level) if estimand == "opinion" else level
    worker, task = np.nonzero(random.random((WORKERS, len(level))) < _SHARE_ANSWERED)
    sigma = np.where(random.random(WORKERS) < _SHARE_CAREFUL, _CAREFUL, _CARELESS)
    heard = level[task] + random.normal(size=len(task)) * sigma[worker]
    answers = Answers(
        SCALE,
        tuple(f"person {number:04}" for number in range(1, WORKERS + 1)),
        tuple(QUESTIONS),
        worker.astype(np.int32),
        task.astype(np.int32),
        np.clip(np.rint(heard), SCALE.low, SCALE.high).astype(code_dtype(SCALE)),
    )
    return Dataset("the built-in survey", answers, truth, estimand)


def _mean_answers(level: NDArray[np.float64]) -> NDArray[np.float64]:
    careful, careless = (answer_model(SCALE, level, (s,)) for s in (_CAREFUL, _CARELESS))
    shares = _SHARE_CAREFUL * careful + (1 - _SHARE_CAREFUL) * careless
    return np.asarray(shares @ np.array(SCALE.values))
