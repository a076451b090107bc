"""Who carries a pass over a campaign's files: this process, piece by piece, or a cluster."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from forsooth.io.report_files import Piece

T = TypeVar("T")


class Engine(Protocol):
    """Runs the same work on many pieces. The work, and what it makes, can be sent elsewhere."""

    def each(self, work: Callable[[Piece], T], pieces: Sequence[Piece]) -> Iterator[T]:
        """What `work` makes of every piece, in order."""
        ...

    def total(self, work: Callable[[Sequence[Piece]], Any], pieces: Sequence[Piece]) -> Any:
        """The sum of what `work` makes of groups of pieces, however they are grouped."""
        ...


class Here:
    """One piece after the other in this process: the memory of one piece, whatever their number."""

    def __init__(self, progress: Callable[[float], None] = lambda share: None) -> None:
        self._progress = progress

    def each(self, work: Callable[[Piece], T], pieces: Sequence[Piece]) -> Iterator[T]:
        """In order."""
        for done, piece in enumerate(pieces, 1):
            yield work(piece)
            self._progress(done / len(pieces))

    def total(self, work: Callable[[Sequence[Piece]], Any], pieces: Sequence[Piece]) -> Any:
        """Added up as they come."""
        return reduce(add, self.each(lambda piece: work([piece]), pieces))
