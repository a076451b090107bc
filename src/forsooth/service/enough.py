"""Is it enough? What a requester may conclude from an inference, and how many more to ask."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from forsooth.service.schemas import EnoughView

if TYPE_CHECKING:
    from forsooth.truths import Truths

_DOUBTFUL = 0.05


def verdict(truths: Truths, reports: int, target_width: float) -> EnoughView:
    """Enough, if intervals are as narrow as wanted and the tasks can be told apart.

    The width of an interval falls like 1/√reports, which gives the number of further reports. It
    is rough: with few reports the intervals are mostly the prior's.
    """
    width = float(np.median(truths.high - truths.low))
    constant = truths.posterior.constant_as_good if truths.posterior else None
    narrow = width <= target_width
    alike = constant is not None and constant > _DOUBTFUL
    more = None
    if not narrow:
        more = max(1, math.ceil(reports * ((width / target_width) ** 2 - 1)))
        why = (
            f"half of the 90 % intervals are wider than {width:g}; {target_width:g} is wanted. "
            f"By the usual rule (width ∝ 1/√reports) about {more:,} more reports would do"
        )
    elif alike:
        why = (
            f"the intervals are narrow enough, but one constant for all tasks would do as well "
            f"with probability {constant:.2g}: the tasks may indeed be alike, or ε is too small"
        )
    else:
        why = f"half of the 90 % intervals are at most {width:g} wide; {target_width:g} is wanted"
    return EnoughView(
        enough=narrow and not alike,
        why=why,
        constant_as_good=constant,
        median_width=width,
        target_width=target_width,
        more_reports=more,
    )
