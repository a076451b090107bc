"""What a worker runs: one file per family, each with its proof sketch.

    rr(scale, epsilon)          randomized response, NULL being one more symbol
    grr(scale, epsilon)         the same over answers only, participation public
    two_step(scale, epsilon)    NULL or not first, then the answer
    two_layer(scale, epsilon)   randomized response with a budget drawn by each worker (2ε!)
    lp(scale, epsilon)          discrete Laplace noise on every cell
    rr_lp(scale, epsilon)       randomized response for NULL or not, Laplace noise for the answer
    mf(scale, epsilon, tasks=n) matrix factorization; protects answers only
    mf_safe(scale, epsilon, tasks=n)  noisy sketches; protects participation too
    staircase(scale, epsilon)   the table that tells most about the truth, by linear programming

`build` makes one by its name on the command line.
"""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from forsooth.errors import ForsoothError
from forsooth.mechanisms.base import CellwiseMechanism, Mechanism
from forsooth.mechanisms.channel import Channel, ChannelMechanism
from forsooth.mechanisms.laplace import Laplace, lp
from forsooth.mechanisms.matrix_factorization import MatrixFactorization, mf
from forsooth.mechanisms.presence_laplace import PresenceLaplace, rr_lp
from forsooth.mechanisms.randomized_response import grr, rr, two_step
from forsooth.mechanisms.safe_factorization import SafeFactorization, mf_safe
from forsooth.mechanisms.sampled import SampledTasks, per_worker
from forsooth.mechanisms.staircase_channel import staircase
from forsooth.mechanisms.two_layer_channel import TwoLayer, two_layer
from forsooth.privacy import check_epsilon, check_protects, check_unit
from forsooth.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Callable

    from forsooth.privacy import Protects, Unit
    from forsooth.scale import ScaleLike

DEFAULT_MECHANISM = "rr"
BUILDERS: dict[str, Callable[..., Mechanism]] = {
    "lp": lp,
    "rr": rr,
    "grr": grr,
    "two-step": two_step,
    "rr-lp": rr_lp,
    "two-layer": two_layer,
    "mf": mf,
    "mf-safe": mf_safe,
    "staircase": staircase,
}

_NUMBERS: dict[str, type[int] | type[float]] = {"int": int, "float": float}


def build(
    specification: str,
    scale: ScaleLike,
    epsilon: float,
    *,
    tasks: int,
    protects: Protects | None = None,
    unit: Unit = "cell",
    sampled: int = 1,
    sampling_seed: int = 0,
) -> Mechanism:
    """A mechanism by its name, with options after a colon: ``rr``, ``mf:d=20,ridge=1``.

    Without `protects` a mechanism protects what it can: participation too, except `mf` and `grr`.
    With `unit` "worker", ε is for all that a worker says, on `sampled` tasks that are drawn from
    the public `sampling_seed` and the worker's name.
    """
    scale = Scale.parse(scale)
    if not isinstance(specification, str):
        raise ForsoothError(f"a mechanism is named by text, such as 'rr'; got {specification!r}")
    name, _, text = specification.partition(":")
    if name not in BUILDERS:
        raise ForsoothError(f"unknown mechanism {name!r}; known: {', '.join(BUILDERS)}")
    builder = BUILDERS[name]
    known = inspect.signature(builder).parameters
    options: dict[str, Any] = _options(specification, text, builder)
    if "tasks" in known:
        options["tasks"] = tasks
    if "protects" in known and protects is not None:
        options["protects"] = check_protects(protects)
    if check_unit(unit) == "cell":
        mechanism = builder(scale, epsilon, **options)
    else:
        check_epsilon(epsilon)
        of_cell = partial(builder, scale, **options)
        mechanism = per_worker(of_cell, epsilon, count=sampled, seed=sampling_seed)
        mechanism.width(tasks)
    if protects is not None and mechanism.protects != protects:
        raise ForsoothError(f"{name} protects {mechanism.protects} only: say --protects answers")
    return mechanism


def reports_sums(mechanism: Mechanism) -> bool:
    """Are its reports sums over tasks (`mf`, `mf-safe`)? They tell about mean answers only."""
    return isinstance(mechanism, MatrixFactorization | SafeFactorization)


def _options(specification: str, text: str, builder: Callable[..., Mechanism]) -> dict[str, Any]:
    """``d=20,ridge=1`` as typed keyword arguments of the builder."""
    offered = {
        name: _NUMBERS.get(str(parameter.annotation).removesuffix(" | None"), str)
        for name, parameter in inspect.signature(builder).parameters.items()
        if parameter.default is not inspect.Parameter.empty and name not in ("protects", "name")
    }
    options: dict[str, Any] = {}
    for pair in filter(None, text.split(",")):
        key, _, value = pair.partition("=")
        if key not in offered:
            choices = ", ".join(offered) or "none"
            raise ForsoothError(f"{specification!r}: unknown option {key!r}; it has: {choices}")
        try:
            options[key] = offered[key](value)
        except ValueError:
            wanted = offered[key].__name__
            raise ForsoothError(
                f"{specification!r}: {key} must be {wanted}, got {value!r}"
            ) from None
    return options


__all__ = [
    "BUILDERS",
    "DEFAULT_MECHANISM",
    "CellwiseMechanism",
    "Channel",
    "ChannelMechanism",
    "Laplace",
    "MatrixFactorization",
    "Mechanism",
    "PresenceLaplace",
    "SafeFactorization",
    "SampledTasks",
    "TwoLayer",
    "build",
    "grr",
    "lp",
    "mf",
    "mf_safe",
    "per_worker",
    "reports_sums",
    "rr",
    "rr_lp",
    "staircase",
    "two_layer",
    "two_step",
]
