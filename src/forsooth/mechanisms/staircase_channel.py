"""`staircase`: the channel that tells most about the truth for a given ε.

Randomized response keeps all answers apart and pays for it: with s symbols, each of the others
takes its share of the probability. The best table (see `design`) merges answers that the truth
hardly distinguishes, and says "0–4", "5–9" or "nobody answered" with much more emphasis.

ε-cell LDP for values and for participation: every column holds a weight and at most e^ε times
that weight, in integers.

A requester states what is known beforehand: the density, the workers' noise (one level or several,
equally likely), and, if at all, a guess of where the truths lie. The guess makes a table more or
less useful; it has no part in the guarantee.

The truth is what the estimand says: a point on the scale (level) or one of the answers (label). For
opinion no table is designed: merged answers have shares that cannot be told apart. (A table for the
answers themselves is randomized response from ε = 2 on; at ε = 1, on five answers, it has three
symbols and twice the error of the shares.)
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from forsooth.checks import check_number
from forsooth.errors import ForsoothError
from forsooth.estimand import check_estimand, default_estimand
from forsooth.mechanisms.channel import ChannelMechanism
from forsooth.mechanisms.design import Beliefs, Design, best_channel, readings
from forsooth.privacy import Protects, check_epsilon, check_protects
from forsooth.scale import Scale

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.scale import ScaleLike

    Floats = NDArray[np.float64]

NAME = "staircase"
_FEWEST_TRUTHS, _MOST_TRUTHS = 41, 201


def staircase(
    scale: ScaleLike,
    epsilon: float,
    *,
    protects: Protects = "answers+participation",
    density: float = 0.5,
    truth: str = "flat",
    noise: str = "1",
    estimand: str | None = None,
) -> ChannelMechanism:
    """The optimal channel for what is expected of a crowd.

    `truth` is ``flat`` or ``normal:MEAN,SD``, `noise` one standard deviation or several, all in
    units of the scale; ``/`` may stand for every separator (``normal/0/1``, ``1/5``). `estimand` is
    level or label; by default level, for two answers label.
    """
    return designed(
        scale,
        epsilon,
        protects=protects,
        density=density,
        truth=truth,
        noise=noise,
        estimand=estimand,
    )[0]


def designed(
    scale: ScaleLike,
    epsilon: float,
    *,
    protects: Protects = "answers+participation",
    density: float = 0.5,
    truth: str = "flat",
    noise: str = "1",
    estimand: str | None = None,
) -> tuple[ChannelMechanism, Design]:
    """The mechanism together with what its design is worth."""
    check_protects(protects)
    check_epsilon(epsilon)
    share = check_number(density, "the density")
    if not isinstance(truth, str):
        raise ForsoothError(f'truth is "flat" or "normal:MEAN,SD", got {truth!r}')
    return _designed(Scale.parse(scale), epsilon, protects, share, truth, str(noise), estimand)


@lru_cache(maxsize=64)  # an evaluation asks for the same design in every repeat
def _designed(
    scale: Scale,
    epsilon: float,
    protects: Protects,
    density: float,
    truth: str,
    noise: str,
    estimand: str | None,
) -> tuple[ChannelMechanism, Design]:
    expected = beliefs(
        scale, protects=protects, density=density, truth=truth, noise=noise, estimand=estimand
    )
    design = best_channel(expected, epsilon)
    return mechanism_of(scale, epsilon, protects, expected, design), design


def mechanism_of(
    scale: Scale, epsilon: float, protects: Protects, expected: Beliefs, design: Design
) -> ChannelMechanism:
    """A design as a mechanism; its symbols read as the answers that are expected behind them."""
    reads_as = readings(expected, design.channel, scale.values)
    return ChannelMechanism(NAME, scale, epsilon, protects, design.channel, reads_as)


# What is expected of a crowd


def beliefs(
    scale: Scale,
    *,
    protects: Protects = "answers+participation",
    density: float = 0.5,
    truth: str = "flat",
    noise: str = "1",
    estimand: str | None = None,
) -> Beliefs:
    """Beliefs from words: see `staircase`."""
    assumed = default_estimand(scale) if estimand is None else check_estimand(estimand)
    if assumed == "opinion":
        raise ForsoothError(
            "a designed channel merges answers, whose shares then cannot be told apart: use rr for "
            "the estimand opinion"
        )
    if not 0 < density <= 1:
        raise ForsoothError(f"the density must lie above 0 and not above 1, got {density!r}")
    grid = np.array(scale.values) if assumed == "label" else truth_grid(scale)
    model = answer_model(scale, grid, noise_levels(noise))
    return Beliefs(
        truth_prior(grid, truth), model, density if protects == "answers+participation" else None
    )


def truth_grid(scale: Scale) -> Floats:
    """Truths from end to end of the scale, four to a step where that is not too many."""
    points = min(max(4 * (scale.size - 1) + 1, _FEWEST_TRUTHS), _MOST_TRUTHS)
    return np.linspace(scale.low, scale.high, points)


def truth_prior(grid: Floats, truth: str) -> Floats:
    """``flat``, or ``normal:MEAN,SD`` with what lies off the scale moved to its ends."""
    if truth == "flat":
        return np.full(len(grid), 1 / len(grid))
    name, *numbers = truth.replace(":", "/", 1).replace(",", "/").split("/")
    wanted = f"the truth is flat or normal:MEAN,SD with SD above 0, got {truth!r}"
    if name != "normal" or len(numbers) != 2:
        raise ForsoothError(wanted)
    mean, deviation = (_number(text, wanted) for text in numbers)
    if not deviation > 0:
        raise ForsoothError(wanted)
    return _binned(grid, np.array([mean]), deviation).ravel()


def noise_levels(noise: str) -> tuple[float, ...]:
    """``1``, ``1,5`` or ``1/5`` as standard deviations."""
    wanted = f"the noise is one standard deviation above 0, or several: 1,5; got {noise!r}"
    levels = tuple(_number(text, wanted) for text in noise.replace(",", "/").split("/"))
    if not min(levels) > 0:
        raise ForsoothError(wanted)
    return levels


def answer_model(scale: Scale, grid: Floats, noise: tuple[float, ...]) -> Floats:
    """P(answer | truth): truth + N(0, σ²), rounded to the nearest answer; all σ equally likely."""
    values = np.array(scale.values)
    return np.asarray(np.mean([_binned(values, grid, level) for level in noise], axis=0))


def _binned(points: Floats, means: Floats, deviation: float) -> Floats:
    """The probability that a normal variable is nearest to each of `points`, a row per mean."""
    from scipy.special import ndtr

    edges = np.concatenate([[-np.inf], (points[1:] + points[:-1]) / 2, [np.inf]])
    with np.errstate(over="ignore"):  # a deviation of almost nothing: as far as infinity
        rows = np.diff(ndtr((edges - means[:, None]) / deviation), axis=1)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def _number(text: str, complaint: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ForsoothError(complaint) from None
    if not math.isfinite(number):
        raise ForsoothError(complaint)
    return number
