"""How a campaign is presented to its workers: texts, a logo, the order of questions, pages.

None of it changes what is sent: a report has its values in the order of the campaign's tasks.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from forsooth.errors import ForsoothError

MAX_LOGO = 100_000  # bytes: with it, the page still loads in seconds over a slow network
_SIGNATURES = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}  # what a file of the type begins with; SVG is not among them, since it can run scripts
_DATA_URL = re.compile(r"data:([a-z/+-]+);base64,([A-Za-z0-9+/]+={0,2})")


@dataclass(frozen=True)
class Logo:
    """A picture that was uploaded, as the data: URL that it came in."""

    url: str

    @classmethod
    def parse(cls, url: str) -> Logo:
        """A PNG, JPEG or WebP; by what it contains, whatever it says that it is."""
        found = _DATA_URL.fullmatch(url)
        signature = found and _SIGNATURES.get(found[1])
        if not signature:
            raise ForsoothError(
                "the logo must be a PNG, JPEG or WebP picture as data:image/png;base64,… "
                "(SVG is refused, since it can run scripts)"
            )
        logo = cls(url)
        try:
            content = logo.content
        except binascii.Error:
            raise ForsoothError("the logo is not valid base64: upload the file again") from None
        if len(content) > MAX_LOGO:
            raise ForsoothError(
                f"the logo has {len(content):,} bytes: make it smaller, at most {MAX_LOGO:,}"
            )
        if not signature.match(content):
            raise ForsoothError(f"the logo is no {logo.media_type}: upload a PNG, JPEG or WebP")
        return logo

    @property
    def media_type(self) -> str:
        """image/png, image/jpeg or image/webp."""
        return self.url[len("data:") : self.url.index(";")]

    @cached_property
    def content(self) -> bytes:
        """The file."""
        return base64.b64decode(self.url.partition(",")[2], validate=True)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the file, by which workers' clients know it."""
        return sha256(self.content).hexdigest()


@dataclass(frozen=True)
class Presentation:
    """What workers see besides the questions; see `schemas_presentation` for each field."""

    introduction: str = ""
    consent: str = ""
    thanks: str = ""
    logo: Logo | None = None
    ends: tuple[str, str] | None = None
    shuffled: bool = False
    per_page: int | None = None

    def labels(self, answers: tuple[str, ...]) -> tuple[str, ...]:
        """The answers, those at the ends with their words."""
        if self.ends is None:
            return answers
        low, high = self.ends
        return (f"{answers[0]}: {low}", *answers[1:-1], f"{answers[-1]}: {high}")

    def to_json(self) -> dict[str, Any]:
        """As it is stored."""
        return asdict(self) | {"logo": self.logo and self.logo.url}

    @classmethod
    def from_json(cls, stored: dict[str, Any] | None) -> Presentation:
        """From what is stored; campaigns from before have nothing."""
        if stored is None:
            return cls()
        logo, ends = stored["logo"], stored["ends"]
        return cls(**stored | {"logo": logo and Logo(logo), "ends": ends and tuple(ends)})


PLAIN = Presentation()
