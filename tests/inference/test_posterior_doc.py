"""docs/posterior.md states the same model as the code: blocks, kinds and numbers are compared."""

from __future__ import annotations

import re
from dataclasses import fields
from itertools import groupby
from pathlib import Path
from types import ModuleType

import pytest

from forsooth.inference import enough
from forsooth.inference.posterior import integrate, kinds, model, opinion, propagate, sums
from forsooth.inference.posterior.priors import PRIORS, Priors

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "posterior.md").read_text(encoding="utf-8")
SUMS = (DOCS / "sums.md").read_text(encoding="utf-8")
COMPUTATION = (DOCS / "computation.md").read_text(encoding="utf-8")


def first_block(module: ModuleType) -> str:
    """The first indented lines of a module's docstring, up to the next text."""
    lines = (module.__doc__ or "").splitlines()
    runs = groupby(lines, lambda line: line.startswith("    ") or not line)
    blocks = ("\n".join(run).strip("\n") for indented, run in runs if indented)
    return next(block for block in blocks if block)


def priors_table() -> str:
    rows = ["| name | value | unit | reason |", "|---|---|---|---|"]
    for each in fields(Priors):
        unit, reason = each.metadata["unit"], each.metadata["reason"]
        rows.append(f"| `{each.name}` | {getattr(PRIORS, each.name):.3g} | {unit} | {reason} |")
    return "\n".join(rows)


@pytest.mark.parametrize(("module", "page"), [(model, PAGE), (opinion, PAGE), (sums, SUMS)])
def test_the_page_has_the_block_of_the_module(module: ModuleType, page: str) -> None:
    block = first_block(module)
    assert len(block.splitlines()) > 1
    assert block in page, f"the page of this model must have this block:\n{block}"


def test_the_page_has_every_prior() -> None:
    assert priors_table() in PAGE, f"docs/posterior.md must have this table:\n{priors_table()}"


def test_every_prior_is_in_a_model_or_in_a_kind() -> None:
    used = set(re.findall(r"[a-z_]+", PAGE.replace(priors_table(), "")))
    assert [each.name for each in fields(Priors) if each.name not in used] == []


def test_the_page_has_every_kind() -> None:
    names = {kind.name for kind in (*kinds.LEVEL, *kinds.LABEL)}
    assert [name for name in names if name not in PAGE] == []


@pytest.mark.parametrize(
    "sentence",
    [
        f"accuracy_step·k, k = {model.RUNGS[0]:d}…{model.RUNGS[-1]:d}".replace("-", "−"),
        f"r = {model.RATES[0]:d}…{model.RATES[-1]:d}".replace("-", "−"),
        f"{integrate.POINTS} points of",
        f"or {propagate.ROUNDS} rounds",
        f"at most {100 * enough.MARGIN:.0f} % of that of the best single value",
        f"probability that this value does as well is at most {100 * enough.DOUBT:.0f} %",
    ],
)
def test_the_page_has_the_numbers_of_the_code(sentence: str) -> None:
    assert sentence in " ".join((PAGE + COMPUTATION).split())
