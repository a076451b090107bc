"""Finished cells in the output folder: one small file each, written whole or not at all.

The reproduction and the league keep their results so.

Whatever kills a run, what was finished is there afterwards and nothing half-finished is. The folder
names the version, the source and the seed that its results were computed with, and takes no results
of another.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forsooth.errors import ForsoothError
from forsooth.io.files import replacing
from forsooth.version import exact_version

if TYPE_CHECKING:
    from forsooth.study.paper.cells import Cell

_MANIFEST = "run.json"
_CELLS = "cells"
FIGURES_FOLDER = "figures"
REPORT = "report.html"


@dataclass(frozen=True)
class Finished:
    """A cell's result and the processor time that it took."""

    result: dict[str, Any]
    seconds: float


@dataclass(frozen=True)
class ResultStore:
    """An output folder that was opened for one version of the source and one seed."""

    folder: Path

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        seed: int,
        scope: str,
        command: str = "reproduce",
        fresh: bool = False,
    ) -> ResultStore:
        """Open or make the folder; results of another version, source or seed are
        refused, or with `fresh` removed. A folder with other people's files, or with the results of
        another command, is never touched.
        """
        store = cls(Path(folder))
        wanted = {"forsooth": exact_version(), "seed": seed}
        manifest = wanted | {"command": command, "scope": scope}
        found = store._manifest(command)
        if found is not None and fresh:
            for old in (_CELLS, FIGURES_FOLDER):
                shutil.rmtree(store.folder / old, ignore_errors=True)
            (store.folder / REPORT).unlink(missing_ok=True)
        elif found is not None and any(found.get(key) != wanted[key] for key in wanted):
            raise ForsoothError(
                f"{folder} holds results of forsooth {found.get('forsooth')} with seed "
                f"{found.get('seed')}; this is forsooth {exact_version()} with seed {seed}. Name "
                "another folder, or remove the old results with --fresh"
            )
        try:
            store.folder.mkdir(parents=True, exist_ok=True)
            store._write(store.folder / _MANIFEST, manifest)  # ours from here on
            for name in (_CELLS, FIGURES_FOLDER):
                (store.folder / name).mkdir(exist_ok=True)
        except OSError as error:
            raise ForsoothError(f"cannot write into {folder}: {error.strerror}") from error
        return store

    def get(self, cell: Cell) -> Finished | None:
        """The cell's result, if it is finished. A damaged file counts as unfinished."""
        try:
            document = json.loads(self.path(cell).read_text(encoding="utf-8"))
            if document["cell"] == cell.description:
                return Finished(document["result"], float(document["seconds"]))
        except (OSError, ValueError, KeyError, TypeError):
            pass
        return None

    def put(self, cell: Cell, finished: Finished) -> None:
        """Keep a result."""
        document = {
            "cell": cell.description,
            "seconds": round(finished.seconds, 3),
            "result": finished.result,
        }
        self._write(self.path(cell), document)

    def path(self, cell: Cell) -> Path:
        """Where a cell's result is."""
        return self.folder / _CELLS / f"{cell.key}.json"

    def _manifest(self, command: str) -> dict[str, Any] | None:
        """What the folder says about itself; None if there is nothing in it."""
        if self.folder.exists() and not self.folder.is_dir():
            raise ForsoothError(f"cannot write into {self.folder}: it is a file; name a folder")
        path = self.folder / _MANIFEST
        if path.exists():
            try:
                found = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                found = None
            if isinstance(found, dict) and "forsooth" in found:
                if (other := found.get("command", "reproduce")) != command:
                    raise ForsoothError(
                        f"{self.folder} holds results of forsooth {other}: name another folder"
                    )
                return found
        if self.folder.is_dir() and any(
            not entry.name.startswith(".forsooth-") for entry in self.folder.iterdir()
        ):
            raise ForsoothError(
                f"{self.folder} is not empty and not a folder of forsooth {command}: name another"
            )
        return None

    @staticmethod
    def _write(path: Path, document: dict[str, Any]) -> None:
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(document, indent=1), encoding="utf-8")
