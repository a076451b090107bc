"""`rr-lp`: randomized response for whether a cell is answered, Laplace noise for its value.

The paper evaluates this mechanism in text that is commented out of its source; the section that
defines it is missing. Our construction, for every cell:

1. Report truthfully whether the cell is answered with probability e^ε₁ / (1 + e^ε₁), else the
   opposite. If the outcome is "not answered", the report is NULL.
2. If the outcome is "answered", report the value with discrete Laplace noise of ε₂. A cell that is
   not answered has the value that `lp` gives it: a uniform draw from the scale, or a constant.

**Guarantee.** Write p for the probability of the truth in step 1, f_a for the distribution of the
noisy value of a, and m for that of a cell that is not answered. Then p / (1 − p) ≤ e^ε₁, and f_a,
f_b and m are within e^ε₂ of one another (see `lp`).

- Two answers a, b: NULL has the same probability 1 − p, a value has the ratio f_a / f_b ≤ e^ε₂.
- An answer a and NULL: the report NULL has the ratio p / (1 − p) ≤ e^ε₁, a value has the ratio
  p·f_a / ((1 − p)·m) ≤ e^(ε₁ + ε₂), either way round.

So every cell is protected with ε₁ + ε₂ = ε; the value of a cell that is known to be answered is
protected with ε₂. p is an integer weight out of 2³². ε₂ is ε minus the ε₁ of that weight, rounded
down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.checks import check_number
from forsooth.errors import ForsoothError
from forsooth.io import strict
from forsooth.mechanisms.base import CellwiseMechanism, Mechanism
from forsooth.mechanisms.channel import TOTAL
from forsooth.mechanisms.exact import log_ratio
from forsooth.mechanisms.laplace import Laplace, lp
from forsooth.mechanisms.randomized_response import keep_weight
from forsooth.privacy import check_epsilon, check_protects
from forsooth.rounding import float_below
from forsooth.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from forsooth.mechanisms.randomness import Randomness
    from forsooth.privacy import Protects
    from forsooth.reports import Reports
    from forsooth.scale import ScaleLike

NOT_ANSWERED = -(2**63)  # the report NULL; the noise of `lp` stays far from it


@dataclass(frozen=True, repr=False)
class PresenceLaplace(CellwiseMechanism):
    """Randomized response with weight `keep` of the truth, then `inner`, an `lp`."""

    kind = "presence-laplace"

    keep: int
    inner: Laplace

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.protects != "answers+participation":
            raise ForsoothError(
                "presence-laplace protects participation; where that is public, use lp"
            )
        if (self.inner.scale, self.inner.protects) != (self.scale, self.protects):
            raise ForsoothError("the lp within rr-lp must have the same scale and protection")
        if not TOTAL // 2 <= self.keep < TOTAL:
            raise ForsoothError(f"rr-lp keeps with a weight from 2^31 to 2^32 - 1, not {self.keep}")
        spent = Fraction(self.presence_epsilon) + Fraction(self.inner.epsilon)
        if spent > Fraction(self.epsilon):
            raise ForsoothError(
                f"rr-lp does not keep its promise ε = {self.epsilon!r}: it spends "
                f"{self.presence_epsilon!r} on participation and {self.inner.epsilon!r} on values"
            )

    @property
    def presence_epsilon(self) -> float:
        """ε₁, rounded up."""
        return log_ratio(self.keep, TOTAL - self.keep)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Whole grid steps, or NOT_ANSWERED."""
        return self.inner.dtype

    def randomise_codes(
        self, codes: NDArray[Any], secret: NDArray[np.uint8], random: Randomness
    ) -> NDArray[Any]:
        """Both steps are taken for every cell, whatever the outcome of the first."""
        truthful = random.words(codes.size).reshape(codes.shape) < self.keep
        noisy = self.inner.randomise_codes(codes, secret, random)
        return np.where((codes != self.scale.null) == truthful, noisy, NOT_ANSWERED)

    def readings(self, reports: Reports) -> NDArray[np.float64]:
        """Noisy values as numbers on the scale; NaN where the report is NULL."""
        missing = reports.values == NOT_ANSWERED
        return np.where(missing, np.nan, self.inner.readings(reports))

    def check(self, values: NDArray[Any], tasks: int) -> NDArray[np.bool_]:
        """As the inner mechanism's, beside NOT_ANSWERED."""
        answered: NDArray[np.bool_] = values != NOT_ANSWERED
        return answered & self.inner.check(values, tasks)

    def parameters(self) -> dict[str, Any]:
        """The weight of the truth about participation, and the mechanism of the value."""
        return {"keep": self.keep, "inner": self.inner.to_json()}

    @classmethod
    def from_parameters(
        cls, common: Mapping[str, Any], parameters: Mapping[str, Any]
    ) -> PresenceLaplace:
        """Verified by the constructor."""
        inner = Mechanism.from_json(strict.string(parameters["inner"], "inner"))
        if not isinstance(inner, Laplace):
            raise ForsoothError(f"rr-lp has an lp within, not {inner.name}")
        return cls(**common, keep=strict.integer(parameters["keep"], "keep", 1, TOTAL), inner=inner)


def rr_lp(
    scale: ScaleLike,
    epsilon: float,
    *,
    protects: Protects = "answers+participation",
    first: float = 0.1,
    null: str = "uniform",
) -> PresenceLaplace | Laplace:
    """`first` is the share of ε for participation; `null` is "uniform" or an answer, as in `lp`.

    Where participation is public there is no first step: it is `lp` with all of ε.
    """
    scale = Scale.parse(scale)
    check_epsilon(epsilon)
    check_protects(protects)
    if not 0 < check_number(first, "the first step's share of ε") < 1:
        raise ForsoothError(f"the first step's share of ε must lie between 0 and 1, got {first}")
    if protects == "answers":
        return replace(lp(scale, epsilon, protects=protects, null=null), name="rr-lp")
    keep = keep_weight(2, first * epsilon)
    rest = float_below(Fraction(epsilon) - Fraction(log_ratio(keep, TOTAL - keep)))
    inner = lp(scale, rest, protects=protects, null=null)
    return PresenceLaplace("rr-lp", scale, epsilon, protects, keep, inner)
