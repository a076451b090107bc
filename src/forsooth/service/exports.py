"""What a requester takes home: reports as Parquet, truths and invitations as CSV."""

from __future__ import annotations

import csv
import io
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from starlette.responses import Response

from forsooth.natural import rounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from forsooth.reports import Reports
    from forsooth.service.schemas_invitations import InvitationView
    from forsooth.service.schemas_truths import IntervalView, TruthScaleView, TruthsView, TruthView

CSV = "text/csv; charset=utf-8"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # what makes a spreadsheet evaluate a cell


def parquet(reports: Sequence[Reports]) -> tuple[bytes, str, str]:
    """The reports as a file, its media type and ending: Parquet, or a zip of one per design."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, part in enumerate(reports, 1):
            paths.append(Path(folder) / f"reports-{number}.parquet")
            part.write(paths[-1])
        if len(paths) == 1:
            return paths[0].read_bytes(), "application/vnd.apache.parquet", "parquet"
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            for path in paths:
                archive.write(path, path.name)
        return buffer.getvalue(), "application/zip", "zip"


def truths_csv(found: TruthsView) -> str:
    """One row per task, in the form that `forsooth infer` writes too, and with the question."""
    rows = [_row(each, found.scale) for each in found.truths]
    columns = [_for_reading([row[name] for row in rows]) for name in rows[0]]
    return _csv(list(rows[0]), zip(*columns))


def _for_reading(column: list[object]) -> list[object]:
    """Numbers rounded as `forsooth infer` does."""
    if not isinstance(column[0], float):
        return column
    return list(rounded(np.array(column, float)).tolist())


def _row(truth: TruthView, scale: TruthScaleView) -> dict[str, object]:
    row: dict[str, object] = {"task": guarded(truth.task), "question": guarded(truth.text)}
    row["truth"] = truth.truth
    if truth.label is not None:
        row["label"] = guarded(truth.label)
    row |= {"low": truth.low, "high": truth.high, "support": truth.support}
    if truth.probabilities is not None:
        distance = [abs(number - truth.truth) for number in scale.numbers]
        row["probability"] = truth.probabilities[distance.index(min(distance))]
    for answer, share in zip(scale.values, truth.shares or ()):
        row |= _columns(f"share_{answer}", share)
    if truth.participation is not None:
        row |= _columns("participation", truth.participation)
    return row | (_columns("valley", truth.valley) if truth.valley else {})


def _columns(name: str, value: IntervalView) -> dict[str, object]:
    return {name: value.estimate, f"{name}_low": value.low, f"{name}_high": value.high}


def invitations_csv(invitations: Iterable[InvitationView]) -> str:
    """One row per invitation; neither column can begin like a formula."""
    return _csv(("invitation", "link"), ((each.token, each.link) for each in invitations))


def attachment(content: bytes, media_type: str, name: str, *, status: int = 200) -> Response:
    """A file to keep."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, status, headers, media_type)


def guarded(text: str) -> str:
    """Text that no spreadsheet takes for a formula; a number may stay one."""
    return f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text


def _csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()
