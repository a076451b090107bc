"""Run attacks and print a table: `python -m benchmarks.attacks [NAME ...]`; exit 1 if one works."""

from __future__ import annotations

import sys
import time

from rich.console import Console
from rich.table import Table

from benchmarks.attacks import load, names


def main(chosen: list[str]) -> int:
    """How many attacks worked, as an exit code."""
    known = names()
    if unknown := sorted(set(chosen) - set(known)):
        print(f"no such attack: {', '.join(unknown)}; there are {', '.join(known)}")
        return 2
    console = Console()
    table = Table("attack", "promise", "result", "measured", "s")
    worked = 0
    with console.status("Attacking …") as status:
        for name in chosen or known:
            status.update(f"Attacking: {name}")
            promise, attack = load(name)
            start = time.perf_counter()
            outcome = attack()
            worked += not outcome.stopped
            table.add_row(
                name.replace("_", " "),
                promise,
                "stopped" if outcome.stopped else "[red]WORKED[/]",
                outcome.detail,
                f"{time.perf_counter() - start:.1f}",
            )
    console.print(table)
    return int(worked > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
