"""Opinions: populations whose shares are known, of two camps, skewed, or with one peak.

Every campaign has several questions of one shape; each question has a population of its own. A
person answers each question for himself or herself, independently, from the question's population;
the truth is the population: its share of every answer, and its mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from benchmarks.measuring import (
    BOTH,
    Array,
    Options,
    Score,
    Version,
    mean,
    noise_seed,
    old_version,
    perturbed,
    print_table,
    timed,
    write_json,
)
from benchmarks.version_0_1_0 import Data
from forsooth import Answers, Scale, Truths
from forsooth.answers import code_dtype

Random = np.random.Generator
QUESTIONS = 12  # of a campaign
PARTICIPATION = 0.8  # share of the questions that a person answers
ANSWERS = (2, 3, 5, 7, 11)  # on the scale
STRENGTHS = ((100, 2), (100, 4), (400, 1), (400, 2), (400, 4), (2000, 0.5), (2000, 1))  # people, ε


def camps(random: Random, answers: int) -> Array:
    """About half at each end, one in five of a camp a step or more from it."""
    low = 0.2 ** np.arange(answers)
    low /= low.sum()
    share = random.beta(8, 8, (QUESTIONS, 1))
    return np.asarray(share * low + (1 - share) * low[::-1])


def skewed(random: Random, answers: int) -> Array:
    """Most at one end, ever fewer towards the other."""
    ratio = random.uniform(0.3, 0.8, (QUESTIONS, 1))
    shares = ratio ** np.arange(answers)
    shares /= shares.sum(axis=1, keepdims=True)
    return shares[:, ::-1] if random.integers(2) else shares


def unimodal(random: Random, answers: int) -> Array:
    """A rounded normal distribution around a middle of the question's own."""
    place, last = np.arange(answers), answers - 1
    middle = random.uniform(0.2, 0.8, (QUESTIONS, 1)) * last
    spread = random.uniform(0.12, 0.3, (QUESTIONS, 1)) * last
    shares = np.exp(-0.5 * ((place - middle) / spread) ** 2)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


SHAPES: dict[str, Callable[[Random, int], Array]] = {
    "two camps": camps,
    "skewed": skewed,
    "one peak": unimodal,
}


@dataclass(frozen=True)
class Setting:
    """One campaign by name."""

    shape: str
    answers: int
    people: int
    epsilon: float
    mechanism: str
    seed: int

    def draw(self) -> tuple[Data, Array]:
        """The reports, and the shares behind them, questions × answers."""
        seed = noise_seed(self.seed, self.shape, self.answers, self.people, self.epsilon)
        random = np.random.default_rng(seed)
        shares = SHAPES[self.shape](random, self.answers)
        given = drawn(random, shares, self.people)
        noise = noise_seed(self.seed, self.mechanism, self.epsilon)
        return perturbed(given, self.mechanism, self.epsilon, noise), shares


def drawn(random: Random, shares: Array, people: int) -> Answers:
    """What the people answer."""
    questions, answers = shares.shape
    worker, task = np.nonzero(random.random((people, questions)) < PARTICIPATION)
    reached = shares.cumsum(axis=1)[task] < random.random((len(task), 1))
    scale = Scale.parse(f"0..{answers - 1}")
    return Answers(
        scale,
        tuple(f"p{number:05}" for number in range(people)),
        tuple(f"q{number:03}" for number in range(questions)),
        worker.astype(np.int32),
        task.astype(np.int32),
        np.minimum(reached.sum(axis=1), answers - 1).astype(code_dtype(scale)),
    )


@dataclass(frozen=True)
class Outcome:
    """Errors of the shares, and of the means by both versions."""

    setting: Setting
    share_error: float | None
    share_coverage: float | None
    new: Score | None
    old: Score | None


def settings(seeds: Sequence[int]) -> list[Setting]:
    """Participation is hidden (rr) and public (grr) in turn."""
    every = product(seeds, SHAPES, ANSWERS, STRENGTHS)
    return [
        Setting(shape, answers, people, epsilon, ("rr", "grr")[number % 2], seed)
        for number, (seed, shape, answers, (people, epsilon)) in enumerate(every)
    ]


def measured(setting: Setting, versions: Sequence[Version] = BOTH) -> Outcome:
    """Both versions on the same reports; version 0.1.0 knows means only."""
    data, shares = setting.draw()
    means = shares @ np.arange(setting.answers)
    old = old_version().infer(data) if "old" in versions else None
    before = Score.of(old, means, old.seconds) if old else None
    if "new" not in versions:
        return Outcome(setting, None, None, None, before)
    truths, seconds = timed(data, "opinion")
    estimate, low, high = shares_of(truths)
    inside = (low - 1e-9 <= shares) & (shares <= high + 1e-9)
    return Outcome(
        setting,
        float(np.abs(estimate - shares).mean()),
        float(inside.mean()),
        Score.of(truths, means, seconds),
        before,
    )


def shares_of(truths: Truths) -> tuple[Array, Array, Array]:
    """Estimates and bounds, tasks × answers."""
    assert truths.posterior
    found = truths.posterior.shares
    assert found
    return found.estimate, found.low, found.high


def report(options: Options) -> None:
    """The two camps in full, then all settings by group."""
    if "new" in options.versions:
        _example(Setting("two camps", 5, 400, 2.0, "rr", options.seeds[0]))
    runs: list[Outcome] = []
    work = partial(measured, versions=options.versions)
    for run in options.each(work, settings(options.seeds)):
        runs.append(run)
        write_json(options.json, runs)
    headings = (
        "group", "campaigns", "coverage of shares", "coverage of means", "coverage of means 0.1.0",
        "error of shares", "error of means/range", "the same 0.1.0", "seconds",
    )  # fmt: skip
    print_table(headings, (_line(name, members) for name, members in _groups(runs).items()))


def _example(setting: Setting) -> None:
    data, shares = setting.draw()
    truths, _ = timed(data, "opinion")
    estimate, low, high = shares_of(truths)
    print(f"Two camps, {setting.people} people, ε = {setting.epsilon:g}, true share: estimate "
          "(90 % interval)\n")  # fmt: skip
    rows = [
        [task]
        + [
            f"{truth:.2f}: {value:.2f} ({least:.2f}–{most:.2f})"
            for truth, value, least, most in zip(*columns)
        ]
        for task, *columns in zip(truths.tasks, shares, estimate, low, high)
    ]
    print_table(("question", *truths.scale.labels), rows)
    inside = (low - 1e-9 <= shares) & (shares <= high + 1e-9)
    print(f"\n{inside.sum()} of {inside.size} shares lie in their intervals.\n")


def _groups(runs: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """All, then by shape, by number of answers, by people and ε, by mechanism."""
    kinds: tuple[Callable[[Setting], str], ...] = (
        lambda _: "all",
        lambda setting: setting.shape,
        lambda setting: f"{setting.answers} answers",
        lambda setting: f"{setting.people:,} people, ε = {setting.epsilon:g}",
        lambda setting: setting.mechanism,
    )
    found: dict[str, list[Outcome]] = {}
    for kind, run in product(kinds, runs):
        found.setdefault(kind(run.setting), []).append(run)
    return found


def _line(name: str, runs: Sequence[Outcome]) -> list[str]:
    new, old = ([(run, score) for run in runs if (score := getattr(run, v))] for v in BOTH)
    errors = ([score.mae / (run.setting.answers - 1) for run, score in of] for of in (new, old))
    shares = [run for run in runs if run.share_error is not None]
    return [
        name,
        str(len(runs)),
        mean([run.share_coverage or 0.0 for run in shares]),
        *(mean([score.coverage for _, score in of]) for of in (new, old)),
        mean([run.share_error or 0.0 for run in shares], 4),
        *(mean(each, 4) for each in errors),
        mean([score.seconds for _, score in new], 2),
    ]
