"""Files that a command will write: refused before any work if it cannot write them."""

from __future__ import annotations

from pathlib import Path

from forsooth.errors import ForsoothError
from forsooth.io.files import check_writable

# what is written → the endings that say so
REPORTS = (".parquet", ".pq")
PAGE = (".html", ".htm")
MECHANISM = (".json",)


def check_output(
    path: Path, what: str, endings: tuple[str, ...], *inputs: str | Path | None
) -> None:
    """Refuse a file that cannot be written, that is an input, or that has a wrong ending."""
    check_writable(path, *inputs)
    if path.suffix.lower() not in endings:
        raise ForsoothError(
            f"cannot write {what} into {path}: its name must end in {' or '.join(endings)}"
        )
