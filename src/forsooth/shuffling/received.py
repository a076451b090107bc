"""How many reports there are on each task of a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.mechanisms import SampledTasks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from forsooth.reports import Reports


def reports_per_task(reports: Reports) -> NDArray[np.intp]:
    """All workers report on every task, unless participation is public or tasks were drawn."""
    count = len(reports.tasks)
    if reports.answered is not None:
        return np.bincount(reports.answered[1], minlength=count)
    if isinstance(reports.mechanism, SampledTasks):
        drawn = reports.mechanism.sampled(reports.workers, count)
        return np.bincount(drawn.ravel(), minlength=count)
    return np.full(count, len(reports.workers))


def fewest_reports(pieces: Iterable[Reports]) -> int:
    """The smallest number of reports on a task that has any; pieces are of one campaign."""
    total = np.atleast_1d(sum(map(reports_per_task, pieces)))
    if not total.any():
        raise ForsoothError("there are no reports to certify")
    return int(total[total > 0].min())
