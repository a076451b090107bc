"""Dataframes and plain Python data: into arrow tables, and back into the caller's library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from forsooth.errors import ForsoothError

WHAT_TO_PASS = (
    "pass a pandas or polars frame, a pyarrow table, a list of dicts, a dict of columns, or the "
    "path of a CSV, TSV, Parquet or Excel file"
)


def table_of(source: Any) -> pa.Table:
    """An arrow table from a frame of any library, a list of dicts, or a dict of columns."""
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, Mapping):
        return _of_columns(source)
    if isinstance(source, list | tuple):
        return _of_rows(source)
    import narwhals as nw

    try:
        frame = nw.from_native(_with_index(source))
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect(backend="pyarrow")
        return frame.to_arrow()
    except TypeError:
        raise ForsoothError(f"cannot read {type(source).__name__}: {WHAT_TO_PASS}") from None
    except (pa.ArrowException, ValueError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ForsoothError(f"the dataframe cannot be read: {reason}") from error


def library_of(source: object) -> str | None:
    """The name of the caller's dataframe library (pandas, polars, pyarrow); None without one."""
    if isinstance(source, str | Path | list | tuple | Mapping):
        return None  # without importing narwhals
    import narwhals as nw

    native: Any = nw.from_native(source, pass_through=True, allow_series=True)
    if native is source:
        return None
    name = str(native.implementation)
    return name if name in ("pandas", "polars", "modin", "cudf") else "pyarrow"


def frame_of(columns: Mapping[str, Any], backend: str | None) -> Any:
    """Columns as a frame of a library: `pyarrow` if none is named. NaN becomes null."""
    table = pa.table({name: pa.array(each, from_pandas=True) for name, each in columns.items()})
    if backend is None or backend == "pyarrow":
        return table
    narwhals: Any = import_module("narwhals")  # which names its backends in types

    try:
        return narwhals.from_arrow(table, backend=backend).to_native()
    except ImportError as error:
        raise ForsoothError(
            f"backend={backend!r} needs {backend}: pip install {backend}"
        ) from error
    except (ValueError, TypeError, AttributeError) as error:
        raise ForsoothError(
            f"unknown backend {backend!r}; known: pandas, polars, pyarrow, modin, cudf"
        ) from error


def is_pandas(source: object) -> bool:
    """Is it a pandas frame (or one of a library that looks the same)? Imports nothing."""
    from narwhals import dependencies

    return dependencies.is_pandas_like_dataframe(source)


def _with_index(source: Any) -> Any:
    """Pandas has an index, and names that are no text, which other libraries do not know."""
    from narwhals import dependencies

    if dependencies.is_pandas_like_series(source):
        source = source.reset_index()
    if not is_pandas(source):
        return source
    if _is_indexed_by_worker(source):
        source = source.rename_axis("worker")
    if any(name is not None and name not in source.columns for name in source.index.names):
        source = source.reset_index()
    if all(isinstance(name, str) for name in source.columns):
        return source
    return source.set_axis([str(name) for name in source.columns], axis=1)


def _is_indexed_by_worker(frame: Any) -> bool:
    """A wide table whose rows are named in an index without a name of its own."""
    from forsooth.io.tables import SYNONYMS

    known = {name for role in ("task", "worker", "label") for name in SYNONYMS[role]}
    return (
        frame.index.names == [None]
        and type(frame.index).__name__ != "RangeIndex"
        and not known & {str(column).strip().lower() for column in frame.columns}
    )


def _of_columns(columns: Mapping[Any, Any]) -> pa.Table:
    lists = {str(name): _listed(name, column) for name, column in columns.items()}
    if len({len(column) for column in lists.values()}) > 1:
        sizes = ", ".join(f"{name!r}: {len(column)}" for name, column in lists.items())
        raise ForsoothError(f"the columns have different lengths ({sizes})")
    return pa.table({name: _array(column) for name, column in lists.items()})


def _of_rows(rows: list[Any] | tuple[Any, ...]) -> pa.Table:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise ForsoothError(
                f"row {number} is {type(row).__name__}, not a dict such as "
                "{'task': 'q1', 'worker': 'ann', 'label': 3}; or " + WHAT_TO_PASS
            )
    names = dict.fromkeys(str(name) for row in rows for name in row)
    return pa.table({name: _array([row.get(name) for row in rows]) for name in names})


def _listed(name: Any, column: Any) -> list[Any]:
    if isinstance(column, str | bytes | Mapping) or not isinstance(column, Iterable):
        raise ForsoothError(f"the column {name!r} is {type(column).__name__}, not a list")
    return column.tolist() if hasattr(column, "tolist") else list(column)


def _array(values: list[Any]) -> pa.Array:
    """One column; where its values are of several types, their text."""
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError):
        return pa.array([None if value is None else str(value) for value in values], pa.string())
