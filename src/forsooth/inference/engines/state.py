"""What the pooled model has counted so far, in a file: new reports cost only themselves.

The pooled model knows a campaign by how often each symbol occurs in each task. These numbers, which
do not grow with the workers, are kept; files that have been counted are recognised and skipped. So
that nobody is counted twice in different files, 8 bytes of every worker's name are kept, too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from forsooth.errors import ForsoothError
from forsooth.inference import by_posterior
from forsooth.inference.engines.base import Engine, Here
from forsooth.inference.engines.files import count_part, refuse_repeats
from forsooth.inference.gold import gold_array
from forsooth.inference.posterior.blocks import Held
from forsooth.inference.posterior.evidence import Campaign, Evidence, is_hidden, tables_of
from forsooth.io import strict
from forsooth.io.files import replacing
from forsooth.mechanisms.base import Mechanism
from forsooth.reports import simulation_notices

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from forsooth.estimand import GoldUse
    from forsooth.inference.posterior.options import Options
    from forsooth.io.report_files import ReportFiles
    from forsooth.truths import Truths

FORMAT = 2  # increase it when what is counted, or how it is written, changes; 0.1.0 wrote none
_KEY = b"forsooth-state"
_SCHEMA = pa.schema(
    [  # a row is a task in a mechanism's counts, or a worker who has been counted
        ("mechanism", pa.int32()),
        ("task", pa.int32()),
        ("counts", pa.list_(pa.int64())),
        ("worker", pa.uint64()),
    ]
)


@dataclass(frozen=True, eq=False)
class _Counted:
    """The reports of one mechanism."""

    mechanism: Mechanism
    counts: NDArray[np.int64]  # tasks × symbols
    workers: int


@dataclass(frozen=True, eq=False)
class PooledState:
    """Everything counted so far."""

    tasks: tuple[str, ...] = ()
    parts: tuple[_Counted, ...] = ()
    workers: NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    files: frozenset[str] = frozenset()
    seeds: frozenset[int] = frozenset()  # of simulated noise

    def new(self, files: ReportFiles) -> ReportFiles | None:
        """The files that have not been counted yet, if any."""
        marks = files.marks()
        paths = [path for path, mark in marks.items() if mark not in self.files]
        return files.only(paths) if paths else None

    def with_reports(self, files: ReportFiles, engine: Engine | None = None) -> PooledState:
        """Counted with these reports, too, in one pass over them."""
        engine = engine or Here()
        if self.parts and (files.tasks, files.scale) != (self.tasks, self.parts[0].mechanism.scale):
            raise ForsoothError(f"{files.paths[0]} is of another campaign than the state")
        hashes = refuse_repeats(files, engine, self.workers)
        parts = {part.mechanism.to_json(): part for part in self.parts}
        for part in files.parts:
            key = part.mechanism.to_json()
            counts, workers = count_part(part, engine), part.workers
            if key in parts:
                counts, workers = counts + parts[key].counts, workers + parts[key].workers
            parts[key] = _Counted(part.mechanism, counts, workers)
        return PooledState(
            files.tasks,
            tuple(parts.values()),
            np.concatenate([self.workers, hashes]),
            self.files | set(files.marks().values()),
            self.seeds | {seed for seed in files.seeds if seed is not None},
        )

    def infer(
        self,
        options: Options,
        gold: Mapping[str, float] | None = None,
        gold_use: GoldUse = "pin",
    ) -> Truths:
        """The truths by the pooled model, without another look at the reports."""
        if not self.parts:
            raise ForsoothError("there are no reports to infer from")
        if options.model != "pooled":
            raise ForsoothError("a state has counts only: it is for the pooled model")
        evidence = tuple(
            Evidence(
                Held((), part.workers),  # the reports themselves are not here any more
                len(self.tasks),
                tables_of(part.mechanism),
                is_hidden(part.mechanism),
                part.counts,
            )
            for part in self.parts
        )
        scale = self.parts[0].mechanism.scale
        known = gold_array(gold or {}, self.tasks, scale)
        truths = by_posterior(Campaign(scale, self.tasks, evidence), known, options, gold_use)
        return replace(truths, notices=simulation_notices(self.seeds))

    def write(self, path: str | Path) -> None:
        """Replace the file as a whole."""
        import pyarrow.parquet as pq

        mechanisms = [(part.mechanism.to_json(), part.workers) for part in self.parts]
        metadata = {
            "format": FORMAT,
            "tasks": self.tasks,
            "mechanisms": mechanisms,
            "files": sorted(self.files),
            "simulation_seeds": sorted(self.seeds),
        }
        rows = [_task_rows(number, part) for number, part in enumerate(self.parts)]
        names = pa.table({"worker": pa.array(self.workers)})
        table = pa.concat_tables([*rows, names], promote_options="default")
        table = table.select(_SCHEMA.names).cast(_SCHEMA)
        with replacing(path) as temporary:
            pq.write_table(
                table.replace_schema_metadata({_KEY: json.dumps(metadata)}),
                temporary,
                compression="zstd",
                write_page_checksum=True,
            )

    @classmethod
    def read(cls, path: str | Path) -> PooledState:
        """What was kept; nothing, if there is no such file yet.

        A state of another format is refused. Other versions of forsooth that have this format
        count the same, so their states are continued.
        """
        import pyarrow.parquet as pq

        if not Path(path).exists():
            return cls()
        try:
            table = pq.read_table(path, page_checksum_verification=True)
            if table.schema.remove_metadata() != _SCHEMA:
                raise ForsoothError("this is not a state file of forsooth")
            metadata = _metadata(table)
            found = metadata.get("format", 1)
            if found == FORMAT:
                return _parse(metadata, table)
        except (ForsoothError, pa.ArrowException, OSError, KeyError, ValueError) as error:
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise ForsoothError(f"{path} is not a state of infer --state: {reason}") from error
        raise ForsoothError(
            f"the state {path} has format {found}; this version of forsooth continues format "
            f"{FORMAT}. Remove it and give all reports again"
        )


def _task_rows(number: int, part: _Counted) -> pa.Table:
    tasks, symbols = part.counts.shape
    starts = np.arange(tasks + 1, dtype=np.int32) * symbols
    return pa.table(
        {
            "mechanism": pa.array(np.full(tasks, number, np.int32)),
            "task": pa.array(np.arange(tasks, dtype=np.int32)),
            "counts": pa.ListArray.from_arrays(starts, pa.array(part.counts.ravel())),
        }
    )


def _metadata(table: pa.Table) -> dict[str, Any]:
    metadata = strict.loads((table.schema.metadata or {}).get(_KEY, b"null"))
    if not isinstance(metadata, dict):
        raise ForsoothError("this is not a state file of forsooth")
    return metadata


def _parse(metadata: dict[str, Any], table: pa.Table) -> PooledState:
    tasks = strict.strings(metadata["tasks"], "tasks")
    counted = table.filter(table["task"].is_valid())
    parts = []
    for number, (text, workers) in enumerate(strict.rows(metadata["mechanisms"], "mechanisms")):
        mechanism = Mechanism.from_json(strict.string(text, "mechanism"))
        rows = counted.filter(pa.compute.equal(counted["mechanism"], number))
        width = tables_of(mechanism).shape[2]
        counts = rows["counts"].combine_chunks().flatten().to_numpy()
        if counts.size != len(tasks) * width:
            raise ForsoothError("the counts do not fit the mechanism")
        parts.append(_Counted(mechanism, counts.reshape(len(tasks), width), workers))
    names = table["worker"].drop_null().to_numpy().astype(np.uint64)
    # Older states do not say how the noise was made.
    seeds = strict.integers(metadata.get("simulation_seeds", []), "a seed", 0, 2**64)
    return PooledState(tasks, tuple(parts), names, frozenset(metadata["files"]), frozenset(seeds))
