"""Mechanisms from strangers: nothing is guessed, nothing crashes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forsooth import ForsoothError, Mechanism, Scale
from forsooth.io import strict
from forsooth.mechanisms import BUILDERS, build

SCALE = Scale.parse("0..4")


def forged(which: str, changes: dict[str, Any]) -> str:
    document = json.loads(build(which, SCALE, 1.0, tasks=20).to_json())
    for key, value in changes.items():
        target = document if key in document else document["parameters"]
        target[key] = value
    return json.dumps(document)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize(
    "change",
    [
        {"forsooth": True},
        {"forsooth": 2},
        {"epsilon": True},
        {"epsilon": "1"},
        {"epsilon": 10**400},
        {"epsilon": 0},
        {"epsilon": 1e300},
        {"scale": "01234"},
        {"scale": [0, 1, 2, 3, 4]},
        {"scale": ["0", "0", "1", "2", "3"]},
        {"protects": None},
        {"name": 3},
        {"kind": ["channel"]},
        {"parameters": None},
        {"parameters": []},
    ],
    ids=str,
)
def test_common_fields(name: str, change: dict[str, Any]) -> None:
    with pytest.raises(ForsoothError):
        Mechanism.from_json(forged(name, change))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("rr", {"weights": [[True] * 6] * 6}),
        ("rr", {"weights": 3}),
        ("rr", {"weights": [[2**32 / 6] * 6] * 6}),
        ("rr", {"reads_as": ["0", 1, 2, 3, 4, None]}),
        ("rr", {"reads_as": [1e308, 1, 2, 3, 4, None]}),
        ("rr", {"reads_as": [-1, 1, 2, 3, 4, None]}),
        ("rr", {"reads_as": [[0], 1, 2, 3, 4, None]}),
        ("two-layer", {"keep": [True] * 64}),
        ("two-layer", {"keep": [2**31] * 63}),
        ("lp", {"grid": 5000}),
        ("lp", {"grid": True}),
        ("lp", {"positions": [0, 0, 0, 0, 2**70]}),
        ("lp", {"positions": ["0", "1", "2", "3", "4"]}),
        ("lp", {"positions": [0.0, 0.9, 1, 2, 3]}),
        ("lp", {"positions": [0] * 5, "sensitivity": 0}),
        ("lp", {"null": True}),
        ("lp", {"null": 5}),
        ("mf", {"ridge": 10**400}),
        ("mf", {"ridge": 1e-20}),
        ("mf", {"steps": True}),
        ("mf", {"solver": ["closed-form"]}),
        ("mf", {"profiles": [[0.5, 0.5]] * 20}),
        ("mf", {"profiles": [[1] * 30] * 20}),
        ("mf", {"profiles": []}),
        ("mf", {"unit": 10}),
        ("mf-safe", {"d": 0}),
        ("mf-safe", {"presence": 0}),
        ("mf-safe", {"centred": [0] * 4}),
        ("mf-safe", {"seed": -1}),
        ("rr", {"weights": nested(5000)}),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(value),
)
def test_parameters(name: str, change: dict[str, Any]) -> None:
    try:
        text = forged(name, change)
    except RecursionError:  # json itself cannot write it
        text = "[" * 100_000
    with pytest.raises(ForsoothError):
        Mechanism.from_json(text)


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_no_constants_beyond_json(constant: str) -> None:
    text = forged("mf", {}).replace('"ridge": 1.0', f'"ridge": {constant}')
    assert constant in text
    with pytest.raises(ForsoothError, match=constant):
        Mechanism.from_json(text)


def test_a_name_twice_is_refused() -> None:
    with pytest.raises(ForsoothError, match="names 'epsilon' twice"):
        strict.loads('{"epsilon": 1, "name": "rr", "epsilon": 9}')
