"""One name means one thing."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections import Counter
from types import ModuleType

import forsooth
from tests.test_rooms import modules


def test_a_class_name_occurs_once() -> None:
    """Private classes count, too: they are shown and searched for like the others."""
    every = (node for tree in modules().values() for node in ast.walk(tree))
    count = Counter(node.name for node in every if isinstance(node, ast.ClassDef))
    assert [name for name, times in count.items() if times > 1] == []


def test_no_function_shadows_a_module() -> None:
    """`import forsooth.a.b as b` gives the module, whatever `forsooth.a` exports."""
    found = {"forsooth": forsooth} | {
        module.name: importlib.import_module(module.name)
        for module in pkgutil.walk_packages(forsooth.__path__, "forsooth.")
        if module.name != "forsooth.__main__"
    }
    for name in found.keys() - {"forsooth"}:
        package, _, inner = name.rpartition(".")
        assert isinstance(getattr(found[package], inner), ModuleType), name


def test_public_verbs_are_free() -> None:
    """`forsooth.audit` and `forsooth.plan` are functions, or may become some."""
    rooms = {module.name for module in pkgutil.iter_modules(forsooth.__path__)}
    assert rooms.isdisjoint({"audit", "infer", "perturb", "plan"})
