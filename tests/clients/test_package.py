"""The npm package: its own code only at run time, no addresses in its lock, real types."""

from __future__ import annotations

import json

import pytest

from tests.clients.javascript import PACKAGE, node


def test_no_dependencies_at_run_time() -> None:
    package = json.loads((PACKAGE / "package.json").read_text())
    assert not package.get("dependencies")
    lock = json.loads((PACKAGE / "package-lock.json").read_text())
    assert all(each.get("dev") for path, each in lock["packages"].items() if path)


def test_the_lock_names_no_registry() -> None:
    """The addresses that stay are those at which authors ask for money."""
    lock = json.loads((PACKAGE / "package-lock.json").read_text())
    for package in lock["packages"].values():
        package.pop("funding", None)
    text = json.dumps(lock)
    assert "resolved" not in text
    assert "://" not in text


def test_types() -> None:
    compiler = PACKAGE / "node_modules" / "typescript" / "bin" / "tsc"
    if not compiler.exists():
        pytest.skip("TypeScript is not here: npm ci in clients/js installs it")
    done = node(compiler)
    assert done.returncode == 0, done.stdout
