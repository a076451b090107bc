"""How diligent workers are, where participation is hidden: a few levels for all of them.

The symbols of a worker's whole report tell how many tasks he answered. The shares of all rates of a
ladder are learned; then it is cut into a few levels so that as little as possible is lost. Rates
are as far apart as their arcsin √ρ, in which the variance of a share is the same everywhere; the
two neighbours that lose least, for as many workers as they have, become one, again and again
(Ward's method). So a few very diligent workers keep a level of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.posterior.ascent import climb
from forsooth.inference.posterior.model import normalised_exp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.inference.posterior.evidence import Evidence

    Array = NDArray[np.float64]

_RATES = 25  # points of the ladder
_LEVELS = 12  # that are kept of it: the most diligent may answer a thousand times as much
_FEW_LEVELS = 3  # where workers differ by a secret, too, which reports hardly tell from diligence
_ENOUGH = 2000  # so many workers show how rates are spread
_PRIOR_WORKERS = 0.02  # every rate counts as much as so many
_STEPS = 200  # of the ascent: shares need not be exact, for they are learned again


def levels_of(part: Evidence, answers: Array) -> tuple[Array, Array]:
    """Rates of answering and their shares, of workers whose answers are spread like these.

    Public participation has the rate 1.
    """
    if not part.hidden:
        return np.ones(1), np.ones(1)
    ladder = 0.999 * np.exp(np.linspace(np.log(min(0.3, 0.3 / part.tasks)), 0, _RATES))
    answered, absent = answers @ part.tables[:, :-1], part.tables[:, -1]
    chance = np.multiply.outer(ladder, answered) + np.multiply.outer(1 - ladder, absent)
    _, logs = normalised_exp(np.tensordot(part.some_workers(_ENOUGH), np.log(chance), ([1], [2])))

    def expected(point: Array) -> tuple[float, Array]:
        members, likelihood = normalised_exp(logs + np.log(point))
        objective = likelihood.sum() + _PRIOR_WORKERS * np.log(point).sum()
        return float(objective), members.sum(axis=0) + _PRIOR_WORKERS

    found = climb(expected, (_RATES,), np.full(_RATES, 1 / _RATES), max_iterations=_STEPS)
    return merged(ladder, found.point, _LEVELS if len(part.tables) == 1 else _FEW_LEVELS)


def merged(rates: Array, shares: Array, number: int) -> tuple[Array, Array]:
    """The same workers at so many rates; `rates` rise."""
    while len(rates) > number:
        apart = np.diff(np.arcsin(np.sqrt(rates))) ** 2
        lost = apart * shares[1:] * shares[:-1] / (shares[1:] + shares[:-1])
        pair = slice(int(lost.argmin()), int(lost.argmin()) + 2)
        together = shares[pair].sum()
        mean = rates[pair] @ shares[pair] / together
        rates, shares = (
            np.concatenate([each[: pair.start], [one], each[pair.stop :]])
            for each, one in ((rates, mean), (shares, together))
        )
    return rates, shares
