"""A report's bytes: checked when they come in, and put together again as Reports."""

from __future__ import annotations

import base64
import binascii
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import select

from forsooth.errors import ForsoothError
from forsooth.io import packing
from forsooth.mechanisms import SampledTasks
from forsooth.plural import counted
from forsooth.reports import Reports
from forsooth.service import models
from forsooth.service.status import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from sqlalchemy import ColumnElement, Connection

    from forsooth.mechanisms.base import Mechanism
    from forsooth.reports import AnsweredCells
    from forsooth.service.campaigns import StoredCampaign, StoredDesign

_INDEX = np.dtype("<i4")


def decode(text: str) -> bytes:
    """The bytes of a report; base64 with padding and nothing else."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ForsoothError("the report is not base64 (standard alphabet, with padding)") from None


def check(
    campaign: StoredCampaign,
    design: StoredDesign,
    report: bytes,
    tasks: Sequence[int] | None,
    worker: str,
) -> None:
    """Refuse what the design never sends: other lengths, other symbols, other cells."""
    mechanism, count = design.mechanism, len(campaign.tasks)
    if mechanism.layout == "rows":
        if tasks is not None:
            raise ForsoothError("this campaign protects participation: no tasks may be named")
        cells = mechanism.width(count)
    else:
        cells = _check_tasks(tasks, count)
        _check_sample(mechanism, tasks or (), worker, count)
    size = mechanism.report_bytes(cells)
    if len(report) != size:
        raise ForsoothError(
            f"the report has {len(report)} bytes; {cells} values of "
            f"{counted(mechanism.bits, 'bit')} take {size}"
        )
    values = packing.unpack_one(report, cells, mechanism.bits, mechanism.dtype)
    shaped = values if tasks is not None else values.reshape(1, cells)
    impossible = mechanism.check(shaped, count).ravel()
    if impossible.any():
        place = int(impossible.argmax())
        raise ForsoothError(f"value {place} of the report is one that {mechanism.name} never sends")


def spent(campaign: StoredCampaign, design: StoredDesign, tasks: Sequence[int] | None) -> float:
    """The most ε that a report can have cost its worker."""
    cells = len(campaign.tasks) if tasks is None else len(tasks)
    return design.mechanism.guarantee.worker_total(cells)


def pack_tasks(tasks: Sequence[int] | None) -> bytes | None:
    """The indices of the answered tasks as they are stored."""
    return None if tasks is None else np.array(tasks, _INDEX).tobytes()


def all_reports(connection: Connection, campaign: StoredCampaign) -> list[Reports]:
    """The released reports of a campaign, by design; workers are in the order of their hashes."""
    wanted = progress(connection, campaign).life.released
    made = (_of_design(connection, campaign, design, wanted) for design in campaign.designs)
    return [reports for reports in made if reports.workers]


def _check_tasks(tasks: Sequence[int] | None, count: int) -> int:
    if not tasks:
        raise ForsoothError(
            "participation is public: name the tasks that were answered, at least one"
        )
    if any(later <= earlier for earlier, later in pairwise(tasks)):
        raise ForsoothError("the tasks must be listed once each, in increasing order")
    if tasks[0] < 0 or tasks[-1] >= count:
        raise ForsoothError(f"the tasks are numbered from 0 to {count - 1}")
    return len(tasks)


def _check_sample(mechanism: Mechanism, tasks: Sequence[int], worker: str, count: int) -> None:
    if isinstance(mechanism, SampledTasks):
        drawn = set(mechanism.sampled([worker], count)[0].tolist())
        if not drawn.issuperset(tasks):
            raise ForsoothError(
                "a task was answered that was not drawn for this worker: unit = worker counts "
                f"{counted(len(drawn), 'task')} only"
            )


def _of_design(
    connection: Connection,
    campaign: StoredCampaign,
    design: StoredDesign,
    wanted: ColumnElement[bool],
) -> Reports:
    table, mechanism = models.report, design.mechanism
    rows = connection.execute(
        select(table.c.invitation, table.c.tasks, table.c.payload)
        .where(wanted, table.c.design == design.number)
        .order_by(table.c.invitation)
    ).all()
    workers = tuple(row.invitation.hex() for row in rows)
    payloads = [row.payload for row in rows]
    if mechanism.layout == "rows":
        width = mechanism.width(len(campaign.tasks))
        values, answered = _equal_lengths(mechanism, payloads, width), None
    else:
        values, answered = _public_cells(mechanism, payloads, [row.tasks for row in rows])
    return Reports(
        mechanism, campaign.task_ids, workers, values, answered, estimand=campaign.estimand
    )


def _equal_lengths(mechanism: Mechanism, payloads: list[bytes], width: int) -> NDArray[Any]:
    size = mechanism.report_bytes(width)
    packed = np.frombuffer(b"".join(payloads), np.uint8).reshape(len(payloads), size)
    return packing.unpack(packed, width, mechanism.bits, mechanism.dtype)


def _public_cells(
    mechanism: Mechanism, payloads: list[bytes], tasks: list[bytes]
) -> tuple[NDArray[Any], AnsweredCells]:
    """Reports on equally many tasks are of equal length: they are unpacked together."""
    counts = np.array([len(each) // _INDEX.itemsize for each in tasks], np.intp)
    starts = np.cumsum(counts) - counts
    values = np.empty(counts.sum(), mechanism.dtype)
    for count in np.unique(counts):
        same = np.flatnonzero(counts == count)
        place = starts[same, None] + np.arange(count)
        values[place] = _equal_lengths(mechanism, [payloads[report] for report in same], int(count))
    worker = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return values, (worker, np.frombuffer(b"".join(tasks), _INDEX).astype(np.int32))
