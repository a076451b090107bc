"""Writing files so that nothing is ever lost: a temporary name first, then one rename."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from forsooth.errors import ForsoothError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success it takes `path`'s name, else it is removed.

    Whatever interrupts the writing (an error, ctrl-C, a power cut), `path` is either the complete
    old file or the complete new one.
    """
    target = Path(path)
    check_writable(target)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        _flush_to_disk(temporary)
        temporary.chmod(_mode_for(target))
        temporary.replace(target)
    except OSError as error:
        raise ForsoothError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def check_writable(path: str | Path) -> None:
    """Refuse early, before any long work, an output path that cannot be written."""
    target = Path(path)
    if target.is_dir():
        raise ForsoothError(f"cannot write {target}: it is a folder; give a file name")
    if not target.parent.is_dir():
        raise ForsoothError(f"cannot write {target}: the folder {target.parent} does not exist")
    if not os.access(target.parent, os.W_OK):
        raise ForsoothError(f"cannot write {target}: the folder {target.parent} is not writable")


def _flush_to_disk(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _mode_for(target: Path) -> int:
    """The old file's permissions, or what the umask gives a new one (mkstemp gives 0600)."""
    if target.exists():
        return target.stat().st_mode & 0o777
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
