"""How a campaign is presented to its workers, over the wire. All fields are optional."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

_NO_NUL = r"^[^\x00]*$"  # PostgreSQL stores no NUL character
_Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=20_000, pattern=_NO_NUL)]
_End = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=_NO_NUL)
]
_MAX_PER_PAGE = 1000


class _Presentation(BaseModel):
    """What an order and a view have in common."""

    model_config = ConfigDict(extra="forbid", strict=True)

    introduction: _Text = Field(default="", description="Shown before the questions. Plain text.")
    consent: _Text = Field(
        default="",
        description="Workers must tick that they agree to this before they see the questions. Who "
        "agreed is not stored: a report implies it.",
    )
    thanks: _Text = Field(default="", description="Shown when the report has arrived.")
    ends: Annotated[list[_End], Field(min_length=2, max_length=2)] | None = Field(
        default=None,
        description="Words for the lowest and the highest answer only, instead of labels.",
    )
    shuffled: bool = Field(
        default=False,
        description="Each worker's device draws an order of the questions, within sections. It is "
        "not sent: a report has the order of the tasks.",
    )
    per_page: int | None = Field(
        default=None,
        ge=1,
        le=_MAX_PER_PAGE,
        description="Questions per page. Default: all on one page.",
    )


class NewPresentation(_Presentation):
    """How a campaign is to be presented."""

    logo: Annotated[str, StringConstraints(max_length=140_000)] | None = Field(
        default=None, description="A PNG, JPEG or WebP of at most 100,000 bytes, as a data: URL."
    )


class LogoView(BaseModel):
    """A picture, at /v1/campaigns/{campaign_id}/logos/{digest}."""

    model_config = ConfigDict(extra="forbid", strict=True)

    digest: str = Field(description="SHA-256 of the file.")
    media_type: str = Field(description="image/png, image/jpeg or image/webp.")


class PresentationView(_Presentation):
    """How a campaign is presented."""

    logo: LogoView | None = None
