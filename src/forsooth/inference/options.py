"""Options that a method does not have are refused: ignored silently, they would mislead."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from forsooth.errors import ForsoothError
from forsooth.inference.estimates import Rules

if TYPE_CHECKING:
    from forsooth.inference.posterior.options import Options

_STOP = frozenset({"tolerance", "max_iterations"})
_TIES = frozenset({"ties"})
# method: which of the fields of `Rules` it uses
USES: dict[str, frozenset[str]] = {
    "posterior": frozenset(),
    "algorithm1": _STOP,
    "mean": frozenset(),
    "median": _TIES,
    "majority": _TIES,
    "crh": _STOP,
    "catd": _STOP,
    "gtm": _STOP,
    "dawid-skene": _STOP | _TIES,
}
UNORDERED = frozenset({"majority", "dawid-skene"})  # never use the order of the labels


def check_rules(method: str, rules: Rules) -> Rules:
    """The rules, if the method uses every one that differs from its default."""
    for name in (each.name for each in fields(Rules)):
        if getattr(rules, name) != getattr(Rules(), name) and name not in USES[method]:
            having = ", ".join(method for method, used in USES.items() if name in used)
            raise ForsoothError(
                f"the method {method} has no option {name}; it is an option of {having}"
            )
    return rules


def without_order(options: Options) -> Options:
    """The same for labels whose order is not known."""
    if options.estimand == "level":
        raise ForsoothError(
            "the estimand level needs the order of the labels: pass scale= with the labels from "
            "lowest to highest"
        )
    return replace(options, unordered=True)
