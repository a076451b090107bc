"""What competes: mechanisms with methods of inference, whole private pipelines, and guesses.

ε means the same for all: a mechanism whose true guarantee is larger than what was asked for is
built with a smaller ε, so that its true one is the ε of the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from forsooth import mechanisms
from forsooth.errors import ForsoothError
from forsooth.planning.adaptive import ADAPTIVE, adaptive_reports
from forsooth.privacy import UNITS
from forsooth.scale import Scale
from forsooth.study.rivals import INFERENCE, PRIVATE

if TYPE_CHECKING:
    from forsooth.dataset import Dataset
    from forsooth.estimand import Estimand
    from forsooth.mechanisms.base import Mechanism
    from forsooth.reports import Reports
    from forsooth.study.league.sets import LeagueSet

Promise = Literal["none", "cell", "values", "person"]
PROMISES: dict[Promise, str] = {
    "none": "plain answers",
    "cell": "ε per cell, for the answer and whether it was given",
    "values": "ε per cell, for the answer only: who answered what is public",
    "person": "ε for all that one person says",
}
POSTERIOR, ALGORITHM_1 = "posterior", "algorithm1"
PLAIN, GUESS, PERSON = "plain", "guess", "rr-person"
CONSTANT, BLIND = "best-constant", "blind"
GUESSES = {
    CONSTANT: "the best constant, which knows the truths",
    BLIND: "the middle of the scale; for labels a random one",
}
OWN = "its own"  # the method of a private pipeline
DEFAULTS: dict[Promise, str] = {"none": PLAIN, "cell": "rr", "values": "grr", "person": PERSON}
MECHANISMS = (PLAIN, "rr", ADAPTIVE, "lp", "two-layer", "grr", "mf", PERSON, *PRIVATE)
METHODS = (POSTERIOR, *INFERENCE)
_SOME_TASKS = 100  # enough for any options of a mechanism whose promise is looked up


@dataclass(frozen=True)
class Entry:
    """A mechanism with a method."""

    mechanism: str
    method: str

    @property
    def promise(self) -> Promise:
        """What ε covers."""
        return promise(self.mechanism)

    @property
    def label(self) -> str:
        """For tables and figures."""
        if self.mechanism == GUESS:
            return GUESSES[self.method]
        if self.mechanism == PLAIN:
            return self.method
        return self.mechanism if self.method == OWN else f"{self.mechanism} · {self.method}"

    @property
    def is_ours(self) -> bool:
        """Inferred by forsooth's posterior."""
        return self.method == POSTERIOR

    @property
    def is_default(self) -> bool:
        """What forsooth does by default under this promise."""
        return self.is_ours and self.mechanism == DEFAULTS[self.promise]

    def suits(self, source: LeagueSet) -> bool:
        """Is it meant for the estimand? The paper runs Algorithm 1 on labels, too."""
        if self.mechanism in PRIVATE:
            return PRIVATE[self.mechanism].suits(source.estimand, source.scale)
        if self.method not in INFERENCE or self.method == ALGORITHM_1:
            return True
        return source.estimand in INFERENCE[self.method].estimands


@cache
def promise(mechanism: str) -> Promise:
    """What ε covers, by the guarantee of the mechanism."""
    if mechanism in (PLAIN, GUESS):
        return "none"
    if mechanism in PRIVATE:
        rival = PRIVATE[mechanism]
        by_worker, protects = rival.unit == UNITS[1], rival.protects
    elif mechanism == ADAPTIVE:
        return "cell"
    else:
        built = build(mechanism, Scale.parse("0..1"), 1.0, _SOME_TASKS)
        by_worker, protects = built.unit == UNITS[1], built.protects
    return "person" if by_worker else "values" if protects == "answers" else "cell"


def check_mechanism(name: str) -> str:
    """The name, if there is such a mechanism."""
    if name.partition(":")[0] not in (*MECHANISMS, *mechanisms.BUILDERS):
        raise ForsoothError(f"unknown mechanism {name!r}; known: {', '.join(MECHANISMS)}")
    promise(name)
    return name


def check_method(name: str) -> str:
    """The name, if there is such a method."""
    if name not in METHODS:
        raise ForsoothError(f"unknown method {name!r}; known: {', '.join(METHODS)}")
    return name


def build(name: str, scale: Scale, epsilon: float, tasks: int) -> Mechanism:
    """The mechanism whose true guarantee is at most ε."""
    if name == PERSON:
        return mechanisms.build("rr", scale, epsilon, tasks=tasks, unit="worker")
    dimensions = {"mf": f"mf:d={min(5, tasks)}"}  # the paper's d, unless there are fewer tasks
    found = mechanisms.build(dimensions.get(name, name), scale, epsilon, tasks=tasks)
    excess = found.guarantee.epsilon / epsilon
    if excess <= 1:
        return found
    return mechanisms.build(dimensions.get(name, name), scale, epsilon / excess, tasks=tasks)


def reports(
    name: str, epsilon: float, dataset: Dataset, estimand: Estimand, seed: int
) -> list[Reports]:
    """What leaves the workers."""
    answers = dataset.answers
    if name == ADAPTIVE:
        return adaptive_reports(answers, epsilon, estimand=estimand, simulation_seed=seed)
    mechanism = build(name, answers.scale, epsilon, len(answers.tasks))
    return [mechanism.perturb(answers, simulation_seed=seed)]
