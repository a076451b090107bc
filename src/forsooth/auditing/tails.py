"""How improbable counts are under known probabilities: exact tails, and a bound over all of them.

A count is a sum of independent events whose probabilities need not be equal. Beyond its mean such
a sum has smaller tails than the binomial distribution with the mean probability (Hoeffding 1956,
"On the distribution of the number of successes in independent trials", theorem 4), so a binomial
tail is a valid p-value; two-sided it is twice the smaller tail. The smallest of m p-values times m
is one again (Bonferroni), however the counts depend on one another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_CANDIDATES = 1000  # counts whose exact tails are computed; those of the others are larger
_ROUNDING = 1e-12  # of a probability: far above what floats make of it


@dataclass(frozen=True)
class Surprise:
    """The most improbable of `number` counts; `p` is for all of them together."""

    p: float
    number: int
    place: tuple[int, ...]
    count: int
    draws: int
    expected: float

    def __str__(self) -> str:
        return (
            f"{self.count:,} of {self.draws:,}, expected {self.expected:,.4g}, p = {self.p:.2g} "
            f"for all {self.number:,} counts together"
        )


def most_improbable(counts: ArrayLike, draws: ArrayLike, expected: ArrayLike) -> Surprise:
    """The count of smallest probability, of arrays that broadcast; none where nothing was drawn."""
    from scipy.special import rel_entr
    from scipy.stats import binom

    seen, drawn, mean = np.broadcast_arrays(
        *(np.asarray(a, float) for a in (counts, draws, expected))
    )
    places = np.flatnonzero(drawn > 0)
    seen, drawn, mean, shape = (*(a.ravel()[places] for a in (seen, drawn, mean)), seen.shape)
    mean = np.clip(mean, _ROUNDING * drawn, (1 - _ROUNDING) * drawn)
    # By Chernoff's bound a tail is small only where this divergence is large.
    divergence = rel_entr(seen, mean) + rel_entr(drawn - seen, drawn - mean)
    some = np.argsort(-divergence)[:_CANDIDATES]
    chance = mean[some] / drawn[some]
    lower = binom.cdf(seen[some], drawn[some], chance)
    upper = binom.sf(seen[some] - 1, drawn[some], chance)
    tails: NDArray[np.float64] = 2 * np.minimum(lower, upper)
    best = int(np.argmin(tails))
    worst = some[best]
    return Surprise(
        min(1.0, float(tails[best]) * len(places)),
        len(places),
        tuple(int(index) for index in np.unravel_index(places[worst], shape)),
        round(float(seen[worst])),
        round(float(drawn[worst])),
        float(mean[worst]),
    )
