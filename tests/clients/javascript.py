"""The JavaScript client as a process: Node, and what it draws as Reports and Answers."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from forsooth import Answers, Mechanism, Reports
from forsooth.io import packing

PACKAGE = Path(__file__).parents[2] / "clients" / "js"


def node(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run Node in the client's folder; a test that needs it is skipped where it is not."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("node is not here: the JavaScript client cannot be run")
    return subprocess.run(
        [program, *map(str, arguments)],
        cwd=PACKAGE,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def read_samples(text: str) -> tuple[Reports, Answers]:
    """What `bin/sample.mjs` wrote: the reports, and the answers that were put in."""
    head, *lines = map(json.loads, text.splitlines())
    mechanism, tasks = Mechanism.from_json(head["mechanism"]), head["tasks"]
    workers = tuple(line["worker"] for line in lines)
    answered, counts = None, [mechanism.width(len(tasks))] * len(lines)
    if mechanism.layout == "cells":
        counts = [len(line["answered"]) for line in lines]
        answered = (
            np.repeat(np.arange(len(lines)), counts).astype(np.int32),
            np.array([task for line in lines for task in line["answered"]], np.int32),
        )
    drawn = [base64.b64decode(line["report"], validate=True) for line in lines]
    rows = [
        packing.unpack_one(report, count, mechanism.bits, mechanism.dtype)
        for report, count in zip(drawn, counts, strict=True)
    ]
    values = np.stack(rows) if answered is None else np.concatenate(rows)
    reports = Reports(mechanism, tuple(tasks), workers, values, answered)
    return reports, _answers(reports, [line["answers"] for line in lines])


def _answers(reports: Reports, rows: list[dict[str, str]]) -> Answers:
    place = {task: index for index, task in enumerate(reports.tasks)}
    code_of = {label: code for code, label in enumerate(reports.scale.labels)}
    return Answers(
        reports.scale,
        reports.workers,
        reports.tasks,
        np.repeat(np.arange(len(rows)), [len(row) for row in rows]).astype(np.int32),
        np.array([place[task] for row in rows for task in row], np.int32),
        np.array([code_of[label] for row in rows for label in row.values()], np.uint8),
    )
