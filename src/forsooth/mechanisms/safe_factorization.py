"""`mf-safe`: a factorization whose guarantee covers participation, with 2d numbers per worker.

The paper's MF leaks participation because the worker divides by a Gram matrix that depends on which
tasks were answered. Here nothing is divided. Every task j has a public profile v_j, and the worker
adds up two sketches over the answered tasks, to which a NULL contributes nothing:

    values    s = Σ (a_j − c)·v_j        presence    p = Σ κ·v_j        (c: middle, κ: range / 2)

and sends both with discrete Laplace noise of rate ε / Δ on each of the 2d numbers.

**Proof.** Everything is an integer number of grid steps, so sketch and noise add without rounding.
Let ‖v_j‖₁ ≤ 1. A change of one value moves s by |a − a′|·‖v_j‖₁ ≤ range and p not at all. A change
between a value and NULL moves s by |a − c|·‖v_j‖₁ ≤ range/2 and p by κ·‖v_j‖₁ = range/2. Both
kinds of neighbours are at an L1 distance of at most Δ = max(range, max|a − c| + κ) = range, so
presence costs no extra budget, and noise with P(k) ∝ e^(−ε|k|/Δ) per number changes the probability
of every report by at most e^ε. k cells move the sketches by at most k·Δ: k·ε. ∎

**Which profiles.** One matrix V for everybody would compress the whole campaign to d numbers: sums
over workers lie in V's column space, and n > d tasks can never be told apart. So every worker has
profiles of their own, from a public seed and their name: v_j is ±1 in one of d places and 0
elsewhere, the sharpest profile of 1-norm 1. The collector reads task j of a worker as ±s[place],
right on average; the other tasks in that place appear with random signs and cancel over the
workers. More places mean fewer collisions at no cost in privacy, only in length.

**Decoding** is the collector's (post-processing): per-task means of readings, the ratio of value to
presence, shrunk to the campaign's mean by as much as the noise demands (empirical Bayes).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.checks import check_number, check_whole
from forsooth.errors import ForsoothError
from forsooth.io import strict
from forsooth.mechanisms.assignment import public_words
from forsooth.mechanisms.base import BLOCK_CELLS, Layout, Mechanism
from forsooth.mechanisms.laplace import GRIDS, REACH, grid_of
from forsooth.mechanisms.noise import NEVER, RARELY, discrete_laplace, reach
from forsooth.privacy import Protects, check_epsilon
from forsooth.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from forsooth.answers import Answers
    from forsooth.mechanisms.randomness import Randomness
    from forsooth.reports import Reports
    from forsooth.scale import ScaleLike


@dataclass(frozen=True, repr=False)
class SafeFactorization(Mechanism):
    """Noisy sketches of values and presence. Lengths are in grid steps of 2^`grid`."""

    kind = "safe-factorization"

    d: int
    grid: int
    centred: tuple[int, ...]  # a − c for every answer a of the scale
    presence: int  # κ
    sensitivity: int  # Δ
    seed: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.d < 1 or len(self.centred) != self.scale.size:
            raise ForsoothError("mf-safe needs d ≥ 1 and one position per answer of the scale")
        if self.presence < 1:
            raise ForsoothError("mf-safe needs a presence weight κ above 0")
        reach = max(abs(position) for position in self.centred) + self.presence
        moved = max(max(self.centred) - min(self.centred), reach)
        if moved > self.sensitivity:
            raise ForsoothError(
                f"mf-safe does not keep its promise: one cell moves the sketches by {moved} grid "
                f"steps, the noise is made for {self.sensitivity}"
            )

    @property
    def layout(self) -> Layout:
        """2d numbers from every worker, whatever is protected."""
        return "rows"

    @property
    def dtype(self) -> np.dtype[Any]:
        """Whole grid steps."""
        return np.dtype(np.int64)

    def width(self, tasks: int) -> int:
        """2d: d numbers for values, d for presence."""
        del tasks
        return 2 * self.d

    @property
    def rate(self) -> Fraction:
        """The noise's P(k) ∝ e^(−rate·|k|), rational: ε is met exactly."""
        return Fraction(self.epsilon) / self.sensitivity

    def profiles(
        self, workers: Sequence[str], tasks: int
    ) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """Every worker's place (0..d−1) and sign (±1) for every task; public."""
        words = public_words(self.seed, workers, tasks)
        place = ((words >> np.uint64(32)) * np.uint64(self.d)) >> np.uint64(32)
        sign = np.where(words & np.uint64(1), 1, -1)
        return place.astype(np.intp), sign.astype(np.int64)

    def randomise(self, answers: Answers, random: Randomness) -> NDArray[Any]:
        """Every worker's noisy sketches, block by block."""
        workers, tasks = len(answers.workers), len(answers.tasks)
        reports = np.empty((workers, 2 * self.d), np.int64)
        block = max(1, BLOCK_CELLS // max(1, tasks))
        for start in range(0, workers, block):
            stop = min(start + block, workers)
            names = answers.workers[start:stop]
            reports[start:stop] = self.sketch(answers.rows(start, stop), names)
        return reports + discrete_laplace(self.rate, reports.size, random).reshape(reports.shape)

    def sketch(self, codes: NDArray[Any], workers: Sequence[str]) -> NDArray[np.int64]:
        """The two sketches without noise. A NULL adds zero, by the same steps as an answer."""
        place, sign = self.profiles(workers, codes.shape[1])
        target = (np.arange(len(codes))[:, None] * 2 * self.d + place).ravel()
        value = np.array([*self.centred, 0], np.int64)[codes]
        present = np.array([*[self.presence] * self.scale.size, 0], np.int64)[codes]
        total = np.zeros(len(codes) * 2 * self.d, np.int64)
        np.add.at(total, target, (sign * value).ravel())
        np.add.at(total, target + self.d, (sign * present).ravel())
        return total.reshape(len(codes), 2 * self.d)

    def readings(self, reports: Reports) -> NDArray[np.float64]:
        """Every worker's answer to every task, as far as the sketches tell it; see `_decode`."""
        return self._decode(*self.sums(reports))

    def sums(self, reports: Reports) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of every worker and task a_j − c, and 1 if it was answered: right on average only.

        Numbers are first clipped to what is plausible, so that one report has a bounded influence.
        """
        place, sign = self.profiles(reports.workers, len(reports.tasks))
        most = self.plausible(place)
        number = np.take_along_axis
        value = sign * number(reports.values[:, : self.d].clip(-most[0], most[0]), place, axis=1)
        present = sign * number(reports.values[:, self.d :].clip(-most[1], most[1]), place, axis=1)
        return value * 2.0**self.grid, present / self.presence

    def plausible(self, place: NDArray[np.intp]) -> NDArray[np.int64]:
        """What every worker's values and presences are clipped to: (2, workers, d), from 0.

        A sum over k tasks with random signs, each at most x, lies within x·√(2k·ln(2/p)) but for a
        probability p (Hoeffding), and always within k·x; the noise within its own bound for p. So
        an honest number is clipped with a probability of at most 2p, p = RARELY, whoever answers
        what: the expectation of a reading is closer to 0 than it should be by at most this share.
        """
        workers = len(place)
        cells = (np.arange(workers)[:, None] * self.d + place).ravel()
        load = np.bincount(cells, minlength=workers * self.d).reshape(workers, self.d)
        terms = np.minimum(load, np.sqrt(2 * math.log(2 / RARELY) * load))
        largest = np.array([max(map(abs, self.centred)), self.presence], float)
        noise = reach(self.rate, RARELY)
        limits: NDArray[np.int64] = np.ceil(largest[:, None, None] * terms).astype(np.int64) + noise
        return limits

    def check(self, values: NDArray[Any], tasks: int) -> NDArray[np.bool_]:
        """Numbers that need more noise than in all but a share NEVER of the reports."""
        noise = reach(self.rate, NEVER, 2 * self.d)
        largest = np.repeat([max(map(abs, self.centred)), self.presence], self.d).astype(float)
        most = tasks * largest + noise
        too_low: NDArray[np.bool_] = values < -most
        return too_low | (values > most)

    @property
    def centre(self) -> float:
        """c, what answers are measured from."""
        return self.scale.low - self.centred[0] * 2.0**self.grid

    def _decode(
        self, value: NDArray[np.float64], present: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Per-task means by empirical Bayes, plus what a worker's own sketch adds to them.

        With μ the campaign's mean answer and π its rate of answering, r = value − present·(μ − c)
        has mean π(θ_j − μ) over the workers: noise of known variance around a task's deviation.
        The task's mean of r is shrunk by τ²/(τ² + noise/m), τ² being what the spread of the means
        over tasks leaves for the truths. A worker's own r adds with the gain of the best linear
        predictor of their answer; of r's variance beyond the noise, a share d/n is that answer's.
        """
        workers, tasks = value.shape
        centre = self.centre
        share = float(np.clip(present.mean(), 1 / tasks, 1))
        lean = float(
            np.clip(value.mean() / share, self.scale.low - centre, self.scale.high - centre)
        )
        residual = value - present * lean
        mean, variance = residual.mean(axis=0), residual.var(axis=0).mean()
        between = max(0.0, float(mean.var()) - variance / workers)
        shrunk = mean * between / (between + variance / workers) if between else 0 * mean
        truth = np.clip(centre + lean + shrunk / share, self.scale.low, self.scale.high)
        known = self.noise_variance() * (1 + (lean * 2.0**-self.grid / self.presence) ** 2)
        gain = max(0.0, 1 - known / variance) * min(1.0, self.d / tasks) if variance else 0.0
        rows: NDArray[np.float64] = truth + gain * (residual - mean)
        return rows

    def noise_variance(self) -> float:
        """Of one noisy number, in units of the scale: 2q / (1 − q)² steps² with q = e^−rate."""
        rate = float(self.rate)
        return 2 * math.exp(-rate) / math.expm1(-rate) ** 2 * 4.0**self.grid

    def parameters(self) -> dict[str, Any]:
        """Everything but the noise."""
        return {
            "d": self.d,
            "grid": self.grid,
            "centred": self.centred,
            "presence": self.presence,
            "sensitivity": self.sensitivity,
            "seed": self.seed,
        }

    @classmethod
    def from_parameters(
        cls, common: Mapping[str, Any], parameters: Mapping[str, Any]
    ) -> SafeFactorization:
        """Verified by the constructor."""
        return cls(
            **common,
            d=strict.integer(parameters["d"], "d", 1, 2**20),
            grid=strict.integer(parameters["grid"], "grid", *GRIDS),
            centred=strict.integers(parameters["centred"], "a position", -REACH, REACH),
            presence=strict.integer(parameters["presence"], "presence", 1, REACH),
            sensitivity=strict.integer(parameters["sensitivity"], "sensitivity", 1, 2 * REACH),
            seed=strict.integer(parameters["seed"], "seed", 0),
        )


def mf_safe(
    scale: ScaleLike,
    epsilon: float,
    *,
    tasks: int,
    protects: Protects = "answers+participation",
    d: int | None = None,
    centre: float | None = None,
    kappa: float | None = None,
    seed: int = 0,
) -> SafeFactorization:
    """Null-safe factorization: d places (by default 16, or as many as tasks), centre c and κ.

    It protects participation whether that is asked for or not.
    """
    scale = Scale.parse(scale)
    check_epsilon(epsilon)
    tasks, seed = check_whole(tasks, "mf-safe's tasks"), check_whole(seed, "mf-safe's seed", 0)
    d = min(16, tasks) if d is None else check_whole(d, "mf-safe's d")
    if not 1 <= d <= tasks:
        raise ForsoothError(f"mf-safe needs 1 ≤ d ≤ tasks, got d = {d} with {tasks} tasks")
    c = scale.middle if centre is None else check_number(centre, "mf-safe's centre")
    k = scale.range / 2 if kappa is None else check_number(kappa, "mf-safe's κ")
    if not scale.low <= c <= scale.high:
        raise ForsoothError(f"mf-safe's centre must lie on the scale {scale}, got {c}")
    if not 0 < k <= scale.range:
        raise ForsoothError(f"mf-safe's κ must be above 0 and at most the range, got {k}")
    grid = grid_of(scale)
    middle = round(math.ldexp(c, -grid))
    centred = tuple(round(math.ldexp(value, -grid)) - middle for value in scale.values)
    presence = max(1, round(math.ldexp(k, -grid)))
    reach = max(abs(position) for position in centred) + presence
    sensitivity = max(centred[-1] - centred[0], reach)
    return SafeFactorization(
        "mf-safe", scale, epsilon, protects, d, grid, centred, presence, sensitivity, seed
    )
