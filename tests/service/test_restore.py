"""From a backup to a database that is served; passwords stay off command lines."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from forsooth.client.tokens import new_token
from forsooth.service.store import Store
from tests.conftest import Command
from tests.service.conftest import NewDatabase
from tests.service.harness import BLANK, Server, postgresql_package, stored

DATABASES = ("sqlite", "postgresql")
SECRET = "geheimes-wort"


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Path:
    """PostgreSQL's programs on the path, those of the version that runs; their folder."""
    package = Path(postgresql_package().__file__ or "").parent
    programs = max(package.glob("pginstall*")) / "bin"
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return programs


@pytest.mark.usefixtures("clients")
def test_what_was_backed_up_is_served_again(
    server: Server, forsooth: Command, new_postgresql: NewDatabase, tmp_path: Path
) -> None:
    made = server.make(open=True)
    assert made.send(f"open-{new_token()}", BLANK).status == 201
    assert forsooth("serve", "backup", "copy", "--database", server.database).returncode == 0
    is_file = server.database.startswith("sqlite")
    new = f"sqlite:///{tmp_path}/new.db" if is_file else new_postgresql()
    done = forsooth("serve", "restore", "copy", "--database", new)
    assert done.returncode == 0, done.stderr
    assert stored(new, made.id) == stored(server.database, made.id)
    again = Server(new, tmp_path).start()
    try:
        assert again.call("GET", f"/v1/campaigns/{made.id}").status == 200
        assert again.call("GET", "/v1/campaigns", key=server.key).status == 200
    finally:
        again.stop()
    refused = forsooth("serve", "restore", "copy", "--database", new)
    assert refused.returncode == 2
    assert "nothing is overwritten" in refused.stderr
    assert stored(new, made.id) == stored(server.database, made.id)
    if is_file:
        assert (tmp_path / "new.db").stat().st_mode & 0o777 == 0o600


def test_what_is_no_backup_is_refused_and_nothing_is_written(
    forsooth: Command, tmp_path: Path
) -> None:
    (tmp_path / "text").write_text("no database, " * 100)
    with closing(sqlite3.connect(tmp_path / "other")) as connection:
        connection.execute("CREATE TABLE t (x)")
    for file, reason in (
        ("text", "not a database"),
        ("other", "no backup of the service"),
        ("missing", "there is no file missing"),
    ):
        done = forsooth("serve", "restore", file, "--database", "sqlite:///new.db")
        assert done.returncode == 2
        assert reason in done.stderr
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "new.db").exists()


def test_the_log_of_another_database_is_in_the_way(forsooth: Command, tmp_path: Path) -> None:
    """SQLite would apply it to the restored file."""
    store = Store(f"sqlite:///{tmp_path}/copy.db")
    store.migrate()
    store.close()
    (tmp_path / "new.db-wal").write_bytes(b"left over")
    done = forsooth("serve", "restore", "copy.db", "--database", "sqlite:///new.db")
    assert done.returncode == 2
    assert "new.db-wal exists already" in done.stderr
    assert not (tmp_path / "new.db").exists()


def test_no_password_is_on_a_command_line(
    postgresql: Any,
    new_postgresql: NewDatabase,
    clients: Path,
    forsooth: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The server asks for the password, and the programs write down how they are called."""
    source, target = new_postgresql(), new_postgresql()
    _ask_for_a_password(postgresql, "guarded", [source, target])
    for program in ("pg_dump", "pg_restore"):
        wrapper = tmp_path / "bin" / program
        wrapper.parent.mkdir(exist_ok=True)
        log = tmp_path / f"{program}.arguments"
        wrapper.write_text(f'#!/bin/sh\necho "$@" >{log}\nexec {clients / program} "$@"\n')
        wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")

    def address(uri: str) -> str:
        return uri.replace("postgres:@", f"guarded:{SECRET}@")

    store = Store(address(source))
    store.migrate()
    store.close()
    for command, program, uri in (
        ("backup", "pg_dump", source),
        ("restore", "pg_restore", target),
    ):
        monkeypatch.setenv("FORSOOTH_DATABASE", address(uri))
        done = forsooth("serve", command, "copy.dump")
        assert done.returncode == 0, done.stderr
        arguments = (tmp_path / f"{program}.arguments").read_text()
        assert "copy.dump" in arguments or ".forsooth-" in arguments
        assert SECRET not in arguments + done.stdout + done.stderr
    monkeypatch.setenv("FORSOOTH_DATABASE", address(source).replace(SECRET, "falsch"))
    done = forsooth("serve", "backup", "other.dump")
    assert done.returncode == 2
    assert "password authentication failed" in done.stderr  # so the password was needed
    assert "falsch" not in done.stderr


def _ask_for_a_password(postgresql: Any, role: str, databases: list[str]) -> None:
    rules = Path(postgresql.pgdata) / "pg_hba.conf"
    rules.write_text(f"local all {role} scram-sha-256\n{rules.read_text()}")
    with psycopg.connect(postgresql.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{SECRET}'".encode())
        for uri in databases:
            name = uri.split("?")[0].rsplit("/", 1)[1]
            connection.execute(f"ALTER DATABASE {name} OWNER TO {role}".encode())
        connection.execute("SELECT pg_reload_conf()")
