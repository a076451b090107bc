"""What operators rely on: migrations, backups, keys, settings, logs, limits, headers."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from forsooth import ForsoothError
from forsooth.client.tokens import is_token, new_token
from forsooth.service import keys
from forsooth.service.failures import Refusal
from forsooth.service.limits import RateLimit
from forsooth.service.logs import JsonLines
from forsooth.service.models import metadata
from forsooth.service.settings import Settings
from forsooth.service.store import Store, database_url
from tests.conftest import Command
from tests.service.conftest import NewDatabase
from tests.service.harness import BLANK, Server, postgresql_package, stored


def differences(store: Store) -> list[object]:
    with store.reading() as connection:
        return list(compare_metadata(MigrationContext.configure(connection), metadata))


def test_migrations_make_the_tables_that_the_code_expects(
    tmp_path: Path, new_postgresql: NewDatabase
) -> None:
    for address in (f"sqlite:///{tmp_path}/forsooth.db", new_postgresql()):
        store = Store(address)
        assert not store.is_current()
        assert differences(store)
        store.migrate()
        store.migrate()
        assert store.is_current()
        assert differences(store) == []
        store.close()


def test_an_older_version_does_not_touch_newer_tables(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/forsooth.db")
    store.migrate()
    with store.writing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    assert not store.is_current()
    with pytest.raises(ForsoothError, match="newer forsooth"):
        store.migrate()
    store.close()


def test_a_commit_reaches_the_disk(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/forsooth.db")
    with store.writing() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
    store.close()


def test_a_backup_while_the_service_goes_on(sqlite_server: Server, tmp_path: Path) -> None:
    made = sqlite_server.make(open=True)
    assert made.send(f"open-{new_token()}", BLANK).status == 201
    done = serve("backup", tmp_path / "copy.db", "--database", sqlite_server.database, "--json")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600
    assert stored(f"sqlite:///{tmp_path}/copy.db", made.id) == stored(
        sqlite_server.database, made.id
    )
    kept = (tmp_path / "copy.db").read_bytes()
    again = serve("backup", tmp_path / "copy.db", "--database", sqlite_server.database)
    assert again.returncode == 2
    assert "copy.db exists already: choose another name or remove it" in again.stderr
    assert (tmp_path / "copy.db").read_bytes() == kept
    missing = serve("backup", tmp_path / "x.db", "--database", f"sqlite:///{tmp_path}/none.db")
    assert missing.returncode == 2
    assert "cannot copy" in missing.stderr
    assert not (tmp_path / "x.db").exists()


def test_a_backup_of_postgresql(postgresql_server: Server, tmp_path: Path) -> None:
    package = Path(postgresql_package().__file__ or "").parent
    programs = max(package.glob("pginstall*")) / "bin"  # the newest is the one that runs
    copy = tmp_path / "copy.dump"
    options = ("backup", copy, "--database", postgresql_server.database)
    done = serve(*options, PATH=f"{programs}:{os.environ['PATH']}")
    assert done.returncode == 0, done.stderr
    listed = subprocess.run(
        [programs / "pg_restore", "--list", copy], capture_output=True, text=True, check=True
    )
    assert "TABLE DATA public report" in listed.stdout
    assert "exists already" in serve(*options).stderr
    copy.unlink()
    assert "pg_dump is not on the path" in serve(*options, PATH="/nowhere").stderr
    assert not copy.exists()


def serve(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "forsooth", "serve", *map(str, arguments)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_requesters_on_the_command_line(forsooth: Command, tmp_path: Path) -> None:
    database = ("--database", "sqlite:///keys.db")
    made = forsooth("serve", "add-requester", "ann", *database, "--json")
    key = json.loads(made.stdout)["key"]
    assert is_token(key)
    again = forsooth("serve", "add-requester", "ann", *database)
    assert again.returncode == 2
    assert "already" in again.stderr
    store = Store(f"sqlite:///{tmp_path}/keys.db")
    with store.writing() as connection:
        new = keys.replace_key(connection, "ann")
    with store.reading() as connection:
        assert keys.requester_of(connection, key) is None
        assert keys.requester_of(connection, new) == 1
        assert keys.first_key(connection) is None
    with store.writing() as connection, pytest.raises(ForsoothError, match="no requester"):
        keys.replace_key(connection, "bob")
    store.close()


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("mysql://x/y", "SQLite or PostgreSQL"),
        ("sqlite://", "needs a file"),
        ("nonsense", "is written sqlite:///FILE"),
        ("sqlite:////nowhere/x.db", "unable to open"),
        ("sqlite:///text.db", "not a database"),
        ("postgresql://u:geheim@127.0.0.1:9/x", "cannot use the database"),
    ],
)
def test_a_database_that_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("text.db").write_text("this is not a database, " * 50)
    with pytest.raises(ForsoothError, match=reason) as refused:
        Store(address).migrate()
    assert "geheim" not in str(refused.value)


def test_bad_starts_end_in_one_sentence(sqlite_server: Server) -> None:
    for arguments, reason in (
        (["--port", sqlite_server.port], "choose another --port"),
        (["--database", "mysql://x/y", "--port", 1], "SQLite or PostgreSQL"),
    ):
        done = serve(*arguments)
        assert done.returncode == 2, done.stderr
        assert reason in done.stderr
        assert "Traceback" not in done.stderr


def test_settings_come_from_the_environment() -> None:
    found = Settings.from_environment({"FORSOOTH_MAX_BODY": "1000", "FORSOOTH_IMAGE_HOSTS": ""})
    assert (found.max_body, found.images_from) == (1000, ())
    hosts = Settings.from_environment({"FORSOOTH_IMAGE_HOSTS": "https://a.org/ https://b.org"})
    assert hosts.images_from == ("https://a.org", "https://b.org")
    for name, text in (("MAX_BODY", "many"), ("RATE_CAMPAIGN", "-1"), ("PUBLIC_URL", "a.org")):
        with pytest.raises(ForsoothError, match=f"FORSOOTH_{name}|https://"):
            Settings.from_environment({f"FORSOOTH_{name}": text})
    assert database_url("postgresql://u@h/n").drivername == "postgresql+psycopg"


def test_rates() -> None:
    now = 0.0
    limit = RateLimit(2.0, lambda: now)
    for _ in range(20):
        limit.take("a")
    with pytest.raises(Refusal) as refused:
        limit.take("a")
    assert refused.value.status_code == 429
    assert refused.value.headers == {"Retry-After": "1"}
    limit.take("b")
    now = 0.5
    limit.take("a")
    with pytest.raises(Refusal):
        limit.take("a")
    now = 1000.0
    for _ in range(20):
        limit.take("a")
    with pytest.raises(Refusal):
        limit.take("a")


def test_too_many_requests_of_one_invitation(sqlite_server: Server) -> None:
    made = sqlite_server.make(invitations=2)
    design = made.view["design"]
    statuses = [made.send(made.tokens[0], BLANK, design=design).status for _ in range(40)]
    assert statuses[:2] == [201, 200]
    assert statuses[-1] == 429
    assert made.send(made.tokens[1], BLANK, design=design).status == 201


def test_headers(sqlite_server: Server) -> None:
    api = sqlite_server.call("GET", "/v1/campaigns")
    assert api.headers["cache-control"] == "no-store"
    page = sqlite_server.call("GET", "/c/anything")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "server" not in page.headers
    for reply in (api, page):
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]


def test_logs_tell_what_happened_but_not_who_said_what(tmp_path: Path) -> None:
    server = Server(f"sqlite:///{tmp_path}/forsooth.db", tmp_path).start()
    try:
        made = server.make(title="Delicate matters", open=True)
        token = f"open-{new_token()}"
        assert made.send(token, b"\0\1").status == 201
        assert made.send(token, b"\1\0").status == 409
        assert made.send(token, b"AAAA").status == 422
        made.truths(1)
        with sqlite3.connect(tmp_path / "forsooth.db") as connection:
            connection.execute("DROP TABLE analysis")  # a failure that nobody has foreseen
        connection.close()
        assert server.as_requester("GET", f"/{made.id}/truths").status == 503
        with sqlite3.connect(tmp_path / "forsooth.db") as connection:
            connection.execute("PRAGMA foreign_keys=OFF")
            connection.execute("UPDATE campaign SET labels = 'not JSON'")
        connection.close()
        assert server.as_requester("GET", f"/{made.id}/status").status == 500
    finally:
        server.stop()
    lines = [json.loads(line) for line in server.log.read_text().splitlines()]
    messages = {line["message"] for line in lines}
    assert "campaign made" in messages
    assert "inferred" not in messages  # when reports come in, there is an inference
    assert all(datetime.fromisoformat(line["time"]).minute == 0 for line in lines)
    assert all(len(line["time"]) == len("2031-01-31T12+00:00") for line in lines)
    assert any("traceback" in line for line in lines)
    text = server.log.read_text()
    for secret in (token, "AAEC", "AAEB", server.key, "Delicate", "not JSON", "/reports"):
        assert secret not in text
    addresses = [line["message"] for line in lines if "127.0.0.1" in str(line)]
    assert addresses == [f"Uvicorn running on {server.url} (Press CTRL+C to quit)"]


def test_a_failure_is_logged_without_its_message() -> None:
    quoted = "the answer was 3"
    try:
        raise ValueError(quoted)
    except ValueError:
        record = logging.makeLogRecord({"msg": "failed", "exc_info": sys.exc_info()})
    line = json.loads(JsonLines().format(record))
    assert line["message"] == "failed"
    assert line["traceback"][0] == "ValueError"
    assert quoted not in str(line)
