"""How clients talk to a service: HTTP of the standard library, with retries where they help."""

from __future__ import annotations

import re
import time
from http import HTTPStatus
from http.client import HTTPException, HTTPMessage
from ipaddress import ip_address
from typing import IO, TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from forsooth.errors import ForsoothError
from forsooth.io import strict

if TYPE_CHECKING:
    from email.message import Message

_PATH = re.compile(r"(?P<base>.*)/(?:c|v1/campaigns)/(?P<id>[A-Za-z0-9_-]{22})/?")
_PORTS = {"http": 80, "https": 443}
_LARGEST = 2**30  # bytes of an answer
_TIMEOUT = 60.0
_ATTEMPTS = 6
_PAUSE = 0.5  # seconds before the second attempt; doubled each time
_LONGEST_PAUSE = 30.0
_PASSING = {
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
}


class _NoRedirects(HTTPRedirectHandler):
    """What is sent to one address is not carried to another."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        """Let the redirection be seen as the answer."""


OPENER: OpenerDirector = build_opener(_NoRedirects)


def campaign_address(url: str) -> tuple[str, str]:
    """The address of a campaign's API and what stands after the #, from any link to it.

    Addresses that mean the same are written in one way: the host in small letters and without a
    dot at its end, no default port, no query. Plain http is for this machine only.
    """
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
        host = host if ":" in host else host.encode("idna").decode()
    except ValueError:
        host, parts, port = "", urlsplit(""), None
    path = _PATH.fullmatch(parts.path)
    if path is None or not host or parts.scheme not in _PORTS:
        raise ForsoothError(f"a campaign's address is https://…/c/ and its id, got {url!r}")
    if parts.scheme == "http" and not _is_this_machine(host):
        raise ForsoothError(
            f"{url} is plain http: everybody on the way could read and change what is sent. "
            "Use https:// (http is allowed on this machine only)"
        )
    place = f"[{host}]" if ":" in host else host
    if port not in (None, _PORTS[parts.scheme]):
        place += f":{port}"
    return f"{parts.scheme}://{place}{path['base']}/v1/campaigns/{path['id']}", parts.fragment


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def fetch(url: str, body: bytes | None = None, *, key: str | None = None) -> bytes:
    """What the service answers; GET, or POST with a body. The same bytes may be sent again."""
    headers = {} if body is None else {"Content-Type": "application/json"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    request = Request(url, body, headers)
    pause = _PAUSE
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
        try:
            with OPENER.open(request, timeout=_TIMEOUT) as response:
                content: bytes = response.read(_LARGEST + 1)
        except HTTPError as error:
            with error:
                complaint = f"{url}: {_message(error)}"
                if error.status not in _PASSING:
                    raise ForsoothError(complaint) from None
                pause = max(pause, _asked_pause(error.headers))
        except (URLError, HTTPException, OSError) as error:
            complaint = f"{url} cannot be reached: {getattr(error, 'reason', None) or error!r}"
        else:
            if len(content) > _LARGEST:
                raise ForsoothError(f"{url} answers more than {_LARGEST:,} bytes")
            return content
    raise ForsoothError(f"{complaint} ({_ATTEMPTS} attempts)")


def _message(error: HTTPError) -> str:
    """What the service says of a refusal, or the bare status."""
    try:
        detail = strict.loads(error.read(2**20))["detail"]
        return f"{detail['message']} ({error.status})"
    except (ForsoothError, KeyError, TypeError, OSError):
        return f"{error.status} {error.reason}"


def _asked_pause(headers: Message) -> float:
    text = headers.get("Retry-After", "")
    return min(float(text), _LONGEST_PAUSE) if text.isdigit() else 0.0
