"""A copy of the database that is whole, taken while the service goes on; and the way back."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import inspect
from sqlalchemy.exc import DBAPIError

from forsooth.errors import ForsoothError
from forsooth.io.files import creating
from forsooth.service.models import metadata
from forsooth.service.store import Store, reason


def backup(database: str, target: Path) -> None:
    """SQLite: another database file, ready to be served. PostgreSQL: an archive of pg_dump's.

    A file that is there is not overwritten: it may be the only good copy.
    """
    store = Store(database)
    with creating(target) as temporary:
        if store.is_sqlite:
            _copy_sqlite(str(store.url.database), temporary)
        else:
            _run_on_postgresql("pg_dump", store, "--format=custom", f"--file={temporary}")


def restore(database: str, source: Path) -> None:
    """Make a database from what `backup` wrote; one that exists is not overwritten."""
    store = Store(database)
    if store.is_sqlite:
        _restore_sqlite(source, Path(str(store.url.database)))
    else:
        _restore_postgresql(source, store)


def _restore_sqlite(source: Path, target: Path) -> None:
    """A log that another database of this name has left would be applied to this one."""
    for file in (target, *(Path(f"{target}{ending}") for ending in ("-wal", "-shm", "-journal"))):
        if file.exists():
            raise ForsoothError(
                f"{file} exists already: nothing is overwritten; stop the service and move it away"
            )
    with creating(target) as temporary:
        _copy_sqlite(str(source), temporary)
        with closing(sqlite3.connect(temporary)) as copy:
            found = {name for (name,) in copy.execute("SELECT name FROM sqlite_master")}
        if not found.issuperset(("alembic_version", "requester", "campaign", "report")):
            raise ForsoothError(f"{source} is no backup of the service: its tables are missing")


def _restore_postgresql(source: Path, store: Store) -> None:
    try:
        found = set(inspect(store.engine).get_table_names())
    except DBAPIError as error:
        raise ForsoothError(f"cannot use the database {store.shown}: {reason(error)}") from None
    finally:
        store.close()
    if found & metadata.tables.keys():
        raise ForsoothError(
            f"the database {store.shown} has data already: nothing is overwritten; "
            "create an empty database and restore into that"
        )
    _run_on_postgresql("pg_restore", store, "--no-owner", "--single-transaction", str(source))


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


def _run_on_postgresql(name: str, store: Store, *arguments: str) -> None:
    """Run a client program; others on this machine can read command lines, but not environments."""
    program = shutil.which(name)
    if program is None:
        raise ForsoothError(f"{name} is not on the path: install PostgreSQL's client programs")
    url = store.url.set(drivername="postgresql")
    password = url.password or url.query.get("password")
    shown = url._replace(password=None).difference_update_query(["password"])
    done = subprocess.run(
        [program, f"--dbname={shown.render_as_string(hide_password=False)}", *arguments],
        env=os.environ | ({"PGPASSWORD": str(password)} if password else {}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        complaint = done.stderr.strip() or f"it ended with {done.returncode}"
        raise ForsoothError(f"{name} failed: {complaint.splitlines()[-1]}")
