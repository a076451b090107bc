"""Attacks on what forsooth promises, as programs. `python -m benchmarks.attacks` runs all of them.

An attack is a module here. The first line of its docstring is the promise that it attacks; the
rest says what the attacker does. It has one function, `attack() -> Outcome`, which is deterministic
up to a stated false-alarm rate. A new file is a new attack; nothing else has to be changed.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

Attack = Callable[[], "Outcome"]


@dataclass(frozen=True)
class Outcome:
    """What came of an attack."""

    stopped: bool  # the promise held
    detail: str  # one line: what the attacker measured


def names() -> list[str]:
    """All attacks, in alphabetical order."""
    found = pkgutil.iter_modules(__path__)
    return sorted(module.name for module in found if not module.name.startswith("_"))


def load(name: str) -> tuple[str, Attack]:
    """The promise that an attack is about, and the attack."""
    module = importlib.import_module(f"{__name__}.{name}")
    promise = (module.__doc__ or "").strip().splitlines()[0]
    return promise, module.attack
