"""The exact audit: ε from the integers and rationals of a mechanism, per kind of neighbours.

No sampling, and no trust in what the mechanism says of itself. Every number is rounded up.
Neighbours are two answer vectors of one worker that differ in one cell: in its value, or in
participation (a value against NULL). A witness is two neighbours and a report that show how far
apart they are; where ε is unbounded it goes beyond any bound that is asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.mechanisms import (
    Channel,
    ChannelMechanism,
    Laplace,
    MatrixFactorization,
    Mechanism,
    PresenceLaplace,
    SafeFactorization,
    SampledTasks,
    TwoLayer,
)
from forsooth.mechanisms.exact import log_ratio
from forsooth.mechanisms.matrix_factorization import UNIT
from forsooth.rounding import float_above

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

INFINITE = math.inf
_REVEALING_CELLS = 64  # other cells that, in two-layer's witness, betray the worker's budget


@dataclass(frozen=True)
class Witness:
    """Two neighbours and a report whose log-ratio is `log_ratio`; None in an input is NULL."""

    inputs: tuple[list[float | None], list[float | None]]
    output: list[float]
    log_ratio: float

    def __str__(self) -> str:
        one, other = (_listed(["NULL" if a is None else f"{a:g}" for a in v]) for v in self.inputs)
        report = _listed([f"{number:.6g}" for number in self.output])
        return f"answers {one} against {other}, report {report}: log-ratio {self.log_ratio:.6g}"


@dataclass(frozen=True)
class Exact:
    """The supremum of the log-ratio over all reports, for each kind of neighbours."""

    value: float
    participation: float
    value_witness: Witness | None = None
    participation_witness: Witness | None = None


@singledispatch
def exact_epsilon(mechanism: Mechanism) -> Exact:
    """The true ε of a mechanism for value and for participation neighbours."""
    raise ForsoothError(f"there is no exact audit of {mechanism.name}")


@exact_epsilon.register
def _(mechanism: ChannelMechanism) -> Exact:
    """A table: the largest ratio of two weights in a column, over the pairs of each kind."""
    values = mechanism.scale.size
    value = _worst(mechanism.channel, mechanism, range(values), range(values))
    if mechanism.protects == "answers":
        return Exact(value.log_ratio, INFINITE, value)
    presence = _worst(mechanism.channel, mechanism, range(values), [mechanism.scale.null])
    return Exact(value.log_ratio, presence.log_ratio, value, presence)


@exact_epsilon.register
def _(mechanism: TwoLayer) -> Exact:
    """Over whole vectors the other cells reveal the budget: the largest budget's table decides.

    The witness has enough other cells, all kept, that the budget is betrayed.
    """
    top = mechanism.channels[-1]
    values = mechanism.scale.size
    value = _worst(top, mechanism, range(values), range(values))
    kinds = {"value": (0, 1), "participation": (0, mechanism.scale.null)}
    witness = {
        kind: _betrayed(mechanism, *pair) for kind, pair in kinds.items() if max(pair) < top.inputs
    }
    if mechanism.protects == "answers":
        return Exact(value.log_ratio, INFINITE, witness["value"])
    presence = _worst(top, mechanism, range(values), [mechanism.scale.null])
    return Exact(value.log_ratio, presence.log_ratio, witness["value"], witness["participation"])


@exact_epsilon.register
def _(mechanism: Laplace) -> Exact:
    """ε = rate × distance; for a random replacement of NULL the mixture's worst ratio."""
    positions = mechanism.positions
    value = float_above(mechanism.rate * (max(positions) - min(positions)))
    if mechanism.protects == "answers":
        return Exact(value, INFINITE)
    if mechanism.null is not None:
        replaced = positions[mechanism.null]
        farthest = max(abs(position - replaced) for position in positions)
        return Exact(value, float_above(mechanism.rate * farthest))
    return Exact(value, max(_mixture_ratios(mechanism)))


@exact_epsilon.register
def _(mechanism: PresenceLaplace) -> Exact:
    """Values as in `lp`; participation adds to ε₁ how far an answer may exceed the replacement."""
    inner = exact_epsilon(mechanism.inner)
    above, below = inner.participation, inner.participation
    if mechanism.inner.null is None:
        above, below = _mixture_ratios(mechanism.inner)
    first = Fraction(mechanism.presence_epsilon)
    presence = max(first + Fraction(above), Fraction(below) - first)
    return Exact(inner.value, float_above(presence))


@exact_epsilon.register
def _(mechanism: SafeFactorization) -> Exact:
    """ε = rate × L1 distance of the sketches; profiles have 1-norm 1."""
    centred = mechanism.centred
    value = mechanism.rate * (max(centred) - min(centred))
    presence = mechanism.rate * (max(abs(a) for a in centred) + mechanism.presence)
    return Exact(float_above(value), float_above(presence))


@exact_epsilon.register
def _(mechanism: MatrixFactorization) -> Exact:
    """Values: rate × range × ‖v_j‖₁. Participation: unbounded, with a witness."""
    spread = int(mechanism.positions.max() - mechanism.positions.min())
    norm = max(sum(profile) for profile in mechanism.profiles)
    value = float_above(mechanism.rate * spread * norm)
    if mechanism.solver != "closed-form":
        return Exact(value, INFINITE)
    return Exact(value, INFINITE, participation_witness=mf_witness(mechanism, mechanism.epsilon))


@exact_epsilon.register
def _(mechanism: SampledTasks) -> Exact:
    """For the whole worker: every sampled cell at its worst, and the ratios multiply."""
    cell = exact_epsilon(mechanism.inner)
    value, presence = (
        each if math.isinf(each) else float_above(Fraction(each) * mechanism.count)
        for each in (cell.value, cell.participation)
    )
    return Exact(value, presence)


def _worst(channel: Channel, mechanism: Mechanism, rows: Any, other_rows: Any) -> Witness:
    """The pair of inputs and the symbol with the largest ratio, either way round."""
    best = (1, 1, 0, 0, 0)
    for column, weights in enumerate(zip(*channel.weights)):
        for group, others in ((rows, other_rows), (other_rows, rows)):
            high = max(group, key=lambda row: weights[row])
            low = min(others, key=lambda row: weights[row])
            if weights[high] * best[1] > best[0] * weights[low]:
                best = (weights[high], weights[low], high, low, column)
    larger, smaller, high, low, column = best
    inputs = ([_answer(mechanism, high)], [_answer(mechanism, low)])
    return Witness(inputs, [float(column)], log_ratio(larger, smaller))


def _betrayed(mechanism: TwoLayer, kept: int, changed: int) -> Witness:
    """Many equal cells, all reported as they are, and one that differs, reported as they."""
    totals = []
    for code in (kept, changed):
        per_budget = (
            c.weights[kept][kept] ** _REVEALING_CELLS * c.weights[code][kept]
            for c in mechanism.channels
        )
        totals.append(sum(per_budget))
    same = [_answer(mechanism, kept)] * _REVEALING_CELLS
    inputs = ([*same, _answer(mechanism, kept)], [*same, _answer(mechanism, changed)])
    output = [float(kept)] * (_REVEALING_CELLS + 1)
    return Witness(inputs, output, log_ratio(totals[0], totals[1]))


def _mixture_ratios(mechanism: Laplace) -> tuple[float, float]:
    """The largest ln P(y | a) / P(y | NULL) over reports y, and the largest of its inverse.

    NULL is a uniform mixture of the answers.

    Between two positions both are sums of e^(±rate·y), and outside all of them the ratio is
    constant: the extremes lie at positions. The mixture's weights are those of the integer draw.
    """
    positions, size = mechanism.positions, mechanism.scale.size
    counts = [
        (2**32 * (k + 1) + size - 1) // size - (2**32 * k + size - 1) // size for k in range(size)
    ]
    with localcontext(Context(prec=60)):
        rate = Decimal(mechanism.rate.numerator) / Decimal(mechanism.rate.denominator)
        density = {
            distance: (-rate * distance).exp()
            for distance in {abs(a - b) for a in positions for b in positions}
        }
        above = below = Decimal(0)
        for y in positions:
            terms = [n * density[abs(y - x)] for n, x in zip(counts, positions)]
            mixed = sum(terms, Decimal(0)) / 2**32
            for a in positions:
                ratio = (density[abs(y - a)] / mixed).ln()
                above, below = max(above, ratio), max(below, -ratio)
        slack = 1 + Decimal("1e-40")
        return float_above(Fraction(above * slack)), float_above(Fraction(below * slack))


def mf_witness(mechanism: MatrixFactorization, epsilon: float) -> Witness:
    """Two vectors that differ in whether one task was answered, and a u that tells them apart.

    With A = G + λI the density of u is |det A|·∏ (rate/2)·e^(−rate·|b − Au|). Answering one task
    more adds v vᵀ to G; along u = t·v (v ≥ 0) this makes ‖Au‖₁ larger by t·‖v‖₂²·‖v‖₁, and the
    log-ratio grows linearly in t: past any ε.
    """
    low, tasks = mechanism.scale.low, len(mechanism.profiles)
    first: list[float | None] = [low] if tasks > 1 else []  # everybody answers something
    rest: list[float | None] = [None] * (tasks - len(first) - 1)
    fewer, more = [*first, None, *rest], [*first, low, *rest]
    direction = mechanism.matrix[:, len(first)]
    distance = 1.0
    while True:
        u = -distance * direction
        ratio = float(mf_log_density(mechanism, fewer, u) - mf_log_density(mechanism, more, u))
        if ratio > 2 * epsilon + 1:
            return Witness((fewer, more), u.tolist(), ratio)
        distance *= 2


def mf_log_density(
    mechanism: MatrixFactorization, answers: Sequence[float | None], u: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The log-density of u (one or many), up to a constant that is the same for all answers."""
    gram, sketch = mechanism.ridge * np.eye(mechanism.d), np.zeros(mechanism.d)
    for answer, profile in zip(answers, mechanism.matrix.T):
        if answer is not None:
            gram += np.outer(profile, profile)
            sketch += answer * profile
    noise = sketch - u @ gram  # G is symmetric
    rate = float(mechanism.rate * UNIT) * 2.0**-mechanism.grid
    volume = float(np.linalg.slogdet(gram)[1])
    log_density: NDArray[np.float64] = volume - rate * np.abs(noise).sum(axis=-1)
    return log_density


def _answer(mechanism: Mechanism, row: int) -> float | None:
    return mechanism.scale.values[row] if row < mechanism.scale.size else None


def _listed(items: list[str]) -> str:
    shown = items if len(items) <= 8 else [*items[:6], "…", items[-1]]
    return f"({', '.join(shown)})"
