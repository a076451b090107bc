"""What is released: a wheel made from the source distribution, in a fresh environment.

The packages are those of the locks, installed by pip. Where they cannot be had the test is skipped,
and says so; anything that goes wrong once they are there is a failure.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import forsooth
from forsooth.version import EXTRAS, source_digest
from tests.test_docs import README, blocks

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
RUNTIME_LOCK, LOCK = ROOT / "requirements-runtime.lock", ROOT / "requirements.lock"
IMPORT_EVERYTHING = """
import importlib, pkgutil, forsooth
for module in pkgutil.walk_packages(forsooth.__path__, "forsooth."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""


@dataclass(frozen=True)
class Environment:
    """A fresh environment and an empty folder to work in."""

    folder: Path
    work: Path

    @classmethod
    def create(cls, folder: Path) -> Environment:
        environment = cls(folder / "environment", folder / "work")
        environment.work.mkdir(parents=True)
        # pip is not needed inside: the one of this environment installs from outside.
        _succeed([sys.executable, "-m", "venv", "--without-pip", environment.folder])
        return environment

    @property
    def programs(self) -> Path:
        return self.folder / ("Scripts" if os.name == "nt" else "bin")

    def install(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        pip = [sys.executable, "-m", "pip", "--python", self.programs / "python"]
        return _run([*pip, "install", "--no-compile", "--retries", "1", *arguments])

    def python(self, program: str) -> str:
        return _succeed([self.programs / "python", "-c", program], self)

    def shell(self, script: str) -> str:
        return _succeed(["sh", "-e", "-c", script], self)


def _run(
    command: list[object], environment: Environment | None = None
) -> subprocess.CompletedProcess[str]:
    # Neither the source tree nor the data of this process; bytecode is kept for the next command.
    left_out = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "FORSOOTH_DATA", "VIRTUAL_ENV"}
    variables = {key: value for key, value in os.environ.items() if key not in left_out}
    if environment:
        variables["PATH"] = f"{environment.programs}{os.pathsep}{variables['PATH']}"
    return subprocess.run(
        [str(word) for word in command],
        cwd=environment.work if environment else None,
        env=variables,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def _succeed(command: list[object], environment: Environment | None = None) -> str:
    done = _run(command, environment)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[Environment]:
    created = Environment.create(tmp_path)
    yield created
    shutil.rmtree(created.folder)  # pytest keeps the folders of three runs; this one is large


@pytest.fixture(scope="module")
def source_distribution(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    _succeed([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder])
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(source_distribution: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made from the source distribution, as pip does where there is no wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", folder]
    _succeed([sys.executable, "-m", "pip", "wheel", *options, source_distribution])
    (made,) = folder.iterdir()
    return made


def test_the_wheel_has_the_whole_package_and_nothing_else(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = {
        path.relative_to(SOURCE).as_posix()
        for path in (SOURCE / "forsooth").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert names == files


def test_the_source_distribution_can_be_developed_from(source_distribution: Path) -> None:
    with tarfile.open(source_distribution) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert {"pyproject.toml", "Makefile", "requirements.lock", "tests/conftest.py"} <= names
    assert not [name for name in names if "node_modules" in name or name.endswith(".pyc")]


def test_the_runtime_lock_is_part_of_the_development_lock() -> None:
    """Else `make test` after `make demo` would change what the demo runs with."""
    runtime, everything = (
        {(name, rest.split(" ;")[0]) for name, rest in _pins(lock)} for lock in (RUNTIME_LOCK, LOCK)
    )
    assert runtime < everything


@pytest.mark.parametrize("lock", [RUNTIME_LOCK, LOCK], ids=lambda lock: lock.name)
def test_the_locks_have_hashes_and_no_addresses(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    assert "://" not in text
    assert "index-url" not in text
    packages = re.split(r"^(?=[a-z])", text, flags=re.M)[1:]
    assert all("--hash=sha256:" in package for package in packages)


def test_the_first_minutes_of_a_stranger(
    environment: Environment, wheel: Path, tmp_path: Path
) -> None:
    """Install the wheel, do what the README says in an empty folder, then add all extras."""
    done = environment.install("--require-hashes", "-r", RUNTIME_LOCK)
    if done.returncode and "DO NOT MATCH THE HASHES" not in done.stderr:
        pytest.skip(f"the packages cannot be had: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    done = environment.install("--no-index", wheel)  # the lock must have all that it requires
    assert done.returncode == 0, done.stderr

    place, version, digest = environment.python(
        "import forsooth, forsooth.version as v\n"
        "print(forsooth.__file__, v.__version__, v.source_digest())"
    ).split()
    assert Path(place).is_relative_to(environment.folder)
    assert (version, digest) == (forsooth.__version__, source_digest())
    said = environment.shell("forsooth --version")
    assert said.startswith(f"forsooth {version}\n")
    assert "extras found: none" in said
    for block in blocks(README):
        if block.excuse is None and block.kind in {"python", "sh"}:
            (environment.python if block.kind == "python" else environment.shell)(block.text)
    environment.shell("forsooth demo")
    assert (environment.work / "forsooth-demo.html").stat().st_size > 10_000

    pins = tmp_path / "pins.txt"
    pins.write_text("\n".join(f"{name}=={rest}" for name, rest in _pins(LOCK)))
    done = environment.install("--constraint", pins, f"{wheel}[all]")
    assert done.returncode == 0, done.stderr
    said = environment.shell("forsooth --version")
    assert f"extras found: {', '.join(EXTRAS)}" in said
    assert "not found" not in said
    environment.python(IMPORT_EVERYTHING)
    environment.shell("forsooth infer reports.parquet --json")


def _pins(lock: Path) -> list[tuple[str, str]]:
    """Name and version of every package of a lock; markers about platforms are kept."""
    lines = re.findall(r"^([a-z0-9-]+)(?:\[[^\]]*\])?==([^\\\n]+?) *\\?$", lock.read_text(), re.M)
    return [(name, rest) for name, rest in lines]
