"""forsooth serve: the collection service."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from forsooth.cli import options
from forsooth.cli.console import print_json, print_table, say
from forsooth.errors import ForsoothError
from forsooth.io.files import check_writable
from forsooth.plural import counted
from forsooth.service.settings import Settings

if TYPE_CHECKING:
    from forsooth.service.keys import Requester

_NEEDED = ("alembic", "fastapi", "prometheus_client", "segno", "sqlalchemy", "uvicorn")
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
    demo: Annotated[
        bool,
        typer.Option(
            "--demo", help="Serve a temporary database with a simulated survey and an open one."
        ),
    ] = False,
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
    if demo and database is not None:
        raise ForsoothError("--demo makes a database of its own: leave out --database")
    settings = _settings(database)
    from forsooth.service import run

    run.check_free(host, port)
    if settings.metrics_address is not None:
        run.check_free(*settings.metrics_address, change="FORSOOTH_METRICS")
    shown = f"[{host}]" if ":" in host else host
    url = settings.public_url or f"http://{shown}:{port}/"
    with TemporaryDirectory(prefix="forsooth-demo-") if demo else nullcontext() as folder:
        if demo:
            settings = replace(settings, database=f"sqlite:///{folder}/forsooth.db")
        key = run.prepare(settings)
        document = {"url": url, "database": _shown(settings.database), "key": key}
        if demo:
            document["campaign"] = f"{url.rstrip('/')}/c/{run.prepare_demo(settings)}"
        _announce(document, json=json)
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
def list_requesters(database: Database = None, json: options.Json = False) -> None:
    """List the requesters, with the numbers of their campaigns and of reports that are shown.

    Example: `forsooth serve list-requesters`
    """
    from forsooth.service import keys
    from forsooth.service.store import Store

    store = Store(_settings(database).database)
    store.migrate()
    with store.reading() as connection:
        found = keys.requesters(connection)
    if json:
        print_json({"requesters": [_without_id(each) for each in found]})
    else:
        rows = [(each.name, each.campaigns, each.reports) for each in found]
        print_table(("requester", "campaigns", "reports"), rows)


@app.command()
def remove_requester(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Erase without asking.")] = False,
    database: Database = None,
    json: options.Json = False,
) -> None:
    """Erase a requester with all campaigns, invitations, reports and results; asks first.

    Backups keep what they have. Reports that wait for their batch are erased, too.

    Example: `forsooth serve remove-requester ann`
    """
    from forsooth.service import keys
    from forsooth.service.store import Store

    store = Store(_settings(database).database)
    store.migrate()
    with store.reading() as connection:
        found = keys.find_requester(connection, name)
    what = f"{counted(found.campaigns, 'campaign')} with {counted(found.reports, 'report')}"
    if not yes:
        _confirm(f"Erase {name}, {what} and those that wait for their batch? This is final.")
    with store.writing() as connection:
        keys.remove_requester(connection, found.id)
    store.tidy()  # SQLite keeps deleted rows until then
    if json:
        print_json({"removed": _without_id(found)})
    else:
        say(f"{name} is erased, with {what}")


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


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A file that `forsooth serve backup` wrote.")],
    database: Database = None,
    json: options.Json = False,
) -> None:
    """Make a database from a backup; nothing is overwritten. PostgreSQL's is read by pg_restore.

    Example: `forsooth serve restore forsooth-backup.db --database sqlite:///new.db`
    """
    settings = _settings(database)
    from forsooth.service.backup import restore as copy

    if not file.is_file():
        raise ForsoothError(f"there is no file {file}")
    copy(settings.database, file)
    if json:
        print_json({"restored": str(file), "database": _shown(settings.database)})
    else:
        say(f"{_shown(settings.database)}: restored from {file}")


def _announce(document: dict[str, str | None], *, json: bool) -> None:
    """Where the service is, and what is shown only once."""
    if json:
        print_json(document)
    else:
        say(f"{document['url']} is served from {document['database']}; stop with ctrl-C")
        if document["key"]:
            say(f"The requester's key, shown only now: {document['key']}")
        if "campaign" in document:
            say(f"Answer the demo as a worker: {document['campaign']}")
            say("The other campaign's reports are simulated; all is deleted when you stop.")
    sys.stdout.flush()


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise ForsoothError(f"{question} Nothing is erased: give --yes to confirm")
    if not typer.confirm(question):
        raise ForsoothError("nothing is erased")


def _without_id(requester: Requester) -> dict[str, object]:
    return {key: value for key, value in asdict(requester).items() if key != "id"}


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
