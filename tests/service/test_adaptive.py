"""An adaptive campaign, live: the table changes while reports come in, and all of them count."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from forsooth import Answers, Scale, infer
from forsooth.client import WorkerCampaign, download_reports
from forsooth.client.tokens import new_token, worker_name
from forsooth.io import packing
from forsooth.mechanisms import rr
from tests.service.harness import Server, wait_for

TRUTH = [0, 1, 2, 2, 1, 0]


def test_the_table_is_redesigned_while_reports_come_in(server: Server, tmp_path: Path) -> None:
    tasks = [{"id": f"q{j}", "text": "?"} for j in range(len(TRUTH))]
    made = server.make(
        tasks=tasks, scale="0..2", mechanism="adaptive", epsilon=2.0, open=True, redesign_after=40
    )
    first = made.view["design"]
    answers = {f"q{j}": answer for j, answer in enumerate(TRUTH)}
    scale = Scale.parse("0..2")
    for _ in range(40):
        token = f"open-{new_token()}"
        table = Answers.of({worker_name(token): answers}, scale, tasks=list(answers))
        values = rr(scale, 2.0).perturb(table).values
        report = packing.pack(values, 2).tobytes()
        assert made.send(token, report, design=first).status == 201
    wait_for(lambda: made.view["design"] != first, 60)

    late = WorkerCampaign(made.link, limit=2.0, folder=tmp_path)
    assert late.mechanism.name == "staircase"
    assert late.submit(answers) == "accepted"
    assert made.send(f"open-{new_token()}", bytes(2), design=first).status == 201  # still good
    status = made.status
    assert [design["reports"] for design in status["designs"]] == [41, 1]
    assert [design["current"] for design in status["designs"]] == [False, True]
    assert [design["mechanism"] for design in status["designs"]] == ["rr", "staircase"]
    assert status["mechanism"] == "adaptive"
    exact = server.call("GET", f"/v1/campaigns/{made.id}/designs/{first}")
    assert exact.content.decode() == rr(scale, 2.0).to_json()
    assert "immutable" in exact.headers["cache-control"]

    parts = download_reports(made.link, server.key)
    assert [len(part.workers) for part in parts] == [41, 1]
    assert parts[1].mechanism == late.mechanism
    truths = made.truths(42)
    assert np.allclose(infer(parts).estimate, [each["truth"] for each in truths["truths"]])
