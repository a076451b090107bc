"""A demo to click through: a survey that simulated workers have answered, and one to answer.

The answers are simulated and the titles say so; the reports are drawn from them as workers' devices
draw theirs.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import update

from forsooth.answers import Answers
from forsooth.client.tokens import hashed, new_token, worker_name
from forsooth.io import packing
from forsooth.scale import Scale
from forsooth.service import campaigns, models
from forsooth.service.campaigns import CampaignRequest, Task
from forsooth.service.payload import spent
from forsooth.service.writer import Submission, record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

WORKERS = 300
_LABELS = ("never", "rarely", "sometimes", "often", "always")
_QUESTIONS = {  # the shares of the answers among the simulated workers
    "How often do you work while ill?": (0.45, 0.30, 0.15, 0.07, 0.03),
    "How often do you work unpaid overtime?": (0.35, 0.10, 0.10, 0.10, 0.35),
    "How often can you disagree with your manager?": (0.03, 0.07, 0.15, 0.30, 0.45),
}


def fill(connection: Connection, requester: int) -> str:
    """Make both campaigns; the id of the one that is open."""
    done = _make(connection, requester, f"Demo: {WORKERS} simulated workers", _simulated())
    _report(connection, done)
    closed = update(models.campaign).where(models.campaign.c.id == done)
    connection.execute(closed.values(closed_at=int(time.time())))
    return _make(connection, requester, "Demo: answer it yourself", "Close it to see its results.")


def _simulated() -> str:
    return f"The answers of all {WORKERS} workers are simulated: no person has answered."


def _make(connection: Connection, requester: int, title: str, description: str) -> str:
    plan = CampaignRequest(
        title=title,
        description=description,
        tasks=tuple(Task(str(number), text) for number, text in enumerate(_QUESTIONS, 1)),
        scale=Scale.parse(f"0..{len(_LABELS) - 1}"),
        labels=_LABELS,
        epsilon=2.0,
        protects="answers+participation",
        open=True,
        estimand="opinion",
    )
    return campaigns.create(connection, requester, plan, plan.first_mechanism())


def _report(connection: Connection, campaign: str) -> None:
    """One report for each simulated worker."""
    stored = campaigns.load(connection, campaign)
    assert stored is not None
    tokens = [new_token() for _ in range(WORKERS)]
    mechanism = stored.current.mechanism
    reports = mechanism.perturb(_answers(stored.scale, stored.task_ids, tokens))
    submissions = [
        Submission(
            campaign,
            hashed(token),
            stored.current.number,
            None,
            packing.pack(reports.values[[place]], mechanism.bits).tobytes(),
            spent(stored, stored.current, None),
        )
        for place, token in enumerate(tokens)
    ]
    record(connection, submissions, batch=1)


def _answers(scale: Scale, tasks: Sequence[str], tokens: Sequence[str]) -> Answers:
    generator = np.random.default_rng(1)
    shares = dict(zip(tasks, _QUESTIONS.values(), strict=True))
    drawn = {task: generator.choice(scale.labels, WORKERS, p=shares[task]) for task in tasks}
    return Answers.of(
        [
            {"worker": worker_name(token), "task": task, "answer": str(drawn[task][place])}
            for place, token in enumerate(tokens)
            for task in tasks
        ],
        scale,
        tasks=tasks,
        workers=[worker_name(token) for token in tokens],
    )
