"""A classifier that assigns reports to invitations, by everything that a service could have kept.

Each clue gives a score to every pair of an invitation and a report; the best assignment is found
(Hungarian algorithm), and its correct pairs are counted. A clue that says nothing finds about one:
the number of fixed points of a random permutation, practically a Poisson variable of mean 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata

MOST = 10  # Poisson(1) goes beyond it with a probability of 10⁻⁸; there are a few hundred clues


@dataclass(frozen=True)
class Seen:
    """What is known of one invitation, or of one report: byte strings by what they are."""

    strings: Mapping[str, bytes]


def correct_pairs(
    invitations: Sequence[Seen], reports: Sequence[Seen], files: Mapping[str, bytes]
) -> dict[str, int]:
    """By clue, how many pairs are right; the report of each invitation stands at its place."""
    return {
        name: _correct(scores)
        for clues in (_orders(invitations, reports, files), _likeness(invitations, reports))
        for name, scores in clues
    }


def evidence(**strings: bytes) -> Seen:
    """The strings and their hashes, as which they may be stored."""
    hashes = {f"hash of {name}": sha256(content).digest() for name, content in strings.items()}
    return Seen(strings | hashes)


def _orders(
    invitations: Sequence[Seen], reports: Sequence[Seen], files: Mapping[str, bytes]
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """The n-th of one order goes with the n-th of the other, or with the n-th from the end."""
    ours, theirs = (list(_ranks(each, files)) for each in (invitations, reports))
    ours.append(("the list of invitations", np.arange(1.0, len(invitations) + 1)))
    for one, left in ours:
        for other, right in theirs:
            near = -np.abs(left[:, None] - right[None, :])
            far = -np.abs(left[:, None] + right[None, :] - len(right) - 1)
            yield f"order: {one} – {other}", near
            yield f"order: {one} – {other}, reversed", far


def _ranks(
    seen: Sequence[Seen], files: Mapping[str, bytes]
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """By value, and by place in each file where all are found."""
    for name in seen[0].strings:
        contents = [each.strings[name] for each in seen]
        yield name, rankdata([sorted(contents).index(content) for content in contents])
        for file, text in files.items():
            places = [text.find(content) for content in contents]
            if min(places) >= 0:
                yield f"{name} in {file}", rankdata(places)


def _likeness(
    invitations: Sequence[Seen], reports: Sequence[Seen]
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Equal bits at equal places."""
    for one in invitations[0].strings:
        for other in reports[0].strings:
            left, right = (
                [np.frombuffer(each.strings[name], np.uint8) for each in seen]
                for name, seen in ((one, invitations), (other, reports))
            )
            length = min(len(left[0]), len(right[0]))
            ours, theirs = (
                np.unpackbits([each[:length] for each in side], axis=1) for side in (left, right)
            )
            equal = (ours[:, None, :] == theirs[None, :, :]).sum(axis=2)
            yield f"bits: {one} – {other}", equal.astype(float)


def _correct(scores: NDArray[np.float64]) -> int:
    shuffled = np.random.default_rng(0).permutation(len(scores))  # ties are no help
    rows, columns = linear_sum_assignment(scores[shuffled][:, shuffled], maximize=True)
    return int((rows == columns).sum())
