"""What is known of tasks or workers beforehand: truths, gold, groups, in whatever people have."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.io import tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.scale import Scale

_FORMS = (
    '{"q1": 2.0}, a pandas series with the tasks as its index, a table with the columns task and '
    "truth, or one number per task"
)


def truth_array(
    known: object, tasks: Sequence[str], scale: Scale, what: str = "truth"
) -> NDArray[np.float64]:
    """Known truths in the order of the tasks, NaN where a truth is unknown.

    They come as a mapping, a series, a frame or file (`task, truth`), or one number per task. A
    truth is a number, or a label of the scale.
    """
    listed = _one_per_task(known, len(tasks), what)
    if listed is not None:
        return np.array([_number(value, scale, what) for value in listed])
    by_task = by_name(known, "task", "truth", what)
    if strangers := [task for task in by_task if task not in set(tasks)]:
        raise ForsoothError(
            f"{what}: task {strangers[0]!r} is not in the campaign ({len(strangers)} such of "
            f"{len(by_task)}); its tasks are {_some(tasks)}"
        )
    values = {task: _number(value, scale, f"{what}: {task!r}") for task, value in by_task.items()}
    return np.array([values.get(task, math.nan) for task in tasks])


def by_name(known: object, role: str, value: str, what: str) -> dict[str, Any]:
    """What is known as {name: value}: from a mapping, a series, or a table with two columns."""
    pairs: list[tuple[str, Any]]
    named = _named(known)
    if named is not None:
        pairs = [(str(name), each) for name, each in named.items()]
    else:
        try:
            table = tables.read(known)
        except ForsoothError as error:
            raise ForsoothError(f"{what}: {error}") from error
        chosen = None if value in tables.SYNONYMS else value
        names = table.identifiers(role).to_pylist()
        pairs = list(zip(names, table.column(value, chosen).to_pylist()))
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in found if names.count(name) > 1)
        raise ForsoothError(f"{what}: {role} {twice!r} is there twice")
    return found


def groups_of(known: object) -> dict[str, str]:
    """The group of every worker, from a mapping, a series, or a table (`worker, group`)."""
    found = by_name(known, "worker", "group", "groups")
    return {name: str(group) for name, group in found.items() if group is not None}


def _named(known: Any) -> Any:
    """A mapping by name or a pandas series; None if it is something else."""
    if isinstance(known, Mapping):
        return None if _is_columns(known) else known
    from narwhals import dependencies

    return known if dependencies.is_pandas_like_series(known) else None


def _is_columns(known: Mapping[Any, Any]) -> bool:
    """Is it {"task": [...], "truth": [...]}?"""
    return bool(known) and all(
        isinstance(each, Sequence | np.ndarray) and not isinstance(each, str)
        for each in known.values()
    )


def _one_per_task(known: object, count: int, what: str) -> list[Any] | None:
    """A list, array or series without names as a list; None if it is something else."""
    rows = isinstance(known, list | tuple) and any(isinstance(each, Mapping) for each in known)
    if isinstance(known, str | bytes | Mapping) or rows or not _is_listed(known):
        return None
    listed: list[Any] = known.tolist() if hasattr(known, "tolist") else list(known)  # type: ignore[call-overload]
    if len(listed) != count or np.ndim(known) > 1:  # type: ignore[arg-type]
        raise ForsoothError(f"{what}: {len(listed)} values for {count} tasks. Pass {_FORMS}")
    return listed


def _is_listed(known: object) -> bool:
    """A list, an array, or a series of a library whose series have no index."""
    from narwhals import dependencies

    return (
        isinstance(known, list | tuple | np.ndarray)
        or dependencies.is_polars_series(known)
        or dependencies.is_pyarrow_chunked_array(known)
    )


def _number(value: object, scale: Scale, what: str) -> float:
    """A truth as a number; None and NaN say that it is unknown."""
    if value is None:
        return math.nan
    if (code := scale.code(value)) is not None:
        return scale.values[code]
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ForsoothError(
            f"{what}: {value!r} is no number and no answer of the scale {scale}. Pass {_FORMS}"
        ) from None
    if math.isinf(number) or (isinstance(value, str) and not scale.is_numeric):
        raise ForsoothError(f"{what}: {value!r} is not on the scale {scale}")
    return number


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
