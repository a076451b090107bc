"""What is claimed of a mechanism: ε for each cell or, with `cells`, for everything one worker says.

A claim is compared with what is audited, a cell or all that a worker says, so it is put into that
unit first. A share of a claim is rounded down.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from forsooth.privacy import Privacy
from forsooth.rounding import float_below

if TYPE_CHECKING:
    from forsooth.mechanisms import Mechanism


def default_claim(mechanism: Mechanism) -> Privacy:
    """What the mechanism says of itself."""
    return Privacy(mechanism.epsilon, mechanism.protects, mechanism.guarantee.cells)


def per_cell(claim: Privacy, cells: int) -> Privacy:
    """The claim for one of the `cells` that can influence a report."""
    if claim.cells is None:
        return claim
    return Privacy(float_below(Fraction(claim.epsilon) / cells), claim.protects, cells)
