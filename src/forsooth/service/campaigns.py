"""Campaigns as the service knows them: what is asked, and the designs that reports may use.

All of it is public and changes in drafts only, except that an adaptive campaign gains designs.
Whether a campaign takes reports is no part of this: only the database knows, at the moment of the
commit (see `life`).
"""

from __future__ import annotations

import json
import secrets
import time
from collections import OrderedDict
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select, update

from forsooth import mechanisms
from forsooth.client.blind import IssuingKey
from forsooth.errors import ForsoothError
from forsooth.estimand import check_estimand
from forsooth.mechanisms.base import Mechanism
from forsooth.planning.adaptive import ADAPTIVE
from forsooth.scale import Scale
from forsooth.service import models
from forsooth.service.panel import WorkerPanel
from forsooth.service.presentation import PLAIN, Presentation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from forsooth.estimand import Estimand
    from forsooth.privacy import Protects, Unit
    from forsooth.service.store import Store

MAX_ANSWERS = 101  # a table has a row and a column for each, and every worker loads it
_SEEDS = 2**53  # public seeds that any reader of JSON keeps whole
_REMEMBERED = 256  # campaigns that one process keeps in memory
_SUMS = mechanisms.MatrixFactorization | mechanisms.SafeFactorization


@dataclass(frozen=True)
class Task:
    """A question; `image` is an address that the page may show, `section` a heading."""

    id: str
    text: str
    image: str | None = None
    section: str | None = None


@dataclass(frozen=True)
class StoredDesign:
    """A mechanism of a campaign, and the exact text that workers verify."""

    number: int
    text: str

    @cached_property
    def mechanism(self) -> Mechanism:
        """The text, read and verified."""
        return Mechanism.from_json(self.text)

    @cached_property
    def digest(self) -> str:
        """What a report names its design by."""
        return sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class StoredCampaign:
    """What is asked of whom, on which scale, with which promise."""

    id: str
    title: str
    description: str
    tasks: tuple[Task, ...]
    labels: tuple[str, ...]
    asked: str
    open: bool
    target_width: float
    closes_at: int | None
    max_reports: int | None
    designs: tuple[StoredDesign, ...]
    draft: bool
    retention_days: int | None
    redesign_after: int
    estimand: Estimand | None = None
    panel: WorkerPanel | None = None
    presentation: Presentation = PLAIN
    batch: int | None = None  # of an anonymous campaign
    document: str | None = None  # the same: what its workers verify

    @property
    def current(self) -> StoredDesign:
        """The design for workers who come now."""
        return self.designs[-1]

    @property
    def scale(self) -> Scale:
        """The same for every design."""
        return self.designs[0].mechanism.scale

    @property
    def epsilon(self) -> float:
        """What is promised for the mechanism's unit: one cell, or everything one worker says."""
        mechanism = self.current.mechanism
        return mechanism.guarantee.epsilon if mechanism.unit == "cell" else mechanism.epsilon

    @cached_property
    def task_ids(self) -> tuple[str, ...]:
        """The public list of tasks."""
        return tuple(task.id for task in self.tasks)

    @cached_property
    def digest(self) -> str | None:
        """SHA-256 of an anonymous campaign's document."""
        return None if self.document is None else sha256(self.document.encode()).hexdigest()

    @cached_property
    def issuing_key(self) -> IssuingKey | None:
        """The key that an anonymous campaign announces."""
        if self.document is None:
            return None
        return IssuingKey.from_json(json.loads(self.document)["issuing_key"])

    @property
    def path(self) -> str:
        """The address of the worker's page; an anonymous campaign is named with its digest."""
        return f"/c/{self.id}" + ("" if self.digest is None else f"?d={self.digest}")

    def design(self, digest: str) -> StoredDesign | None:
        """The design that a report names."""
        return next((each for each in self.designs if each.digest == digest), None)


@dataclass(frozen=True)
class CampaignRequest:
    """What a requester asks for; `campaign` and its first design follow from it."""

    title: str
    tasks: tuple[Task, ...]
    scale: Scale
    epsilon: float
    protects: Protects
    mechanism: str = "rr"
    unit: Unit = "cell"
    sampled: int = 1
    description: str = ""
    labels: tuple[str, ...] | None = None
    open: bool = False
    closes_at: int | None = None
    max_reports: int | None = None
    redesign_after: int = 100
    target_width: float | None = None
    estimand: Estimand | None = None
    retention_days: int | None = None
    draft: bool = False
    panel: WorkerPanel | None = None
    presentation: Presentation = PLAIN
    batch: int | None = None

    def first_mechanism(self) -> Mechanism:
        """The mechanism asked for; an adaptive campaign begins with one that needs no guess."""
        if self.scale.size > MAX_ANSWERS:
            raise ForsoothError(
                f"a campaign's scale has at most {MAX_ANSWERS} answers, got {self.scale.size}"
            )
        if self.labels is not None and len(self.labels) != self.scale.size:
            raise ForsoothError(
                f"{len(self.labels)} labels for the {self.scale.size} answers of {self.scale}: "
                "give one for each or none"
            )
        if self.labels is not None and len(set(self.labels)) < len(self.labels):
            raise ForsoothError("two answers have the same label: give each its own")
        if self.labels is not None and self.presentation.ends is not None:
            raise ForsoothError("there are labels for all answers and for the ends: choose one")
        if len({task.id for task in self.tasks}) < len(self.tasks):
            raise ForsoothError("two tasks have the same id")
        if self.target_width is not None and not 0 < self.target_width <= self.scale.range:
            raise ForsoothError(
                f"an interval's width lies above 0 and not above {self.scale.range:g}, the width "
                f"of the scale; got {self.target_width:g}"
            )
        if self.panel is not None and not self.open:
            raise ForsoothError(
                "the people of a panel come by an open link: choose open, or no panel"
            )
        name = "rr" if self.mechanism == ADAPTIVE else self.mechanism
        if self.sampled != 1 and self.unit == "cell":
            raise ForsoothError("sampled is for unit = worker: with ε per question all are asked")
        if self.mechanism == ADAPTIVE and self.unit == "worker":
            raise ForsoothError(
                "an adaptive campaign designs tables for single answers: choose ε per question "
                "(unit = cell), or another mechanism, for example rr"
            )
        first = mechanisms.build(
            name,
            self.scale,
            self.epsilon,
            tasks=len(self.tasks),
            protects=self.protects,
            unit=self.unit,
            sampled=self.sampled,
            sampling_seed=secrets.randbelow(_SEEDS),
        )
        if self.estimand in ("label", "opinion") and isinstance(first, _SUMS):
            raise ForsoothError(
                f"{first.name} reports sums over tasks, which tell nothing about the shares of "
                f"single answers: choose the estimand level instead of {self.estimand}, or another "
                "mechanism, for example rr"
            )
        return first


def create(connection: Connection, requester: int, plan: CampaignRequest, first: Mechanism) -> str:
    """Store a campaign and its first design; its id cannot be guessed."""
    campaign, now = _new_id(), int(time.time())
    fixed = {"id": campaign, "requester": requester, "created": now}
    opened = {"opened_at": None if plan.draft else now}
    connection.execute(insert(models.campaign).values(fixed | opened | _values(plan)))
    add_design(connection, campaign, StoredDesign(1, first.to_json()))
    return campaign


def replace(connection: Connection, campaign: str, plan: CampaignRequest, first: Mechanism) -> None:
    """Make a draft what is asked for now."""
    table, design = models.campaign, models.design
    connection.execute(update(table).where(table.c.id == campaign).values(_values(plan)))
    connection.execute(delete(design).where(design.c.campaign == campaign))
    add_design(connection, campaign, StoredDesign(1, first.to_json()))


def _values(plan: CampaignRequest) -> dict[str, Any]:
    """What a requester can choose, as it is stored."""
    return {
        "title": plan.title,
        "description": plan.description,
        "tasks": [asdict(task) for task in plan.tasks],
        "presentation": plan.presentation.to_json(),
        "labels": list(plan.labels or plan.presentation.labels(plan.scale.labels)),
        "mechanism": plan.mechanism,
        "open": plan.open,
        "target_width": plan.target_width or plan.scale.range / 4,
        "closes_at": plan.closes_at,
        "max_reports": plan.max_reports,
        "redesign_after": plan.redesign_after,
        "redesign_at": plan.redesign_after if plan.mechanism == ADAPTIVE else None,
        "estimand": plan.estimand,
        "retention_days": plan.retention_days,
        "panel": plan.panel and plan.panel.model_dump(),
        "batch": plan.batch,
    }


def add_design(connection: Connection, campaign: str, design: StoredDesign) -> None:
    """One more design; from now on it is the current one."""
    connection.execute(
        insert(models.design).values(
            campaign=campaign,
            number=design.number,
            digest=design.digest,
            text=design.text,
            reports=0,
        )
    )


def invite(connection: Connection, campaign: str, hashes: Sequence[bytes]) -> None:
    """Let those who hold the tokens of these hashes report, once each."""
    if hashes:
        rows = [{"campaign": campaign, "hash": each} for each in hashes]
        connection.execute(insert(models.invitation), rows)


def load(
    connection: Connection, campaign: str, *, requester: int | None = None
) -> StoredCampaign | None:
    """A campaign by its id; with `requester`, only if it is that requester's."""
    table = models.campaign
    wanted = select(table).where(table.c.id == campaign)
    if requester is not None:
        wanted = wanted.where(table.c.requester == requester)
    row = connection.execute(wanted).one_or_none() if looks_like_id(campaign) else None
    if row is None:
        return None
    designs = connection.execute(
        select(models.design.c.number, models.design.c.text)
        .where(models.design.c.campaign == campaign)
        .order_by(models.design.c.number)
    )
    document = select(models.issuer.c.document).where(models.issuer.c.campaign == campaign)
    return StoredCampaign(
        id=row.id,
        title=row.title,
        description=row.description,
        tasks=tuple(Task(**task) for task in row.tasks),
        labels=tuple(row.labels),
        asked=row.mechanism,
        open=row.open,
        target_width=row.target_width,
        closes_at=row.closes_at,
        max_reports=row.max_reports,
        designs=tuple(StoredDesign(number, text) for number, text in designs),
        draft=row.opened_at is None,
        retention_days=row.retention_days,
        redesign_after=row.redesign_after,
        estimand=None if row.estimand is None else check_estimand(row.estimand),
        panel=None if row.panel is None else WorkerPanel(**row.panel),
        presentation=Presentation.from_json(row.presentation),
        batch=row.batch,
        document=connection.scalar(document),
    )


class Campaigns:
    """Campaigns as one process remembers them, so that a report needs no query to be checked."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: OrderedDict[str, StoredCampaign] = OrderedDict()
        self._lock = Lock()

    def known(self, campaign: str, digest: str) -> tuple[StoredCampaign, StoredDesign] | None:
        """A campaign and one of its designs from memory; None if they must be looked up."""
        with self._lock:
            found = self._known.get(campaign)
            if found is None:
                return None
            self._known.move_to_end(campaign)
        design = found.design(digest)
        return None if design is None else (found, design)

    def look_up(self, campaign: str) -> StoredCampaign | None:
        """A campaign as the database has it now; drafts are not remembered, for they change."""
        with self._store.reading() as connection:
            found = load(connection, campaign)
        if found is not None and not found.draft:
            with self._lock:
                self._known[campaign] = found
                self._known.move_to_end(campaign)
                while len(self._known) > _REMEMBERED:
                    self._known.popitem(last=False)
        return found


def looks_like_id(text: str) -> bool:
    """False for text that no campaign has as its id; it is not looked up."""
    return len(text) == 22 and text.isascii() and text.replace("-", "").replace("_", "").isalnum()


def _new_id() -> str:
    """16 random bytes; never with a first character that a spreadsheet evaluates."""
    while (text := secrets.token_urlsafe(16))[0] in "-_":
        pass
    return text
