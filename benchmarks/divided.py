"""How often are people called divided, with one peak and with two camps?

    python -m benchmarks.divided [--campaigns 6] [--seed 7]

Every campaign has twelve questions, each answered by 90 % of the people with `rr`: one or eleven of
one shape with one peak or with two camps, or six of each. Printed per number of people, ε and mix:
how many of the questions with one peak were called divided, and how many of those with two camps.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from forsooth import Answers, Scale, infer, mechanisms

SCALE = Scale.parse("0..4")
QUESTIONS, ANSWERED = 12, 0.9
PEAK = (  # in per cent
    (5, 20, 50, 20, 5),
    (15, 22, 26, 22, 15),
    (20, 20, 20, 20, 20),
    (50, 30, 10, 6, 4),
    (32, 26, 20, 14, 8),
    (10, 27, 27, 26, 10),
    (90, 4, 3, 2, 1),
    (2, 8, 20, 30, 40),
    (0, 50, 50, 0, 0),
)
CAMPS = (
    (50, 0, 0, 0, 50),
    (0, 50, 0, 50, 0),
    (50, 0, 0, 50, 0),
    (35, 13, 4, 13, 35),
    (65, 5, 0, 5, 25),
)
PEOPLE_AND_EPSILON = (
    (50, 4.0),
    (100, 1.0),
    (100, 2.0),
    (400, 0.5),
    (400, 1.0),
    (400, 2.0),
    (2000, 1.0),
)
MIXES = (1, 6, 11)  # questions with two camps


def campaign(shapes: NDArray[np.int_], people: int, random: np.random.Generator) -> Answers:
    """Everybody's answers to every question; 10 % of the cells are empty."""
    answers = np.array([random.choice(SCALE.size, people, p=shape / 100) for shape in shapes]).T
    worker, task = np.nonzero(random.random(answers.shape) < ANSWERED)
    return Answers(
        SCALE,
        tuple(f"w{number}" for number in range(people)),
        tuple(f"q{number:02}" for number in range(len(shapes))),
        worker.astype(np.int32),
        task.astype(np.int32),
        answers[worker, task].astype(np.uint8),
    )


def divided(
    people: int, epsilon: float, camps: int, random: np.random.Generator
) -> NDArray[np.bool_]:
    """Which questions of a new campaign are called divided; those with camps come first."""
    shapes = np.concatenate([random.choice(CAMPS, camps), random.choice(PEAK, QUESTIONS - camps)])
    answers = campaign(shapes, people, random)
    seed = int(random.integers(2**31))
    reports = mechanisms.rr(SCALE, epsilon).perturb(answers, simulation_seed=seed)
    posterior = infer(reports, estimand="opinion").posterior
    assert posterior is not None
    assert posterior.valleys is not None
    return posterior.valleys.divided


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=6)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    random, peaks, false = np.random.default_rng(options.seed), 0, 0
    print("people    ε  camps   one peak    two camps")
    for people, epsilon in PEOPLE_AND_EPSILON:
        for camps in MIXES:
            found = np.array(
                [divided(people, epsilon, camps, random) for _ in range(options.campaigns)]
            )
            of_camps, of_peaks = found[:, :camps], found[:, camps:]
            peaks, false = peaks + of_peaks.size, false + int(of_peaks.sum())
            rates = (f"{each.sum():4} of {each.size:3}" for each in (of_peaks, of_camps))
            print(f"{people:6} {epsilon:4g} {camps:6} {'  '.join(rates)}")
    print(f"with one peak: {false} of {peaks:,} called divided")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
