from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys

import forsooth

# Each of these takes longer to import than forsooth; they are imported where they are used.
HEAVY = {
    *(
        "alembic",
        "distributed",
        "fastapi",
        "hypothesis",
        "jinja2",
        "matplotlib",
        "narwhals",
        "numba",
        "pandas",
    ),
    *("polars", "pydantic", "python_calamine", "rich", "scipy", "sqlalchemy", "typer", "uvicorn"),
}


def test_import_is_light() -> None:
    """Without the heavy libraries, and without those that only the command line needs."""
    program = "import sys, forsooth; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    imported = set(run.stdout.split())
    assert "forsooth" in imported
    assert not imported & HEAVY


def test_every_public_name_is_there_and_the_audit_only_when_used() -> None:
    program = (
        "import sys, forsooth; assert 'forsooth.auditing' not in sys.modules;"
        "from forsooth import *; assert 'forsooth.auditing' in sys.modules;"
        "print(all(hasattr(forsooth, name) for name in forsooth.__all__))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "True"
    assert not hasattr(forsooth, "perturb")


def test_audit_is_public() -> None:
    found = forsooth.audit(
        forsooth.mechanisms.rr("0..2", 1.0), tasks=2, draws=1000, simulation_seed=1
    )
    assert found.holds
    assert found.exact.value <= 1.0


def test_examples_in_docstrings_are_true() -> None:
    for module in pkgutil.walk_packages(forsooth.__path__, "forsooth."):
        if module.name != "forsooth.__main__":
            assert doctest.testmod(importlib.import_module(module.name)).failed == 0
