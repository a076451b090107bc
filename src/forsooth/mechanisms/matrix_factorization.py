"""`mf`: the paper's matrix factorization with a perturbed objective (its Algorithm 2).

The collector publishes V (d × n, random, independent of the data, non-negative, ‖v_j‖₁ = 1). A
worker minimises Σ_{answered j} (a_j − u·v_j)² + λ‖u‖² + 2u·η with Laplace noise η and sends u, d
numbers. With G = Σ v_j v_jᵀ and b = Σ a_j v_j over the answered tasks the minimum is

    u = (G + λI)⁻¹ (b − η).

**Guarantee: values only, the answered set being public.** For two vectors with the same answered
set that differ in one value, ‖b − b′‖₁ ≤ range(Γ)·‖v_j‖₁ = range(Γ), so that b − η, with noise of
scale range(Γ)/ε, is ε-LDP; G is the same on both sides and u is computed from b − η and G alone.
The paper claims more: that NULLs are protected too. They are not. Its proof takes the same
answered set on both sides; with one cell answered or not, G changes. With d = 1 and v = (1, 1) the
answers (0, NULL) give u = −η and (0, 0) give u = −η/2: the density ratio at u is ½·e^(ε|u|/|Γ|),
which no ε bounds.

**Exactness.** V's entries are multiples of 2⁻²⁰ and answers of the scale's grid, so that b and η
are integers and b − η is computed without rounding; what follows is post-processing.

**Why λ > 0.** A worker with fewer than d answers has a singular G. Then the paper's loss (λ = 0)
has no minimum: along a direction that G does not see it falls without end, with slope 2η, and
gradient descent "until the gradient is 0" walks off along the noise, the further the more steps it
is allowed. With λ > 0 the minimum exists, is unique, and is one small linear system. Gradient
descent is here for comparison, with its step limit spelled out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np

from forsooth.checks import check_number, check_whole
from forsooth.errors import ForsoothError
from forsooth.io import strict
from forsooth.mechanisms.base import Layout, Mechanism
from forsooth.mechanisms.laplace import grid_of
from forsooth.mechanisms.noise import NEVER, discrete_laplace, reach
from forsooth.privacy import check_epsilon
from forsooth.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from forsooth.answers import Answers
    from forsooth.mechanisms.randomness import Randomness
    from forsooth.reports import Reports
    from forsooth.scale import ScaleLike

Solver = Literal["closed-form", "gradient-descent"]
UNIT = 2**20  # V's entries are multiples of 1 / UNIT
MIN_RIDGE = 1e-6  # far above what rounding makes of a singular matrix
MAX_STEPS = 1_000_000
_EXACT = 2**53  # integers that float64 holds exactly
_LEAST_TRACE = 2.0**-40  # of a step's length in gradient descent
_BLOCK_NUMBERS = 2**22  # floats in one block of workers


@dataclass(frozen=True, repr=False)
class MatrixFactorization(Mechanism):
    """The worker's profile u; `profiles` holds V as integers, one column of d numbers per task."""

    kind: ClassVar[str] = "matrix-factorization"

    profiles: tuple[tuple[int, ...], ...]
    ridge: float
    solver: Solver
    steps: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.protects != "answers":
            raise ForsoothError(
                "mf protects answers only: the density of its report depends without bound on "
                "which tasks were answered. Say --protects answers"
            )
        if self.solver not in ("closed-form", "gradient-descent"):
            raise ForsoothError(f"mf's solver is closed-form or gradient-descent: {self.solver!r}")
        if not 0 <= self.ridge <= 1e9 or not 1 <= self.steps <= MAX_STEPS:
            raise ForsoothError(f"mf needs a ridge from 0 to 1e9 and from 1 to {MAX_STEPS:,} steps")
        if self.ridge < MIN_RIDGE and self.solver == "closed-form":
            raise ForsoothError(
                f"mf's closed form needs ridge ≥ {MIN_RIDGE:g}: without it there is no minimum on "
                "rows with fewer than d answers (solver=gradient-descent takes ridge=0)"
            )
        if not self.profiles or not 1 <= len(self.profiles[0]) <= len(self.profiles):
            raise ForsoothError("mf needs 1 ≤ d ≤ tasks")
        for task, profile in enumerate(self.profiles):
            if min(profile) < 0 or sum(profile) > UNIT or len(profile) != self.d:
                raise ForsoothError(f"mf: column {task} of V is negative or its 1-norm exceeds 1")
        reach = np.abs(self.positions).max() * UNIT * len(self.profiles)
        if reach >= _EXACT:
            raise ForsoothError("mf: tasks × scale too large for exact sums; use a coarser scale")

    @property
    def d(self) -> int:
        """The factorization parameter: how many numbers a worker sends."""
        return len(self.profiles[0])

    @property
    def layout(self) -> Layout:
        """D numbers from every worker."""
        return "rows"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The profile u."""
        return np.dtype(np.float64)

    def width(self, tasks: int) -> int:
        """d, whatever the number of tasks."""
        if tasks != len(self.profiles):
            raise ForsoothError(
                f"this mf was made for {len(self.profiles)} tasks, the campaign has {tasks}"
            )
        return self.d

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """V, d × n."""
        return np.array(self.profiles, np.float64).T / UNIT

    @cached_property
    def positions(self) -> NDArray[np.float64]:
        """The scale's values in whole grid steps."""
        return np.rint(np.ldexp(self.scale.values, -self.grid))

    @property
    def grid(self) -> int:
        """Integers stay integers; other scales lie on a fine grid."""
        whole = all(value.is_integer() for value in self.scale.values)
        return 0 if whole else grid_of(self.scale)

    @property
    def rate(self) -> Fraction:
        """Noise per unit of b, where b is in steps of 2^grid / UNIT."""
        spread = int(self.positions.max() - self.positions.min())
        return Fraction(self.epsilon) / (spread * UNIT)

    def randomise(self, answers: Answers, random: Randomness) -> NDArray[Any]:
        """Every worker's u, block by block."""
        width = self.width(len(answers.tasks))
        profiles = np.empty((len(answers.workers), width))
        block = max(1, _BLOCK_NUMBERS // (len(answers.tasks) + width * width))
        for start in range(0, len(profiles), block):
            stop = min(start + block, len(profiles))
            profiles[start:stop] = self._profiles(answers.rows(start, stop), random)
        return profiles

    def _profiles(self, codes: NDArray[Any], random: Randomness) -> NDArray[np.float64]:
        answered = codes != self.scale.null
        value = np.append(self.positions, 0.0)[codes]
        integer_v = np.array(self.profiles, np.float64)
        # Sums of integers below 2^53: the floating-point product is exact.
        sketch = (value @ integer_v).astype(np.int64)
        noise = discrete_laplace(self.rate, sketch.size, random).reshape(sketch.shape)
        noisy = np.ldexp((sketch - noise).astype(np.float64), self.grid) / UNIT
        d = self.d
        outer = (self.matrix.T[:, :, None] * self.matrix.T[:, None, :]).reshape(-1, d * d)
        gram = (answered.astype(np.float64) @ outer).reshape(-1, d, d) + self.ridge * np.eye(d)
        if self.solver == "closed-form":
            return np.linalg.solve(gram, noisy[:, :, None])[:, :, 0]
        return self._descend(gram, noisy, random)

    def _descend(
        self, gram: NDArray[np.float64], noisy: NDArray[np.float64], random: Randomness
    ) -> NDArray[np.float64]:
        """Algorithm 2 from a random start; the trace bounds the curvature, so no step overshoots.

        Rows with a singular G and no ridge never arrive: the step limit decides what they send.
        """
        start = random.words(noisy.size).astype(np.float64).reshape(noisy.shape) / 2.0**32
        trace = np.trace(gram, axis1=1, axis2=2)
        learning_rate = 0.5 / np.maximum(trace, _LEAST_TRACE)
        profile = start
        for _ in range(self.steps):
            gradient = 2 * ((gram @ profile[:, :, None])[:, :, 0] - noisy)
            profile = profile - learning_rate[:, None] * gradient
        return profile

    def readings(self, reports: Reports) -> NDArray[np.float64]:
        """uV: every worker's answer to every task, as the factorization predicts it."""
        readings: NDArray[np.float64] = reports.values @ self.matrix
        return readings

    def check(self, values: NDArray[Any], tasks: int) -> NDArray[np.bool_]:
        """Numbers that are not, or need more noise than in all but a share NEVER of the reports.

        With V and the answers a restricted to the n answered tasks, and a ridge λ > 0,
        ‖(VVᵀ + λI)⁻¹Va‖ ≤ max_s s/(s² + λ)·‖a‖ ≤ √n·max|a_j| / √λ and ‖(VVᵀ + λI)⁻¹η‖ ≤ ‖η‖/λ.
        Gradient descent of k steps of length h, from a start of norm √d at most, multiplies every
        singular direction by a factor in [0, min(1, 2hk(s² + λ))]: λ may be as small as 1/(2hk).
        """
        del tasks
        ridge, start = self.ridge, 0.0
        if self.solver == "gradient-descent":
            ridge = max(ridge, max(ridge * self.d, _LEAST_TRACE) / self.steps)
            start = math.sqrt(self.d)
        noise = math.ldexp(reach(self.rate, NEVER, self.d), self.grid) / UNIT
        largest = math.ldexp(np.abs(self.positions).max(), self.grid)
        answers = largest * math.sqrt(len(self.profiles) / ridge)
        longest = start + answers + math.sqrt(self.d) * noise / ridge
        possible: NDArray[np.bool_] = np.abs(values) <= longest  # false for what is no number
        return ~possible

    def parameters(self) -> dict[str, Any]:
        """V and the solver."""
        return {
            "unit": UNIT,
            "profiles": self.profiles,
            "ridge": self.ridge,
            "solver": self.solver,
            "steps": self.steps,
        }

    @classmethod
    def from_parameters(
        cls, common: Mapping[str, Any], parameters: Mapping[str, Any]
    ) -> MatrixFactorization:
        """Verified by the constructor."""
        strict.integer(parameters["unit"], "unit", UNIT, UNIT)
        profiles = strict.rows(parameters["profiles"], "profiles")
        return cls(
            **common,
            profiles=tuple(strict.integers(profile, "V", 0, UNIT) for profile in profiles),
            ridge=strict.number(parameters["ridge"], "ridge"),
            solver=cast("Solver", parameters["solver"]),
            steps=strict.integer(parameters["steps"], "steps", 1, MAX_STEPS),
        )


def mf(
    scale: ScaleLike,
    epsilon: float,
    *,
    tasks: int,
    d: int = 5,
    ridge: float = 1.0,
    solver: Solver = "closed-form",
    steps: int = 1000,
    seed: int = 0,
) -> MatrixFactorization:
    """Matrix factorization for a campaign of `tasks` tasks; V is public and made from `seed`."""
    scale = Scale.parse(scale)
    check_epsilon(epsilon)
    check_whole(seed, "mf's seed", 0)
    tasks, d = check_whole(tasks, "mf's tasks"), check_whole(d, "mf's d")
    ridge = check_number(ridge, "mf's ridge")
    steps = check_whole(steps, "mf's steps")
    if not 1 <= d <= tasks:
        raise ForsoothError(f"mf needs 1 ≤ d ≤ tasks, got d = {d} with {tasks} tasks")
    profiles = _random_profiles(tasks, d, seed)
    return MatrixFactorization("mf", scale, epsilon, "answers", profiles, ridge, solver, steps)


def _random_profiles(tasks: int, d: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Uniform entries, scaled so that every column of V sums to exactly 1."""
    uniform = np.random.default_rng(seed).random((tasks, d))
    cumulative = np.cumsum(uniform, axis=1)
    edges = np.rint(cumulative / cumulative[:, -1:] * UNIT).astype(np.int64)
    entries = np.diff(edges, axis=1, prepend=0)
    return tuple(tuple(int(entry) for entry in row) for row in entries)
