"""Rivals: methods of others, each implemented from its paper, for the comparison with ours.

`INFERENCE` has the methods of inference. To add one, write a file with a function from
`Annotations` to `Aggregated`, and add a line here.
"""

from __future__ import annotations

from forsooth.study.rivals.base import Aggregated, Annotations, Rival
from forsooth.study.rivals.classic import CLASSIC
from forsooth.study.rivals.ebcc import EBCC
from forsooth.study.rivals.glad import GLAD
from forsooth.study.rivals.ibcc import IBCC
from forsooth.study.rivals.minimax import MINIMAX

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

__all__ = ["INFERENCE", "Aggregated", "Annotations", "Rival"]
