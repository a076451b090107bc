"""What would be learned of one person if the reports were anonymous: the certificate as a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from forsooth.answers import Answers
from forsooth.errors import ForsoothError
from forsooth.odds import amount
from forsooth.report.words import is_private
from forsooth.shuffling import DELTA, certify, fewest_reports
from forsooth.shuffling.certificate import rounded_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forsooth.mechanisms import Mechanism
    from forsooth.reports import Reports
    from forsooth.shuffling import CentralBound, Certificate, Release


class AnonymityRow(NamedTuple):
    """What is published, and ε for everything one person says and for one answer."""

    published: str
    everything: str
    one_answer: str


@dataclass(frozen=True)
class Anonymity:
    """The table, its δ, and the assumption under which it holds."""

    rows: tuple[AnonymityRow, ...]
    delta: str
    assumption: str


def anonymity(parts: Sequence[Reports | Answers]) -> Anonymity | None:
    """None where nothing is certified: no privacy, several mechanisms, or no integer table."""
    reports = [part for part in parts if not isinstance(part, Answers)]
    if not is_private(parts) or any(one.mechanism != reports[0].mechanism for one in reports):
        return None
    try:
        found = _certificate(reports[0].mechanism, len(reports[0].tasks), fewest_reports(reports))
    except ForsoothError:  # no integer table, or no reports
        return None
    local = found.bound("counts", "worker").local, found.bound("counts", "cell").local
    rows = (
        AnonymityRow("anything, with names (local)", *map(amount, local)),
        _row("the counts of each task", found, "counts"),
        _row("whole reports in random order", found, "reports"),
    )
    return Anonymity(rows, f"{found.delta:g}", found.assumption)


@lru_cache(maxsize=16)  # a page is made again whenever reports come in
def _certificate(mechanism: Mechanism, tasks: int, reports: int) -> Certificate:
    return certify(mechanism, tasks=tasks, reports=reports, delta=DELTA)


def _row(published: str, found: Certificate, release: Release) -> AnonymityRow:
    return AnonymityRow(
        published, _epsilon(found.bound(release, "worker")), _epsilon(found.bound(release, "cell"))
    )


def _epsilon(bound: CentralBound) -> str:
    return rounded_up(bound.epsilon) if bound.amplified else amount(bound.local)
