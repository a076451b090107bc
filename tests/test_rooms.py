"""A module imports from rooms above its own: by type-only imports and in functions, too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import forsooth

ROOMS = """
errors version natural plural checks display processes odds rounding
io
scale privacy promise estimand cells answers known truths truth_plots dataset
reports mechanisms.base mechanisms.randomness
io.report_files
mechanisms
shuffling
inference
adapters
planning
auditing
forsooth
report
client
service
study
bench
cli __main__
"""  # A report carries its mechanism, and a mechanism makes reports: they share a room.
ROOM_OF = {name: number for number, line in enumerate(ROOMS.split("\n")) for name in line.split()}


def modules() -> dict[str, ast.Module]:
    """Every module by its name below `forsooth`; "forsooth" has the public names."""
    root, found = Path(forsooth.__file__).parent, {}
    for path in root.rglob("*.py"):
        name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix("__init__")
        found[name.removesuffix(".") or "forsooth"] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def room(module: str) -> int:
    """The number of the module's room: that of the longest beginning of its name in `ROOMS`."""
    while module not in ROOM_OF:
        module = module[: module.rindex(".")]
    return ROOM_OF[module]


def imported(tree: ast.Module, known: dict[str, ast.Module]) -> Iterator[str]:
    """The modules of the package that a module imports."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for parts in (name.split(".") for name in names if name.split(".")[0] == "forsooth"):
            ends = (".".join(parts[1:end]) for end in range(len(parts), 1, -1))
            yield next((name for name in ends if name in known), "forsooth")


def wrong_imports(known: dict[str, ast.Module]) -> list[tuple[str, str]]:
    """Who imports what from a room below its own."""
    pairs = ((name, other) for name, tree in known.items() for other in imported(tree, known))
    return [(name, other) for name, other in pairs if room(other) > room(name)]


def test_imports_go_upwards() -> None:
    assert wrong_imports(modules()) == []


def test_planted_imports_are_found() -> None:
    planted = {
        "client.campaign": ("service.keys", "def send():\n    from forsooth.service import keys"),
        "mechanisms.laplace": ("inference", "if TYPE_CHECKING:\n    import forsooth.inference"),
        "io.files": ("io.report_files", "from forsooth.io.report_files import ReportFiles"),
        "planning.bounds": ("forsooth", "from forsooth import plan"),
    }
    known = modules() | {name: ast.parse(text) for name, (_, text) in planted.items()}
    assert set(wrong_imports(known)) == {(name, other) for name, (other, _) in planted.items()}
