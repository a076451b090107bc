"""What a long inference keeps after every pass, so that a killed one goes on from there."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.io.files import replacing
from forsooth.version import exact_version, made_by_other

if TYPE_CHECKING:
    from numpy.typing import NDArray

Arrays = dict[str, "NDArray[Any]"]


class Checkpoint:
    """Arrays by stage in one file, which is replaced as a whole; without a path nothing is kept.

    The fingerprint says what was being computed: a file of another computation is refused, and so
    is one of another version or source of forsooth.
    """

    def __init__(self, path: str | Path | None = None, fingerprint: str = "") -> None:
        self.path = Path(path) if path else None
        self._fingerprint = fingerprint
        self._stages: dict[str, Arrays] = {}
        if self.path and self.path.exists():
            self._stages = self._read(self.path)

    def load(self, stage: str) -> Arrays | None:
        """What was saved for a stage, if anything."""
        return self._stages.get(stage)

    def save(self, stage: str, arrays: Arrays) -> None:
        """Keep a stage's arrays instead of those saved before."""
        if self.path is None:
            return
        self._stages[stage] = arrays
        named = {f"{s}/{n}": a for s, each in self._stages.items() for n, a in each.items()}
        about = {
            "forsooth": np.array(exact_version()),
            "fingerprint": np.array(self._fingerprint),
        }
        with replacing(self.path) as temporary, temporary.open("wb") as file:
            np.savez(file, **about, **named)  # type: ignore[arg-type]

    def remove(self) -> None:
        """The work is done."""
        if self.path:
            self.path.unlink(missing_ok=True)

    def _read(self, path: Path) -> dict[str, Arrays]:
        try:
            with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                kept = {name: file[name] for name in file.files}
            fingerprint = str(kept.pop("fingerprint"))
            made_by = str(kept.pop("forsooth")) if "forsooth" in kept else None
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ForsoothError(f"{path} is not a checkpoint of forsooth: {error}") from error
        if made_by != exact_version():
            raise ForsoothError(
                f"the checkpoint {path} {made_by_other(made_by)}. "
                "Remove it to start again, or name another file: --checkpoint FILE"
            )
        if fingerprint != self._fingerprint:
            raise ForsoothError(
                f"{path} is the checkpoint of another inference (other reports or options); "
                "remove it, or name another file: --checkpoint FILE"
            )
        stages: dict[str, Arrays] = {}
        for name, array in kept.items():
            stage, _, rest = name.partition("/")
            stages.setdefault(stage, {})[rest] = array
        return stages
