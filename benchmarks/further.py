"""How often is "about LOW to HIGH more people" right?

    python -m benchmarks.further [--campaigns 4] [--seed 1]

Simulated campaigns on the scale 0..4 grow from 10 to 640 people. How many people they need for
intervals of a quarter of the scale is read off the mean width of all campaigns of a kind. Printed
per kind and number of people: how many campaigns were given a range, how many of these ranges hold,
and the median range.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

import numpy as np

from forsooth import Answers, Scale, infer, mechanisms
from forsooth.mechanisms import ChannelMechanism
from forsooth.planning.estimate import Expected
from forsooth.planning.further import FurtherWorkers, further_workers
from forsooth.planning.rehearsal import draw

SCALE = Scale.parse("0..4")
TARGET = SCALE.range / 4
PEOPLE = (10, 20, 40, 80, 160, 320, 640)


@dataclass(frozen=True)
class Kind:
    """What is asked of which crowd."""

    expected: Expected
    tasks: int
    epsilon: float


KINDS = {
    "level": Kind(Expected(SCALE, 0.8), 8, 1.0),
    "level, 30 questions": Kind(Expected(SCALE, 0.5, "normal:2,0.7"), 30, 2.0),
    "opinion": Kind(Expected(SCALE, 0.8, estimand="opinion"), 8, 1.0),
    "opinion, two camps": Kind(Expected(SCALE, 0.9, noise="3", estimand="opinion"), 5, 2.0),
}


def first(answers: Answers, people: int) -> Answers:
    """The answers of the first people."""
    chosen = answers.worker < people
    return replace(
        answers,
        workers=answers.workers[:people],
        worker=answers.worker[chosen],
        task=answers.task[chosen],
        code=answers.code[chosen],
    )


def grown(kind: Kind, seed: int) -> list[tuple[float, FurtherWorkers | None]]:
    """The width of the intervals and the stated range, for every number of people."""
    mechanism = mechanisms.rr(SCALE, kind.epsilon)
    assert isinstance(mechanism, ChannelMechanism)
    answers = draw(kind.expected, PEOPLE[-1], kind.tasks, seed).answers
    found = []
    for people in PEOPLE:
        reports = mechanism.perturb(first(answers, people), simulation_seed=seed + people)
        truths = infer(reports, estimand=kind.expected.estimand)
        posterior = truths.posterior
        assert posterior is not None
        density = posterior.participation
        if density is None:
            assert posterior.shares is not None
            density = float(posterior.shares.participation.mean())
        width = float(np.median(truths.high - truths.low))
        more = further_workers(
            truths, mechanism, people, density=density, width=width, target=TARGET
        )
        found.append((width, more))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=4, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    stated = right = 0
    for name, kind in KINDS.items():
        runs = [grown(kind, given.seed + 1000 * run) for run in range(given.campaigns)]
        widths = np.mean([[width for width, _ in run] for run in runs], axis=0)
        needed = float(np.exp(np.interp(-TARGET, -widths, np.log(PEOPLE))))
        print(f"{name}: {needed:.0f} people are needed")
        for place, people in enumerate(PEOPLE):
            ranges = [more for run in runs if (more := run[place][1]) is not None]
            holds = sum(each.low <= max(0, needed - people) <= each.high for each in ranges)
            stated, right = stated + len(ranges), right + holds
            if ranges:
                low, high = np.median([(each.low, each.high) for each in ranges], axis=0)
                print(
                    f"  {people:4} people: {len(ranges)} of {len(runs)} say a range, "
                    f"{holds} right; {low:.0f} to {high:.0f} more"
                )
    print(f"{right} of {stated} ranges hold")


if __name__ == "__main__":
    main()
