"""Both clients against a collector without a network: what attacks on the worker's side share."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest import mock

from forsooth import Mechanism

HERE = Path(__file__).parent
INVITATION = "A" * 43


def javascript(script: str, **inputs: object) -> Any:
    """What a script beside this file prints, which uses the JavaScript client in Node."""
    node = shutil.which("node")
    if node is None:
        raise SystemExit("this attack needs Node.js: install node 20 or later")
    command = [node, str(HERE / script), json.dumps(inputs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


class Collector:
    """Campaigns, and what was sent to them."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self._campaigns: dict[str, tuple[dict[str, Any], str]] = {}

    def make(self, mechanism: Mechanism, questions: list[str], **changes: object) -> str:
        """A campaign, and its link."""
        text, labels = mechanism.to_json(), list(mechanism.scale.labels)
        campaign = {
            "title": "A survey",
            "tasks": [{"id": f"q{j}", "text": text} for j, text in enumerate(questions)],
            "scale": {"values": labels, "labels": labels},
            "epsilon": mechanism.epsilon,
            "protects": mechanism.protects,
            "design": sha256(text.encode()).hexdigest(),
            "invitation_required": True,
        }
        name = str(len(self._campaigns)).rjust(22, "x")
        self._campaigns[name] = (campaign | changes, text)
        return f"https://survey.example.org/c/{name}"

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Python's client talks to this collector, under whatever name it is addressed."""
        with mock.patch("forsooth.client.campaign.fetch", self._fetch):
            yield

    def _fetch(self, url: str, body: bytes | None = None, *, key: str | None = None) -> bytes:
        del key
        name, _, rest = url.partition("/v1/campaigns/")[2].partition("/")
        campaign, text = self._campaigns[name]
        if body is not None:
            self.received.append(json.loads(body))
            return b'{"status": "accepted"}'
        return text.encode() if rest.startswith("designs/") else json.dumps(campaign).encode()
