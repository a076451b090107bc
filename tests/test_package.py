from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys

import forsooth


def test_import_is_quick_and_light() -> None:
    """Under half a second of processor time (best of five), without the heavy libraries."""
    program = (
        "import sys, time; start = time.process_time(); import forsooth;"
        "print(time.process_time() - start);"
        "heavy = {'pandas', 'polars', 'matplotlib', 'scipy', 'typer'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        for _ in range(5)
    ]
    times, heavy = zip(*(run.stdout.splitlines() for run in runs))
    assert min(map(float, times)) < 0.5
    assert set(heavy) == {"[]"}


def test_examples_in_docstrings_are_true() -> None:
    for module in pkgutil.walk_packages(forsooth.__path__, "forsooth."):
        if module.name != "forsooth.__main__":
            assert doctest.testmod(importlib.import_module(module.name)).failed == 0
