"""The sampled audit of any black box with finitely many reports.

Draw n reports for every input, count C[input, report], and bound every probability from both sides
(Clopper–Pearson). With probability 1 − α all of these bounds hold at once (union bound over inputs,
reports and sides), and then

    ε ≥ max over pairs of inputs and reports of  ln( lower(P(y | x)) / upper(P(y | x′)) ).

A correct mechanism is accused with probability at most α. The bound approaches the true ε from
below as n grows: it can convict a mechanism, never acquit it; that is the exact audit's office.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth.auditing.tails import most_improbable
from forsooth.errors import ForsoothError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

ALPHA = 1e-6


@dataclass(frozen=True)
class Sampled:
    """A lower confidence bound on ε, and the inputs and the report that give it."""

    epsilon: float
    inputs: tuple[int, int]
    output: int
    draws: int
    alpha: float


def count_reports(
    black_box: Callable[[int, int], NDArray[np.integer]], inputs: int, outputs: int, draws: int
) -> NDArray[np.int64]:
    """Ask `black_box(input, draws)` for reports 0..outputs−1 and count them."""
    counts = np.empty((inputs, outputs), np.int64)
    for row in range(inputs):
        reports = np.asarray(black_box(row, draws))
        if reports.shape != (draws,) or reports.min() < 0 or reports.max() >= outputs:
            raise ForsoothError(f"the black box must give {draws} reports from 0 to {outputs - 1}")
        counts[row] = np.bincount(reports, minlength=outputs)
    return counts


def epsilon_lower_bound(
    counts: ArrayLike, *, pairs: NDArray[np.bool_] | None = None, alpha: float = ALPHA
) -> Sampled:
    """The largest ε that the counts prove at confidence 1 − α, over the given pairs of inputs."""
    from scipy.stats import beta

    observed = np.asarray(counts, np.int64)
    draws = observed.sum(axis=1, keepdims=True)
    if observed.ndim != 2 or not (draws > 0).all() or not 0 < alpha < 1:
        raise ForsoothError("the sampled audit needs draws for every input and 0 < α < 1")
    level = alpha / (2 * observed.size)
    with np.errstate(divide="ignore", invalid="ignore"):
        lower = np.where(observed == 0, 0.0, beta.ppf(level, observed, draws - observed + 1))
        upper = np.where(observed == draws, 1.0, beta.isf(level, observed + 1, draws - observed))
        ratio = np.log(lower)[:, None, :] - np.log(upper)[None, :, :]
    if pairs is not None:
        ratio[~pairs] = -np.inf
    one, other, output = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
    epsilon = max(0.0, float(ratio[one, other, output]))
    return Sampled(epsilon, (int(one), int(other)), int(output), int(draws.min()), alpha)


def goodness_of_fit(counts: ArrayLike, weights: ArrayLike) -> float:
    """The probability that counts of an exact table have one as improbable as the worst here.

    Below α the sampler does not draw what the table says; a correct one is rejected with
    probability α at most: tails are exact, and there is a union bound over all counts.
    """
    observed, table = np.asarray(counts, float), np.asarray(weights, float)
    draws = observed.sum(axis=1, keepdims=True)
    return most_improbable(observed, draws, draws * table / table.sum(axis=1, keepdims=True)).p
