"""The threat model's table: every row names a test or an attack, and no attack is missing."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from benchmarks import attacks

from forsooth.odds import HALF, LIMITS, STRENGTHS, chance, strength

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([RCPWO]\d+) \| (.*) \|$", PAGE, re.M)
NOTHING = {"R5"}  # out of a program's reach: the purpose itself


@pytest.mark.parametrize(("number", "row"), ROWS, ids=lambda value: value[:3])
def test_every_row_is_shown_by_a_test_or_an_attack(number: str, row: str) -> None:
    cells = row.split(" | ")
    assert len(cells) == 5, "attacker, can do, stops, does not, shown by"
    references = re.findall(r"`([^`:]+\.py)(?:::(\w+))?`", cells[-1])
    assert bool(references) == (number not in NOTHING)
    for path, name in references:
        text = (ROOT / path).read_text(encoding="utf-8")
        assert not name or f"def {name}(" in text, f"{path} has no {name}"


def test_the_numbers_are_in_order() -> None:
    numbers = [number for number, _ in ROWS]
    order = sorted(numbers, key=lambda each: ("RCPWO".index(each[0]), int(each[1:])))
    assert numbers == order
    assert len(set(numbers)) == len(numbers)


def test_every_attack_is_in_the_table() -> None:
    table = " ".join(row for _, row in ROWS)
    assert [name for name in attacks.names() if f"benchmarks/attacks/{name}.py" not in table] == []


def test_the_classes_are_those_of_the_code() -> None:
    found = re.findall(r"^\| (\w[\w ]*) \| (\d+) to 1 \| ([\d.]+) \| ([\d.]+ %) \|", PAGE, re.M)
    assert found == [
        (name, f"{most:g}", f"{math.floor(100 * math.log(most)) / 100:.2f}", _half(most))
        for name, most in LIMITS
    ]
    assert f"| {STRENGTHS[-1]} | more |" in PAGE


def _half(most: float) -> str:
    return chance(HALF, math.log(most))


def test_the_requesters_table_is_computed() -> None:
    """Total and class by the number of questions and ε of each."""
    page = (ROOT / "docs" / "requesters.md").read_text(encoding="utf-8")
    (header, *rows) = re.findall(r"^\| ((?:\d+ )?questions?(?: \| [^|\n]+)+) \|$", page, re.M)
    epsilons = [float(number) for number in re.findall(r"ε = ([\d.]+)", header)]
    assert len(epsilons) == len(rows) == 4
    for row in rows:
        count, *cells = row.split(" | ")
        totals = [int(count.split()[0]) * epsilon for epsilon in epsilons]
        assert cells == [f"{total:g}: {strength(total)}" for total in totals]


def test_no_page_promises_more() -> None:
    """Sentences that were false: a bound for one answer without its condition, and the like."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "clients").glob("js/*.md")]
    pages += (ROOT / "src").rglob("*.html")
    for page in pages:
        text = re.sub(r"\s+", " ", page.read_text(encoding="utf-8"))
        for claim in (
            r"never left",
            r"stays? on (this|your) device",
            r"at most \d+ % (sure|likely)",
        ):
            assert not re.search(claim, text), f"{page.name}: {claim}"
