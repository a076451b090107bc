"""The data sets of the league: those in the data folder, synthetic crowds, and a user's own.

A JSON file describes data sets by name; NAME.answers.csv (task, worker, label) and NAME.truth.csv
(task, truth) lie beside it:

    {
     "mine": {"scale": "0..4", "estimand": "label"}
    }

`league/index.json` in the data folder is such a file; another one is named by ``--data mine.json``.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.answers import Answers
from forsooth.dataset import Dataset, read_truth
from forsooth.errors import ForsoothError
from forsooth.estimand import Estimand, check_estimand
from forsooth.io import strict
from forsooth.io.files import read_text
from forsooth.scale import Scale
from forsooth.study import datasets
from forsooth.study.synthetic import PREFIX, SyntheticCrowd

if TYPE_CHECKING:
    from collections.abc import Sequence

INDEX = Path("league") / "index.json"
SYNTHETIC = {
    "synthetic-low": "synthetic:workers=500,tasks=50,sparsity=0.5,truth-mean=0",
    "synthetic-middle": "synthetic:workers=500,tasks=50,sparsity=0.5,truth-mean=4",
}
_EXAMPLE = '{"mine": {"scale": "0..4", "estimand": "label"}}'
_COMPARED: tuple[Estimand, ...] = ("level", "label")


@dataclass(frozen=True)
class LeagueSet:
    """A data set with known truths. `origin` says where it is read from: a file, or what to draw.

    `digest` tells files from their later versions; drawn crowds have none.
    """

    name: str
    scale: Scale
    estimand: Estimand
    workers: int
    tasks: int
    answers: int
    origin: str
    digest: str = ""

    @property
    def size(self) -> int:
        """Cells of the matrix, NULL or not."""
        return self.workers * self.tasks

    @property
    def drawn(self) -> bool:
        """Is it drawn anew for every repeat?"""
        return self.origin.startswith(PREFIX)

    @property
    def identity(self) -> dict[str, Any]:
        """All that decides the data; a file may lie anywhere."""
        origin = self.origin if self.drawn else ""
        said = {"scale": str(self.scale), "estimand": self.estimand}
        return {"name": self.name, "digest": self.digest, "origin": origin} | said

    def load(self, data_dir: str | None, seed: int, repeat: int) -> Dataset:
        """The data of one repeat."""
        return _read(self.name, self.origin, data_dir, seed, repeat)


def known(data_dir: str | None) -> list[str]:
    """The names of the sets that are here; the data folder's first."""
    root = data_dir or os.environ.get("FORSOOTH_DATA")
    index = Path(root) / INDEX if root else None
    found = list(_described(index)) if index and index.is_file() else []
    return [*found, *(name for name in datasets.KNOWN if _is_here(name, data_dir)), *SYNTHETIC]


def find(names: Sequence[str], data_dir: str | None, seed: int) -> list[LeagueSet]:
    """Data sets by name, by ``synthetic:…`` or by a JSON file, which may describe several."""
    found: list[LeagueSet] = []
    for name in names:
        found += _found(name, data_dir, seed)
    twice = [each.name for each in found if [other.name for other in found].count(each.name) > 1]
    if twice:
        raise ForsoothError(f"--data names the set {twice[0]!r} twice")
    return found


def _found(name: str, data_dir: str | None, seed: int) -> list[LeagueSet]:
    if name in SYNTHETIC or name.startswith(f"{PREFIX}:"):
        return [_measured(name, SYNTHETIC.get(name, name), data_dir, seed)]
    if name.endswith(".json"):
        return [_measured(each, name, data_dir, seed) for each in _described(Path(name))]
    if name in datasets.KNOWN:
        folder = datasets.path(name, data_dir)
        found = _measured(name, name, data_dir, seed)
        return [replace(found, digest=_digest(*map(folder.joinpath, datasets.KNOWN[name].files)))]
    root = data_dir or os.environ.get("FORSOOTH_DATA")
    index = Path(root) / INDEX if root else None
    if index and index.is_file() and name in _described(index):
        return [_measured(name, str(index), data_dir, seed)]
    choices = ", ".join(known(data_dir))
    raise ForsoothError(
        f"unknown data set {name!r}; known: {choices}, {PREFIX}:…, or a JSON file that describes "
        "yours. More sets are found through --data-dir DIR or FORSOOTH_DATA=DIR"
    )


def _measured(name: str, origin: str, data_dir: str | None, seed: int) -> LeagueSet:
    """Read once, so that bad input is refused before any long work."""
    dataset = _read(name, origin, data_dir, seed, 0)
    answers, estimand = dataset.answers, dataset.estimand or "level"
    sizes = len(answers.workers), len(answers.tasks), answers.size
    digest = _digest(*_files(Path(origin), name)) if origin.endswith(".json") else ""
    return LeagueSet(name, answers.scale, estimand, *sizes, origin, digest)


def _read(name: str, origin: str, data_dir: str | None, seed: int, repeat: int) -> Dataset:
    if origin.startswith(PREFIX):
        drawn = np.random.SeedSequence([seed, repeat]).generate_state(1, np.uint64)[0]
        return SyntheticCrowd.parse(origin).draw(int(drawn), name)
    if not origin.endswith(".json"):
        return datasets.load(origin, data_dir)
    scale, estimand = _described(Path(origin))[name]
    file, truth = _files(Path(origin), name)
    answers = Answers.read(file, scale)
    return Dataset(name, answers, read_truth(truth, answers), estimand)


def _files(index: Path, name: str) -> tuple[Path, Path]:
    files = index.parent / f"{name}.answers.csv", index.parent / f"{name}.truth.csv"
    for file in files:
        if not file.is_file():
            raise ForsoothError(f"{index}: the set {name!r} needs the file {file.name} beside it")
    return files


def _described(index: Path) -> dict[str, tuple[Scale, Estimand]]:
    """Scale and estimand of every set; other keys, such as sizes, are for readers."""
    document = strict.loads(read_text(index))
    if not isinstance(document, dict):
        raise ForsoothError(f"{index}: data sets are described by name, as in {_EXAMPLE}")
    found = {}
    for name, described in document.items():
        missing = {"scale", "estimand"} - set(described if isinstance(described, dict) else ())
        if missing:
            raise ForsoothError(
                f"{index}: the set {name!r} needs {' and '.join(sorted(missing))}, as in {_EXAMPLE}"
            )
        estimand = check_estimand(strict.string(described["estimand"], "estimand"))
        if estimand not in _COMPARED:
            raise ForsoothError(f"{index}: {name!r}: the league compares {' and '.join(_COMPARED)}")
        found[name] = Scale.parse(strict.string(described["scale"], "scale")), estimand
    return found


def _is_here(name: str, data_dir: str | None) -> bool:
    try:
        datasets.path(name, data_dir)
    except ForsoothError:
        return False
    return True


def _digest(*files: Path) -> str:
    total = hashlib.sha256()
    for file in files:
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:24]
