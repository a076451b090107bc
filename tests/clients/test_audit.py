"""The sampled audit of the JavaScript client: honest draws pass, planted bugs are found.

An honest client is accused with a probability of 10⁻⁶ per audit.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from forsooth import Mechanism, Privacy, Scale, mechanisms
from forsooth.auditing import Audit, audit_reports
from tests.clients.javascript import node, read_samples
from tests.conftest import Command

SCALE = Scale.parse("0..4")
DRAWS = 200_000


def sample(folder: Path, mechanism: Mechanism, draws: int, *more: str) -> str:
    path = folder / "mechanism.json"
    path.write_text(mechanism.to_json())
    done = node("bin/sample.mjs", "--mechanism", path, "--tasks", 2, "--draws", draws, *more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def audited(folder: Path, mechanism: Mechanism, draws: int, *more: str) -> Audit:
    return audit_reports(*read_samples(sample(folder, mechanism, draws, *more)))


def whole(epsilon: float) -> Mechanism:
    """ε for everything that one worker says, on one of the tasks."""
    return mechanisms.per_worker(partial(mechanisms.rr, SCALE), epsilon, seed=5)


def test_two_hundred_thousand_reports_pass(forsooth: Command, tmp_path: Path) -> None:
    reports, answers = read_samples(sample(tmp_path, mechanisms.rr(SCALE, 1.0), DRAWS))
    assert len(reports.workers) == DRAWS
    reports.write(tmp_path / "reports.parquet")
    answers.write(tmp_path / "inputs.parquet")
    done = forsooth(
        "audit", "--reports", "reports.parquet", "--answers", "inputs.parquet", "--json"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["holds"] is True
    assert 0.9 < found["sampled"]["participation"] <= 1
    assert 0.9 < found["sampled"]["value"] <= 1


@pytest.mark.parametrize(
    "mechanism",
    [
        mechanisms.staircase(SCALE, 1.0),
        mechanisms.two_step(SCALE, 2.0),
        mechanisms.grr(SCALE, 1.0),
        mechanisms.lp(SCALE, 1.0),
        mechanisms.rr_lp(SCALE, 3.0, first=0.5),
        mechanisms.per_worker(partial(mechanisms.rr, SCALE), 1.0, count=1, seed=5),
        mechanisms.per_worker(partial(mechanisms.grr, SCALE), 2.0, count=2, seed=5),
    ],
    ids=lambda mechanism: str(mechanism.name),
)
def test_other_mechanisms_pass(tmp_path: Path, mechanism: Mechanism) -> None:
    found = audited(tmp_path, mechanism, 20_000)
    assert found.holds, found.violations
    assert found.value is not None
    assert found.value.epsilon > 0.6 * found.exact.value


@pytest.mark.parametrize(
    "mechanism", [mechanisms.rr(SCALE, 1.0), whole(1.0)], ids=["cell", "worker"]
)
@pytest.mark.parametrize("bug", ["modulo", "first-row", "null-kept"])
def test_planted_bugs_are_found(tmp_path: Path, bug: str, mechanism: Mechanism) -> None:
    found = audited(tmp_path, mechanism, 80_000, "--bug", bug)
    assert not found.holds


def test_the_claim_for_a_whole_worker_is_shared_by_the_cells(tmp_path: Path) -> None:
    """Two cells with ε = 1 each do not keep ε = 1 together."""
    both = mechanisms.per_worker(partial(mechanisms.rr, SCALE), 2.0, count=2)
    samples = read_samples(sample(tmp_path, both, 40_000))
    assert audit_reports(*samples, claim=Privacy(2.0, cells=2)).holds
    assert not audit_reports(*samples, claim=Privacy(1.0, cells=2)).holds


def test_a_client_that_samples_other_tasks_is_found(tmp_path: Path) -> None:
    """Its noise is right, and it is not the answer that the public rule has drawn."""
    text = sample(tmp_path, whole(1.0), 20_000)
    assert audit_reports(*read_samples(text)).holds
    other = text.replace('\\"seed\\": 5', '\\"seed\\": 6')
    assert other != text
    assert not audit_reports(*read_samples(other)).holds


def test_an_unknown_bug_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mechanism.json"
    path.write_text(mechanisms.rr(SCALE, 1.0).to_json())
    done = node("bin/sample.mjs", "--mechanism", path, "--bug", "none")
    assert done.returncode == 2
    assert "known: modulo, first-row, null-kept" in done.stderr
