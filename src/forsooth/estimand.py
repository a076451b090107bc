"""What the requester states: what the truth of a task is, and how known truths are used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from forsooth.errors import ForsoothError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forsooth.scale import Scale

Estimand = Literal["level", "label", "opinion"]
ESTIMANDS: tuple[Estimand, ...] = get_args(Estimand)
MEANING: dict[str, str] = {
    "level": "each task has one true value on the ordered scale; workers err around it",
    "label": "one of the answers is right for each task",
    "opinion": "everyone answers for themselves; the result is the distribution of answers",
}
GoldUse = Literal["pin", "calibrate"]
GOLD_USES: tuple[GoldUse, ...] = get_args(GoldUse)


def default_estimand(scale: Scale) -> Estimand:
    """`label` for two answers, else `level`."""
    return "label" if scale.size == 2 else "level"


def check_estimand(value: str) -> Estimand:
    """The estimand of this name; refused if there is none."""
    for known in ESTIMANDS:
        if value == known:
            return known
    raise ForsoothError(f"unknown estimand {value!r}; known: {', '.join(ESTIMANDS)}")


def check_gold_use(value: str) -> GoldUse:
    """The use of gold tasks of this name; refused if there is none."""
    for known in GOLD_USES:
        if value == known:
            return known
    raise ForsoothError(f"unknown gold use {value!r}; known: {', '.join(GOLD_USES)}")


def agreed(estimands: Iterable[Estimand | None]) -> Estimand | None:
    """The estimand that reports of one campaign state; None if none of them states one."""
    stated = sorted({each for each in estimands if each is not None})
    if len(stated) > 1:
        raise ForsoothError(
            f"the reports state different estimands: {', '.join(stated)}. Choose one of them with "
            "--estimand (in Python: estimand=…)"
        )
    return stated[0] if stated else None
