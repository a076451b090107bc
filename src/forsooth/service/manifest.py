"""The manifest of the worker's page: SHA-256 of every file that the page loads.

It is a file of the package, `static/SHA256SUMS`, made by `clients/js/build.mjs` and readable by
`sha256sum`. Its own SHA-256, the digest, therefore stands for every byte of the page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from forsooth.errors import ForsoothError

NAME = "SHA256SUMS"
HTML = "worker.html"
_STATIC = Path(__file__).parent / "static"
_LINE = re.compile(r"([0-9a-f]{64})  ([a-z0-9_-]+\.(?:html|css|js))\n")


@dataclass(frozen=True)
class Manifest:
    """Names and SHA-256 of the files of one release."""

    content: bytes

    @property
    def digest(self) -> str:
        """SHA-256 of the manifest."""
        return sha256(self.content).hexdigest()

    @property
    def files(self) -> dict[str, str]:
        """SHA-256 by name; the HTML must be among them."""
        lines = self.content.decode("ascii", "replace").splitlines(keepends=True)
        matches = [_LINE.fullmatch(line) for line in lines]
        found = {match[2]: match[1] for match in matches if match}
        if len(found) < len(lines) or HTML not in found:
            raise ForsoothError(f"{NAME} is no manifest of a worker's page")
        return found


@cache
def installed() -> Manifest:
    """The manifest of this package."""
    return Manifest((_STATIC / NAME).read_bytes())


def original(sha: str, name: str) -> bytes | None:
    """The file of this package, if it is the one that is meant."""
    path = _STATIC / name
    content = path.read_bytes() if path.is_file() else b""
    return content if sha256(content).hexdigest() == sha else None
