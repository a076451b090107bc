"""Permanent answers: asked again for the same campaign, a client returns the same report.

Fresh noise on the same answer is a second spend, and averaging many would reveal the answer. The
store keeps one file per campaign and worker. It holds reports, never answers.
"""

from __future__ import annotations

import os
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from forsooth.errors import ForsoothError
from forsooth.reports import Reports

if TYPE_CHECKING:
    from forsooth.answers import Answers
    from forsooth.mechanisms.base import Mechanism


class PermanentReports:
    """A folder of reports, at most one per campaign and worker, each whole or not there."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)

    def report(self, campaign: str, mechanism: Mechanism, answers: Answers) -> Reports:
        """One worker's report for a campaign: the one already made, or a new one, kept for ever.

        The stored report is returned whatever the answers are now. A campaign that comes back
        with another mechanism or other tasks is refused.
        """
        if len(answers.workers) != 1:
            raise ForsoothError("permanent reports are kept for one worker at a time")
        path = self._path(campaign, answers.workers[0])
        if not path.exists():
            self._keep(mechanism.perturb(answers), path)
        stored = Reports.read(path)
        if (stored.mechanism, stored.tasks) != (mechanism, answers.tasks):
            raise ForsoothError(
                f"campaign {campaign!r} was answered with another mechanism or other tasks; "
                "a second report would be a second spend"
            )
        return stored

    def _path(self, campaign: str, worker: str) -> Path:
        """Names may be any strings; their hash is a file name."""
        key = sha256(f"{len(campaign)}:{campaign}{worker}".encode()).hexdigest()
        return self._folder / f"{key}.parquet"

    def _keep(self, reports: Reports, path: Path) -> None:
        """Link the finished file to its name: of two processes the first wins, for both."""
        handle, name = tempfile.mkstemp(dir=self._folder, suffix=".tmp")
        os.close(handle)
        temporary = Path(name)
        try:
            reports.write(temporary)
            path.hardlink_to(temporary)
        except FileExistsError:
            pass
        finally:
            temporary.unlink(missing_ok=True)
