"""Make the vectors that every client is checked against: `python clients/js/vectors/make.py`.

`*.json`: a mechanism, inputs and random words, and the report that forsooth makes of them.
`verification/verdicts.json`: mechanisms at the border of their promise, and broken ones, with the
exact ε of those that forsooth accepts. `verification/logs.json`: ln(larger / smaller), rounded up.
`verification/packing.json`: values of 1 to 16 bits, and their bytes.
`verification/samples.json`: which tasks a public seed chooses for a worker (unit = worker).
`verification/promises.json`: guarantees, and what is said of them in words.
`verification/memory.json`: names of questions and draws, and what ledgers refuse.
All of it comes from the package itself.
"""

from __future__ import annotations

import base64
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from verdicts import exact_of, logs, verdicts

from forsooth import Answers, ForsoothError, Mechanism, Privacy, Scale, mechanisms
from forsooth.answers import code_dtype
from forsooth.client.ledger import QUESTION_CAP, TOTAL_CAP, Ledger
from forsooth.client.question import AskedCell, AskedQuestion, draw_name
from forsooth.io import packing
from forsooth.mechanisms import (
    ChannelMechanism,
    Laplace,
    PresenceLaplace,
    SafeFactorization,
    SampledTasks,
)
from forsooth.mechanisms.assignment import sampled_tasks
from forsooth.mechanisms.base import CellwiseMechanism
from forsooth.mechanisms.channel import TOTAL, Channel
from forsooth.mechanisms.exact import Probability
from forsooth.promise import promise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.privacy import Protects

HERE = Path(__file__).parent
WORKER = "a worker's name – with ε"
SEED = 2018
EPSILONS = (0.1, 0.3, 1.0)  # of the rules in the ledgers' vectors
CAPS: tuple[dict[str, float], ...] = ({}, {"cap": 1.7}, {"questionCap": 1.3}, {"cap": 9.0})


class Scripted:
    """The words of a vector, in order."""

    def __init__(self, words: list[int]) -> None:
        self.left = list(words)

    def words(self, count: int) -> NDArray[np.uint32]:
        """The next `count` words; a vector that holds too few is not a vector."""
        taken, self.left = self.left[:count], self.left[count:]
        if len(taken) < count:
            raise ForsoothError("the vector has too few words")
        return np.array(taken, np.uint32)


class Tying:
    """Seeded words, kept; one of every batch is equal to the digits that it is compared with."""

    def __init__(self, cells: int, probabilities: list[Probability]) -> None:
        self._generator = np.random.default_rng(SEED)
        self._cells = cells
        self._ties = iter(probabilities)
        self._tied: Probability | None = None
        self.kept: list[int] = []

    def words(self, count: int) -> NDArray[np.uint32]:
        """A batch with a tie in it, or a single word that settles one: tied once more, or not."""
        words = self._generator.integers(0, 2**32, count, np.uint32)
        if count == self._cells:
            self._tied = next(self._ties, None)
            if self._tied:
                words[len(self.kept) % count] = self._tied.digits(32)
        elif count == 1 and self._tied:
            if len(self.kept) % 3 == 0:
                words[0] = self._tied.digits(64) % 2**32
            self._tied = None
        self.kept += words.tolist()
        return words


def derive(vector: dict[str, Any]) -> dict[str, Any]:
    """What forsooth makes of a vector's mechanism, inputs and words."""
    mechanism = Mechanism.from_json(json.dumps(vector["mechanism"]))
    random = Scripted(vector["words"])
    values = randomise(mechanism, vector["codes"], random)
    if random.left:
        raise ForsoothError("the vector has too many words")
    return {
        "exact": exact_of(mechanism),
        "report": values.tolist(),
        "bytes": packed(values, mechanism.bits),
    }


def packed(values: NDArray[Any], bits: int) -> str:
    """The bytes that leave a worker, as text."""
    return base64.b64encode(packing.pack(values.reshape(1, -1), bits).tobytes()).decode()


def packings() -> list[dict[str, Any]]:
    """Values of every length, with all bits set, none and some, in reports of every remainder."""
    found, random = [], np.random.default_rng(SEED)
    for bits in range(1, 17):
        for width in (1, 2, 7, 8, 9, 13):
            values = random.integers(0, 2**bits, width, np.uint16)
            values[0], values[-1] = 0, 2**bits - 1
            found.append({"bits": bits, "values": values.tolist(), "bytes": packed(values, bits)})
    return found


def randomise(mechanism: Mechanism, codes: list[int], random: Any) -> NDArray[Any]:
    """One worker's values."""
    if isinstance(mechanism, CellwiseMechanism):
        secret = np.zeros(len(codes), np.uint8)
        return mechanism.randomise_codes(np.array(codes, np.uint16), secret, random)
    answered = [task for task, code in enumerate(codes) if code != mechanism.scale.null]
    answers = Answers(
        mechanism.scale,
        (WORKER,),
        tuple(f"task {task}" for task in range(len(codes))),
        np.zeros(len(answered), np.int32),
        np.array(answered, np.int32),
        np.array([codes[task] for task in answered], code_dtype(mechanism.scale)),
    )
    values: NDArray[Any] = mechanism.randomise(answers, random).ravel()
    return values


def samples() -> list[dict[str, Any]]:
    """Samples of one task, of some and of all, for several seeds and names."""
    return [
        {
            "seed": str(seed),
            "worker": worker,
            "tasks": tasks,
            "count": count,
            "places": sampled_tasks(seed, [worker], tasks, count)[0].tolist(),
        }
        for seed in (0, 7, 2**62)
        for worker in (WORKER, "", "f" * 64)
        for tasks, count in ((1, 1), (10, 1), (10, 3), (200, 20), (12, 12))
    ]


def promises() -> list[dict[str, Any]]:
    """Guarantees of every kind and strength, and their words to the worker."""
    epsilons = (0.01, 0.3, 1 / 3, 0.5, 1.0, 2.0, 6.0, 8.0, 14.0)
    kinds: tuple[tuple[Protects, int | None, int], ...] = (
        ("answers+participation", None, 1),
        ("answers+participation", None, 10),
        ("answers+participation", 1, 10),
        ("answers+participation", 3, 2),
        ("answers", None, 1234),
        ("answers", None, 1),
        ("answers", 3, 1234),
    )
    found = []
    for protects, cells, tasks in kinds:
        for epsilon in epsilons:
            said = promise(Privacy(epsilon, protects, cells), tasks, you=True)
            guarantee = {"epsilon": epsilon, "protects": protects, "cells": cells, "tasks": tasks}
            found.append({**guarantee, "words": asdict(said)})
    return found


def memory() -> dict[str, Any]:
    """Questions that are the same or look alike, rules, and sequences of spends under caps."""
    texts = (
        "Do you smoke?",
        " do  YOU\tsmoke? ",
        "Do you smoke",
        "Tu\u0308r",
        "T\u00fcr",
        "\u0130\u03a3",
    )
    questions = [(text, image) for text in texts for image in (None, "data:image/png;base64,AA==")]
    rules = [(rule, labels) for rule in ("{}", "{ }") for labels in (["no", "yes"], ["yes", "no"])]
    return {
        "caps": [QUESTION_CAP, TOTAL_CAP],
        "questions": [
            {"text": text, "image": image, "question": AskedQuestion(text, image).name}
            for text, image in questions
        ],
        "draws": [
            {"rule": rule, "labels": labels, "draw": draw_name(rule, labels)}
            for rule, labels in rules
        ],
        "ledgers": [_spent(caps, seed) for seed in range(4) for caps in CAPS],
    }


def _spent(caps: dict[str, float], seed: int) -> dict[str, Any]:
    """Spends of a few cells each, whether each was refused, and the sum in the end."""
    ledger, random = Ledger(), np.random.default_rng(seed)
    spends, refused = [], []
    for _ in range(12):
        places = random.choice(len(EPSILONS) * 6, random.integers(1, 4), replace=False).tolist()
        named = [divmod(place, len(EPSILONS)) for place in places]
        cells = [AskedCell("?", f"question {q}", f"draw {d}", EPSILONS[d]) for q, d in named]
        spends.append([{**asdict(cell), "value": "0"} for cell in cells])
        try:
            ledger = ledger.spend(
                dict.fromkeys(cells, "0"), cap=caps.get("cap"), question_cap=caps.get("questionCap")
            )
            refused.append(None)
        except ForsoothError as error:
            refused.append("repeated" if "for one question" in str(error) else "spent")
    return {"caps": caps, "spends": spends, "refused": refused, "after": ledger.total}


def draw_vectors() -> dict[str, dict[str, Any]]:
    """One vector per family, on several scales."""
    likert, ten = Scale.parse("never,rarely,sometimes,often,always"), Scale.parse("0..9")
    uneven = Scale.parse("-1.5,0,2,100")
    named: dict[str, Mechanism] = {
        "rr": mechanisms.rr(likert, 1.0),
        "rr-binary": mechanisms.rr(Scale.parse("no,yes"), 1.0),
        "grr-binary": mechanisms.grr(Scale.parse("no,yes"), 1.0),
        "rr-ten": mechanisms.rr(ten, 0.3),
        "grr": mechanisms.grr(ten, 2.0),
        "two-step": mechanisms.two_step(uneven, 1.0),
        "staircase": mechanisms.staircase(ten, 1.0, density=0.3, noise="1,5"),
        "staircase-answers": mechanisms.staircase(Scale.parse("1..5"), 2.0, protects="answers"),
        "wide": wide(Scale.parse("no,yes"), 300),
        "lp": mechanisms.lp(likert, 1.0),
        "lp-constant": mechanisms.lp(uneven, 0.7, null="2"),
        "lp-answers": mechanisms.lp(ten, 8.0, protects="answers"),
        "rr-lp": mechanisms.rr_lp(likert, 1.0),
        "rr-lp-constant": mechanisms.rr_lp(uneven, 0.7, first=0.4, null="2"),
        "mf-safe": mechanisms.mf_safe(ten, 1.0, tasks=40, seed=7),
        "sampled": mechanisms.per_worker(lambda e: mechanisms.rr(ten, e), 2.0, count=5, seed=11),
        "sampled-answers": mechanisms.per_worker(
            lambda e: mechanisms.grr(likert, e), 1.0, count=3, seed=2**52 + 1
        ),
    }
    return {name: vector_of(mechanism) for name, mechanism in named.items()}


def vector_of(mechanism: Mechanism) -> dict[str, Any]:
    """Inputs and words that reach every edge, and what comes of them."""
    if isinstance(mechanism, ChannelMechanism):
        codes, words = edges(mechanism.channel)
    elif isinstance(mechanism, Laplace):
        inputs = mechanism.scale.size + (mechanism.protects == "answers+participation")
        codes = [code % inputs for code in range(11)]
        words = tied_words(mechanism, codes, len(codes), skip=mechanism.null is None)
    elif isinstance(mechanism, PresenceLaplace):
        beside = (0, mechanism.keep - 1, mechanism.keep, TOTAL - 1)
        codes = [code for code in range(mechanism.scale.size + 1) for _ in beside]
        noise, skip = mechanism.inner, mechanism.inner.null is None
        words = [*beside] * (mechanism.scale.size + 1)
        words += tied_words(noise, codes, len(codes), skip=skip)
    elif isinstance(mechanism, SafeFactorization):
        codes = [(3 * task) % (mechanism.scale.size + 1) for task in range(40)]
        words = tied_words(mechanism, codes, 2 * mechanism.d, skip=False)
    elif isinstance(mechanism, SampledTasks):
        codes = [(3 * task) % mechanism.scale.size for task in range(23)]
        words = np.random.default_rng(SEED).integers(0, 2**32, mechanism.count, np.uint32).tolist()
    else:
        raise ForsoothError(f"there are no vectors of {mechanism.name}")
    vector = {
        "mechanism": json.loads(mechanism.to_json()),
        "worker": WORKER,
        "tasks": len(codes),
        "codes": codes,
        "words": words,
    }
    return vector | derive(vector)


def edges(channel: Channel) -> tuple[list[int], list[int]]:
    """Every row with the first and the last word, and with both sides of every threshold."""
    codes, words = [], []
    for row in range(channel.inputs):
        thresholds = [int(threshold) for threshold in channel.thresholds[:, row]]
        beside = [word for threshold in thresholds for word in (threshold - 1, threshold)]
        for word in (0, *beside, TOTAL - 1):
            codes.append(row)
            words.append(word)
    return codes, words


def tied_words(
    mechanism: Laplace | SafeFactorization, codes: list[int], width: int, *, skip: bool
) -> list[int]:
    """Words for noise on `width` numbers, with ties; the first batch replaces NULL if `skip`."""
    digits = 1
    while mechanism.rate * 2**digits < 50:
        digits += 1
    one = [Probability.logistic(mechanism.rate * 2**digit) for digit in range(digits)]
    one.append(Probability.exponential(mechanism.rate * 2**digits))
    never = [Probability.exponential(mechanism.rate * 2**20)]
    random = Tying(width, (never if skip else []) + one + one)
    randomise(mechanism, codes, random)
    return random.kept


def wide(scale: Scale, symbols: int) -> ChannelMechanism:
    """A table with more than 256 symbols: nine bits per cell."""
    low = TOTAL // symbols
    rows = []
    for row in range(scale.size + 1):
        weights = [low + (1000 if symbol % 3 == row else 0) for symbol in range(symbols)]
        weights[row] += TOTAL - sum(weights)
        rows.append(tuple(weights))
    channel = Channel(tuple(rows))
    reads_as = tuple(None if symbol % 3 == 2 else float(symbol % 3) for symbol in range(symbols))
    epsilon = channel.epsilon()
    return ChannelMechanism("wide", scale, epsilon, "answers+participation", channel, reads_as)


def write(path: Path, document: Any) -> None:
    """One line per member, so that a change can be read."""
    path.parent.mkdir(exist_ok=True)
    if isinstance(document, dict):
        members = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in document.items()]
        path.write_text("{\n" + ",\n".join(members) + "\n}\n")
    else:
        path.write_text("[\n" + ",\n".join(map(json.dumps, document)) + "\n]\n")


def main() -> None:
    """Write them all beside this file."""
    for name, vector in draw_vectors().items():
        write(HERE / f"{name}.json", vector)
    write(HERE / "verification" / "verdicts.json", verdicts())
    write(HERE / "verification" / "logs.json", logs())
    write(HERE / "verification" / "packing.json", packings())
    write(HERE / "verification" / "samples.json", samples())
    write(HERE / "verification" / "promises.json", promises())
    write(HERE / "verification" / "memory.json", memory())


if __name__ == "__main__":
    main()
