"""Do people disagree? Where an answer is rarer than answers on both of its sides.

Of shares p_1 … p_K the depth of the valley is

    V = max over a < b < c of  min(p_a, p_c) − p_b

With one peak, however broad, V ≤ 0. With two camps V is the share of the smaller camp's most
frequent answer minus that of an answer in between. **People are divided on a question if V > 0.05
with a posterior probability of 95 %**, that is if the lower end of its 90 % interval is above 0.05.

Only for three or more answers in order, and at most eleven: on finer scales people choose round
numbers, which makes valleys without camps.

`python -m benchmarks.divided` simulates surveys of 50 to 2,000 people with ε from 0.5 to 4. Of 756
questions with one peak (flat ones and those at an end of the scale included) 4 were called divided.
Two of them were among the 42 whose eleven neighbours had two camps: where reports say little, the
prior decides, which is learned from the neighbours. With 400 people and ε = 2 all of 108 questions
with two camps were found; with ε = 0.5, 12 of 108.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.truths import COVERAGE, Valleys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FEWEST, MOST = 3, 11  # answers: with two there is nothing in between; see above


def valleys(draws: Floats, *, ordered: bool) -> Valleys | None:
    """The depth of every task's valley from draws of the shares, draws × tasks × answers."""
    if not ordered or not FEWEST <= draws.shape[-1] <= MOST:
        return None
    found = depth(draws)
    tail = (1 - COVERAGE) / 2
    low, high = np.quantile(found, [tail, 1 - tail], axis=0)
    return Valleys(found.mean(axis=0), low, high, camps(draws.mean(axis=0)))


def depth(shares: Floats) -> Floats:
    """V of every distribution, … × answers.

    >>> depth(np.array([[0.5, 0.0, 0.0, 0.1, 0.4], [0.1, 0.2, 0.4, 0.2, 0.1]])).tolist()
    [0.4, -0.1]
    """
    before, after = _sides(shares)
    return np.asarray((np.minimum(before, after) - shares[..., 1:-1]).max(axis=-1))


def camps(shares: Floats) -> NDArray[np.intp]:
    """The places of a, b and c, … × 3.

    >>> camps(np.array([0.5, 0.1, 0.0, 0.1, 0.3])).tolist()
    [0, 2, 4]
    """
    before, after = _sides(shares)
    between = (np.minimum(before, after) - shares[..., 1:-1]).argmax(axis=-1) + 1
    answer, middle = np.arange(shares.shape[-1]), between[..., None]
    left = np.where(answer < middle, shares, -1).argmax(axis=-1)
    right = np.where(answer > middle, shares, -1).argmax(axis=-1)
    return np.stack([left, between, right], axis=-1)


def _sides(shares: Floats) -> tuple[Floats, Floats]:
    """The largest share before and after every answer but the first and the last."""
    before = np.maximum.accumulate(shares, axis=-1)[..., :-2]
    after = np.maximum.accumulate(shares[..., ::-1], axis=-1)[..., ::-1][..., 2:]
    return before, after
