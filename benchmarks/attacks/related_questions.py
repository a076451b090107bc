"""With unit = worker one ε bounds what a report tells of a person, however related questions are.

A campaign of the service promises ε = 1 for everything that one person says. Its readers know that
the questions go together: ten are one question in other words, or 200 are each a little more often
answered "yes" by people with a trait. They know which tasks were drawn and what noise was added,
and compute their posterior of the trait by Bayes' theorem, having thought 50 % before. None may go
beyond e^ε to 1; with ε = 1 per question instead, many do (else the attack itself is broken). The
reader's arithmetic is exact, so there are no false alarms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks import Outcome
from forsooth import Answers, Mechanism, Scale
from forsooth.mechanisms import ChannelMechanism, SampledTasks
from forsooth.privacy import Unit
from forsooth.service.campaigns import CampaignRequest, Task

EPSILON, PEOPLE, SEED = 1.0, 1000, 21
WORLDS = {10: 1.0, 200: 0.6}  # questions: how often people with the trait answer "yes"
SAMPLED = (1, 3)


def attack() -> Outcome:
    """The reader's largest odds under both units."""
    worst = max(
        reached(campaign(questions, "worker", sampled), questions, agree).max()
        for questions, agree in WORLDS.items()
        for sampled in SAMPLED
    )
    per_question = {
        questions: reached(campaign(questions, "cell"), questions, agree)
        for questions, agree in WORLDS.items()
    }
    most = np.exp(EPSILON)
    if any((odds > most).mean() < 0.25 for odds in per_question.values()):
        return Outcome(False, "the reader learns too little: this attack is broken")
    sure = ", ".join(
        f"{(odds / (1 + odds)).mean():.0%} ({questions} questions)"
        for questions, odds in per_question.items()
    )
    return Outcome(
        bool(worst <= most),
        f"at most {worst:.3f} to 1, promised {most:.3f}; with ε per question a reader is {sure} "
        "sure on average",
    )


def campaign(questions: int, unit: Unit, sampled: int = 1) -> Mechanism:
    """The mechanism of a campaign that the service would make."""
    tasks = tuple(Task(f"q{j}", f"Question {j}?") for j in range(questions))
    return CampaignRequest(
        "A survey",
        tasks,
        Scale.parse("no,yes"),
        EPSILON,
        "answers+participation",
        unit=unit,
        sampled=sampled,
    ).first_mechanism()


def reached(mechanism: Mechanism, questions: int, agree: float) -> NDArray[np.float64]:
    """Every reader's odds for what they believe, from odds of 1 to 1."""
    random = np.random.default_rng(SEED)
    chance = np.where(np.arange(PEOPLE) % 2, agree, 1 - agree)  # of "yes", without and with
    yes = random.random((PEOPLE, questions)) < chance[:, None]
    answers = Answers.of(
        {
            f"p{i}": {f"q{j}": ("no", "yes")[int(said)] for j, said in enumerate(row)}
            for i, row in enumerate(yes)
        },
        "no,yes",
        tasks=[f"q{j}" for j in range(questions)],
    )
    cell = mechanism.inner if isinstance(mechanism, SampledTasks) else mechanism
    assert isinstance(cell, ChannelMechanism)
    weights = np.array(cell.channel.weights[:2], float)  # of "no" and of "yes"
    with_trait, without = (np.array([1 - p, p]) @ weights for p in (agree, 1 - agree))
    symbols = mechanism.perturb(answers, simulation_seed=SEED).values
    log_odds = np.log(with_trait / without)[symbols].sum(axis=1)
    return np.asarray(np.exp(np.abs(log_odds)))
