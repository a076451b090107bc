"""What goes over the wire, with its documentation; unknown fields are refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from forsooth.estimand import MEANING, Estimand
from forsooth.mechanisms import BUILDERS
from forsooth.planning.adaptive import ADAPTIVE
from forsooth.privacy import MAX_EPSILON, Unit
from forsooth.service.panel import WorkerPanel
from forsooth.service.schemas_presentation import NewPresentation, PresentationView

MAX_TASKS = 20_000
MAX_INVITATIONS = 10_000
MAX_REPORTS = 2**31 - 1
_NO_NUL = r"^[^\x00]*$"  # PostgreSQL stores no NUL character
_SCALE = r"^[^\x00]*(\.\.|,)[^\x00]*$"
MECHANISMS = (*BUILDERS, ADAPTIVE)
_MECHANISM = rf"^({'|'.join(MECHANISMS)})(:[^\x00]*)?$"
IN_WORDS = {
    _NO_NUL: "a text may not have the character NUL",
    _SCALE: "a scale is written 0..4, or as answers with commas: no, yes",
    _MECHANISM: f"choose one of {', '.join(MECHANISMS)}; options follow a colon: mf:d=20",
}  # what is said when a text does not match a pattern
Short = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=_NO_NUL)]
Long = Annotated[str, StringConstraints(max_length=5000, pattern=_NO_NUL)]
Words = Annotated[Short, AfterValidator(lambda text: _not_blank(text))]
Moment = Annotated[AwareDatetime, BeforeValidator(lambda text: _moment(text))]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Message(BaseModel):
    """Anything that is sent or received."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Problem(Message):
    """Why a request was refused."""

    error: str = Field(description="A short code for programs.")
    message: str = Field(description="What was wrong, where, and what to do, for people.")


class Failure(Message):
    """A refusal."""

    detail: Problem


# What requesters send


class NewTask(Message):
    """A question."""

    id: Short | None = Field(None, description='Its name in exports; by default "1", "2", …')
    text: Annotated[Long, AfterValidator(lambda text: _not_blank(text))] = Field(
        min_length=1, description="The question, plain text."
    )
    image: Annotated[str, StringConstraints(max_length=100_000, pattern=_NO_NUL)] | None = Field(
        None, description="An address that the service allows, or a data: URL of an image."
    )
    section: Short | None = Field(
        None,
        description="The heading of its section: questions that follow each other with the same "
        "heading are one section.",
    )


class NewCampaign(Message):
    """A campaign to be made."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "title": "How is it here?",
                "tasks": [{"id": "rest", "text": "How often do you work while ill?"}],
                "scale": "0..4",
                "labels": ["never", "rarely", "sometimes", "often", "always"],
                "epsilon": 1,
                "mechanism": "adaptive",
                "invitations": 30,
            }
        }
    )

    title: Words
    description: Long = ""
    tasks: list[NewTask] = Field(min_length=1, max_length=MAX_TASKS)
    scale: Annotated[str, StringConstraints(max_length=5000, pattern=_SCALE)] | list[Short] = Field(
        description='"0..4", "G,P,R" or a list of answers from low to high.'
    )
    labels: list[Words] | None = Field(None, description="A word for each answer, all different.")
    presentation: NewPresentation = NewPresentation()
    epsilon: float = Field(
        gt=0, le=MAX_EPSILON, allow_inf_nan=False, description="ε of the unit: see there."
    )
    unit: Unit = Field(
        "cell",
        description="What ε covers: each answer (cell), or everything one person says (worker).",
    )
    sampled: int = Field(
        1,
        ge=1,
        le=MAX_TASKS,
        description="unit = worker: how many tasks are drawn for each person. The others are not "
        "asked; these share ε.",
    )
    protects: Literal["answers+participation", "answers"] = "answers+participation"
    mechanism: Annotated[Short, StringConstraints(pattern=_MECHANISM)] = Field(
        "rr", description=f"{', '.join(MECHANISMS)}; options after a colon: mf:d=20."
    )
    open: bool = Field(
        False, description="Everyone with the link may report; otherwise invitations are needed."
    )
    invitations: int = Field(0, ge=0, le=MAX_INVITATIONS, description="How many to make at once.")
    closes_at: Moment | None = Field(
        None, description="No report is taken after this; in the future."
    )
    max_reports: int | None = Field(None, ge=1, le=MAX_REPORTS)
    redesign_after: int = Field(
        100,
        ge=1,
        le=MAX_REPORTS,
        description="Adaptive: redesign after this many reports, and at each doubling.",
    )
    target_width: Finite | None = Field(
        None,
        gt=0,
        description="The requested precision: half of the 90 % intervals are to be at most this "
        "wide. Default: a quarter of the scale.",
    )
    estimand: Estimand | None = Field(
        None,
        description="What the truth of a task is. "
        + "; ".join(f"{name}: {meaning}" for name, meaning in MEANING.items())
        + ". Default: level, or label for two answers.",
    )
    retention_days: int | None = Field(
        None,
        ge=1,
        le=3650,
        description="Reports are erased this many days after the campaign closes; results stay. "
        "Workers read this. Default: they stay until the campaign is deleted.",
    )
    draft: bool = Field(False, description="It can be changed, and takes no reports yet.")
    panel: WorkerPanel | None = Field(
        None, description="Whose people come by an open link, with their id in it."
    )
    anonymous: bool = Field(
        False,
        description="Nobody can tell which report came from which invitation: a report is sent "
        "with a token that was signed blindly.",
    )
    batch: int | None = Field(
        None,
        ge=10,
        le=1000,
        description="anonymous: at least so many reports are shown together. Default: 20.",
    )


class Deletion(Message):
    """A confirmation that says what it confirms."""

    reports: int = Field(ge=0, description="How many reports this erases; refused if it is wrong.")
    days: int = Field(7, ge=0, le=365, description="How long it can still be restored.")


# What workers send


class NewReport(Message):
    """One worker's report."""

    invitation: str = Field(max_length=100, description="The token, or for an open link one's own.")
    design: str = Field(max_length=100, description="The digest of the mechanism that was used.")
    report: str = Field(
        description="Base64 (standard alphabet, padded) of the values, packed: value c of b bits "
        "stands in the bits [c·b, (c+1)·b), bit i being bit i mod 8 of byte i div 8; b is "
        "⌈log₂ symbols⌉, at least 1, for symbols and 64 for numbers. The bits left over are 0."
    )
    tasks: list[int] | None = Field(
        None, max_length=MAX_TASKS, description="Where participation is public: answered tasks."
    )
    signature: str | None = Field(
        None,
        max_length=1000,
        description="anonymous: Base64 of the signature of the token. `invitation` is then the "
        "serial, 32 random bytes in base64url, and not the invitation.",
    )


# What the service answers


class Accepted(Message):
    """The report is stored."""

    status: Literal["accepted", "already-accepted"]


class AnonymousView(Message):
    """What clients of an anonymous campaign verify."""

    digest: str = Field(description="SHA-256 of the document; the link has it after ?d=.")
    document: str = Field(
        description="The campaign's fields that must be the same for everybody, the size of its "
        "batches and the issuing key: JSON, to be read as it is."
    )


class TaskView(Message):
    """A question."""

    id: str
    text: str
    image: str | None
    section: str | None = Field(description="The heading of its section.")


class ScaleView(Message):
    """The answers, from low to high."""

    values: list[str] = Field(description="The answers as the mechanism names them.")
    labels: list[str] = Field(description="The same in words.")


class ClientView(Message):
    """The browser's client."""

    integrity: str | None = Field(description="sha384-… of the script that perturbs.")
    digest: str = Field(description="SHA-256 of the manifest of the whole worker's page.")


class CampaignView(Message):
    """All that a worker's client needs; everything in it is public."""

    id: str
    title: str
    description: str
    presentation: PresentationView
    tasks: list[TaskView]
    scale: ScaleView
    epsilon: float = Field(description="The promise: ε of the unit, which the table must keep.")
    unit: Unit = Field(description="What it covers: each answer, or everything one person says.")
    sampled: int | None = Field(description="unit = worker: how many tasks each person is asked.")
    protects: str
    promise: str = Field(description="The promise in one sentence.")
    worker_total: float = Field(description="ε for all that one worker says.")
    mechanism: dict[str, Any]
    design: str = Field(description="SHA-256 of the mechanism's exact text.")
    invitation_required: bool
    state: Literal["draft", "open", "paused", "closed"]
    closed: bool
    closes_at: datetime | None
    retention_days: int | None = Field(
        description="The service erases reports this many days after the closing."
    )
    panel: WorkerPanel | None
    client: ClientView
    anonymous: AnonymousView | None = None


class DesignView(Message):
    """A mechanism in use."""

    number: int
    digest: str
    mechanism: str
    reports: int
    current: bool


class SpentView(Message):
    """The ledger over all invitations, in ε for all that a worker said."""

    largest: float
    total: float


class StatusView(Message):
    """How a campaign stands."""

    id: str
    title: str
    link: str
    mechanism: str
    epsilon: float
    unit: Unit
    protects: str
    open: bool
    tasks: int
    state: Literal["draft", "open", "paused", "closed", "deleted"]
    closed: bool
    closes_at: datetime | None
    max_reports: int | None
    estimand: Estimand | None = Field(description="As requested; null: the default for the scale.")
    retention_days: int | None
    erase_at: datetime | None = Field(
        description="When its reports are erased; if it is deleted, everything."
    )
    erased: int | None = Field(description="How many reports were erased; results may stay.")
    invitations: int
    unused: int = Field(description="How many invitations no shown report has used.")
    anonymous: bool = Field(description="Nobody can tell whose report is whose.")
    reports: int = Field(description="How many are shown; all of them once it is closed.")
    batch: int = Field(
        description="Until it is closed, reports are shown and counted in batches of at least this "
        "many, so that nobody learns when a single one came in."
    )
    designs: list[DesignView]
    spent: SpentView


class CampaignsView(Message):
    """A requester's campaigns, the newest first."""

    campaigns: list[StatusView]


class HealthView(Message):
    """Alive, or ready."""

    status: str


def _moment(text: object) -> datetime:
    """A time as text; numbers could be seconds or milliseconds of anything."""
    if not isinstance(text, str):
        raise ValueError("a time is written 2031-01-31T12:00:00Z")
    return datetime.fromisoformat(text)


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("this must not be blank")
    return text


def utc(seconds: int | None) -> datetime | None:
    """Stored seconds as a time with its zone."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
