"""Where the paper leaves a choice: the readings of LP and MF that are measured side by side.

The text gives neither d nor the step of MF's gradient descent (d = 100 stands in one example), and
its loss has no minimum on rows with fewer than d answers: `ridge` makes one. LP replaces NULL by
"a constant or a draw from any distribution" (its experiments: uniform), and scales its noise by
|Γ|, where the range of the scale would do.
"""

from __future__ import annotations

RR = "rr"
TWO_LAYER = "two-layer"
OURS = "adaptive"

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

ALGORITHM_1 = "algorithm1"
POSTERIOR = "posterior"

_LABELS = {
    RR: "RR",
    TWO_LAYER: "2-Layer",
    **{name: f"LP, {words}" for name, words in LP_READINGS.items()},
    **{name: f"MF, {words}" for name, words in MF_READINGS.items()},
}


def label(mechanism: str) -> str:
    """A mechanism in the paper's words."""
    return _LABELS[mechanism]
