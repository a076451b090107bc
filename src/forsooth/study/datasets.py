"""The data sets of the paper, read from their authors' original files, and a user's own.

The files are not part of forsooth. They are looked for in ``--data-dir`` or ``FORSOOTH_DATA``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv as pa_csv

from forsooth.answers import Answers
from forsooth.dataset import Dataset, align, read_truth
from forsooth.errors import ForsoothError
from forsooth.io import tables
from forsooth.scale import Scale
from forsooth.study.synthetic import PREFIX, SyntheticCrowd

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from forsooth.answers import OnConflict


@dataclass(frozen=True)
class PublicDataset:
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
    """What ``--data`` names: ``wsd``, ``adult``, ``synthetic:…``, or a user's own table."""
    if data.partition(":")[0] == PREFIX:
        chosen = Scale.parse(scale) if scale is not None else None
        return SyntheticCrowd.parse(data, chosen).draw(seed, data)
    if data in KNOWN:
        if truth is not None or scale is not None:
            raise ForsoothError(
                f"{data} has its own scale and truths: leave out --scale, --truth-file"
            )
        return load(data, data_dir)
    if not Path(data).exists():
        raise ForsoothError(
            f"{data!r} is neither a file nor a data set; known: {', '.join(KNOWN)}, {PREFIX}:…"
        )
    if truth is None or scale is None:
        raise ForsoothError(
            f"{data}: a table of your own needs --truth-file FILE and --scale as well"
        )
    answers = Answers.read(data, scale, on_conflict=on_conflict)
    return Dataset(data, answers, read_truth(truth, answers))


def _load_wsd(folder: Path) -> Dataset:
    """Responses 1..3 become 0..2; the scale stays the paper's 0..4."""
    columns = {"worker": "!amt_worker_ids", "task": "orig_id", "label": "response"}
    source = tables.read(folder / "wsd.standardized.tsv")
    coded = Answers.read(source, "1..5", columns=columns)
    scale = Scale.parse("0..4")
    answers = Answers(
        scale, coded.workers, coded.tasks, coded.worker, coded.task, coded.code, coded.notices
    )
    tasks = source.identifiers("task", "orig_id").to_pylist()
    gold = dict(zip(tasks, source.column("truth", "gold").to_pylist()))
    truth = _aligned(gold, Scale.parse("1..5"), answers, source) - 1
    return Dataset("wsd", answers, truth, "label")  # one of the word's senses is meant


def _load_adult(folder: Path) -> Dataset:
    """Where a worker labelled a page more than once, the last label counts."""
    scale = Scale.parse("G,P,R,X,B")
    labels = _headless(folder / "labels.txt", "worker", "task", "label")
    answers = Answers.read(labels, scale, on_conflict="last")
    truths = _headless(folder / "gold.txt", "task", "truth")
    gold = dict(zip(truths.identifiers("task").to_pylist(), truths.column("truth").to_pylist()))
    truth = _aligned(gold, scale, answers, truths)
    return Dataset("adult", answers, truth, "label")  # experts gave every page one of the ratings


def _aligned(
    gold: dict[str, str], scale: Scale, answers: Answers, source: tables.Source
) -> NDArray[np.float64]:
    """Gold labels as numbers in the order of the tasks; a label off the scale is refused."""
    values = {}
    for task, label in gold.items():
        if (code := scale.code(label)) is None:
            raise ForsoothError(f"{source.name}: the gold label {label!r} of {task!r} is unknown")
        values[task] = scale.values[code]
    return align(values, answers, source.name)


def _headless(file: Path, *names: str) -> tables.Source:
    """Tab-separated text without a header line; every column is text."""
    try:
        table = pa_csv.read_csv(
            file,
            read_options=pa_csv.ReadOptions(column_names=names),
            parse_options=pa_csv.ParseOptions(delimiter="\t", quote_char=False),
            convert_options=pa_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
        )
    except (pa.ArrowException, OSError) as error:
        raise ForsoothError(f"{file} cannot be read: {str(error).splitlines()[0]}") from error
    return tables.Source(table, None, f"{file} (no header line)")


def _known(name: str) -> PublicDataset:
    if name not in KNOWN:
        raise ForsoothError(f"unknown data set {name!r}; known: {', '.join(KNOWN)}")
    return KNOWN[name]


KNOWN = {
    "wsd": PublicDataset(
        "word senses, the paper's “Web”: 177 tasks, 34 workers (Snow et al. 2008)",
        ("wsd.standardized.tsv",),
        "the annotations published with Snow et al., “Cheap and Fast — But is it Good?” (2008)",
        _load_wsd,
    ),
    "adult": PublicDataset(
        "how adult is a web page: 11,040 tasks, 825 workers (AdultContent2, Ipeirotis 2010)",
        ("labels.txt", "gold.txt"),
        "the AdultContent2 folder of Ipeirotis' Get-Another-Label",
        _load_adult,
    ),
}
