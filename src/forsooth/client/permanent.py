"""Permanent draws: asked the same question by the same rule, a client sends the same value again.

Fresh noise on the same answer is a second spend, and averaging many would reveal the answer. The
value that was sent first stays, whatever the answer is now: a value that changed would say for
certain that the answer did.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.mechanisms.sampled import SampledTasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forsooth.answers import Answers
    from forsooth.client.ledger import Ledger
    from forsooth.client.question import AskedCell
    from forsooth.mechanisms.base import Mechanism
    from forsooth.reports import Reports


def places_of(mechanism: Mechanism, answers: Answers) -> list[int]:
    """The tasks that one worker's report is about; `answers` are the eligible ones."""
    if mechanism.layout == "cells":
        return [int(place) for place in answers.task]
    if isinstance(mechanism, SampledTasks):
        return [int(place) for place in mechanism.sampled(answers.workers, len(answers.tasks))[0]]
    return list(range(len(answers.tasks)))


def permanent_report(
    mechanism: Mechanism, answers: Answers, cells: Sequence[AskedCell], ledger: Ledger
) -> tuple[Reports, dict[AskedCell, str | None]]:
    """One worker's report, and the value of each cell for the ledger.

    Every value is drawn afresh, then those that were sent before take their places.
    """
    if len(answers.workers) != 1:
        raise ForsoothError("a ledger is kept for one worker at a time")
    report = mechanism.perturb(answers)
    if not mechanism.independent:
        return report, dict.fromkeys(cells)
    values = report.values.reshape(-1).copy()
    for place, cell in enumerate(cells):
        if (before := ledger.value(cell)) is not None:
            values[place] = np.array(int(before), values.dtype)
    known: dict[AskedCell, str | None] = {
        cell: str(int(value)) for cell, value in zip(cells, values, strict=True)
    }
    return replace(report, values=values.reshape(report.values.shape)), known
