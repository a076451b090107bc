"""Other libraries, each measured in a process of its own by the Python that has them.

They need not be installed beside forsooth, whose packages they might replace by older ones.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from typing import Any

from forsooth.bench import peer_process
from forsooth.bench.rows import Quantity, Row, Target

_PATIENCE = 1800  # seconds


@dataclass(frozen=True)
class Found:
    """What a peer's process said: figures by name, or what went wrong."""

    name: str
    figures: dict[str, float]
    problem: str = ""

    def row(
        self, what: str, ours: Quantity, figure: str, target: Target | None = None, of: float = 0
    ) -> Row:
        """A comparison with one of its figures; if that is a time for `of` things, their rate."""
        theirs = None
        if figure in self.figures:
            found = self.figures[figure]
            theirs = Quantity(of / found if of else found, ours.unit)
        return Row(what, ours, self.name, theirs, self.problem, target)


@dataclass(frozen=True)
class Peers:
    """The Python that has the other libraries."""

    interpreter: str

    def measure(self, name: str, **given: Any) -> Found:
        """Run one of `peer_process.PEERS`."""
        command = [self.interpreter, "-I", peer_process.__file__, name]
        try:
            done = subprocess.run(
                command,
                input=json.dumps(given),
                capture_output=True,
                text=True,
                timeout=_PATIENCE,
                check=False,
            )
        except OSError as error:
            return Found(name, {}, f"failed: {error.strerror}")
        except subprocess.TimeoutExpired:
            return Found(name, {}, f"failed: not done within {_PATIENCE} s")
        if done.returncode:
            return Found(name, {}, f"failed: {_last_line(done.stderr)}")
        said = json.loads(done.stdout.strip().splitlines()[-1])
        problem, version = said.pop("problem", ""), said.pop("version", "")
        library, *part = name.split(", ")
        return Found(", ".join([f"{library} {version}".strip(), *part]), said, problem)


def _last_line(complaints: str) -> str:
    """The error itself, without the paths of this machine."""
    line = (complaints.strip().splitlines() or ["no reason given"])[-1]
    return re.sub(r"\s*[('\"]*/[^\s'\"()]+[)'\"]*", "", line)
