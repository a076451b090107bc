"""The files of deploy/: what they refer to exists, and the unit passes systemd's own checks."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from forsooth.cli import app
from forsooth.service.settings import Settings

yaml: Any = pytest.importorskip("yaml")

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
UNIT = (DEPLOY / "forsooth.service").read_text()
COMPOSE = [DEPLOY / "compose.yaml", DEPLOY / "compose.postgresql.yaml"]
FILES = [path for path in DEPLOY.iterdir() if path.is_file()]
PAGE = (ROOT / "docs" / "how-to" / "deploy.md").read_text(encoding="utf-8")


def instructions(name: str) -> list[str]:
    lines = DOCKERFILE.replace("\\\n", " ").splitlines()
    return [line.removeprefix(f"{name} ") for line in lines if line.startswith(f"{name} ")]


def check_command(arguments: list[str]) -> None:
    """`forsooth` takes these arguments."""
    command, words = get_command(app), list(arguments)
    while isinstance(command, TyperGroup) and words and words[0] in command.commands:
        command = command.commands[words.pop(0)]
    command.make_context("forsooth", words)  # refuses what it does not know


def test_the_commands_exist() -> None:
    (started,) = re.findall(r"^ExecStart=/opt/forsooth/bin/forsooth (.*)$", UNIT, re.M)
    (image,) = instructions("CMD")
    documented = re.findall(r"\bforsooth (serve\b[^\n#|>`]*)", PAGE)
    assert len(documented) > 5
    assert json.loads(instructions("ENTRYPOINT")[0]) == ["forsooth"]
    for words in (shlex.split(started), json.loads(image), *map(shlex.split, documented)):
        check_command(words)


def test_what_the_image_copies_exists_and_is_not_ignored() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    allowed = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    copied = [line.split()[:-1] for line in instructions("COPY") if not line.startswith("--from")]
    names = {name for line in copied for name in line}
    assert names == allowed
    assert all((ROOT / name).exists() for name in names)
    assert instructions("USER") == ["forsooth"]
    assert all(":" in line for line in instructions("FROM")), "a version for every image"


def test_the_image_installs_what_the_service_needs() -> None:
    """The lock of the image holds versions of the other lock, and no tools."""
    pins = re.compile(r"^([\w.-]+)==([^ ;\\]+)", re.M)
    image = dict(pins.findall((ROOT / "requirements-service.lock").read_text()))
    every = dict(pins.findall((ROOT / "requirements.lock").read_text()))
    runtime = dict(pins.findall((ROOT / "requirements-runtime.lock").read_text()))
    assert image.items() <= every.items()
    assert runtime.keys() < image.keys()
    assert {"fastapi", "prometheus-client", "psycopg", "hatchling"} <= image.keys()
    assert not {"pytest", "numba", "distributed"} & image.keys()


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.name)
def test_compose_files(path: Path) -> None:
    document = yaml.safe_load(path.read_text())
    named = set(document["volumes"])
    example = (DEPLOY / "env.example").read_text()
    for service in document["services"].values():
        if "build" in service:
            build = service["build"]
            assert ((DEPLOY / build["context"]).resolve() / build["dockerfile"]).is_file()
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert (DEPLOY / source).is_file() if source.startswith(".") else source in named
        assert set(service.get("depends_on", ())) <= set(document["services"])
    for variable in re.findall(r"\$\{(\w+)", path.read_text()):
        assert re.search(rf"^{variable}=", example, re.M), f"{variable} is not in env.example"


def test_every_setting_exists() -> None:
    known = {field.name.upper() for field in fields(Settings)}
    named = {name for path in FILES for name in re.findall(r"FORSOOTH_(\w+)", path.read_text())}
    assert {"PUBLIC_URL", "DATABASE", "METRICS"} <= named <= known


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not here: the unit is not checked")
    unit = tmp_path / "forsooth.service"  # with a program and a file that are here
    here = {"/opt/forsooth/bin/forsooth": sys.executable, "/etc/forsooth.env": "/dev/null"}
    unit.write_text(re.sub("|".join(here), lambda found: here[found[0]], UNIT))
    done = subprocess.run(
        [program, "verify", "--man=no", unit], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    rated = subprocess.run(
        [program, "security", "--offline=yes", "--threshold=25", unit],  # 0 best, 100 worst
        capture_output=True,
        text=True,
        check=False,
    )
    assert rated.returncode == 0, rated.stdout[-2000:]
