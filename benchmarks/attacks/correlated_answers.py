"""Every bound that a campaign states holds, also if a person's answers go together.

A reader knows that ten questions are one question in other words, and what noise was added. From
each of 1,000 reports at ε = 1 per question they compute their posterior by Bayes' theorem, having
thought 50 % before. No posterior may go beyond a bound that is stated without the condition that
the other answers tell nothing; if none goes beyond the bound for a single answer, the attack itself
is broken. The reader's arithmetic is exact, so there are no false alarms.
"""

from __future__ import annotations

import re
from html import unescape

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks import Outcome
from forsooth import Answers, Reports, infer, mechanisms
from forsooth.mechanisms import ChannelMechanism
from forsooth.promise import promise
from forsooth.report.page import campaign_page

EPSILON, QUESTIONS, PEOPLE, SEED = 1.0, 10, 1000, 21
CONDITION = re.compile("tells? nothing about")
ODDS = re.compile(r"(?:become|at most) (?:at most )?([\d,.]+) to 1")
PERCENT = re.compile(r"50 %[^.]*?become (?:at most )?([\d.]+) %")


def attack() -> Outcome:
    """The reader's largest odds, against the smallest bound that is stated for them."""
    mechanism = mechanisms.rr("no,yes", EPSILON)
    assert isinstance(mechanism, ChannelMechanism)
    truth = np.arange(PEOPLE) % 2
    answers = Answers.of(
        {
            f"p{i}": {f"q{j}": ("no", "yes")[t] for j in range(QUESTIONS)}
            for i, t in enumerate(truth)
        },
        "no,yes",
    )
    reports = mechanism.perturb(answers, simulation_seed=SEED)
    found = odds_of_yes(mechanism, reports.values)
    reached = np.maximum(found, 1 / found)
    single = np.exp(EPSILON)
    if (reached > single).mean() < 0.5:
        return Outcome(False, "the reader learns too little: this attack is broken")
    bounds = [bound for text in stated(reports) for bound in unconditional(text)]
    if not bounds:
        return Outcome(False, "no bound is stated that holds whatever else a reader knows")
    return Outcome(
        bool(reached.max() <= min(bounds)),
        f"{(reached > single).mean():.0%} of readers go beyond the bound for one answer, "
        f"{(reached > 99).mean():.0%} beyond 99 %; all are within {reached.max():,.0f} to 1, "
        f"stated: {min(bounds):,.6g} to 1",
    )


def odds_of_yes(mechanism: ChannelMechanism, symbols: NDArray[np.integer]) -> NDArray[np.float64]:
    """The posterior odds of yes for each report, from odds of 1 to 1: all cells say the same."""
    weights = np.array(mechanism.channel.weights, float)
    ratios = np.log(weights[1] / weights[0])
    odds: NDArray[np.float64] = np.exp(ratios[symbols].sum(axis=1))
    return odds


def stated(reports: Reports) -> list[str]:
    """What the worker's page, the requester's report and the command line say of the promise."""
    guarantee = reports.mechanism.guarantee
    plain = Reports(reports.mechanism, reports.tasks, reports.workers, reports.values)
    page = campaign_page(infer(plain), [plain], title="A campaign")
    return [
        " ".join(promise(guarantee, QUESTIONS, you=True).sentences),
        guarantee.describe(QUESTIONS),
        unescape(re.sub(r"<[^>]*>", " ", page)),
    ]


def unconditional(text: str) -> list[float]:
    """The odds that a text states as bounds, without the condition on the other answers."""
    parts = re.split(r"(?<=[a-z)])[.;]\s", re.sub(r"\s+", " ", text))
    found: list[float] = []
    for part in parts:
        if not CONDITION.search(part):
            found += [float(number.replace(",", "")) for number in ODDS.findall(part)]
            shares = [float(number) / 100 for number in PERCENT.findall(part)]
            found += [share / (1 - share) for share in shares]
    return found
