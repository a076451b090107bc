"""How pages look: their templates, style and only script, and what a page may run or fetch.

Everything that goes into a template is escaped; only the package's own style and script are not.
The page's content security policy names their hashes: nothing else can run or be fetched, whatever
the name of a task is.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from functools import cache
from typing import TYPE_CHECKING

from forsooth.report.words import percent

if TYPE_CHECKING:
    from jinja2 import Environment


# Drawings have their styles on their elements, which a hash cannot allow.
_DRAWINGS = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def render(template: str, **values: object) -> str:
    """A page of the package's templates, filled in."""
    return _environment().get_template(template).render(values)


def document(title: str, body: str, style: str) -> str:
    """A page without scripts: the title is text, the body safe HTML, the style CSS."""
    from markupsafe import Markup

    values = {"body": Markup(body), "style": Markup(style), "script": "", "policy": _DRAWINGS}
    return render("document.html", title=title, **values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    loader = PackageLoader("forsooth.report")
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = (loader.get_source(made, name)[0] for name in ("style.css", "sort.js"))
    made.globals |= {"style": Markup(style), "script": Markup(script)}
    made.globals["policy"] = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:"
    )
    made.filters |= {"grouped": "{:,}".format, "percent": percent}
    return made


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
