"""Whole campaigns through the Python client, on either database."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select

from forsooth import ForsoothError, Reports, infer
from forsooth.client import WorkerCampaign, download_reports
from forsooth.client.memory import Memory
from forsooth.client.tokens import new_token, worker_name
from forsooth.estimand import MEANING
from forsooth.io import packing
from forsooth.mechanisms import SampledTasks
from forsooth.privacy import Protects
from forsooth.report.page import campaign_page
from forsooth.service.models import report
from forsooth.service.store import Store
from tests.service.harness import BLANK, Server, stored, wait_for

WORDS = ["never", "rarely", "sometimes", "often", "always"]


def test_from_invitation_to_truth(server: Server, tmp_path: Path) -> None:
    made = server.make(
        epsilon=8.0,
        labels=WORDS,
        invitations=12,
    )
    answers = {"q0": 0, "q1": 4}  # q2 is skipped
    for number, token in enumerate(made.tokens):
        worker = WorkerCampaign(f"{made.link}#{token}", limit=8.0, folder=tmp_path / str(number))
        assert worker.asked.tasks == ("q0", "q1", "q2")
        assert worker.submit(answers) == "accepted"
    status = made.status
    assert (status["reports"], status["invitations"], status["closed"]) == (12, 12, False)
    assert status["spent"] == {"largest": 24.0, "total": 12 * 24.0}
    assert status["designs"][0]["reports"] == 12

    truths = made.truths(12)
    assert [round(each["truth"]) for each in truths["truths"][:2]] == [0, 4]
    assert [each["label"] for each in truths["truths"][:2]] == ["never", "always"]
    assert all(each["low"] <= each["truth"] <= each["high"] for each in truths["truths"])
    assert sum(truths["quality"]["counts"]) == 12
    assert truths["enough"]["why"].endswith(".")
    assert truths["enough"]["expected_error"] < truths["enough"]["constant_error"]
    assert truths["estimand"] == "level"
    assert "one true value" in truths["meaning"]
    assert not any(each["shares"] or each["probabilities"] for each in truths["truths"])

    (reports,) = download_reports(made.link, server.key)
    assert reports.workers == tuple(sorted(map(worker_name, made.tokens)))
    assert reports.tasks == ("q0", "q1", "q2")
    assert infer(reports).estimate.tolist() == [each["truth"] for each in truths["truths"]]

    rows = list(csv.DictReader(io.StringIO(_truths_csv(made.id, server))))
    assert [row["label"] for row in rows[:2]] == ["never", "always"]
    assert [row["question"] for row in rows] == [f"Question {j}?" for j in range(3)]
    assert all(len(row["truth"].partition(".")[2]) <= 6 for row in rows)  # not 1.7000000000000002
    written = tmp_path / "truths.csv"
    infer(reports).write(written)
    theirs = csv.DictReader(io.StringIO(written.read_text()))
    assert [float(row["truth"]) for row in rows] == [float(row["truth"]) for row in theirs]
    page = server.as_requester("GET", f"/{made.id}/report.html").content.decode()
    assert page == campaign_page(
        infer(reports),
        [reports],
        title="A survey",
        target_width=1.0,
        labels=WORDS,
        questions={f"q{j}": f"Question {j}?" for j in range(3)},
    )
    assert '<span class="soft">q1</span> Question 1?' in page
    assert "<td>always</td>" in page.replace(' class="less"', "")


def test_everyone_answers_for_themselves(server: Server, tmp_path: Path) -> None:
    """Two camps: half say never, half always. Shares show both; one truth would hide them."""
    made = server.make(epsilon=8.0, estimand="opinion", labels=WORDS, invitations=40)
    assert made.status["estimand"] == "opinion"
    for number, token in enumerate(made.tokens):
        client = WorkerCampaign(made.link, invitation=token, folder=tmp_path / str(number))
        camp = 4 * (number % 2)
        assert client.submit({"q0": camp, "q1": camp} if number % 4 else {"q0": camp}) == "accepted"
    found = made.truths(40)
    assert found["estimand"] == "opinion"
    assert found["meaning"] == MEANING["opinion"]
    assert found["quality"] is None
    first, second, third = found["truths"]
    for share, truth in zip(first["shares"], (0.5, 0, 0, 0, 0.5)):
        assert 0 <= share["low"] <= share["estimate"] <= share["high"] <= 1
        assert share["estimate"] == pytest.approx(truth, abs=0.15)
    assert sum(share["estimate"] for share in first["shares"]) == pytest.approx(1, abs=1e-3)
    assert first["truth"] == pytest.approx(2, abs=0.5)
    assert first["label"] is None  # a mean answer is none of the answers
    answered = [each["participation"]["estimate"] for each in (first, second, third)]
    assert answered == pytest.approx([1, 0.75, 0], abs=0.2)

    (reports,) = download_reports(made.link, server.key)
    assert reports.estimand == "opinion"
    header, *rows = csv.reader(io.StringIO(_truths_csv(made.id, server)))
    assert header == ["task", "question", *list(infer(reports).columns())[1:]]
    assert float(rows[0][header.index("share_4")]) == first["shares"][4]["estimate"]
    assert first["valley"]["divided"]
    assert first["valley"]["camps"][::2] == [0, 4]
    assert not third["valley"]["divided"]
    assert float(rows[0][header.index("valley_low")]) == first["valley"]["low"] > 0.05
    page = server.as_requester("GET", f"/{made.id}/report.html").content.decode()
    assert '<td class="name">always</td>' in page
    assert "More people answer <strong>never</strong> and <strong>always</strong>" in page


def test_one_answer_is_right(sqlite_server: Server, tmp_path: Path) -> None:
    made = sqlite_server.make(
        epsilon=8.0, estimand="label", scale=["cat", "dog", "cow"], invitations=12
    )
    for number, token in enumerate(made.tokens):
        client = WorkerCampaign(made.link, invitation=token, folder=tmp_path / str(number))
        assert client.submit({"q0": "dog", "q1": "cow"}) == "accepted"
    found = made.truths(12)
    assert found["estimand"] == "label"
    assert [each["label"] for each in found["truths"][:2]] == ["dog", "cow"]
    for each, right in zip(found["truths"], (1, 2)):
        assert each["probabilities"][right] > 0.9
        assert sum(each["probabilities"]) == pytest.approx(1, abs=1e-3)
        assert each["shares"] is None
    (reports,) = download_reports(made.link, sqlite_server.key)
    header = next(csv.reader(io.StringIO(_truths_csv(made.id, sqlite_server))))
    assert header == ["task", "question", *list(infer(reports).columns())[1:]]
    page = sqlite_server.as_requester("GET", f"/{made.id}/report.html").content.decode()
    assert f"<td>{found['truths'][0]['label']}</td>" in page


def test_the_estimand_may_be_left_open(sqlite_server: Server, tmp_path: Path) -> None:
    """Null: the default for the scale, and nothing is stated in the reports."""
    for scale, expected in (("0..1", "label"), ("0..4", "level")):
        made = sqlite_server.make(scale=scale, invitations=1)
        assert made.status["estimand"] is None
        client = WorkerCampaign(made.link, invitation=made.tokens[0], folder=tmp_path / expected)
        assert client.submit({"q0": 1}) == "accepted"
        assert made.truths(1)["estimand"] == expected
        (reports,) = download_reports(made.link, sqlite_server.key)
        assert reports.estimand is None


def _truths_csv(campaign: str, server: Server) -> str:
    reply = server.as_requester("GET", f"/{campaign}/truths.csv")
    assert reply.headers["content-disposition"] == 'attachment; filename="truths.csv"'
    return reply.content.decode()


def test_asked_again_the_same_report_is_sent(server: Server, tmp_path: Path) -> None:
    made = server.make(invitations=1)
    (token,) = made.tokens
    for answers, expected in (({"q0": 1}, "accepted"), ({"q0": 4}, "already-accepted")):
        client = WorkerCampaign(made.link, invitation=token, folder=tmp_path)
        assert client.submit(answers) == expected
    (sent,) = stored(server.database, made.id).values()
    assert made.send(token, sent).json == {"status": "already-accepted"}
    other = made.send(token, bytes([sent[0] ^ 1]) + sent[1:])
    assert (other.status, other.error) == (409, "already-reported")
    assert stored(server.database, made.id) == {worker_name(token): sent}
    assert made.status["reports"] == 1


def test_an_open_link_and_public_participation(server: Server, tmp_path: Path) -> None:
    made = server.make(open=True, protects="answers", mechanism="grr")
    assert made.view["invitation_required"] is False
    for number in range(5):
        folder = tmp_path / str(number)
        worker = WorkerCampaign(made.link, protects="answers", folder=folder)
        assert worker.submit({"q2": number, "q0": 1}) == "accepted"
        assert worker.submit({"q1": 3}) == "already-accepted"
        memory = Memory.from_json((folder / "memory.json").read_text())
        assert memory.ledger.total == 2.0
    (reports,) = download_reports(made.link, server.key)
    assert reports.answered is not None
    assert reports.answered[1].tolist() == [0, 2] * 5
    assert made.status["spent"] == {"largest": 2.0, "total": 10.0}
    with pytest.raises(ForsoothError, match="nothing to send"):
        WorkerCampaign(made.link, protects="answers", folder=tmp_path / "silent").submit({})
    assert server.as_requester("POST", f"/{made.id}/invitations", {"count": 1}).error == "open"


def test_reports_of_several_lengths_come_back_as_they_were_sent(sqlite_server: Server) -> None:
    made = sqlite_server.make(open=True, protects="answers", mechanism="grr")
    sent: dict[str, list[tuple[int, int]]] = {}
    for cells in ([(0, 4)], [(0, 1), (1, 2), (2, 3)], [(2, 0)], [(1, 4), (2, 4)], [(0, 3), (2, 2)]):
        token, tasks = f"open-{new_token()}", [task for task, _ in cells]
        packed = packing.pack(np.array([[value for _, value in cells]], np.uint8), 3)
        reply = made.send(token, packed.tobytes(), tasks=tasks)
        assert reply.status == 201
        sent[worker_name(token)] = cells
    (reports,) = download_reports(made.link, sqlite_server.key)
    assert reports.answered is not None
    found: dict[str, list[tuple[int, int]]] = {worker: [] for worker in reports.workers}
    for worker, task, value in zip(*reports.answered, reports.values):
        found[reports.workers[worker]].append((int(task), int(value)))
    assert found == sent


@pytest.mark.parametrize(
    "mechanism", ["lp", "rr-lp:first=0.3", "two-layer", "mf-safe:d=2", "staircase"]
)
def test_every_family_can_be_collected(
    sqlite_server: Server, tmp_path: Path, mechanism: str
) -> None:
    made = sqlite_server.make(mechanism=mechanism, invitations=4)
    assert made.view["epsilon"] == made.mechanism.guarantee.epsilon
    for number, token in enumerate(made.tokens):
        client = WorkerCampaign(made.link, invitation=token, folder=tmp_path / str(number))
        assert client.submit({"q0": 1, "q1": 2}) == "accepted"
    (reports,) = download_reports(made.link, sqlite_server.key)
    assert len(infer(reports).estimate) == 3
    assert len(made.truths(4)["truths"]) == 3


def test_mf_protects_answers_only(sqlite_server: Server, tmp_path: Path) -> None:
    made = sqlite_server.make(mechanism="mf:d=2", protects="answers", open=True)
    worker = WorkerCampaign(made.link, protects="answers", folder=tmp_path)
    assert worker.submit({"q0": 1}) == "accepted"
    assert made.status["protects"] == "answers"
    assert made.status["spent"]["largest"] == 3.0


def test_closing_by_number_by_date_and_by_hand(server: Server, tmp_path: Path) -> None:
    full = server.make(invitations=2, max_reports=1)
    soon = datetime.now(UTC) + timedelta(seconds=3)
    past = server.make(invitations=1, closes_at=soon.isoformat())
    later = datetime.now(UTC) + timedelta(hours=1)
    by_hand = server.make(invitations=2, closes_at=later.isoformat())
    symbols = BLANK
    assert full.send(full.tokens[0], symbols).status == 201
    assert by_hand.send(by_hand.tokens[0], symbols).status == 201
    assert server.as_requester("POST", f"/{by_hand.id}/close").json["closed"] is True
    wait_for(lambda: bool(past.view["closed"]), 20)
    for made, token in (
        (full, full.tokens[1]),
        (past, past.tokens[0]),
        (by_hand, by_hand.tokens[1]),
    ):
        reply = made.send(token, symbols)
        assert (reply.status, reply.error) == (410, "closed")
        assert made.status["closed"] is made.view["closed"] is True
    assert full.send(full.tokens[0], symbols).json == {"status": "already-accepted"}
    assert [made.status["reports"] for made in (full, past, by_hand)] == [1, 0, 1]
    assert datetime.fromisoformat(by_hand.view["closes_at"]) == later.replace(microsecond=0)


def test_what_is_stored_of_a_report(server: Server, tmp_path: Path) -> None:
    made = server.make(invitations=1)
    symbols = bytes([0b10_001_000, 0b0])  # 0, 1, 2, the first symbol in the lowest bits
    assert made.send(made.tokens[0], symbols).status == 201
    assert stored(server.database, made.id) == {worker_name(made.tokens[0]): symbols}
    store = Store(server.database)
    with store.reading() as connection:
        row = connection.execute(select(report).where(report.c.campaign == made.id)).one()
    store.close()
    columns = ("campaign", "invitation", "design", "tasks", "payload", "spent", "waiting")
    assert row._fields == columns
    assert not any(isinstance(value, int) and value > 10**6 for value in row)  # no time at all


def test_infer_from_a_campaign(sqlite_server: Server, tmp_path: Path) -> None:
    made = sqlite_server.make(invitations=3)
    for token in made.tokens:
        assert made.send(token, BLANK).status == 201

    def forsooth(*arguments: str, key: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "forsooth", "infer", "--campaign", made.link, *arguments],
            cwd=tmp_path,
            env=os.environ | {"FORSOOTH_KEY": key},
            capture_output=True,
            text=True,
            check=False,
        )

    done = forsooth("--json", key=sqlite_server.key)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["workers"], document["tasks"]) == (3, 3)
    refused = forsooth(key="wrong")
    assert refused.returncode == 2
    assert "(401)" in refused.stderr
    assert "--key" in forsooth(key="").stderr


def test_the_parquet_file_is_like_any_other(sqlite_server: Server, tmp_path: Path) -> None:
    made = sqlite_server.make(open=True)
    empty = sqlite_server.as_requester("GET", f"/{made.id}/reports.parquet")
    assert (empty.status, empty.error) == (409, "not-ready")
    assert made.send(f"open-{new_token()}", bytes([0b11_010_001, 0b0])).status == 201
    reply = sqlite_server.as_requester("GET", f"/{made.id}/reports.parquet")
    (tmp_path / "r.parquet").write_bytes(reply.content)
    reports = Reports.read(tmp_path / "r.parquet")
    assert np.array_equal(reports.values, [[1, 2, 3]])
    assert reports.simulation_seed is None


@pytest.mark.parametrize("protects", ["answers+participation", "answers"])
def test_one_epsilon_for_everything_one_person_says(
    sqlite_server: Server, tmp_path: Path, protects: Protects
) -> None:
    """unit = worker: each is asked two of the three tasks; nobody spends more than ε."""
    order = {"unit": "worker", "sampled": 2, "epsilon": 8.0, "protects": protects}
    made = sqlite_server.make(invitations=12, **order)
    view = made.view
    assert (view["unit"], view["sampled"], view["epsilon"]) == ("worker", 2, 8.0)
    assert view["worker_total"] == 8.0
    for number, token in enumerate(made.tokens[:11]):
        link = f"{made.link}#{token}"
        folder = tmp_path / str(number)
        worker = WorkerCampaign(link, total_limit=8.0, protects=protects, folder=folder)
        assert worker.submit({"q0": 0, "q1": 4, "q2": 2}) == "accepted"
    assert made.status["unit"] == "worker"
    assert made.status["spent"]["largest"] == 8.0
    (reports,) = download_reports(made.link, sqlite_server.key)
    mechanism = made.mechanism
    assert isinstance(mechanism, SampledTasks)
    drawn = mechanism.sampled(reports.workers, 3)
    assert len({tuple(row) for row in drawn.tolist()}) > 1  # not the same for everybody
    if reports.answered is not None:
        assert reports.answered[1].reshape(-1, 2).tolist() == drawn.tolist()
    assert [round(each["truth"]) for each in made.truths(11)["truths"]] == [0, 4, 2]

    last = worker_name(made.tokens[11])
    (own,) = mechanism.sampled([last], 3).tolist()
    (other,) = {0, 1, 2} - set(own)
    if protects == "answers":
        refused = made.send(made.tokens[11], b"\0", tasks=[other])
        assert (refused.status, refused.error) == (422, "bad-report")
        assert "not drawn for this worker" in refused.json["detail"]["message"]


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ({"unit": "worker", "mechanism": "adaptive"}, "an adaptive campaign"),
        ({"unit": "worker", "mechanism": "mf-safe"}, "no cells to sample"),
        ({"unit": "worker", "sampled": 4}, "cannot sample 4 of 3"),
        ({"sampled": 2}, "sampled is for unit = worker"),
    ],
)
def test_units_that_make_no_sense(
    sqlite_server: Server, order: dict[str, object], reason: str
) -> None:
    tasks = [{"text": f"Question {j}?"} for j in range(3)]
    body = {"title": "A survey", "tasks": tasks, "scale": "0..4", "epsilon": 1.0} | order
    refused = sqlite_server.as_requester("POST", "", body)
    assert refused.status == 422
    assert reason in refused.json["detail"]["message"]
