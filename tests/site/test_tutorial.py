"""The tutorial runs from top to bottom, and its page shows what it prints today."""

from __future__ import annotations

import re
from typing import Any

import pytest

pytest.importorskip("mkdocs", reason="the packages of the site are not installed")
pytest.importorskip("nbclient", reason="what runs notebooks is not installed")

from website.notebooks import TUTORIAL, execute, markdown, read

_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*")
# Other processors add sums in another order; then the draws of the posterior are others.
ABSOLUTE, RELATIVE = 0.03, 0.05


def outputs(notebook: dict[str, Any]) -> list[tuple[str, str]]:
    """Kind and text of every output; of a figure only that there is one."""
    found = []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            data = {"stream": output["text"]} if "text" in output else output["data"]
            for kind, content in data.items():
                text = "" if kind == "image/png" else "".join(content)
                found.append((kind, re.sub(r"<Figure size [^>]*>", "", text)))
    return found


def same(one: str, other: str) -> bool:
    """The same words, and nearly the same numbers."""
    first, second = (
        [float(number.replace(",", "")) for number in _NUMBER.findall(text)]
        for text in (one, other)
    )
    words = _NUMBER.sub("0", one).split() == _NUMBER.sub("0", other).split()
    return words and first == pytest.approx(second, abs=ABSOLUTE, rel=RELATIVE)


@pytest.mark.filterwarnings("ignore")  # of the notebook's machinery, in its own threads
def test_the_outputs_are_those_of_running_it() -> None:
    kept, now = outputs(read(TUTORIAL)), outputs(execute(TUTORIAL))
    assert [kind for kind, _ in kept] == [kind for kind, _ in now]
    for (kind, before), (_, after) in zip(kept, now):
        assert same(before, after), f"run python -m website.notebooks: {kind}\n{before}\n{after}"


def test_an_output_that_is_stale_is_noticed() -> None:
    assert same("truth 1.53, 30 intervals", "truth 1.54, 30 intervals")
    assert not same("truth 1.53, 30 intervals", "truth 1.93, 30 intervals")
    assert not same("the claim holds", "the claim is false")


def test_the_page_has_every_cell_and_its_figures() -> None:
    notebook, page = read(TUTORIAL), markdown(read(TUTORIAL))
    for cell in notebook["cells"]:
        assert "".join(cell["source"]) in page
    figures = [kind for kind, _ in outputs(notebook) if kind == "image/png"]
    assert page.count('src="data:image/png;base64,') == len(figures) > 0
    assert "<style" not in page


def test_a_cell_that_failed_is_no_page() -> None:
    failed = {"output_type": "error", "ename": "ValueError", "evalue": "", "traceback": []}
    cell = {"cell_type": "code", "source": ["raise ValueError"], "outputs": [failed]}
    with pytest.raises(ValueError, match="no result"):
        markdown({"cells": [cell]})
