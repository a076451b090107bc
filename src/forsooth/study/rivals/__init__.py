"""Rivals: methods of others, each implemented from its paper, for the comparison with ours.

`INFERENCE` has the methods of inference. To add one, write a file with a function from
`Annotations` to `Aggregated`, and add a line here.

`PRIVATE` has whole private pipelines, from answers to estimates. To add one, write a file with a
function from answers, ε and a random generator to `Aggregated`, and add a line here.
"""

from __future__ import annotations

from forsooth.study.rivals.base import Aggregated, Annotations, Rival
from forsooth.study.rivals.classic import CLASSIC
from forsooth.study.rivals.ebcc import EBCC
from forsooth.study.rivals.glad import GLAD
from forsooth.study.rivals.grr import GRR
from forsooth.study.rivals.hybrid import HM
from forsooth.study.rivals.ibcc import IBCC
from forsooth.study.rivals.minimax import MINIMAX
from forsooth.study.rivals.olh import OLH
from forsooth.study.rivals.oue import OUE
from forsooth.study.rivals.pckv_grr import PCKV_GRR, PCKV_GRR_PERSON
from forsooth.study.rivals.pckv_ue import PCKV_UE, PCKV_UE_PERSON
from forsooth.study.rivals.piecewise import PM
from forsooth.study.rivals.private import PrivateRival
from forsooth.study.rivals.square_wave import SQUARE_WAVE
from forsooth.study.rivals.subset_selection import SUBSET_SELECTION

INFERENCE: dict[str, Rival] = {
    rival.name: rival
    for rival in (
        *CLASSIC,
        IBCC,
        EBCC,
        GLAD,
        MINIMAX,
    )
}
"""Methods of inference by name: those of `forsooth infer --method` but `posterior`, and others."""

_PRIVATE = (
    GRR,
    OUE,
    OLH,
    SUBSET_SELECTION,
    PCKV_GRR,
    PCKV_UE,
    SQUARE_WAVE,
    PM,
    HM,
    PCKV_GRR_PERSON,
    PCKV_UE_PERSON,
)
PRIVATE: dict[str, PrivateRival] = {rival.name: rival for rival in _PRIVATE}
"""Whole private pipelines by name: from answers through reports to estimates."""

__all__ = ["INFERENCE", "PRIVATE", "Aggregated", "Annotations", "PrivateRival", "Rival"]
