"""The pages: files of the package, served as they are. The server writes no HTML."""

from __future__ import annotations

import base64
import re
from functools import cache
from hashlib import sha256, sha384
from pathlib import Path

from fastapi import APIRouter
from starlette.responses import FileResponse, Response

from forsooth.service.failures import Refusal

STATIC = Path(__file__).parent / "static"
CLIENT = "forsooth-client.js"
router = APIRouter(include_in_schema=False)


@router.get("/")
def dashboard() -> Response:
    """The requester's page."""
    return page("index.html")


@router.get("/c/{campaign_id}")
def worker(campaign_id: str) -> Response:
    """The worker's page; the invitation stands after the # and never reaches the server."""
    del campaign_id
    return page("worker.html")


def page(name: str) -> Response:
    """A page of the package."""
    if not (STATIC / name).is_file():
        raise Refusal(404, "not-found", f"this installation has no page {name}")
    return FileResponse(STATIC / name, media_type="text/html")


@cache
def import_map_hash() -> str:
    """The hash by which the content security policy allows the worker's page its import map."""
    page = (STATIC / "worker.html").read_text(encoding="utf-8")
    (text,) = re.findall(r'<script type="importmap">(.*?)</script>', page, re.DOTALL)
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"


@cache
def client_integrity() -> str | None:
    """The browser client's hash in the notation of Subresource Integrity."""
    path = STATIC / CLIENT
    if not path.is_file():
        return None
    return f"sha384-{base64.b64encode(sha384(path.read_bytes()).digest()).decode()}"
