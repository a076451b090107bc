"""The shared vectors: Python derives them anew, JavaScript is run on them."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from forsooth import Mechanism
from forsooth.mechanisms import ChannelMechanism
from forsooth.mechanisms.channel import TOTAL
from forsooth.odds import STRENGTHS
from tests.clients.javascript import PACKAGE, node

FOLDER = PACKAGE / "vectors"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delitem(sys.modules, "make", raising=False)
    return importlib.import_module("make")


def load(path: Path) -> Any:
    return json.loads(path.read_text())


@pytest.mark.parametrize("name", NAMES)
def test_python_draws_what_the_vector_says(make: ModuleType, name: str) -> None:
    vector = load(FOLDER / f"{name}.json")
    assert make.derive(vector) == {key: vector[key] for key in ("exact", "report", "bytes")}
    assert vector["tasks"] == len(vector["codes"])


def test_the_vectors_reach_every_edge() -> None:
    kinds, bits, padded = set(), set(), set()
    for name in NAMES:
        vector = load(FOLDER / f"{name}.json")
        mechanism = Mechanism.from_json(json.dumps(vector["mechanism"]))
        kinds.add((mechanism.kind, mechanism.protects))
        bits.add(mechanism.bits)
        padded.add(len(vector["report"]) * mechanism.bits % 8 > 0)
        if isinstance(mechanism, ChannelMechanism):
            reached = set(zip(vector["codes"], vector["words"]))
            for row, thresholds in enumerate(mechanism.channel.thresholds.T.tolist()):
                edges = {0, TOTAL - 1, *thresholds, *(each - 1 for each in thresholds)}
                assert {(row, word) for word in edges} <= reached
    assert kinds >= {
        (kind, protects)
        for kind in ("channel", "laplace")
        for protects in ("answers", "answers+participation")
    } | {("presence-laplace", "answers+participation")}
    assert bits >= {1, 2, 3, 4, 9, 64}
    assert padded == {False, True}


def test_the_verdicts_are_python_s(make: ModuleType) -> None:
    stored = load(FOLDER / "verification" / "verdicts.json")
    verdict = importlib.import_module("verdicts").verdict
    assert [verdict(each["text"]) for each in stored] == stored
    accepted = sum(each["exact"] is not None for each in stored)
    assert min(accepted, len(stored) - accepted) > 100
    assert make.logs() == load(FOLDER / "verification" / "logs.json")
    assert make.packings() == load(FOLDER / "verification" / "packing.json")
    assert make.samples() == load(FOLDER / "verification" / "samples.json")


def test_the_ledgers_are_python_s(make: ModuleType) -> None:
    stored = load(FOLDER / "verification" / "memory.json")
    assert make.memory() == stored
    refused = {verdict for ledger in stored["ledgers"] for verdict in ledger["refused"]}
    assert refused == {None, "repeated", "spent"}


def test_the_words_are_python_s(make: ModuleType) -> None:
    stored = load(FOLDER / "verification" / "promises.json")
    assert json.loads(json.dumps(make.promises())) == stored
    assert {each["words"]["strength"] for each in stored} == set(STRENGTHS)


def test_javascript_agrees() -> None:
    done = node("--test", "test/")
    assert done.returncode == 0, done.stdout[-5000:]
    assert "# fail 0" in done.stdout
