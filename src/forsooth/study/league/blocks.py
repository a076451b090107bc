"""A page as a list of blocks, written as Markdown for the docs and as one self-contained HTML file.

Text may have `code`, **bold** and [links](address), as in Markdown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from forsooth.report.look import document
from forsooth.study.paper.page import STYLE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_INLINE = (
    (re.compile(r"`([^`]+)`"), r"<code>\1</code>"),
    (re.compile(r"\*\*([^*]+)\*\*"), r"<strong>\1</strong>"),
    (re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)"), r'<a href="\2">\1</a>'),
)
_NUMBER = re.compile(r"[−+]?[\d.,]+( %| s)?( ± [\d.,]+)?|–|")
_MORE_STYLE = """
td:first-child { min-width: 8.5rem; }
h3 { margin-top: 2rem; }
figure .panel { max-width: 34rem; }
"""
WRITTEN = "<!-- Written by `forsooth league`; changes by hand are lost. -->"


@dataclass(frozen=True)
class Headline:
    """A heading of level 2 or 3."""

    text: str
    level: int = 2

    def markdown(self, figures: str) -> str:
        """As Markdown."""
        del figures
        return f"{'#' * self.level} {self.text}"

    def html(self, figures: Path) -> str:
        """As HTML."""
        del figures
        return f"<h{self.level}>{_inline(self.text)}</h{self.level}>"


@dataclass(frozen=True)
class Prose:
    """A paragraph."""

    text: str

    def markdown(self, figures: str) -> str:
        """As Markdown."""
        del figures
        return self.text

    def html(self, figures: Path) -> str:
        """As HTML."""
        del figures
        return f"<p>{_inline(self.text)}</p>"


@dataclass(frozen=True)
class Items:
    """A list."""

    texts: tuple[str, ...]

    def markdown(self, figures: str) -> str:
        """As Markdown."""
        del figures
        return "\n".join(f"- {text}" for text in self.texts)

    def html(self, figures: Path) -> str:
        """As HTML."""
        del figures
        return "<ul>\n" + "\n".join(f"<li>{_inline(text)}</li>" for text in self.texts) + "\n</ul>"


@dataclass(frozen=True)
class Grid:
    """A table; columns of numbers stand to the right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self, figures: str) -> str:
        """As Markdown."""
        del figures
        rules = ["---:" if number else "---" for number in self._numeric()]
        lines = [self.columns, rules, *self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def html(self, figures: Path) -> str:
        """As HTML."""
        del figures
        kind = [' class="number"' if number else "" for number in self._numeric()]
        head = "".join(f"<th{k}>{_inline(cell)}</th>" for k, cell in zip(kind, self.columns))
        body = "\n".join(
            "<tr>" + "".join(f"<td{k}>{_inline(cell)}</td>" for k, cell in zip(kind, row)) + "</tr>"
            for row in self.rows
        )
        return (
            f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n'
            "</tbody></table></div>"
        )

    def _numeric(self) -> list[bool]:
        return [
            all(_NUMBER.fullmatch(row[place].replace("**", "")) for row in self.rows)
            for place in range(len(self.columns))
        ]


@dataclass(frozen=True)
class Picture:
    """A figure: the name of its file without ending, its description in words, its caption."""

    name: str
    words: str
    caption: str

    def markdown(self, figures: str) -> str:
        """As Markdown."""
        return f"![{self.words}]({figures}/{self.name}.png)\n\n{self.caption}"

    def html(self, figures: Path) -> str:
        """As HTML, the drawing inside."""
        drawing = (figures / f"{self.name}.svg").read_text(encoding="utf-8")
        return (
            f'<figure>\n<div class="panel" role="img" aria-label="{escape(self.words)}">{drawing}'
            f"</div>\n<figcaption>{_inline(self.caption)}</figcaption>\n</figure>"
        )


@dataclass(frozen=True)
class Listing:
    """A block of code; `kind` as the docs name it."""

    kind: str
    text: str

    def markdown(self, figures: str) -> str:
        """As Markdown."""
        del figures
        return f"```{self.kind}\n{self.text}\n```"

    def html(self, figures: Path) -> str:
        """As HTML."""
        del figures
        return f"<pre>{escape(self.text)}</pre>"


Block = Headline | Prose | Items | Grid | Picture | Listing


def as_markdown(title: str, blocks: Sequence[Block], figures: str) -> str:
    """A page of the docs; `figures` is the folder of the figures as the page sees it."""
    parts = [f"{WRITTEN}\n# {title}", *(block.markdown(figures) for block in blocks)]
    return "\n\n".join(parts) + "\n"


def as_html(title: str, blocks: Sequence[Block], figures: Path) -> str:
    """One file without scripts or requests, light and dark; `figures` has the SVG files."""
    body = "\n".join(block.html(figures) for block in blocks)
    return document(title, body, STYLE + _MORE_STYLE)


def _inline(text: str) -> str:
    text = escape(text, quote=False)
    for pattern, html in _INLINE:
        text = pattern.sub(html, text)
    return text
