"""The private table: sparse worker × task answers. Nothing that the collector runs may see it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, get_args

import numpy as np
import pyarrow as pa

from forsooth.cells import Cells
from forsooth.display import as_html, as_text, short
from forsooth.errors import ForsoothError
from forsooth.io import frames, tables, wide
from forsooth.natural import naturally
from forsooth.plural import counted
from forsooth.scale import Scale, ScaleLike

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

OnConflict = Literal["error", "last", "first", "drop"]
ROLES = ("task", "worker", "label")
ON_CONFLICT: tuple[str, ...] = get_args(OnConflict)


@dataclass(frozen=True, eq=False, repr=False)
class Answers:
    """Who answered what: one entry per answered cell, ordered by worker, then by task.

    Workers and tasks stand in natural order, t2 before t10 (or in the order of an explicit list),
    never in the order in which they first appear: that would depend on which cells are NULL.
    """

    scale: Scale
    workers: tuple[str, ...]
    tasks: tuple[str, ...]
    worker: NDArray[np.int32]
    task: NDArray[np.int32]
    code: NDArray[np.unsignedinteger[Any]]
    notices: tuple[str, ...] = field(default=())
    backend: str | None = None  # the caller's dataframe library
    assumed: tuple[
        str, ...
    ] = ()  # the lists, of tasks or workers, that were taken from the answers

    @classmethod
    def read(
        cls,
        source: object,
        scale: ScaleLike,
        *,
        tasks: Iterable[str] | None = None,
        workers: Iterable[str] | None = None,
        on_conflict: OnConflict = "error",
        columns: Mapping[str, str] | None = None,
    ) -> Answers:
        """Read a table of answers from a file, any dataframe, or a list of dicts.

        It is long (`task, worker, label`, one row per answer) or wide (`worker` and one column
        per task, one row per worker, empty where a task was skipped).

        `tasks` and `workers` are the public lists of the campaign's tasks and workers. Without
        them the tasks are those that somebody answered and the workers those who answered
        something, or those of a wide table; reports then show whom and what the table lists, and
        a mechanism warns of it. `columns` renames roles: ``{"label": "score"}``.
        """
        if on_conflict not in ON_CONFLICT:
            raise ForsoothError(f"on_conflict must be one of {', '.join(ON_CONFLICT)}")
        scale, table = Scale.parse(scale), tables.read(source)
        columns, notices = wide.check_columns(columns, ROLES), []
        if wide.is_wide(table, columns):
            table, columns = wide.unfolded(table, columns), {}
            tasks, workers = tasks or naturally(table.tasks), workers or naturally(table.workers)
            notices.append(table.notice)
        lists = {"tasks": tasks, "workers": workers}
        worker, worker_ids = _identifiers(table, "worker", columns.get("worker"), workers)
        task, task_ids = _identifiers(table, "task", columns.get("task"), tasks)
        code = _codes(table, scale, columns.get("label"))
        raw = _Raw(worker_ids, worker, task_ids, task, scale, code)
        rows, repeats = _one_row_per_cell(table, raw, on_conflict)
        return cls(
            scale,
            worker_ids,
            task_ids,
            worker[rows],
            task[rows],
            code[rows],
            (*notices, *repeats),
            frames.library_of(source),
            tuple(name for name, listed in lists.items() if listed is None),
        )

    @classmethod
    def of(
        cls,
        rows: object,
        scale: ScaleLike | None = None,
        *,
        tasks: Iterable[str] | None = None,
        workers: Iterable[str] | None = None,
        on_conflict: OnConflict = "error",
        columns: Mapping[str, str] | None = None,
    ) -> Answers:
        """From ``{worker: {task: answer}}``, or from anything that `read` takes.

        A task that is left out was not answered. The scale is never taken from the answers: it
        would tell which answers somebody gave.

        >>> Answers.of({"ann": {"q1": 3}, "bob": {"q1": 4, "q2": 0}}, "0..4").size
        3
        """
        if scale is None:
            raise ForsoothError(
                'the scale is missing: Answers.of(data, "0..4"), or a list of all possible '
                "answers. It is public, so it must not be taken from the private answers"
            )
        read = partial(cls.read, scale=scale, tasks=tasks, on_conflict=on_conflict)
        if not _is_nested(rows):
            return read(rows, workers=workers, columns=columns)
        if columns:
            raise ForsoothError("{worker: {task: answer}} has no columns to rename")
        cells = [(str(w), str(t), str(a)) for w, row in rows.items() for t, a in row.items()]
        worker, task, label = (list(column) for column in zip(*cells)) if cells else ([], [], [])
        text = pa.string()
        long = {
            "worker": pa.array(worker, text),
            "task": pa.array(task, text),
            "label": pa.array(label, text),
        }
        table = tables.Source(pa.table(long))
        return read(table, workers=workers or naturally(map(str, rows)))

    @property
    def size(self) -> int:
        """How many cells are answered."""
        return len(self.code)

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Where each worker's entries begin; one more number than workers."""
        return np.searchsorted(self.worker, np.arange(len(self.workers) + 1))

    def rows(self, start: int, stop: int) -> NDArray[np.unsignedinteger[Any]]:
        """The codes of workers `start` to `stop` over all tasks, NULL written as `scale.null`."""
        codes = np.full((stop - start, len(self.tasks)), self.scale.null, self.code.dtype)
        cells = slice(self.starts[start], self.starts[stop])
        row = self.worker[cells].astype(np.intp) - start
        codes.reshape(-1)[row * len(self.tasks) + self.task[cells]] = self.code[cells]
        return codes

    def span(self, start: int, stop: int) -> Answers:
        """The same campaign with workers `start` to `stop` only."""
        cells = slice(self.starts[start], self.starts[stop])
        return Answers(
            self.scale,
            self.workers[start:stop],
            self.tasks,
            self.worker[cells] - np.int32(start),
            self.task[cells],
            self.code[cells],
        )

    def of_workers(self, chosen: NDArray[np.intp]) -> Answers:
        """The same campaign with the chosen workers only (indices in increasing order)."""
        kept = np.isin(self.worker, chosen)
        return Answers(
            self.scale,
            tuple(self.workers[index] for index in chosen),
            self.tasks,
            np.searchsorted(chosen, self.worker[kept]).astype(np.int32),
            self.task[kept],
            self.code[kept],
        )

    def cells(self) -> Cells:
        """The answers as numbers, for the non-private yardstick."""
        values = np.asarray(self.scale.values)[self.code]
        return Cells(
            len(self.workers),
            len(self.tasks),
            self.worker.astype(np.intp),
            self.task.astype(np.intp),
            values,
        )

    def mirrored(self) -> Answers:
        """Every answer a turned into max + min − a: a scale on which shrinking to 0 cannot help."""
        steps = np.diff(self.scale.values)
        if not np.allclose(steps, steps[::-1], atol=0):
            raise ForsoothError(f"the scale {self.scale} is not symmetric and cannot be mirrored")
        code = (self.scale.size - 1 - self.code).astype(self.code.dtype)
        return Answers(self.scale, self.workers, self.tasks, self.worker, self.task, code)

    def columns(self) -> dict[str, pa.Array]:
        """The long table `task, worker, label` as arrow columns."""
        return {
            name: pa.DictionaryArray.from_arrays(index, pa.array(names)).cast(pa.string())
            for name, index, names in (
                ("task", pa.array(self.task), self.tasks),
                ("worker", pa.array(self.worker), self.workers),
                ("label", pa.array(self.code.astype(np.int32)), self.scale.labels),
            )
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """The long table in the library the answers came from, or in `backend`; else pyarrow."""
        return frames.frame_of(self.columns(), backend or self.backend)

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return as_text(*self._described())

    def _repr_html_(self) -> str:
        return as_html(*self._described())

    def _described(self) -> tuple[str, list[str]]:
        """Sizes only: an answer must not end up in a log or a stored notebook by itself."""
        cells = len(self.workers) * len(self.tasks)
        density = f", {100 * self.size / cells:.3g} % of all cells" if cells else ""
        workers, tasks = counted(len(self.workers), "worker"), counted(len(self.tasks), "task")
        given = counted(self.size, "answer")
        title = f"Answers of {workers} to {tasks}"
        facts = [f"{given}{density}, scale {short(str(self.scale))}; private"]
        return title, [*facts, *(f"note: {notice}" for notice in self.notices)]

    def to_arrow(self) -> pa.Table:
        """The long table as a pyarrow Table (``.to_pandas()``, ``polars.from_arrow`` go on)."""
        return pa.table(self.columns())

    def write(self, path: str | Path) -> None:
        """Write the long table as CSV, TSV or Parquet."""
        tables.write(self.columns(), path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Answers) and (
            (self.scale, self.workers, self.tasks) == (other.scale, other.workers, other.tasks)
            and np.array_equal(self.worker, other.worker)
            and np.array_equal(self.task, other.task)
            and np.array_equal(self.code, other.code)
        )

    __hash__ = None  # type: ignore[assignment]


def _is_nested(rows: object) -> TypeGuard[Mapping[str, Mapping[str, object]]]:
    """Is it {worker: {task: answer}}? Else it is a table; a mixture of both is refused."""
    if not isinstance(rows, Mapping):
        return False
    nested = [isinstance(row, Mapping) for row in rows.values()]
    if any(nested) and not all(nested):
        worker = list(rows)[nested.index(False)]
        raise ForsoothError(
            f"worker {worker!r} has {rows[worker]!r} instead of {{task: answer}}: "
            'write {"ann": {"q1": 3}}'
        )
    return all(nested)


def code_dtype(scale: Scale) -> np.dtype[np.unsignedinteger[Any]]:
    """The smallest type that holds every code of the scale and NULL."""
    return np.dtype(np.uint8 if scale.size < 2**8 else np.uint16)


@dataclass(frozen=True)
class _Raw:
    """The table's rows as indices, before repeats are settled."""

    workers: tuple[str, ...]
    worker: NDArray[np.int32]
    tasks: tuple[str, ...]
    task: NDArray[np.int32]
    scale: Scale
    code: NDArray[np.unsignedinteger[Any]]

    def cell(self, row: int) -> str:
        return f"worker {self.workers[self.worker[row]]!r}, task {self.tasks[self.task[row]]!r}"


def _identifiers(
    source: tables.Source, role: str, chosen: str | None, listed: Iterable[str] | None
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Every row's position in the list of names, and that list: the public one, or the sorted."""
    encoded = source.identifiers(role, chosen).dictionary_encode()
    found: list[str] = encoded.dictionary.to_pylist()
    names = _distinct(role, naturally(found) if listed is None else listed)
    if not names:
        raise ForsoothError(f"{source.name} has no answers: there is no {role}")
    place = {name: position for position, name in enumerate(names)}
    places = np.array([place.get(name, -1) for name in found], np.int32)
    index = places[encoded.indices.to_numpy()]
    if (index < 0).any():
        row = int(np.argmax(index < 0))
        raise ForsoothError(
            f"{source.where(row)}: {role} {found[encoded.indices[row].as_py()]!r} "
            f"is not in the campaign's list of {role}s"
        )
    return index, names


def _distinct(role: str, names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ForsoothError(f"{role}s is a list of names, not {names!r}")
    listed = tuple(str(name) for name in names)
    if len(set(listed)) < len(listed):
        twice = next(name for name, count in Counter(listed).items() if count > 1)
        raise ForsoothError(f"the list of {role}s names {twice!r} twice")
    return listed


def _codes(
    source: tables.Source, scale: Scale, chosen: str | None
) -> NDArray[np.unsignedinteger[Any]]:
    """Every row's answer as a position on the scale; anything else is refused."""
    column = source.column("label", chosen)
    try:
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    except pa.ArrowException:
        raise ForsoothError(
            f"{source.name}: the label column holds {column.type}, not answers"
        ) from None
    code_of = [
        None if label is None else scale.code(label) for label in encoded.dictionary.to_pylist()
    ]
    wrong = np.array([code is None for code in code_of] + [True])
    positions = encoded.indices.fill_null(len(code_of)).to_numpy()
    if wrong[positions].any():
        row = int(np.argmax(wrong[positions]))
        raise ForsoothError(f"{source.where(row)}: {_complaint(column[row].as_py(), scale)}")
    codes = np.array([code or 0 for code in code_of] + [0], code_dtype(scale))
    of_row: NDArray[np.unsignedinteger[Any]] = codes[positions]
    return of_row


def _complaint(label: object, scale: Scale) -> str:
    if label is None or str(label).strip().lower() in {"", "nan", "none", "null", "na", "n/a"}:
        return (
            f"the answer is empty ({label!r}); "
            "to say that a worker skipped a task, leave the row out"
        )
    return f"the answer {label!r} is not on the scale {scale}"


def _one_row_per_cell(
    source: tables.Source, raw: _Raw, on_conflict: OnConflict
) -> tuple[NDArray[np.intp], list[str]]:
    """The rows to keep, ordered by (worker, task): repeats merged, contradictions settled."""
    key = raw.worker.astype(np.int64) * len(raw.tasks) + raw.task
    rows = np.argsort(key, kind="stable")
    repeats = key[rows[1:]] == key[rows[:-1]]
    if not repeats.any():
        return rows, []
    begins = np.flatnonzero(np.concatenate([[True], ~repeats]))
    ends = np.append(begins[1:], len(rows)) - 1
    code = raw.code[rows]
    lowest, highest = np.minimum.reduceat(code, begins), np.maximum.reduceat(code, begins)
    torn = lowest != highest
    if torn.any() and on_conflict == "error":
        raise ForsoothError(_contradiction(source, raw, rows, begins, ends, torn))
    kept = rows[ends] if on_conflict in ("error", "last") else rows[begins]
    if on_conflict == "drop":
        kept = kept[~torn]
    merged = len(rows) - len(begins)
    notices = [f"{merged:,} repeated (worker, task) rows were merged"]
    if torn.any():
        rule = {"last": "kept the last", "first": "kept the first", "drop": "dropped"}[on_conflict]
        notices.append(f"{int(torn.sum()):,} cells contradict themselves: {rule}")
    return kept, notices


def _contradiction(
    source: tables.Source,
    raw: _Raw,
    rows: NDArray[np.intp],
    begins: NDArray[np.intp],
    ends: NDArray[np.intp],
    torn: NDArray[np.bool_],
) -> str:
    group = int(np.argmax(torn))
    same_cell = rows[begins[group] : ends[group] + 1]
    first = int(same_cell[0])
    other = int(same_cell[np.argmax(raw.code[same_cell] != raw.code[first])])
    answers = " and ".join(
        f"{raw.scale.labels[raw.code[row]]!r} ({source.where(row)})" for row in (first, other)
    )
    cells = counted(int(torn.sum()), "such cell")
    return (
        f"{raw.cell(first)}: two different answers, {answers}; {cells}. "
        "Say which to keep: --on-conflict last, first or drop (in Python: "
        'Answers.of(…, on_conflict="last"))'
    )
