"""What a client keeps of one person, in one file: the ledger, and one report per campaign.

No answer is in it. `docs/formats.md` describes the text; the browser's client keeps the same.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from forsooth.client.ledger import Drawn, Ledger
from forsooth.errors import ForsoothError
from forsooth.io import strict
from forsooth.io.files import read_text, replacing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_VERSION = 1


@dataclass(frozen=True)
class Blinding:
    """How a report of an anonymous campaign gets its token, and when it is sent.

    With a token, `due` is the time in seconds since 1970, and the rest of the blinding is gone.
    """

    invitation: str
    blinded: str | None  # base64
    inverse: str | None  # hexadecimal: takes the blinding away
    due: int | None = None


@dataclass(frozen=True)
class Kept:
    """A report as it was sent. Without its body, the report was there and is gone."""

    invitation: str
    design: str  # the mechanism's digest
    tasks: str  # a digest of the list of tasks
    body: str | None
    accepted: bool
    anonymous: Blinding | None = None


@dataclass(frozen=True)
class Memory:
    """The ledger, and the reports by the campaigns' addresses."""

    ledger: Ledger = field(default_factory=Ledger)
    campaigns: Mapping[str, Kept] = field(default_factory=dict)

    def to_json(self) -> str:
        """One JSON object."""
        drawn = {
            question: {name: asdict(draw) for name, draw in draws.items()}
            for question, draws in self.ledger.drawn.items()
        }
        campaigns = {address: asdict(kept) for address, kept in self.campaigns.items()}
        return json.dumps({"forsooth": _VERSION, "drawn": drawn, "campaigns": campaigns})

    @staticmethod
    def from_json(text: str) -> Memory:
        """Read a memory; what is none is refused, and not written over."""
        data = strict.loads(text)
        try:
            strict.integer(data["forsooth"], "the format's version", _VERSION, _VERSION)
            drawn = {
                question: {name: _drawn(draw) for name, draw in draws.items()}
                for question, draws in data["drawn"].items()
            }
            campaigns = {address: _kept(kept) for address, kept in data["campaigns"].items()}
        except (KeyError, TypeError, AttributeError) as error:
            raise ForsoothError(f"this is not a memory of forsooth ({error!r})") from error
        return Memory(Ledger(drawn), campaigns)


class MemoryFile:
    """The memory in a folder. One folder is one person."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "memory.json"

    def read(self) -> Memory:
        """What is kept; nothing, if nothing was."""
        if self._path.exists():
            return Memory.from_json(read_text(self._path))
        former = self._folder / "ledger.json"
        return _former(read_text(former)) if former.exists() else Memory()

    def write(self, memory: Memory) -> None:
        """Replace what is kept, in whole."""
        with replacing(self._path) as temporary:
            temporary.write_text(memory.to_json(), encoding="utf-8")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One process at a time, so that no spend is lost."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._folder / "lock").open("w") as file:
            if os.name == "posix":
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _drawn(data: Any) -> Drawn:
    value = data["value"]
    return Drawn(
        strict.number(data["epsilon"], "ε"),
        None if value is None else strict.string(value, "value"),
    )


def _kept(data: Any) -> Kept:
    body, accepted = data["body"], data["accepted"]
    return Kept(
        strict.string(data["invitation"], "invitation"),
        strict.string(data["design"], "design"),
        strict.string(data["tasks"], "tasks"),
        None if body is None else strict.string(body, "body"),
        accepted is True,
        _blinding(data.get("anonymous")),
    )


def _blinding(data: Any) -> Blinding | None:
    if data is None:
        return None
    blinded, inverse, due = data["blinded"], data["inverse"], data["due"]
    return Blinding(
        strict.string(data["invitation"], "invitation"),
        None if blinded is None else strict.string(blinded, "blinded"),
        None if inverse is None else strict.string(inverse, "inverse"),
        None if due is None else strict.integer(due, "due", 0, 2**53),
    )


def _former(text: str) -> Memory:
    """The ledger of version 0.1.0: which campaigns were answered, at what ε; not what was sent."""
    try:
        spent = {
            campaign: strict.number(epsilon, "ε")
            for campaign, epsilon in strict.loads(text)["spent"].items()
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise ForsoothError(f"this is not a ledger of forsooth ({error!r})") from error
    drawn = {campaign: {"": Drawn(epsilon, None)} for campaign, epsilon in spent.items()}
    gone = Kept("", "", "", None, accepted=True)
    return Memory(Ledger(drawn), {campaign.partition("#")[0]: gone for campaign in spent})
