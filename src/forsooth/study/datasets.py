"""The data sets of the paper, read from their authors' original files, and a person's own.

The files are not part of forsooth. They are looked for in ``--data-dir`` or ``FORSOOTH_DATA``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from forsooth.answers import Answers
from forsooth.errors import ForsoothError
from forsooth.scale import Scale
from forsooth.study.dataset import Dataset, align, read_truth
from forsooth.study.synthetic import PREFIX, Crowd

if TYPE_CHECKING:
    from collections.abc import Callable

    from forsooth.answers import OnConflict


@dataclass(frozen=True)
class Known:
    """A data set that forsooth can read: what it is, which files, where to get them."""

    summary: str
    files: tuple[str, ...]
    source: str
    load: Callable[[Path], Dataset]


def load(name: str, data_dir: str | Path | None = None) -> Dataset:
    """`wsd` or `adult`."""
    return _known(name).load(path(name, data_dir))


def path(name: str, data_dir: str | Path | None = None) -> Path:
    """The folder that holds a data set's files, if they are all there."""
    known = _known(name)
    root = data_dir or os.environ.get("FORSOOTH_DATA")
    wanted = ", ".join(f"{name}/{file}" for file in known.files)
    where = f"Get it from {known.source}. Put {wanted} into one folder and name that folder"
    if not root:
        raise ForsoothError(
            f"the data set {name!r} is not here. {where}: --data-dir DIR or FORSOOTH_DATA=DIR"
        )
    folder = Path(root) / name
    missing = [file for file in known.files if not (folder / file).is_file()]
    if missing:
        raise ForsoothError(
            f"the data set {name!r} is not in {root}: {', '.join(missing)} missing. {where}"
        )
    return folder


def read(
    data: str,
    *,
    truth: str | Path | None = None,
    scale: Scale | str | None = None,
    data_dir: str | Path | None = None,
    on_conflict: OnConflict = "error",
    seed: int = 0,
) -> Dataset:
    """What ``--data`` names: ``wsd``, ``adult``, ``synthetic:…``, or a person's own table."""
    if data.partition(":")[0] == PREFIX:
        chosen = Scale.parse(scale) if scale is not None else None
        return Crowd.parse(data, chosen).draw(seed, data)
    if data in KNOWN:
        return load(data, data_dir)
    if not Path(data).exists():
        raise ForsoothError(
            f"{data!r} is neither a file nor a data set; known: {', '.join(KNOWN)}, {PREFIX}:…"
        )
    if truth is None or scale is None:
        raise ForsoothError(f"{data}: a table of your own needs --truth FILE and --scale as well")
    answers = Answers.read(data, scale, on_conflict=on_conflict)
    return Dataset(data, answers, read_truth(truth, answers))


def _load_wsd(folder: Path) -> Dataset:
    """Responses 1..3 become 0..2; the scale stays the paper's 0..4."""
    table = _tsv(folder / "wsd.standardized.tsv")
    worker, task = table["!amt_worker_ids"], table["orig_id"]
    shifted = {
        name: np.array(table[name].to_pylist(), np.int64) - 1 for name in ("response", "gold")
    }
    long = pa.table({"worker": worker, "task": task, "label": shifted["response"]})
    answers = Answers.read(long, "0..4")
    gold = {name: float(value) for name, value in zip(task.to_pylist(), shifted["gold"])}
    return Dataset("wsd", answers, align(gold, answers, "wsd"))


def _load_adult(folder: Path) -> Dataset:
    """Where a worker labelled a page more than once, the last label counts."""
    labels = _tsv(folder / "labels.txt", "worker", "task", "label")
    scale = Scale.parse("G,P,R,X,B")
    answers = Answers.read(labels, scale, on_conflict="last")
    rows = _tsv(folder / "gold.txt", "task", "truth").to_pylist()
    code = dict(zip(scale.labels, scale.values))
    gold = {row["task"]: code[row["truth"]] for row in rows}
    return Dataset("adult", answers, align(gold, answers, "adult"))


def _tsv(file: Path, *names: str) -> pa.Table:
    """Tab-separated text; `names` for files without a header line."""
    try:
        return pa_csv.read_csv(
            file,
            read_options=pa_csv.ReadOptions(column_names=names or None),
            parse_options=pa_csv.ParseOptions(delimiter="\t", quote_char=False),
        )
    except (pa.ArrowException, OSError) as error:
        raise ForsoothError(f"{file} cannot be read: {str(error).splitlines()[0]}") from error


def _known(name: str) -> Known:
    if name not in KNOWN:
        raise ForsoothError(f"unknown data set {name!r}; known: {', '.join(KNOWN)}")
    return KNOWN[name]


KNOWN = {
    "wsd": Known(
        "word senses, the paper's “Web”: 177 tasks, 34 workers (Snow et al. 2008)",
        ("wsd.standardized.tsv",),
        "the annotations published with Snow et al., “Cheap and Fast — But is it Good?” (2008)",
        _load_wsd,
    ),
    "adult": Known(
        "how adult is a web page: 11,040 tasks, 825 workers (AdultContent2, Ipeirotis 2010)",
        ("labels.txt", "gold.txt"),
        "the AdultContent2 folder of Ipeirotis' Get-Another-Label",
        _load_adult,
    ),
}
