from __future__ import annotations

import secrets
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from tests.service.harness import Server, postgresql_package

NewDatabase = Callable[[], str]


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Any]:
    """A real PostgreSQL, for the whole session."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where it keeps its sockets
        get_server = postgresql_package().get_server
        with tempfile.TemporaryDirectory(prefix="pg") as folder:
            try:
                server = get_server(folder)
            except subprocess.TimeoutExpired:  # a busy machine; it is running by now
                server = get_server(folder)
            yield server
            server.cleanup()


@pytest.fixture(scope="session")
def new_postgresql(postgresql: Any) -> NewDatabase:
    """Make an empty database; its address."""

    def make() -> str:
        name = f"forsooth_{secrets.token_hex(4)}"
        with psycopg.connect(postgresql.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return str(postgresql.get_uri(name))

    return make


@pytest.fixture(scope="session")
def sqlite_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("sqlite")
    server = Server(f"sqlite:///{folder}/forsooth.db", folder).start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def postgresql_server(
    tmp_path_factory: pytest.TempPathFactory, new_postgresql: NewDatabase
) -> Iterator[Server]:
    server = Server(new_postgresql(), tmp_path_factory.mktemp("postgresql")).start()
    yield server
    server.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def server(request: pytest.FixtureRequest) -> Server:
    """A server that runs for the whole session, on either database."""
    found = request.getfixturevalue(f"{request.param}_server")
    assert isinstance(found, Server)
    return found
