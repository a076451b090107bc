"""Gold tasks: those whose truth is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.errors import ForsoothError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from forsooth.scale import Scale


def gold_array(
    gold: Mapping[str, float], tasks: Sequence[str], scale: Scale
) -> NDArray[np.float64]:
    """Known truths in the order of the tasks, NaN elsewhere; refused if off the scale."""
    if strangers := set(gold) - set(tasks):
        raise ForsoothError(f"gold: task {min(strangers)!r} is not in the campaign")
    for task, value in gold.items():
        if not scale.low <= value <= scale.high:
            raise ForsoothError(
                f"gold: the truth {value!r} of task {task!r} is off the scale {scale}"
            )
    return np.array([gold.get(task, np.nan) for task in tasks])
