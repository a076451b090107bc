"""Posterior inference from files: a campaign of any size, in passes over its pieces."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial, reduce
from hashlib import blake2b
from itertools import chain
from operator import add
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.inference import by_posterior
from forsooth.inference.checkpoint import Checkpoint
from forsooth.inference.engines.base import Engine, Here
from forsooth.inference.engines.register import Register, hashes
from forsooth.inference.gold import gold_array
from forsooth.inference.posterior.blocks import Block, Blocks
from forsooth.inference.posterior.evidence import (
    Campaign,
    Evidence,
    block_of,
    is_hidden,
    tables_of,
)
from forsooth.inference.posterior.kernels import count_tasks
from forsooth.inference.posterior.options import Options
from forsooth.reports import simulation_notices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from forsooth.estimand import GoldUse
    from forsooth.io.report_files import Piece, ReportFiles, ReportPart
    from forsooth.truths import Truths

T = TypeVar("T")


def infer_files(
    files: ReportFiles,
    *,
    options: Options | None = None,
    gold: Mapping[str, float] | None = None,
    gold_use: GoldUse = "pin",
    engine: Engine | None = None,
    workers: bool = True,
    checkpoint: str | Path | None = None,
) -> Truths:
    """The truths of a campaign that need not fit into memory; the same as `infer` gives.

    Memory grows with the tasks, not with the workers, unless their quality is wanted (`workers`).
    An interrupted inference goes on from its `checkpoint`, which is removed at the end.
    """
    options, engine = options or Options(), engine or Here()
    options = replace(options, estimand=options.estimand or files.estimand)
    refuse_repeats(files, engine)
    names = tuple(chain.from_iterable(piece.names() for piece in files.pieces())) if workers else ()
    fingerprint = _fingerprint(files, options, gold or {}, gold_use) if checkpoint else ""
    kept = Checkpoint(checkpoint, fingerprint)
    counts = _counts(files, engine, kept)
    evidence = tuple(_evidence(*each, files, engine) for each in zip(files.parts, counts))
    campaign = Campaign(files.scale, files.tasks, evidence, names)
    known = gold_array(gold or {}, files.tasks, files.scale)
    truths = by_posterior(campaign, known, options, gold_use, checkpoint=kept)
    kept.remove()
    return replace(truths, notices=simulation_notices(files.seeds))


class FileBlocks(Blocks):
    """Blocks that are read from files in every pass."""

    def __init__(self, pieces: Sequence[Piece], engine: Engine) -> None:
        self.pieces, self.engine = pieces, engine
        self.workers = sum(piece.workers for piece in pieces)

    def each(self, work: Callable[[Block], T]) -> Iterator[T]:
        """Block by block, in order."""
        return chain.from_iterable(self.engine.each(partial(_each, work), self.pieces))

    def total(self, work: Callable[[Block], T]) -> T:
        """Added up where the blocks are."""
        total: T = self.engine.total(partial(_total, work), self.pieces)
        return total


def _evidence(
    part: ReportPart, counts: NDArray[np.int64], files: ReportFiles, engine: Engine
) -> Evidence:
    tables, hidden = tables_of(part.mechanism), is_hidden(part.mechanism)
    return Evidence(FileBlocks(part.pieces, engine), len(files.tasks), tables, hidden, counts)


def refuse_repeats(
    files: ReportFiles, engine: Engine, counted: NDArray[np.uint64] | None = None
) -> NDArray[np.uint64]:
    """Refuse a worker who reports twice, or whose report has been `counted` before.

    Returns the hashes of the new names if there are some to compare with; else nobody keeps them.
    """
    register, pieces, kept = Register(), list(files.pieces()), []
    if counted is not None:
        register.add(counted)
    for found in engine.each(_hashes, pieces):
        register.add(found)
        if counted is not None:
            kept.append(found)
    repeated = register.repeated()
    if len(repeated):
        raise ForsoothError(_who(repeated, pieces))
    return np.concatenate([np.empty(0, np.uint64), *kept])


def _who(repeated: NDArray[np.uint64], pieces: Sequence[Piece]) -> str:
    """Names and files, found in a second look."""
    wanted, places = int(repeated[0]), []
    for piece in pieces:
        names = piece.names()
        found = np.flatnonzero(hashes(names) == np.uint64(wanted))
        places += [(names[place], piece.path) for place in found]
    where = " and ".join(sorted({path for _, path in places}))
    return (
        f"worker {places[0][0]!r} reports twice ({len(repeated)} such; {where}): "
        "a worker reports once per campaign"
    )


def count_part(part: ReportPart, engine: Engine) -> NDArray[np.int64]:
    """All that the pooled model needs to know of the cells, in one pass."""
    work = partial(count_tasks, symbols=tables_of(part.mechanism).shape[2])
    return FileBlocks(part.pieces, engine).total(work)


def _counts(files: ReportFiles, engine: Engine, checkpoint: Checkpoint) -> list[NDArray[np.int64]]:
    kept = checkpoint.load("counts")
    if kept is None:
        kept = {str(number): count_part(part, engine) for number, part in enumerate(files.parts)}
        checkpoint.save("counts", kept)
    return [kept[str(number)] for number in range(len(files.parts))]


def _each(work: Callable[[Block], T], piece: Piece) -> list[T]:
    return [work(block_of(reports)) for reports in piece.reports()]


def _total(work: Callable[[Block], T], pieces: Sequence[Piece]) -> T:
    reports = chain.from_iterable(piece.reports() for piece in pieces)
    return reduce(add, (work(block_of(each)) for each in reports))


def _hashes(piece: Piece) -> NDArray[np.uint64]:
    return hashes(piece.names())


def _fingerprint(
    files: ReportFiles, options: Options, gold: Mapping[str, float], gold_use: GoldUse
) -> str:
    """What is being computed: the same reports, whatever their files' names, and options."""
    said = [list(files.marks().values()), vars(options), dict(gold), gold_use]
    return blake2b(json.dumps(said).encode(), digest_size=16).hexdigest()
