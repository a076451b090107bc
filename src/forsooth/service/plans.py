"""What a requester asks for: from the wire to a campaign, and back to make another one like it."""

from __future__ import annotations

import time
from dataclasses import asdict
from urllib.parse import urlsplit

from forsooth.errors import ForsoothError
from forsooth.scale import Scale
from forsooth.service import issuing
from forsooth.service.campaigns import CampaignRequest, StoredCampaign, Task
from forsooth.service.presentation import Logo, Presentation
from forsooth.service.schemas import NewCampaign, NewTask, utc
from forsooth.service.schemas_presentation import NewPresentation
from forsooth.service.settings import Settings

_IMAGES = tuple(f"data:image/{kind};base64," for kind in ("png", "jpeg", "gif", "webp"))


def plan_of(body: NewCampaign, settings: Settings) -> CampaignRequest:
    """What is asked for, in our own words; refused where it makes no sense."""
    closes_at = None if body.closes_at is None else int(body.closes_at.timestamp())
    if closes_at is not None and closes_at <= time.time():
        raise ForsoothError("the closing date has passed: choose one in the future, or none")
    if body.invitations and (body.open or body.draft):
        kind = "an open campaign" if body.open else "a draft"
        raise ForsoothError(f"{kind} has no invitations: leave them out")
    tasks = tuple(
        Task(task.id or str(number), task.text, _allowed_image(task.image, settings), task.section)
        for number, task in enumerate(body.tasks, 1)
    )
    plan = CampaignRequest(
        title=body.title,
        tasks=tasks,
        scale=Scale.parse(body.scale) if isinstance(body.scale, str) else Scale.of(body.scale),
        epsilon=body.epsilon,
        protects=body.protects,
        mechanism=body.mechanism,
        unit=body.unit,
        sampled=body.sampled,
        description=body.description,
        labels=None if body.labels is None else tuple(body.labels),
        open=body.open,
        closes_at=closes_at,
        max_reports=body.max_reports,
        redesign_after=body.redesign_after,
        target_width=body.target_width,
        estimand=body.estimand,
        panel=body.panel,
        retention_days=body.retention_days,
        draft=body.draft,
        presentation=_presented(body.presentation),
        batch=_batch(body, settings),
    )
    issuing.check(plan, body.invitations, settings.batch)
    return plan


def order_of(own: StoredCampaign) -> NewCampaign:
    """The same as it went over the wire; a default is written out."""
    mechanism, answers = own.current.mechanism, own.scale.labels
    plain = own.presentation.labels(answers)
    return NewCampaign(
        title=own.title,
        description=own.description,
        tasks=[NewTask(**asdict(task)) for task in own.tasks],
        scale=list(answers),
        labels=None if own.labels == plain else list(own.labels),
        epsilon=own.epsilon,
        unit=mechanism.unit,
        sampled=mechanism.guarantee.cells or 1,
        protects=mechanism.guarantee.protects,
        mechanism=own.asked,
        open=own.open,
        invitations=0,
        closes_at=utc(own.closes_at),
        max_reports=own.max_reports,
        redesign_after=own.redesign_after,
        target_width=own.target_width,
        estimand=own.estimand,
        panel=own.panel,
        retention_days=own.retention_days,
        draft=own.draft,
        presentation=_ordered(own.presentation),
        anonymous=own.batch is not None,
        batch=own.batch,
    )


def _batch(body: NewCampaign, settings: Settings) -> int | None:
    if body.anonymous:
        return body.batch or max(issuing.BATCH, settings.batch)
    if body.batch is not None:
        raise ForsoothError("batch is for anonymous campaigns: FORSOOTH_BATCH is for the others")
    return None


def _presented(body: NewPresentation) -> Presentation:
    fields = body.model_dump()
    logo, ends = body.logo, body.ends
    fields["logo"] = None if logo is None else Logo.parse(logo)
    fields["ends"] = None if ends is None else (ends[0], ends[1])
    return Presentation(**fields)


def _ordered(own: Presentation) -> NewPresentation:
    return NewPresentation(**own.to_json() | {"ends": own.ends and list(own.ends)})


def _allowed_image(image: str | None, settings: Settings) -> str | None:
    """An image tells its server who looks at it, so only chosen servers may be named."""
    if image is None or image.startswith(_IMAGES):
        return image
    try:
        parts = urlsplit(image)
    except ValueError:
        parts = urlsplit("")
    if f"{parts.scheme}://{parts.netloc}" in settings.images_from:
        return image
    allowed = ", ".join(settings.images_from) or "nowhere"
    raise ForsoothError(
        f"images come from {allowed} (FORSOOTH_IMAGE_HOSTS says so), or stand in the task "
        "themselves as data:image/png;base64,… (png, jpeg, gif, webp)"
    )
