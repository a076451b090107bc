"""The database: SQLite or PostgreSQL, and what makes a commit a promise on either.

SQLite keeps a write-ahead log and synchronises it to the disk at every commit (`synchronous=FULL`):
what is committed survives `kill -9` and a power cut. A write transaction takes SQLite's one write
lock at its beginning; in PostgreSQL, writers of reports lock the campaign's row (see `writer`).

SQLite's files are made such that only their owner may read them, and `tidy` rids them of the order
in which rows came in: the log has it, and so have the pages of a table, whose rows are linked in
the order of their keys but lie where there was room.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Connection, create_engine, event, make_url, text
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    InterfaceError,
    InternalError,
    NoSuchModuleError,
    OperationalError,
    TimeoutError,
)

from forsooth.errors import ForsoothError
from forsooth.io.files import make_private

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Engine

UNAVAILABLE = (OperationalError, InterfaceError, InternalError, TimeoutError, OSError)
MIGRATIONS = Path(__file__).parent / "migrations"
_BUSY_SECONDS = 10
_WRITE = "forsooth_write"
_MIGRATION_LOCK = 0x466F72736F6F7468  # one migration at a time, over all processes
_POSTGRESQL = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15000,
}


class Store:
    """A database with the service's tables."""

    def __init__(self, database: str) -> None:
        self.url = database_url(database)
        self.engine = _engine(self.url)

    @property
    def shown(self) -> str:
        """The address without its password."""
        return self.url.render_as_string(hide_password=True)

    @property
    def is_sqlite(self) -> bool:
        """Is it a file of SQLite's?"""
        return self.url.get_backend_name() == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that changes nothing."""
        with self.engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is committed at the end, or rolled back if anything goes wrong."""
        writing = self.engine.connect().execution_options(**{_WRITE: True})
        with writing as connection, self._turn(), connection.begin():
            yield connection

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Of SQLite's writers, one at a time, and the next at once.

        SQLite itself lets a writer sleep and look again, which wastes time and is unfair.
        """
        if not self.is_sqlite or os.name != "posix":
            yield
            return
        import fcntl

        make_private(turn := f"{self.url.database}-turn")
        with Path(turn).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @property
    def is_tidy(self) -> bool:
        """Has nothing been written since `tidy`?"""
        log = Path(f"{self.url.database}-wal")
        return not self.is_sqlite or not log.exists() or log.stat().st_size == 0

    def shred(self) -> None:
        """Leave nothing of deleted rows in the database's files."""
        if self.is_sqlite:
            self.tidy()
            return
        with self.engine.connect() as connection:
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
            connection.execute(
                text("VACUUM FULL report, signed, invitation, analysis, issuer, design, campaign")
            )

    def tidy(self) -> None:
        """Write SQLite's rows anew, in the order of their keys, and empty the write-ahead log.

        Reports that come in meanwhile are stored afterwards. PostgreSQL has no counterpart: its
        rows keep their place and the number of their transaction.
        """
        if not self.is_sqlite:
            return
        database = sqlite3.connect(str(self.url.database), _BUSY_SECONDS, isolation_level=None)
        try:
            with self._turn(), closing(database):
                database.execute("PRAGMA synchronous=FULL")
                database.execute("VACUUM")
                ((busy, *_),) = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            raise OSError(f"cannot tidy {self.url.database}: {error}") from error
        if busy:
            raise OSError(f"cannot empty the write-ahead log of {self.url.database}: it is in use")

    def migrate(self) -> None:
        """Bring the tables to the newest version; all of it happens or nothing."""
        from alembic import command
        from alembic.util import CommandError

        try:
            with self.writing() as connection:
                if not self.is_sqlite:
                    lock = text("SELECT pg_advisory_xact_lock(:number)")
                    connection.execute(lock, {"number": _MIGRATION_LOCK})
                command.upgrade(_alembic(connection), "head")
        except CommandError as error:  # a revision that this version has never heard of
            raise ForsoothError(
                f"the database {self.shown} was made by a newer forsooth: use that, or a backup"
            ) from error
        except (DBAPIError, TimeoutError) as error:
            raise ForsoothError(f"cannot use the database {self.shown}: {reason(error)}") from None

    def is_current(self) -> bool:
        """Are the tables those that this version of the service works with?"""
        from alembic.runtime.migration import MigrationContext
        from alembic.script import ScriptDirectory

        with self.reading() as connection:
            found = MigrationContext.configure(connection).get_current_revision()
        return found == ScriptDirectory(str(MIGRATIONS)).get_current_head()

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()


def database_url(database: str) -> URL:
    """The address of a database that we can use; PostgreSQL is reached through psycopg."""
    try:
        url = make_url(database)
    except ArgumentError:
        raise ForsoothError(
            f"a database is written sqlite:///FILE or postgresql://USER@HOST/NAME, got {database!r}"
        ) from None
    backend = url.get_backend_name()
    if backend == "sqlite":
        if url.database in (None, "", ":memory:"):
            raise ForsoothError("SQLite needs a file: sqlite:///forsooth.db")
        return url.set(drivername="sqlite")
    if backend in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise ForsoothError(f"forsooth keeps its data in SQLite or PostgreSQL, not in {backend!r}")


def reason(error: BaseException) -> str:
    """What a database complained of, in one line and without any data."""
    original = getattr(error, "orig", None) or error
    return (str(original).strip() or type(original).__name__).splitlines()[0]


def _engine(url: URL) -> Engine:
    sqlite = url.get_backend_name() == "sqlite"
    try:
        engine = create_engine(
            url,
            hide_parameters=True,  # an error that is logged must not carry a report
            pool_pre_ping=not sqlite,
            pool_size=10,
            max_overflow=10,
            pool_timeout=_BUSY_SECONDS,
            connect_args={"timeout": _BUSY_SECONDS} if sqlite else _POSTGRESQL,
        )
    except (NoSuchModuleError, ModuleNotFoundError) as error:
        raise ForsoothError(f"the driver of this database is not installed: {error}") from error
    if sqlite:
        event.listen(engine, "do_connect", _create_sqlite)
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _create_sqlite(dialect: object, record: object, arguments: list[str], options: object) -> None:
    """A new file is its owner's alone; SQLite gives its log the same permissions."""
    del dialect, record, options
    with suppress(ForsoothError):  # SQLite says better what is wrong
        make_private(arguments[0])


def _prepare_sqlite(connection: Any, record: object) -> None:
    """Durable commits; and Python's driver must not begin transactions by itself."""
    del record
    connection.isolation_level = None
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}").fetchall()


def _begin_sqlite(connection: Connection) -> None:
    write = connection.get_execution_options().get(_WRITE)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _alembic(connection: Connection) -> Any:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    return config
