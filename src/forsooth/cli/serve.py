"""forsooth serve: the collection service."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from forsooth.cli import options
from forsooth.cli.console import print_json, say
from forsooth.errors import ForsoothError
from forsooth.io.files import check_writable
from forsooth.service.settings import Settings

_NEEDED = ("alembic", "fastapi", "sqlalchemy", "uvicorn")
app = typer.Typer()

Database = Annotated[
    str | None,
    typer.Option(
        metavar="DATABASE",
        help="sqlite:///FILE or postgresql://USER@HOST/NAME; or set FORSOOTH_DATABASE. "
        "Default: sqlite:///forsooth.db.",
        show_default=False,
    ),
]
Name = Annotated[str, typer.Argument(help="The name of the requester.")]


@app.callback(invoke_without_command=True)
def serve(
    context: typer.Context,
    database: Database = None,
    host: Annotated[
        str, typer.Option(metavar="HOST", help="The address on which to listen.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="PORT", help="The port on which to listen.", min=1, max=65535)
    ] = 8000,
    processes: Annotated[
        int, typer.Option(metavar="N", help="The number of server processes.", min=1)
    ] = 1,
    json: options.Json = False,
) -> None:
    """Run the service that collects reports; workers perturb answers on their own devices.

    The first start prints the requester's key, once. Settings: docs/service.md.

    Example: `forsooth serve --port 8000`
    """
    if context.invoked_subcommand:
        if database is not None:
            raise ForsoothError(f"--database goes after {context.invoked_subcommand}")
        return
    settings = _settings(database)
    from forsooth.service import run

    run.check_free(host, port)
    key = run.prepare(settings)
    shown = f"[{host}]" if ":" in host else host
    url = settings.public_url or f"http://{shown}:{port}/"
    if json:
        print_json({"url": url, "database": _shown(settings.database), "key": key})
    else:
        say(f"{url} is served from {_shown(settings.database)}; stop with ctrl-C")
        if key:
            say(f"The requester's key, shown only now: {key}")
    sys.stdout.flush()
    run.serve(settings, host=host, port=port, workers=processes)


@app.command()
def add_requester(name: Name, database: Database = None, json: options.Json = False) -> None:
    """Add a requester, who sees only their own campaigns, and print the key.

    Example: `forsooth serve add-requester ann`
    """
    _print_key(name, database, json, new=True)


@app.command()
def replace_key(name: Name, database: Database = None, json: options.Json = False) -> None:
    """Give a requester a new key; the old one stops working.

    Example: `forsooth serve replace-key ann`
    """
    _print_key(name, database, json, new=False)


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    database: Database = None,
    json: options.Json = False,
) -> None:
    """Copy the database while the service is running; PostgreSQL is copied with pg_dump.

    Example: `forsooth serve backup forsooth-backup.db`
    """
    from forsooth.service.backup import backup as copy

    check_writable(file)
    settings = _settings(database)
    copy(settings.database, file)
    if json:
        print_json({"backup": str(file), "database": _shown(settings.database)})
    else:
        say(f"{file}: a copy of {_shown(settings.database)}")


def _print_key(name: str, database: str | None, json: bool, *, new: bool) -> None:
    settings = _settings(database)
    from forsooth.service import keys
    from forsooth.service.store import Store

    store = Store(settings.database)
    store.migrate()
    with store.writing() as connection:
        make = keys.add_requester if new else keys.replace_key
        key = make(connection, name)
    if json:
        print_json({"requester": name, "key": key})
    else:
        say(f"The key of {name}, shown only now: {key}")


def _settings(database: str | None) -> Settings:
    """The environment's settings, with the database that was named."""
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise ForsoothError(f'serve needs {missing[0]}: pip install "forsooth[service]"')
    settings = Settings.from_environment()
    return settings if database is None else replace(settings, database=database)


def _shown(database: str) -> str:
    """The database without its password."""
    from forsooth.service.store import database_url

    return database_url(database).render_as_string(hide_password=True)
