"""Does a service serve the published worker's page? Every byte is compared with a manifest."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import Request

from forsooth.client.transport import OPENER
from forsooth.errors import ForsoothError
from forsooth.service import manifest
from forsooth.service.manifest import Manifest

_CAMPAIGN = re.compile(r"(.*)/c/[^/]+/?")
_ADDRESS = re.compile(r"https?://[^/?#\s\[\]]+(?:[/?#]\S*)?")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_LARGEST = 2**24  # bytes of a file of the page
_TIMEOUT = 30.0  # seconds
# As a browser asks, so that a server cannot tell a check from a visit by the first line.
_HEADERS = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Accept": "*/*",
    "Accept-Encoding": "identity",
    "Cache-Control": "no-cache",
}
# Headers by which a browser loads what is not in the HTML, or deletes what it remembers.
_STEERING = ("Clear-Site-Data", "Link", "Refresh")


@dataclass(frozen=True)
class Checked:
    """A file as it was served: its address, and what is wrong with it, if anything is."""

    name: str
    address: str
    problem: str | None


@dataclass(frozen=True)
class PageCheck:
    """What came of a check, file by file."""

    digest: str
    files: tuple[Checked, ...]

    @property
    def holds(self) -> bool:
        """Is every byte the published one?"""
        return not self.problems

    @property
    def problems(self) -> tuple[Checked, ...]:
        """The files that are not the published ones."""
        return tuple(each for each in self.files if each.problem)


def check_page(url: str, digest: str | None = None) -> PageCheck:
    """Compare the page at a campaign's link, or at a service's address, with a manifest.

    The manifest is that of this package or, with the digest of another release, the one that the
    service serves, if it has this digest.
    """
    base, page = _addresses(url)
    address = f"{base}/static/{manifest.NAME}"
    expected = manifest.installed()
    if digest is not None and not _DIGEST.fullmatch(digest):
        raise ForsoothError(f"a digest has 64 digits from 0 to f, got {digest!r}")
    served = _served(address)
    if digest in (None, expected.digest):
        problem = _problem(served, expected.digest, expected.content)
    elif isinstance(served, bytes) and Manifest(served).digest == digest:
        expected, problem = Manifest(served), None
    else:
        return PageCheck(digest, (Checked(manifest.NAME, address, "is that of another page"),))
    checked = [Checked(manifest.NAME, address, problem)]
    for name, sha in expected.files.items():
        address = page if name == manifest.HTML else f"{base}/static/{name}"
        problem = _problem(_served(address), sha, manifest.original(sha, name))
        checked.append(Checked(name, address, problem))
    return PageCheck(expected.digest, tuple(checked))


def _addresses(url: str) -> tuple[str, str]:
    """Where the service is, and where its page; a service's page is the same for every campaign."""
    parts = urlsplit(url) if _ADDRESS.fullmatch(url) else None
    if parts is None:
        raise ForsoothError(f"an address is https://HOST/c/ID or https://HOST/, got {url!r}")
    campaign = _CAMPAIGN.fullmatch(parts.path)
    path = campaign[1] if campaign else parts.path.rstrip("/")
    base = urlunsplit((parts.scheme, parts.netloc, path, "", ""))
    if campaign:
        return base, urlunsplit((parts.scheme, parts.netloc, parts.path, parts.query, ""))
    return base, f"{base}/c/{secrets.token_urlsafe(16)}"


def _served(address: str) -> bytes | str:
    """The bytes at an address, or in words why they are not a file of the page."""
    try:
        with OPENER.open(Request(address, headers=_HEADERS), timeout=_TIMEOUT) as response:
            for header in _STEERING:
                if value := response.headers.get(header):
                    return f"comes with the header {header}: {value}"
            content: bytes = response.read(_LARGEST + 1)
            return content
    except HTTPError as error:
        with error:
            if error.code == HTTPStatus.TOO_MANY_REQUESTS or error.code >= 500:
                raise ForsoothError(f"{address} answers {error.code}: try again later") from None
            elsewhere = error.headers.get("Location")
            leads = f", which leads to {elsewhere}" if elsewhere else ""
            return f"is answered with status {error.code}{leads}"
    except (HTTPException, OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        raise ForsoothError(f"{address} cannot be reached: {reason}") from None


def _problem(served: bytes | str, sha: str, original: bytes | None) -> str | None:
    """What is wrong; with the original at hand, where the first difference is."""
    if isinstance(served, str):
        return served
    if sha256(served).hexdigest() == sha:
        return None
    if original is None:
        return "is changed"
    place = next(
        (at for at, (one, other) in enumerate(zip(served, original)) if one != other),
        min(len(served), len(original)),
    )
    line = original.count(b"\n", 0, place) + 1
    return f"is changed, first in line {line}"
