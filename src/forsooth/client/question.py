"""Which question this is, whichever campaign asks it: by its words and picture, not its address."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Unicode's White_Space, which str.isspace and JavaScript's \s are not quite
_SPACES = re.compile(r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")


@dataclass(frozen=True)
class AskedQuestion:
    """A question as people see it."""

    text: str
    image: str | None = None

    @property
    def name(self) -> str:
        """Its fingerprint: SHA-256 of its words, in lower case with single spaces, and picture."""
        words = _SPACES.sub(" ", unicodedata.normalize("NFC", self.text).lower()).strip(" ")
        return _hashed(words, self.image or "")


@dataclass(frozen=True)
class AskedCell:
    """One value of a report, or its share of a sketch, and where it is remembered.

    `draw` names the rule and the words for the answers, and, for the second of two equal questions
    of a campaign, another draw than for the first.
    """

    text: str
    question: str
    draw: str
    epsilon: float


def draw_name(rule: str, labels: Sequence[str]) -> str:
    """The rule by which a cell is drawn (its exact text), with the words for the answers."""
    return _hashed(rule, *labels)


def cells(
    questions: Sequence[AskedQuestion], places: Iterable[int], draw: str, epsilon: float
) -> list[AskedCell]:
    """The cells of some of a campaign's questions."""
    names, times = [question.name for question in questions], Counter[str]()
    before = []
    for name in names:
        before.append(times[name])
        times[name] += 1
    return [
        AskedCell(questions[place].text, names[place], f"{draw}/{before[place]}", epsilon)
        for place in places
    ]


def _hashed(*lines: str) -> str:
    return sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
