"""The channel that tells most about the truth for a given ε: a linear program.

Every ε-LDP table over R inputs is a sum of columns whose entries differ by at most e^ε. Let θ have
the prior π, let P(x|θ) be the probability of the input x (an answer or NULL). A column p adds

    f(p) = Σ_θ π_θ L_θ ln(L_θ / Σ_θ π_θ L_θ),   L_θ = Σ_x P(x|θ) p[x],

to the mutual information I(θ; report). f is convex and homogeneous (f(w·p) = w·f(p)), so nothing is
lost by using only the extreme columns, those in {1, e^ε}^R ("staircase"), and the best table
solves a linear program (Kairouz, Oh, Viswanath: Extremal mechanisms for local differential
privacy, NIPS 2014 and JMLR 17, 2016):

    maximise Σ_p w_p f(p)   where   w ≥ 0,   Σ_p w_p p[x] = 1 for every input x.

**Participation is uncertain.** If the density were known, the best table would often have two
symbols, such as "0–4" against "5–9 or NULL", and a collector could not tell "few have answered"
from "the truth is high". Information about the pair (θ, density) is no cure: where the truths are
nearly alike, its best table tells nothing but who answered. So the table is the best against the
worst participation: the density may be anything within a factor of `spread` (2) of the stated one
and may depend on the truth in any way,

    maximise over w   the least, over d(θ) ∈ [density/2, 2·density], of   I(θ; report | d(·)).

What a shift of the density can explain is no information, and neither is presence as such. For a
given w the least is a convex problem, solved by `worst_participation`; for given d(·) the best w is
the linear program above; cutting planes bring the two together, because every d(·) gives one linear
bound on the objective.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.mechanisms.channel import TOTAL, Channel
from forsooth.mechanisms.exact import floor_times_exp
from forsooth.mechanisms.randomized_response import keep_weight, randomized_response
from forsooth.privacy import check_epsilon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Pattern = NDArray[np.bool_]

EXACT_INPUTS = 12  # up to here all 2^R columns are tried, above only intervals
_MOST_CUTS = 101  # places where an interval may begin; longer scales are cut into as many parts
_GAP, _INTERVAL_GAP = 1e-4, 1e-3  # the objective is within this share of the family's best
_MOST_ROUNDS = 40
_NEGLIGIBLE = 1e-7  # weights this small are the solver's rounding
_MOST_LOST = 0.01  # more than this lost by rounding: the integers cannot express ε


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What a requester expects: a prior over a grid of truths, P(answer | truth), the density.

    `density` is the share of cells that are answered, known within a factor of `spread`; None
    where participation is public and NULL is no input.
    """

    prior: Floats  # (truths,)
    answers: Floats  # (truths, answers), rows sum to 1
    density: float | None
    spread: float = 2.0

    def __post_init__(self) -> None:
        if self.density is not None and not 0 < self.density <= 1:
            raise ForsoothError(
                f"the density must lie above 0 and not above 1, got {self.density!r}"
            )
        if not 1 <= self.spread < math.inf:
            raise ForsoothError(f"the density's spread must be at least 1, got {self.spread!r}")
        if self.answers.ndim != 2 or self.prior.shape != self.answers.shape[:1]:
            raise ForsoothError("beliefs need a prior and a row of answer probabilities per truth")
        for name, rows in (("prior", self.prior), ("answers", self.answers)):
            if not (rows >= 0).all() or not np.allclose(rows.sum(axis=-1), 1, rtol=0, atol=1e-9):
                raise ForsoothError(f"the {name} of beliefs must be probabilities that sum to 1")

    @property
    def inputs(self) -> int:
        """The number of inputs: the answers, and NULL where it is protected."""
        return int(self.answers.shape[1]) + (self.density is not None)

    @property
    def densities(self) -> tuple[float, float]:
        """The lowest and the highest density that are held possible."""
        density = 1.0 if self.density is None else self.density
        return density / self.spread, min(density * self.spread, 1.0)

    def given_truth(self, density: Floats | float | None = None) -> Floats:
        """P(input | truth), the answers and then NULL; `density` may depend on the truth."""
        if self.density is None:
            return self.answers
        share = np.broadcast_to(self.density if density is None else density, self.prior.shape)
        return np.column_stack([self.answers * share[:, None], 1 - share])


@dataclass(frozen=True)
class Design:
    """A channel and what it is worth: nats per report about the truth, beside randomized response.

    `information` holds at the stated density; `guaranteed` is the least for any participation
    within the spread, which is what the design maximises. `lost` went by rounding to integers.
    """

    channel: Channel
    information: float
    information_rr: float
    guaranteed: float
    guaranteed_rr: float
    lost: float
    exhaustive: bool  # all columns were tried, not only intervals

    @property
    def ratio(self) -> float:
        """How many workers with randomized response tell as much as one with this channel."""
        return self.information / self.information_rr

    @property
    def guaranteed_ratio(self) -> float:
        """The same for the guaranteed information."""
        return self.guaranteed / self.guaranteed_rr


def best_channel(beliefs: Beliefs, epsilon: float) -> Design:
    """The channel with the most guaranteed information, as an exact table of integers."""
    check_epsilon(epsilon)
    effective = min(epsilon, math.log(TOTAL))  # no ratio of 32-bit weights goes beyond
    exhaustive = beliefs.inputs <= EXACT_INPUTS
    family = every_column if exhaustive else interval_columns
    patterns = family(beliefs.answers.shape[1], beliefs.density is not None)
    weights = best_weights(beliefs, patterns, effective)
    used = weights > _NEGLIGIBLE
    high, weights = patterns[:, used], weights[used]
    weights = _settled(_columns(high, effective), weights)
    real = _columns(high, effective) * weights
    channel = _ordered(beliefs, exact_table(high, weights, epsilon))
    inputs = beliefs.inputs
    table = probabilities(channel)
    response = probabilities(randomized_response(inputs, keep_weight(inputs, epsilon)))
    wanted, found = information(beliefs, real), information(beliefs, table)
    if wanted - found > _MOST_LOST * wanted:
        raise ForsoothError(f"ε = {epsilon!r} is too small for a table of 32-bit weights")
    return Design(
        channel=channel,
        information=found,
        information_rr=information(beliefs, response),
        guaranteed=worst_participation(beliefs, table)[1],
        guaranteed_rr=worst_participation(beliefs, response)[1],
        lost=wanted - found,
        exhaustive=exhaustive,
    )


def probabilities(channel: Channel) -> Floats:
    """P(symbol | input) of a channel, as numbers to compute with."""
    return np.array(channel.weights, np.float64) / TOTAL


# Information


def information(beliefs: Beliefs, table: Floats, density: Floats | None = None) -> float:
    """I(θ; report) in nats."""
    return float(column_information(beliefs, table, density).sum())


def column_information(beliefs: Beliefs, columns: Floats, density: Floats | None = None) -> Floats:
    """What every column adds, f(p).

    L ln(L/M) averages to the same as M·((1+u) ln(1+u) − u) with u = L/M − 1, because u averages
    to 0; the latter loses no digits where L and M are almost equal, as they are for a small ε.
    """
    likelihood = beliefs.given_truth(density) @ columns
    mean = beliefs.prior @ likelihood
    u = likelihood / mean - 1
    small = np.abs(u) < 1e-3
    series = u**2 * (1 / 2 - u * (1 / 6 - u * (1 / 12 - u / 20)))
    terms = np.where(small, series, (1 + u) * np.log1p(np.where(small, 0, u)) - u)
    return np.asarray(mean * (beliefs.prior @ terms))


def worst_participation(beliefs: Beliefs, table: Floats) -> tuple[Floats | None, float]:
    """The density for each truth that makes a report tell least, and what it tells then.

    I = min over q of Σ_θ π_θ KL(L_θ ‖ q): in turn, q is the mean of the L_θ, and every truth's
    density, which L_θ is linear in, minimises its own KL(L_θ ‖ q) by bisection of the slope.
    """
    if beliefs.density is None:
        return None, information(beliefs, table)
    absent = table[-1]
    slope = beliefs.answers @ table[:-1] - absent
    density = np.full(beliefs.prior.shape, beliefs.densities[0])
    for _ in range(200):
        mean = beliefs.prior @ (absent + density[:, None] * slope)
        below, above = (np.full(density.shape, edge) for edge in beliefs.densities)
        for _ in range(40):
            middle = (below + above) / 2
            rising = (slope * np.log((absent + middle[:, None] * slope) / mean)).sum(axis=1) > 0
            below, above = np.where(rising, below, middle), np.where(rising, middle, above)
        moved = np.abs(above - density).max()
        density = above
        if moved < 1e-6 * beliefs.densities[1]:
            break
    return density, information(beliefs, table, density)


# The linear program


def every_column(answers: int, null: bool) -> Pattern:
    """All sets of inputs but the empty and the full one, a column each.

    A constant column tells nothing, and a column and its complement add up to one.
    """
    inputs = answers + null
    numbers = np.arange(1, 2**inputs - 1)
    return np.asarray((numbers >> np.arange(inputs)[:, None]) & 1 == 1)


def interval_columns(answers: int, null: bool) -> Pattern:
    """Intervals of answers, with and without NULL, and their complements."""
    cuts = np.unique(np.linspace(0, answers, min(answers, _MOST_CUTS) + 1).round().astype(int))
    start, stop = (side.ravel() for side in np.meshgrid(cuts, cuts))
    start, stop = start[start < stop], stop[start < stop]
    place = np.arange(answers)[:, None]
    intervals = (place >= start) & (place < stop)
    sets = np.hstack([intervals, ~intervals])
    if null:
        sets = np.vstack([np.hstack([sets, sets]), np.arange(2 * sets.shape[1]) < sets.shape[1]])
    sets = np.unique(sets, axis=1)
    return np.asarray(sets[:, sets.any(axis=0) & ~sets.all(axis=0)])


def best_weights(beliefs: Beliefs, patterns: Pattern, epsilon: float) -> Floats:
    """The weight of every column, scaled so that its larger entry is 1, by cutting planes."""
    columns = _columns(patterns, epsilon)
    lowest = np.full(beliefs.prior.shape, beliefs.densities[0])
    first = column_information(beliefs, columns, lowest)
    unit = first.max()
    if not unit > 1e-30:
        raise ForsoothError(
            "these beliefs leave nothing to learn: the truth is certain, or answers do not show it"
        )
    gap = _GAP if beliefs.inputs <= EXACT_INPUTS else _INTERVAL_GAP
    cuts, best, reached = [first / unit], np.empty(0), -math.inf
    for _ in range(_MOST_ROUNDS):
        weights, bound = _solve(columns, np.array(cuts))
        used = weights > _NEGLIGIBLE
        density, least = worst_participation(beliefs, columns[:, used] * weights[used])
        if least / unit > reached:
            best, reached = weights, least / unit
        if density is None or bound - reached < gap * bound:
            break
        cuts.append(column_information(beliefs, columns, density) / unit)
    return best


def _solve(columns: Floats, cuts: Floats) -> tuple[Floats, float]:
    """Maximise the least of `cuts @ w` over the tables; differences of rows are nearly empty."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    inputs, count = columns.shape
    rows = np.vstack([columns[:1], np.diff(columns, axis=0)])
    solution = linprog(
        np.append(np.zeros(count), -1.0),
        A_ub=np.column_stack([-cuts, np.ones(len(cuts))]),
        b_ub=np.zeros(len(cuts)),
        A_eq=csr_array(np.column_stack([rows, np.zeros(inputs)])),
        b_eq=np.append(1.0, np.zeros(inputs - 1)),
        bounds=(0, None),
        method="highs",
    )
    if solution.x is None:
        raise ForsoothError(f"no channel was found: {solution.message}")
    return solution.x[:-1], float(solution.x[-1])


def _columns(patterns: Pattern, epsilon: float) -> Floats:
    return np.where(patterns, 1.0, math.exp(-epsilon))


def _settled(columns: Floats, weights: Floats) -> Floats:
    """The solver's weights, moved as little as possible so that every row sums to 1 in full."""
    step = np.linalg.lstsq(columns, 1 - columns @ weights, rcond=None)[0]
    return np.maximum(weights + step, 0)


# Integers


def exact_table(high: Pattern, weights: Floats, epsilon: float) -> Channel:
    """Columns of two levels as integers: the lower rounded up, the upper down, so ε is kept.

    A row's few missing or surplus units go where a column has room between its lower weight and
    e^ε times that, so that no ratio can ever exceed e^ε.
    """
    least = [math.ceil(w * math.exp(-min(epsilon, 64)) * TOTAL) for w in weights]
    most = [floor_times_exp(low, epsilon) for low in least]
    upper = [min(math.floor(w * TOTAL), top) for w, top in zip(weights, most)]
    if any(up <= low for up, low in zip(upper, least)):
        raise ForsoothError(f"ε = {epsilon!r} is too small for a table of 32-bit weights")
    rows = []
    for chosen in high:
        row = [up if is_high else low for is_high, up, low in zip(chosen, upper, least)]
        rows.append(_completed(row, least, most, epsilon))
    return Channel(tuple(rows))


def _completed(
    row: list[int], least: Sequence[int], most: Sequence[int], epsilon: float
) -> tuple[int, ...]:
    """The row with its sum brought to 2³²; every weight stays within its column's limits."""
    missing = TOTAL - sum(row)
    limits = most if missing > 0 else least
    while missing:
        room = [limit - weight for limit, weight in zip(limits, row)]
        place = max(range(len(row)), key=lambda column: abs(room[column]))
        step = min(missing, room[place]) if missing > 0 else max(missing, room[place])
        if step == 0:
            raise ForsoothError(f"ε = {epsilon!r} is too small for a table of 32-bit weights")
        row[place] += step
        missing -= step
    return tuple(row)


# Symbols


def readings(
    beliefs: Beliefs, channel: Channel, values: Sequence[float]
) -> tuple[float | None, ...]:
    """The mean answer behind every symbol; None for one that stands for NULL.

    A symbol stands for NULL if it makes NULL more likely than it was. (More likely than every
    answer would not do: if most cells are NULL, then after any symbol NULL is the likeliest.)
    """
    table = probabilities(channel)
    means = _mean_answers(beliefs, table, values)
    if beliefs.density is None:
        return tuple(means)
    symbol = beliefs.prior @ beliefs.given_truth() @ table
    return tuple(None if null > p else mean for null, p, mean in zip(table[-1], symbol, means))


def _mean_answers(beliefs: Beliefs, table: Floats, values: Sequence[float]) -> list[float]:
    joint = (beliefs.prior @ beliefs.answers)[:, None] * table[: len(values)]
    means = np.asarray(values) @ joint / joint.sum(axis=0)
    return [float(mean) for mean in means.clip(values[0], values[-1])]


def _ordered(beliefs: Beliefs, channel: Channel) -> Channel:
    """Symbols from low to high answers, those that stand for NULL last."""
    codes = range(beliefs.answers.shape[1])
    read = readings(beliefs, channel, codes)
    means = _mean_answers(beliefs, probabilities(channel), codes)
    order = sorted(range(channel.symbols), key=lambda symbol: (read[symbol] is None, means[symbol]))
    return Channel(tuple(tuple(row[symbol] for symbol in order) for row in channel.weights))
