"""What `infer` is given: reports, answers, or a table of plain answers whose scale is assumed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from forsooth.answers import Answers
from forsooth.errors import AssumptionWarning, ForsoothError
from forsooth.io import tables, wide
from forsooth.io.frames import WHAT_TO_PASS, library_of
from forsooth.natural import naturally
from forsooth.reports import Reports, simulation_notices
from forsooth.scale import MAX_SIZE, Scale, ScaleLike

if TYPE_CHECKING:
    from forsooth.io.tables import Source

MOST_SHOWN = 8  # answers, in a sentence about an assumed scale
NOT_PRIVATE = "inferred from plain answers: nothing was perturbed, so nothing is private"


@dataclass(frozen=True)
class Given:
    """Reports or answers of one campaign, and what had to be assumed to read them.

    `words` says that the assumed scale consists of words, whose order is not known.
    """

    parts: Sequence[Reports | Answers]
    notices: tuple[str, ...] = ()
    words: bool = False
    backend: str | None = field(default=None)


def given(data: object, scale: ScaleLike | None) -> Given:
    """The parts of what was passed to `infer`."""
    if isinstance(data, Reports | Answers):
        return _stated([data], scale)
    if isinstance(data, str | Path) and _holds_reports(Path(data)):
        from forsooth.io.report_files import ReportFiles

        return _stated(ReportFiles.open([data]).read(), scale)
    if isinstance(data, Iterable) and not isinstance(data, str | Mapping):
        parts = list(data) if isinstance(data, list | tuple) or not library_of(data) else []
        if any(isinstance(part, Reports | Answers) for part in parts):
            return _stated(parts, scale)
        data = parts or data
    if isinstance(data, list) and not data:
        raise ForsoothError(
            f"there are no reports to infer from: pass Reports, Answers, or plain answers; "
            f"{WHAT_TO_PASS}"
        )
    return _plain(data, scale)


def _stated(parts: Sequence[Reports | Answers], scale: ScaleLike | None) -> Given:
    for part in parts:
        if not isinstance(part, Reports | Answers):
            raise ForsoothError(f"{type(part).__name__} among the reports: pass Reports only")
    if scale is not None and Scale.parse(scale) != parts[0].scale:
        raise ForsoothError(
            f"the data are on the scale {parts[0].scale}, not {Scale.parse(scale)}: leave out scale"
        )
    notices = [notice for part in parts if isinstance(part, Answers) for notice in part.notices]
    if any(isinstance(part, Answers) for part in parts):
        notices.append(NOT_PRIVATE)
    notices += simulation_notices(
        part.simulation_seed for part in parts if isinstance(part, Reports)
    )
    return Given(parts, tuple(notices), False, parts[0].backend)


def _plain(data: object, scale: ScaleLike | None) -> Given:
    """A table of plain answers; without a scale, that of the answers found."""
    if isinstance(data, Mapping) and data and all(isinstance(r, Mapping) for r in data.values()):
        data = [
            {"worker": worker, "task": task, "label": label}
            for worker, row in data.items()
            for task, label in row.items()
        ]
    assumed = None
    if scale is None:
        assumed = assume_scale(data)
    answers = Answers.read(data, assumed.scale if assumed else Scale.parse(scale or ""))
    found = _stated([answers], None)
    if assumed is None:
        return found
    warnings.warn(assumed.notice, AssumptionWarning, stacklevel=4)
    return replace(found, notices=(assumed.notice, *found.notices), words=assumed.words)


def _holds_reports(path: Path) -> bool:
    """Is it a folder, or a Parquet file of ours?"""
    if path.is_dir() or not tables.is_parquet(path):
        return path.is_dir()
    import pyarrow.parquet as pq

    return b"forsooth" in (pq.read_schema(path).metadata or {})


@dataclass(frozen=True)
class Assumed:
    """A scale that was not stated, and the sentence that says so."""

    scale: Scale
    notice: str
    words: bool


def assume_scale(data: object) -> Assumed:
    """The scale of plain answers: from the lowest to the highest number, or the words found."""
    source = tables.read(data)
    labels = found_labels(wide.unfolded(source, {}) if wide.is_wide(source, {}) else source)
    numbers = [_number(label) for label in labels]
    shown = ", ".join(labels[:MOST_SHOWN]) + (", …" if len(labels) > MOST_SHOWN else "")
    if len(labels) < 2:
        raise ForsoothError(
            f"every answer is {shown or 'missing'}, which does not show the scale: pass scale=, "
            'for example scale="0..4"'
        )
    try:
        if None in numbers:
            scale = Scale.of(labels)
            said = f"the labels {shown}, without an order"
        else:
            scale = _numeric(sorted({number for number in numbers if number is not None}))
            said = f"{scale}" if scale.size <= MOST_SHOWN else f"{shown}"
            said = f"{scale.labels[0]} to {scale.labels[-1]}" if len(said) > 60 else said
    except ForsoothError as error:
        raise ForsoothError(
            f"the scale cannot be taken from the answers: pass scale= ({error})"
        ) from error
    return Assumed(
        scale,
        f"the scale is not given; the answers found suggest {said}. Pass scale= to state it",
        None in numbers,
    )


def found_labels(source: Source) -> list[str]:
    """The answers that occur: numbers in increasing order, words in natural order."""
    seen = source.column("label").unique().to_pylist()
    labels = naturally({str(label).strip() for label in seen if label is not None})
    labels = [label for label in labels if label.lower() != "nan"]
    numbers = {label: _number(label) for label in labels}
    if None in numbers.values():
        return labels
    return sorted(labels, key=lambda label: numbers[label] or 0.0)


def _numeric(found: list[float]) -> Scale:
    """Whole numbers: all from the lowest to the highest. Others: those that occur."""
    if all(number.is_integer() for number in found):
        low, high = int(found[0]), int(found[-1])
        if high - low < MAX_SIZE:
            return Scale.of(range(low, high + 1))
    return Scale.of(found)


def _number(label: str) -> float | None:
    try:
        number = float(label)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
