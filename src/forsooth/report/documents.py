"""Texts for participants and for boards, filled in from a campaign: Markdown, or a page to print.

Each text is one template. What a heading or a point looks like is in `html.txt` and `markdown.txt`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from forsooth.odds import LIMITS, amount
from forsooth.plural import counted
from forsooth.promise import promise
from forsooth.report.look import document

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import Environment
    from markupsafe import Markup

    from forsooth.privacy import Privacy

Kind = Literal["consent", "protection"]
Form = Literal["md", "html"]
_TITLES: dict[Kind, str] = {"consent": "Information and consent", "protection": "Data protection"}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~])|^([-+]|\d+\.)(?=\s)", re.MULTILINE)


@dataclass(frozen=True)
class CampaignFacts:
    """What the texts say of a campaign; nothing in them has another source."""

    title: str
    tasks: int
    answers: tuple[str, ...]
    mechanism: str
    guarantee: Privacy
    open: bool
    panel: bool  # its people come by the open link, with their ids
    consent: bool
    closes_at: str | None
    max_reports: int | None
    retention_days: int | None
    batch: int
    page_digest: str

    @property
    def asked(self) -> int:
        """How many questions each person is asked."""
        cells = self.guarantee.cells
        return self.tasks if cells is None else min(cells, self.tasks)


def campaign_document(kind: Kind, facts: CampaignFacts, form: Form) -> str:
    """A text for participants (consent), or for an ethics board or data protection officer."""
    title = f"{_TITLES[kind]}: {facts.title}"
    environment = _environment(form)
    values: dict[str, Any] = {
        "out": environment.get_template("html.txt" if form == "html" else "markdown.txt").module,
        "facts": facts,
        "promise": promise(facts.guarantee, facts.tasks, you=kind == "consent"),
        "limits": LIMITS,
    }
    body = environment.get_template(f"{kind}.txt").render(values)
    if form == "html":
        return document(title, body, _style())
    return re.sub(r"\n{3,}", "\n\n", f"# {_plain(title)}\n\n{body}").rstrip() + "\n"


@cache
def _environment(form: Form) -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("forsooth.report", "templates/documents"),
        autoescape=True,
        finalize=_plain if form == "md" else None,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "amount": amount,
        "counted": counted,
        "flowing": _flowing,
        "grouped": "{:,}".format,
    }
    made.filters |= filters
    return made


def _style() -> str:
    environment = _environment("html")
    assert environment.loader is not None
    return environment.loader.get_source(environment, "style.css")[0]


def _plain(value: object) -> Markup:
    """Text that stays text in Markdown; what a macro has made stays as it is."""
    from markupsafe import Markup

    if isinstance(value, Markup):
        return value
    return Markup(_MARKDOWN.sub(lambda found: f"\\{found[0]}", str(value)))


def _flowing(text: Markup) -> Markup:
    """As one line, with no space before a full stop or comma that ends a part of the template."""
    return type(text)(re.sub(r"\s+(?=[.,;](?:\s|$))", "", " ".join(text.split())))
