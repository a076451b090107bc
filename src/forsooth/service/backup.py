"""A copy of the database that is whole, taken while the service goes on."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import quote

from forsooth.errors import ForsoothError
from forsooth.io.files import creating
from forsooth.service.store import Store

if TYPE_CHECKING:
    from pathlib import Path


def backup(database: str, target: Path) -> None:
    """SQLite: another database file, ready to be served. PostgreSQL: an archive of pg_dump's.

    A file that is there is not overwritten: it may be the only good copy.
    """
    store = Store(database)
    with creating(target) as temporary:
        if store.is_sqlite:
            _copy_sqlite(str(store.url.database), temporary)
        else:
            _dump_postgresql(store, temporary)


def _copy_sqlite(source: str, target: Path) -> None:
    try:
        with (
            closing(sqlite3.connect(f"file:{quote(source)}?mode=ro", uri=True)) as origin,
            closing(sqlite3.connect(target)) as copy,
        ):
            origin.execute("VACUUM INTO ?", (str(target),))  # rows in the order of their keys
            (verdict,) = copy.execute("PRAGMA integrity_check").fetchone()
    except sqlite3.Error as error:
        raise ForsoothError(f"cannot copy {source}: {error}") from error
    if verdict != "ok":
        raise ForsoothError(f"the copy of {source} is damaged: {verdict}")


def _dump_postgresql(store: Store, target: Path) -> None:
    program = shutil.which("pg_dump")
    if program is None:
        raise ForsoothError("pg_dump is not on the path: install PostgreSQL's client programs")
    address = store.url.set(drivername="postgresql").render_as_string(hide_password=False)
    done = subprocess.run(
        [program, "--format=custom", f"--file={target}", f"--dbname={address}"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ForsoothError(f"pg_dump failed: {done.stderr.strip().splitlines()[-1]}")
