"""Mechanisms at the border of their promise, and broken ones: does forsooth accept them?"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from forsooth import ForsoothError, Mechanism, Scale, mechanisms
from forsooth.auditing import exact_epsilon
from forsooth.mechanisms.channel import TOTAL, Channel
from forsooth.mechanisms.exact import log_ratio

_SEED = 2018


def verdicts() -> list[dict[str, Any]]:
    """Tables whose ε is the promised one, a hair less and a hair more; and broken ones."""
    texts = [*border_tables(), *border_noise(), *border_presence(), *border_samples(), *broken()]
    return [verdict(text) for text in texts]


def verdict(text: str) -> dict[str, Any]:
    """Whether forsooth accepts a mechanism, and its exact ε if it does."""
    try:
        return {"text": text, "exact": exact_of(Mechanism.from_json(text))}
    except ForsoothError:
        return {"text": text, "exact": None}


def exact_of(mechanism: Mechanism) -> dict[str, float | None]:
    """The exact ε; null where participation is public."""
    exact = exact_epsilon(mechanism)
    hidden = math.isfinite(exact.participation)
    return {"value": exact.value, "participation": exact.participation if hidden else None}


def border_tables() -> list[str]:
    """Each table with a promise of exactly its ε, of the float below and of the float above."""
    generator = np.random.default_rng(_SEED)
    tables: list[list[list[int]]] = []
    for size, epsilon in ((2, 1e-6), (2, 0.5), (3, 1.0), (4, 3.0), (5, 0.1), (5, 10.0), (2, 20.0)):
        rr = mechanisms.rr(Scale.of(range(size)), epsilon)
        tables.append([list(row) for row in rr.channel.weights])
    for _ in range(20):
        shares = generator.dirichlet(np.full(int(generator.integers(2, 6)), 0.7), 3)
        weights = np.maximum(1, np.floor(shares * TOTAL)).astype(np.int64)
        weights[np.arange(3), weights.argmax(axis=1)] += TOTAL - weights.sum(axis=1)
        tables.append(weights.tolist())
    half = TOTAL // 2
    tables += [
        [[half, half]] * 3,
        [[half, half], [half + 1, half - 1], [half, half]],
        [[1, TOTAL - 1], [TOTAL - 1, 1], [half, half]],
        [[TOTAL]] * 3,
    ]
    texts = []
    for table in tables:
        true = Channel(tuple(map(tuple, table))).epsilon()
        beside = (math.nextafter(true, 0), true, math.nextafter(true, 9), 1.0)
        for promised in filter(None, beside):
            text = table_text(table, promised)
            labels = [str(answer) for answer in range(len(table))]
            public = {"protects": "answers", "scale": labels}
            texts += [text, json.dumps(changed(json.loads(text), public))]
    return texts


def table_text(weights: list[list[int]], epsilon: float) -> str:
    """A channel as a stranger might send it."""
    return json.dumps(
        {
            "forsooth": 1,
            "kind": "channel",
            "name": "rr",
            "scale": [str(answer) for answer in range(len(weights) - 1)],
            "epsilon": epsilon,
            "protects": "answers+participation",
            "parameters": {"weights": weights, "reads_as": [0.0] * len(weights[0])},
        }
    )


def border_noise() -> list[str]:
    """Noise (lp, mf-safe) on many scales, whole and made for one step less."""
    texts = []
    for scale in map(Scale.parse, ("0..1", "0..4", "-1.5,0,2,100", "a,b,c")):
        for epsilon in (1e-6, 0.1, 1.0, 1 / 3, 7.5, 800.0):
            constant = scale.labels[1]
            some: list[Mechanism] = [
                mechanisms.lp(scale, epsilon),
                mechanisms.lp(scale, epsilon, null=constant),
                mechanisms.lp(scale, epsilon, protects="answers"),
                mechanisms.mf_safe(scale, epsilon, tasks=4),
            ]
            for mechanism in some:
                document = json.loads(mechanism.to_json())
                texts.append(json.dumps(document))
                less = {"sensitivity": document["parameters"]["sensitivity"] - 1}
                texts.append(json.dumps(changed(document, less)))
    flat = json.loads(mechanisms.lp(Scale.parse("0..2"), 1.0).to_json())
    return [*texts, json.dumps(changed(flat, {"positions": [5, 5, 5]}))]


def border_presence() -> list[str]:
    """rr-lp on many scales, with weights that just spend ε₁ and one more; and broken ones."""
    texts = []
    for scale in map(Scale.parse, ("0..1", "0..4", "-1.5,0,2,100")):
        for epsilon, first in ((0.1, 0.1), (1.0, 0.5), (1 / 3, 0.9), (7.5, 0.1), (40.0, 0.5)):
            for null in ("uniform", scale.labels[1]):
                whole = mechanisms.rr_lp(scale, epsilon, first=first, null=null)
                document = json.loads(whole.to_json())
                keep = document["parameters"]["keep"]
                texts.append(json.dumps(document))
                texts += [json.dumps(changed(document, {"keep": keep + more})) for more in (-1, 1)]
                for each in (math.nextafter(epsilon, 0), math.nextafter(epsilon, 99)):
                    texts.append(json.dumps(changed(document, {"epsilon": each})))
    scale = Scale.parse("0..2")
    document = json.loads(mechanisms.rr_lp(scale, 1.0).to_json())
    strangers: list[dict[str, Any]] = [
        {"protects": "answers"},
        {"inner": document},
        {"inner": mechanisms.rr(scale, 0.5).to_json()},
        {"inner": mechanisms.lp(Scale.parse("0..3"), 0.5).to_json()},
        {"inner": mechanisms.lp(scale, 0.5, protects="answers").to_json()},
        {"inner": json.dumps(document)},
        {"keep": TOTAL // 2 - 1},
        {"keep": TOTAL // 2},
        {"keep": TOTAL - 1},
        {"keep": TOTAL},
        {"keep": 2.0**31},
        {"keep": None},
    ]
    return [*texts, *(json.dumps(changed(document, each)) for each in strangers)]


def border_samples() -> list[str]:
    """With unit = worker: a worker's ε that its cells just fill, and one of the float below."""
    scale, texts = Scale.parse("0..2"), []
    inner = mechanisms.rr(scale, 0.5)
    for count in (1, 2, 3, 7):
        for epsilon in (0.1, 1.0, 1 / 3, 7.5):
            for make in (mechanisms.rr, mechanisms.lp, mechanisms.rr_lp, mechanisms.grr):
                whole = mechanisms.per_worker(lambda e: make(scale, e), epsilon, count=count)  # noqa: B023
                document = json.loads(whole.to_json())
                spent = whole.inner.guarantee.epsilon * count
                for each in (math.nextafter(spent, 0), spent, math.nextafter(spent, 9)):
                    texts.append(json.dumps(changed(document, {"epsilon": each})))
    document = json.loads(mechanisms.per_worker(lambda _: inner, 1.0, count=2).to_json())
    strangers = [
        {"inner": json.loads(inner.to_json())},
        {"inner": json.dumps(document)},
        {"inner": mechanisms.mf_safe(scale, 0.5, tasks=4).to_json()},
        {"inner": mechanisms.rr(Scale.parse("0..3"), 0.5).to_json()},
        {"inner": mechanisms.rr(scale, 0.5, protects="answers").to_json()},
        {"inner": table_text([[3, TOTAL - 3], [1, TOTAL - 1], [2, TOTAL - 2]], 0.5)},
        {"count": 0},
        {"count": 3},
        {"count": 2.0},
        {"count": "2"},
        {"seed": -1},
        {"seed": 2**62},
        {"seed": 2**63},
    ]
    return [*texts, *(json.dumps(changed(document, each)) for each in strangers)]


def broken() -> list[str]:
    """What strangers send: wrong types, wrong sums, wrong JSON."""
    third, half = TOTAL // 3, TOTAL // 2
    table = [[half + 9, half - 9], [half, half], [half - 9, half + 9]]
    good = table_text(table, 1.0)
    weights = [
        [[0, TOTAL], [half, half], [half, half]],
        [[-1, TOTAL + 1], [half, half], [half, half]],
        [[half, half - 1], [half, half], [half, half]],
        [[half, half], [half, half]],
        [[half, half], [half, half], [third, third, third + 1]],
        [[half * 1.0, half], [half, half], [half, half]],
        [[True, TOTAL - 1], [half, half], [half, half]],
        [["1", TOTAL - 1], [half, half], [half, half]],
        [[2**70, half], [half, half], [half, half]],
        3,
        [],
        [3, 3, 3],
    ]
    changes: list[dict[str, Any]] = [
        *({"weights": each} for each in weights),
        {"protects": "answers"},
        {"protects": "nothing"},
        {"protects": None},
        {"forsooth": 2},
        {"forsooth": True},
        {"forsooth": 1.0},
        {"kind": "magic"},
        {"kind": ["channel"]},
        {"name": 3},
        {"epsilon": 1},
        {"epsilon": "1"},
        {"epsilon": 0},
        {"epsilon": -1.0},
        {"epsilon": True},
        {"epsilon": 1e6},
        {"epsilon": 1e7},
        {"epsilon": 10**400},
        {"scale": ["1", "2"]},
        {"scale": ["2", "1"]},
        {"scale": ["1", "1"]},
        {"scale": ["1", ""]},
        {"scale": ["0", "1e10"]},
        {"scale": ["0", "1e-10"]},
        {"scale": ["no", "yes"]},
        {"scale": ["1", "yes"]},
        {"scale": ["-inf", "inf"]},
        {"scale": [0, 1]},
        {"scale": "01"},
        {"scale": ["0", "1", "2"]},
        {"scale": ["٠", "٢"], "reads_as": [0.0, 2.0]},
        {"scale": ["𝟘", "𝟙"]},
        {"scale": ["1e10", "10000000001"], "reads_as": [1e10, 1e10]},
        {"scale": ["0", "1_000"], "reads_as": [0.0, 1000.0]},
        {"scale": ["0", "2_"], "reads_as": [0.0, 2.0]},
        {"scale": [" 0 ", "+.5e1"], "reads_as": [0.0, 5]},
        {"reads_as": [0.0, None]},
        {"reads_as": [0.0, 1.5]},
        {"reads_as": [-1, 0]},
        {"reads_as": ["0", 1]},
        {"reads_as": [0.0]},
        {"reads_as": None},
        {"parameters": None},
        {"parameters": []},
    ]
    noise = json.loads(mechanisms.lp(Scale.parse("0..2"), 1.0).to_json())
    noise_changes: list[dict[str, Any]] = [
        {"positions": [0.0, 1, 2]},
        {"positions": [0, 1]},
        {"positions": [0, 1, 2**60]},
        {"sensitivity": 0},
        {"sensitivity": 2**60},
        {"grid": 61},
        {"grid": -10.0},
        {"null": 3},
        {"null": -1},
        {"null": True},
        {"null": 2},
    ]
    sketch = json.loads(mechanisms.mf_safe(Scale.parse("0..2"), 1.0, tasks=4).to_json())
    sketch_changes: list[dict[str, Any]] = [
        {"d": 0},
        {"presence": 0},
        {"centred": [0, 1]},
        {"seed": -1},
        {"seed": 2**61},
    ]
    return [
        *(json.dumps(changed(json.loads(good), each)) for each in changes),
        *(json.dumps(changed(noise, each)) for each in noise_changes),
        *(json.dumps(changed(sketch, each)) for each in sketch_changes),
        good.replace(" ", ""),
        good.replace(" ", "\n\t\r "),
        good.replace('"name"', '"\\u006eame"'),
        good.replace('"rr"', '"\\ud83d\\ude00\\n\\/"'),
        good.replace('"rr"', '"\n"'),
        good.replace('"rr"', '"\\x"'),
        good.replace('"rr"', '"\\u12"'),
        good.replace('"rr"', "'rr'"),
        good.replace('"epsilon": 1.0', '"epsilon": 1.0e0'),
        good.replace('"epsilon": 1.0', '"epsilon": 01.0'),
        good.replace('"epsilon": 1.0', '"epsilon": 1.'),
        good.replace('"epsilon": 1.0', '"epsilon": .5'),
        good.replace('"epsilon": 1.0', '"epsilon": +1'),
        good.replace('"epsilon": 1.0', '"epsilon": 1e400'),
        good.replace('"epsilon": 1.0', '"epsilon": NaN'),
        good.replace('"epsilon": 1.0', '"epsilon": Infinity'),
        good.replace('"epsilon": 1.0, ', ""),
        good.replace('"epsilon": 1.0', f'"epsilon": {"9" * 5000}'),
        good.replace('"reads_as": [0.0, 0.0]', '"reads_as": [0.0, 0.0,]'),
        good.replace('"reads_as": [0.0, 0.0]', '"reads_as": [0.0 0.0]'),
        good.replace("1.0", "1.0, // a remark"),
        good[:-1] + ', "unknown": [{"key": null}]}',
        good[:-1],
        good + "}",
        "\ufeff" + good,
        "",
        "[]",
        "null",
        "1",
        "[" * 5000,
    ]


def changed(document: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A copy with other values, of the mechanism or of its parameters."""
    top = {key: value for key, value in changes.items() if key in document}
    rest = {key: value for key, value in changes.items() if key not in document}
    merged = document | top
    return merged | ({"parameters": {**document["parameters"], **rest}} if rest else {})


def logs() -> list[list[float]]:
    """Pairs of weights, from neighbours to the farthest, and ln of their ratio, rounded up."""
    generator = np.random.default_rng(_SEED)
    pairs = [(TOTAL, 1), (TOTAL, TOTAL - 1), (2, 1), (7, 7), (TOTAL - 1, 2)]
    pairs += [(int(n), int(n) - 1) for n in generator.integers(2, TOTAL, 50)]
    for _ in range(150):
        smaller = int(2 ** generator.uniform(0, 32))
        pairs.append((int(generator.integers(smaller, TOTAL)) + 1, smaller))
    return [[larger, smaller, log_ratio(larger, smaller)] for larger, smaller in pairs]
