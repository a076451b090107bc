"""A panel (Prolific, MTurk, …): it sends its people to a campaign's link, and pays who comes back.

Its people are known by an id in the address. The worker's page makes a token of it, a hash with the
campaign's public id as its key, so that an id reports once and is not sent.
"""

from __future__ import annotations

from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

_LOOPBACK = ("localhost", "127.0.0.1")
_LONGEST = 2000  # characters of an address: what browsers and proxies surely pass on


def _address(text: str) -> str:
    """An address to which a browser may be sent: no program, and not readable on the way."""
    try:
        parts = urlsplit(text)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    safe = parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
    if not (safe and host) or len(text) > _LONGEST or not text.isascii() or not text.isprintable():
        raise ValueError(f"an address begins with https:// and has at most {_LONGEST} characters")
    return text


def _name(text: str) -> str:
    if not (text.isascii() and text.replace("_", "").replace("-", "").isalnum()):
        raise ValueError(
            "a parameter's name has letters, digits, - and _, for example PROLIFIC_PID"
        )
    return text


def _code(text: str) -> str:
    if not text.isprintable():
        raise ValueError("a completion code stands on one line")
    return text


_Address = Annotated[str, AfterValidator(_address)]


class WorkerPanel(BaseModel):
    """Where people come from, and how they get back."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    parameter: Annotated[str, Field(min_length=1, max_length=64), AfterValidator(_name)] = Field(
        description="The name under which the panel puts a person's id into the link: "
        "PROLIFIC_PID, workerId or any other."
    )
    completion_code: (
        Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_code)] | None
    ) = Field(None, description="Shown when the report has arrived.")
    completion_url: _Address | None = Field(
        None, description="Where the page goes when the report has arrived."
    )
    closed_url: _Address | None = Field(
        None, description="Where the page goes if the campaign is closed."
    )

    @model_validator(mode="after")
    def _leads_back(self) -> Self:
        if self.completion_code is None and self.completion_url is None:
            raise ValueError(
                "a panel needs a completion code or an address to return to: without one nobody "
                "can show that they have taken part"
            )
        return self
