"""The sampled audit of the JavaScript client: honest draws pass, planted bugs are found.

An honest client is accused with a probability of 10⁻⁶ per audit.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forsooth import Mechanism, Scale, mechanisms
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
    ],
    ids=lambda mechanism: str(mechanism.name),
)
def test_other_mechanisms_pass(tmp_path: Path, mechanism: Mechanism) -> None:
    found = audited(tmp_path, mechanism, 10_000)
    assert found.holds, found.violations
    assert found.value.epsilon > 0.6 * found.exact.value


@pytest.mark.parametrize("bug", ["modulo", "first-row", "null-kept"])
def test_planted_bugs_are_found(tmp_path: Path, bug: str) -> None:
    found = audited(tmp_path, mechanisms.rr(SCALE, 1.0), 40_000, "--bug", bug)
    assert not found.holds


def test_an_unknown_bug_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mechanism.json"
    path.write_text(mechanisms.rr(SCALE, 1.0).to_json())
    done = node("bin/sample.mjs", "--mechanism", path, "--bug", "none")
    assert done.returncode == 2
    assert "known: modulo, first-row, null-kept" in done.stderr
