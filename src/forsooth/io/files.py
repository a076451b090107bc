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
    old file or the complete new one. A link keeps pointing to the file that is replaced.
    """
    check_writable(path)
    target = Path(path).resolve()
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".forsooth-", suffix=".tmp")
        os.close(handle)
        temporary = Path(name)
        yield temporary
        _flush_to_disk(temporary)
        temporary.chmod(_mode_for(target))
        temporary.replace(target)
    except OSError as error:
        raise ForsoothError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


@contextmanager
def creating(path: str | Path) -> Iterator[Path]:
    """The same for a file that is new; only its owner may read it. An old one is never replaced."""
    check_writable(path)
    make_private(path, new=True)
    try:
        with replacing(path) as temporary:
            yield temporary
    except BaseException:
        Path(path).unlink(missing_ok=True)
        raise


def make_private(path: str | Path, *, new: bool = False) -> None:
    """Make an empty file that only its owner may read, unless it is there (with `new`: refuse)."""
    flags = os.O_CREAT | os.O_WRONLY | (os.O_EXCL if new else 0)
    try:
        os.close(os.open(path, flags, 0o600))
    except FileExistsError:
        raise ForsoothError(f"{path} exists already: choose another name or remove it") from None
    except OSError as error:
        raise ForsoothError(f"cannot write {path}: {error.strerror or error}") from error


def check_writable(path: str | Path, *inputs: str | Path | None) -> None:
    """Refuse early, before any long work, an output that cannot be or that eats an input."""
    try:
        target = Path(path).resolve()
        if target.is_dir():
            raise ForsoothError(f"cannot write {path}: it is a folder; give a file name")
        if target.exists() and not target.is_file():
            raise ForsoothError(f"cannot write {path}: it is not an ordinary file")
        if not target.parent.is_dir():
            raise ForsoothError(f"cannot write {path}: the folder {target.parent} does not exist")
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise ForsoothError(f"cannot write {path}: the folder {target.parent} is not writable")
        for other in inputs:
            if other is not None and Path(other).resolve() == target:
                raise ForsoothError(f"cannot write {path}: the same file is given twice")
    except OSError as error:
        raise ForsoothError(f"cannot write {path}: {error.strerror or error}") from error


def read_text(path: str | Path) -> str:
    """A small text file, or a complaint that names it."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ForsoothError(f"{path} cannot be read: {error}") from error


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
