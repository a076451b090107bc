"""What a benchmark is given: how large it may be, the other libraries, and a folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from forsooth.bench.peers import Peers


@dataclass(frozen=True)
class BenchSetting:
    """`quick` is for trying out: small sizes, few rounds, and figures that are no result."""

    quick: bool
    peers: Peers
    folder: Path

    def size(self, full: int, quick: int) -> int:
        """One of the two."""
        return quick if self.quick else full

    @property
    def rounds(self) -> int:
        """Of work that takes milliseconds: enough that one of them is undisturbed."""
        return self.size(50, 5)
