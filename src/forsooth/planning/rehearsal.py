"""Rehearsals: a planned campaign, run through the real code on simulated crowds.

Truths are drawn from the stated prior; workers have the stated noise (an equal share each, where
several levels are stated) and answer each task with the stated density. Then the mechanism
perturbs, the default inference infers, and the error is the mean distance from the drawn truths
(for the estimand opinion, from the mean of the distribution that answers are drawn from).

A task's error depends on the number of workers, and little on the number of other tasks. So a large
campaign is rehearsed on only some of its tasks, but on at least a hundred: with fewer, the
collector learns less about the crowd as a whole, and the error comes out too large.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import repeat as same
from typing import TYPE_CHECKING

import numpy as np

from forsooth import mechanisms
from forsooth.answers import Answers, code_dtype
from forsooth.dataset import Dataset
from forsooth.errors import ForsoothError
from forsooth.inference import infer
from forsooth.mechanisms import ChannelMechanism
from forsooth.mechanisms.staircase_channel import NAME as STAIRCASE
from forsooth.mechanisms.staircase_channel import noise_levels
from forsooth.planning.adaptive import ADAPTIVE, adaptive_reports
from forsooth.privacy import Privacy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from forsooth.mechanisms.base import Mechanism
    from forsooth.planning.estimate import Expected
    from forsooth.privacy import Protects
    from forsooth.reports import Reports
    from forsooth.truths import Truths

    Measure = Callable[[int, float | None], "Point"]

_ANY_EPSILON = 5.0  # for what does not depend on ε; a staircase for this one is designed quickly
_MOST_CELLS = 50_000_000  # of a rehearsal; more would take gigabytes
_ENOUGH_CELLS = 4_000_000  # a campaign with more is rehearsed on some of its tasks only
_FEWEST_TASKS = 100
_ERROR_BAR = 0.05  # more repeats are made while the standard error is above this share
_MOST_ROUNDS = 4


@dataclass(frozen=True)
class PlannedCampaign:
    """A planned campaign, but for the number of workers and ε.

    `mechanism` is a name of `mechanisms.build`, or ``adaptive``; a plain ``staircase`` is designed
    for what is expected of the crowd, as a requester would do it.
    """

    expected: Expected
    tasks: int
    mechanism: str
    protects: Protects | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.tasks < 1:
            raise ForsoothError(f"a campaign needs at least one task, got {self.tasks}")
        if not 0 <= self.seed < 2**63:
            raise ForsoothError(f"the seed must not be negative, got {self.seed}")

    def built(self, epsilon: float) -> Mechanism | None:
        """The mechanism that all workers use; None where there is not one for all."""
        if self.mechanism == ADAPTIVE:
            return None
        return mechanisms.build(
            self._specification(),
            self.expected.scale,
            epsilon,
            tasks=self.tasks,
            protects=self.protects,
        )

    def guarantee(self, epsilon: float) -> Privacy:
        """What the workers are promised."""
        mechanism = self.built(epsilon)
        if mechanism is None:
            return Privacy(epsilon, self.protects or "answers+participation")
        return mechanism.guarantee

    @property
    def protected(self) -> Protects:
        """What is protected, whatever ε is."""
        return self.guarantee(_ANY_EPSILON).protects

    @property
    def has_estimate(self) -> bool:
        """Is there a fast estimate? Only for a mechanism that is a single table."""
        return isinstance(self.built(_ANY_EPSILON), ChannelMechanism)

    def estimate(self, workers: float, epsilon: float) -> float:
        """The fast estimate of the error."""
        return _estimate(self, workers, epsilon)

    def rehearsed_tasks(self, workers: int) -> int:
        """On how many of its tasks the campaign is rehearsed; refused if that is too much."""
        tasks = min(self.tasks, max(_FEWEST_TASKS, _ENOUGH_CELLS // workers))
        if workers * tasks > _MOST_CELLS:
            raise ForsoothError(
                f"{workers:,} workers on {tasks:,} tasks are too many to simulate (at most "
                f"{_MOST_CELLS:,} cells): ask for the fast estimate instead"
            )
        return tasks

    def rehearse(self, workers: int, epsilon: float | None, repeat: int) -> float:
        """The mean error of one rehearsal; without ε, of the unperturbed answers."""
        from threadpoolctl import threadpool_limits

        seeds = np.random.SeedSequence([self.seed, repeat]).generate_state(2, np.uint64)
        crowd = draw(self.expected, workers, self.rehearsed_tasks(workers), int(seeds[0]))
        with threadpool_limits(1):  # rehearsals run side by side, one to a core
            if epsilon is None:
                return self._infer(crowd.answers).error(crowd.truth)
            reports = self._reports(crowd.answers, epsilon, int(seeds[1]))
            return self._infer(reports).error(crowd.truth)

    def _infer(self, data: Answers | list[Reports]) -> Truths:
        return infer(data, estimand=self.expected.estimand)

    def _reports(self, answers: Answers, epsilon: float, seed: int) -> list[Reports]:
        mechanism = self.built(epsilon)
        if mechanism is None:
            return adaptive_reports(
                answers,
                epsilon,
                protects=self.protected,
                estimand=self.expected.estimand,
                simulation_seed=seed,
            )
        return [mechanism.perturb(answers, simulation_seed=seed)]

    def _specification(self) -> str:
        if self.mechanism != STAIRCASE:
            return self.mechanism
        stated = self.expected
        words = [f"density={stated.density!r}", f"truth={stated.truth}", f"noise={stated.noise}"]
        if stated.estimand is not None:
            words.append(f"estimand={stated.estimand}")
        slashed = (word.replace(":", "/").replace(",", "/") for word in words)
        return f"{STAIRCASE}:{','.join(slashed)}"


@lru_cache(maxsize=1024)  # a search comes back to the same places
def _estimate(campaign: PlannedCampaign, workers: float, epsilon: float) -> float:
    mechanism = campaign.built(epsilon)
    if not isinstance(mechanism, ChannelMechanism):
        raise ForsoothError(f"{campaign.mechanism} has no fast estimate: it must be simulated")
    return campaign.expected.error(mechanism, workers)


@dataclass(frozen=True)
class Point:
    """The errors of some rehearsals with the same number of workers and the same ε."""

    workers: int
    epsilon: float | None  # None: unperturbed
    tasks: int
    errors: tuple[float, ...]

    @property
    def mae(self) -> float:
        """Their mean."""
        return float(np.mean(self.errors))

    @property
    def se(self) -> float:
        """The standard error of that mean."""
        return float(np.std(self.errors, ddof=1) / np.sqrt(len(self.errors)))


def spread(points: Collection[Point]) -> tuple[float, float]:
    """The relative deviation of one rehearsal from its mean, and Student's quantile for 90 %.

    Three rehearsals may agree by chance, so that all points together tell the deviation.
    """
    from scipy.special import stdtrit

    freedom = sum(len(point.errors) - 1 for point in points)
    squares = sum(
        np.var(point.errors) * len(point.errors) / (point.mae or 1.0) ** 2 for point in points
    )
    return math.sqrt(squares / freedom), float(stdtrit(freedom, 0.95))


@contextmanager
def rehearsals(
    campaign: PlannedCampaign,
    repeats: int,
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Measure]:
    """A function that measures the error for given workers and ε (None: unperturbed).

    It rehearses `repeats` times, and as often again while the error bar is wide. `progress` is told
    how many rehearsals are done of how many that have been asked for.
    """
    if repeats < 2:
        raise ForsoothError(f"error bars need at least two repeats, got {repeats}")
    asked = done = 0

    @cache
    def measure(workers: int, epsilon: float | None) -> Point:
        nonlocal asked, done
        tasks = campaign.rehearsed_tasks(workers)
        errors: list[float] = []
        while True:
            asked += repeats
            numbers = range(len(errors), len(errors) + repeats)
            for error in run(
                PlannedCampaign.rehearse, same(campaign), same(workers), same(epsilon), numbers
            ):
                errors.append(error)
                done += 1
                if progress:
                    progress(done, asked)
            point = Point(workers, epsilon, tasks, tuple(errors))
            if point.se <= _ERROR_BAR * point.mae or len(errors) >= _MOST_ROUNDS * repeats:
                return point

    with _side_by_side(processes) as run:
        yield measure


@contextmanager
def _side_by_side(processes: int) -> Iterator[Callable[..., Iterator[float]]]:
    """`map`, or the same over several processes."""
    if processes <= 1:
        yield map
        return
    from forsooth.processes import Pool

    with Pool(processes) as pool:
        yield pool.map


def draw(expected: Expected, workers: int, tasks: int, seed: int) -> Dataset:
    """A simulated crowd; the same seed gives the same truths for any number of workers."""
    random = np.random.default_rng(seed)
    place = random.choice(len(expected.grid), tasks, p=expected.prior)
    levels = np.array(noise_levels(expected.noise))
    sigma = levels[random.permutation(workers) % len(levels)]
    worker, task = np.nonzero(random.random((workers, tasks), np.float32) < expected.density)
    heard = expected.grid[place][task] + random.normal(size=len(task)) * sigma[worker]
    values = np.asarray(expected.scale.values)
    answers = Answers(
        expected.scale,
        tuple(f"w{number:08}" for number in range(workers)),
        tuple(f"t{number:08}" for number in range(tasks)),
        worker.astype(np.int32),
        task.astype(np.int32),
        np.searchsorted((values[1:] + values[:-1]) / 2, heard).astype(code_dtype(expected.scale)),
    )
    return Dataset("a simulated crowd", answers, expected.estimated[place], expected.assumed)
