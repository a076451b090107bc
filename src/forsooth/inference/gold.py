"""Gold tasks: those whose truth is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forsooth.errors import ForsoothError
from forsooth.known import truth_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from forsooth.scale import Scale


def gold_array(gold: object, tasks: Sequence[str], scale: Scale) -> NDArray[np.float64]:
    """Known truths in the order of the tasks, NaN elsewhere; refused if off the scale."""
    known = truth_array(gold, tasks, scale, "gold")
    off = (known < scale.low) | (known > scale.high)
    if off.any():
        at = int(off.argmax())
        raise ForsoothError(
            f"gold: the truth {known[at]:g} of task {tasks[at]!r} is off the scale {scale}"
        )
    return known
