"""What is measured: the readings of the paper's mechanisms, and what forsooth does with its own.

The text gives neither d nor the step of MF's gradient descent (d = 100 stands in one example), and
its loss has no minimum on rows with fewer than d answers: `ridge` makes one. LP replaces NULL by
"a constant or a draw from any distribution" (its experiments: uniform), and scales its noise by
|Γ|, where the range of the scale would do. The section on RR+LP is missing: see `rr-lp`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forsooth.inference import DEFAULT_METHOD
from forsooth.mechanisms import DEFAULT_MECHANISM
from forsooth.planning.adaptive import ADAPTIVE

if TYPE_CHECKING:
    from forsooth.estimand import Estimand
    from forsooth.study.paper.cells import DataSource

RR = "rr"
TWO_LAYER = "two-layer"
RR_LP = "rr-lp"

LP = "lp:sensitivity=size"
LP_ZERO = "lp:null=0,sensitivity=size"
LP_READINGS = {
    LP: "NULL → uniform",  # as in its experiments
    "lp": "NULL → uniform, noise by range",
    LP_ZERO: "NULL → 0",
}

MF = "mf:d=5"
MF_20 = "mf:d=20"
MF_DESCENT = "mf:d=20,ridge=0,solver=gradient-descent,steps=100"
MF_READINGS = {
    MF: "d = 5",
    MF_20: "d = 20",
    "mf:d=100": "d = 100",
    MF_DESCENT: "d = 20, 100 steps of gradient descent, no ridge",
}

SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)  # of ε for participation; RR+LP's own default is the first
SPLITS = {f"rr-lp:first={share:g}": share for share in SHARES}

ALGORITHM_1 = "algorithm1"

_LABELS = {
    RR: "RR",
    TWO_LAYER: "2-Layer",
    RR_LP: "RR+LP",
    **{name: f"LP, {words}" for name, words in LP_READINGS.items()},
    **{name: f"MF, {words}" for name, words in MF_READINGS.items()},
    **{name: f"RR+LP, ε₁ = {share:g}ε" for name, share in SPLITS.items()},
}


def label(mechanism: str) -> str:
    """A mechanism in the paper's words."""
    return _LABELS[mechanism]


@dataclass(frozen=True)
class Pipeline:
    """A mechanism and what is made of its reports; the estimand is for posterior inference."""

    mechanism: str
    method: str = ALGORITHM_1
    estimand: Estimand | None = None


DEFAULT = "forsooth (its default)"
ADAPTIVE_CELLS = 2_000_000


def default_of(source: DataSource) -> Pipeline:
    """What `forsooth perturb | infer` does with this data if no option is given but ε."""
    return Pipeline(DEFAULT_MECHANISM, DEFAULT_METHOD, source.default_estimand)


def choices_of(source: DataSource) -> dict[str, Pipeline]:
    """Forsooth's default and, each by its name, what a requester can choose instead.

    Adaptive campaigns are left out on the largest data, where they take minutes.
    """
    default, stated = default_of(source), source.estimand or source.default_estimand
    found = {DEFAULT: default}
    words = ""
    if stated != default.estimand:
        words = f", estimand {stated}"
        found[f"forsooth{words}"] = Pipeline(default.mechanism, default.method, stated)
    if source.size <= ADAPTIVE_CELLS:
        found[f"forsooth, adaptive{words}"] = Pipeline(ADAPTIVE, default.method, stated)
    return found
