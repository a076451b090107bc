"""The results of one run, as a page in Markdown and as a JSON document."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forsooth.bench.rows import HEADINGS
from forsooth.io.files import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from forsooth.bench.suite import BenchOutcome

NO_RESULT = "A quick run: sizes are small and rounds few, so these figures are no result."
_OPENING = """\
<!-- Written by `make bench`; changes by hand are lost. -->
# Benchmarks

What forsooth costs, as ratios in one run against what somebody would pick instead, by `make bench`
(`forsooth bench` does without the other libraries, `--quick` is a first look). A ratio above 1
means that forsooth is better: faster, or smaller. A target that is missed says NO. How accurate it
is beside the methods of others is another page: [the league](league.md).

- What runs on one core is measured in processor time, the best of several rounds that take turns;
  what reads files or uses several processes, in seconds on the clock.
- Memory is the most that a process of its own ever had, libraries and all.
- Files have just been written, so that the disk itself is not measured.
- Other libraries have Pythons of their own and are called once per value if they take no more at
  once. pure-ldp and multi-freq-ldpy take their coins from generators that can be predicted,
  diffprivlib and OpenDP, like forsooth, from secure ones.
"""


@dataclass(frozen=True)
class BenchResults:
    """All that was found in one run."""

    machine: dict[str, str]
    quick: bool
    outcomes: Sequence[BenchOutcome]

    @property
    def missed(self) -> int:
        """How many targets were missed."""
        return sum(row.met is False for outcome in self.outcomes for row in outcome.rows)

    def to_dict(self) -> dict[str, Any]:
        """One JSON document."""
        return {
            "quick": self.quick,
            "machine": self.machine,
            "missed": self.missed,
            "benchmarks": [outcome.to_dict() for outcome in self.outcomes],
        }

    def write(self, paths: Sequence[Path], figure: Path | None = None) -> None:
        """Markdown, or JSON where a file's name ends so; the page links to the others."""
        document = next((path for path in paths if path.suffix == ".json"), None)
        for path in paths:
            if path.suffix == ".json":
                text = json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"
            else:
                text = self.markdown(_link(figure, path), _link(document, path))
            with replacing(path) as temporary:
                temporary.write_text(text, encoding="utf-8")

    def markdown(self, figure: str | None = None, document: str | None = None) -> str:
        """The page; `figure` is a link to the picture of `scale`, `document` one to the JSON."""
        parts = [_OPENING]
        if self.quick:
            parts.append(f"**{NO_RESULT}**\n")
        if document is not None:
            parts.append(f"The same [as JSON]({document}).\n")
        parts.append("## The machine\n")
        parts.append(_table(("", ""), self.machine.items()))
        for outcome in self.outcomes:
            parts.append(f"## {outcome.benchmark.title}\n")
            parts.append(f"`forsooth bench {outcome.benchmark.name}`\n")
            if outcome.rows:
                parts.append(_table(HEADINGS, (row.texts() for row in outcome.rows)))
            if outcome.problem:
                parts.append(f"{outcome.problem}\n")
            if figure is not None and outcome.benchmark.name == "scale":
                parts.append(f"![Seconds and memory against cells]({figure})\n")
        return "\n".join(parts)


def _link(target: Path | None, page: Path) -> str | None:
    return None if target is None else os.path.relpath(target, page.parent)


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
