"""How the service is configured: by the environment, one variable per setting."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from forsooth.errors import ForsoothError

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "FORSOOTH_"


@dataclass(frozen=True)
class Settings:
    """Every field is read from FORSOOTH_ and its name in capitals.

    Rates are requests per second and process; bursts of ten seconds' worth are let through.
    """

    database: str = "sqlite:///forsooth.db"
    public_url: str = ""  # https://survey.example.org; by default what the request says
    image_hosts: str = ""  # where tasks' images may come from: https://images.example.org …
    max_report: int = 512 * 1024  # bytes of one report's request
    max_body: int = 8 * 1024 * 1024  # bytes of any other request
    rate_campaign: float = 5000.0  # of all workers of one campaign
    rate_invitation: float = 2.0  # of one invitation
    rate_requester: float = 50.0  # of one requester
    rate_plan: float = 5.0  # of one requester, for plans
    rate_sign_in: float = 1.0  # of one address, with wrong keys; of all addresses ten times as many
    analysis_seconds: float = 2.0  # how often the analyst looks for new reports
    batch: int = 10  # how many reports are shown to a requester at once, at least
    tidy_seconds: float = 600.0  # how often SQLite's files are rid of the order of arrival
    receive_seconds: float = 20.0  # how long a request may take to come in
    metrics: str = ""  # HOST:PORT where Prometheus finds /metrics; by default nowhere

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """The defaults, overridden by what the environment says."""
        variables = os.environ if environment is None else environment
        kinds = {"str": str, "int": int, "float": float}
        given: dict[str, str | int | float] = {}
        for field in fields(cls):
            name = PREFIX + field.name.upper()
            if text := variables.get(name, "").strip():
                try:
                    given[field.name] = kinds[str(field.type)](text)
                except ValueError:
                    raise ForsoothError(f"{name} must be a number, got {text!r}") from None
        settings = cls(**given)  # type: ignore[arg-type]
        settings.check()
        return settings

    def check(self) -> None:
        """Refuse what could not work."""
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, str) and not 0 < value < float("inf"):
                raise ForsoothError(f"{PREFIX}{field.name.upper()} must be above 0, got {value!r}")
        for url in (self.public_url, *self.images_from):
            if url and not url.startswith(("https://", "http://")):
                raise ForsoothError(f"an address starts with https:// or http://, got {url!r}")
        host, _, port = self.metrics.rpartition(":")
        if self.metrics and not (host and port.isdecimal() and 0 < int(port) < 65536):
            raise ForsoothError(
                f"{PREFIX}METRICS must be HOST:PORT, for example 127.0.0.1:9464, "
                f"got {self.metrics!r}"
            )

    @property
    def metrics_address(self) -> tuple[str, int] | None:
        """Where metrics are shown."""
        host, _, port = self.metrics.rpartition(":")
        return (host.strip("[]"), int(port)) if self.metrics else None

    @property
    def images_from(self) -> tuple[str, ...]:
        """The origins that pages may load images from."""
        return tuple(host.rstrip("/") for host in self.image_hosts.split())
