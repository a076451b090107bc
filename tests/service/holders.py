"""Holders of invitations to an anonymous campaign, without a page: what they send, step by step."""

from __future__ import annotations

import base64
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

from forsooth.client import blind
from forsooth.client.blind import IssuingKey
from tests.service.harness import BLANK, Made, Reply


@dataclass
class Announcement:
    """What an anonymous campaign announces."""

    made: Made
    digest: str
    key: IssuingKey
    design: str

    @staticmethod
    def of(made: Made) -> Announcement:
        view = made.view
        document = json.loads(view["anonymous"]["document"])
        key = IssuingKey.from_json(document["issuing_key"])
        return Announcement(made, view["anonymous"]["digest"], key, document["design"])

    def post(self, path: str, body: object) -> Reply:
        return self.made.server.call("POST", f"/v1/campaigns/{self.made.id}/{path}", body)


@dataclass
class Holder:
    """Somebody with an invitation, and what their device knows."""

    campaign: Announcement
    invitation: str
    report: bytes = BLANK
    serial: str = field(default_factory=blind.new_serial)
    blinded: bytes = b""
    signed: bytes = b""
    signature: bytes = b""
    _inverse: int = 0

    def __post_init__(self) -> None:
        self.blinded, self._inverse = blind.blind(self.campaign.key, self._prepared)

    @property
    def _prepared(self) -> bytes:
        return blind.prepare(self.serial, self.campaign.digest)

    def ask(self) -> Reply:
        """Ask for the signature."""
        blinded = base64.b64encode(self.blinded).decode()
        return self.campaign.post("signatures", {"invitation": self.invitation, "blinded": blinded})

    def collect(self) -> Holder:
        """Get the token."""
        reply = self.ask()
        assert reply.status == 200, reply.content
        self.signed = base64.b64decode(reply.json["signature"])
        self.signature = blind.finalize(
            self.campaign.key, self._prepared, self.signed, self._inverse
        )
        return self

    @property
    def body(self) -> dict[str, Any]:
        return {
            "invitation": self.serial,
            "design": self.campaign.design,
            "report": base64.b64encode(self.report).decode(),
            "signature": base64.b64encode(self.signature).decode(),
        }

    def send(self, **changes: object) -> Reply:
        """Send the report with the token; a change to None leaves a field out."""
        body = self.body | changes
        return self.campaign.post("reports", {k: v for k, v in body.items() if v is not None})


def holders(made: Made, tokens: list[str] | None = None) -> list[Holder]:
    """Everybody who was invited, in the order of the invitations."""
    campaign = Announcement.of(made)
    return [Holder(campaign, token) for token in tokens or made.tokens]


def random_report(tasks: int) -> bytes:
    """A report on so many tasks of the scale 0..4: what is in it does not matter."""
    symbols = [secrets.randbelow(6) for _ in range(tasks)]
    bits = sum(symbol << 3 * place for place, symbol in enumerate(symbols))
    return bits.to_bytes((3 * tasks + 7) // 8, "little")
