"""The classifier that links reports to invitations finds every link that is there."""

from __future__ import annotations

import secrets
from hashlib import sha256

import pytest
from benchmarks.attacks._linking import MOST, Seen, correct_pairs, evidence

COUNT = 50
INVITATIONS = [secrets.token_bytes(32) for _ in range(COUNT)]
SERIALS = [secrets.token_bytes(32) for _ in range(COUNT)]
RANKED = dict(zip(sorted(INVITATIONS), sorted(SERIALS)))


def seen(contents: list[bytes], name: str) -> list[Seen]:
    return [evidence(**{name: content}) for content in contents]


def best(serials: list[bytes], files: dict[str, bytes]) -> int:
    asked, sent = seen(INVITATIONS, "invitation"), seen(serials, "serial")
    return max(correct_pairs(asked, sent, files).values())


def test_where_there_is_no_link_it_finds_none() -> None:
    files = {"table": b"".join(INVITATIONS) + b"".join(sorted(SERIALS))}
    assert best(SERIALS, files) <= MOST


@pytest.mark.parametrize(
    "serials",
    [
        [sha256(token).digest() for token in INVITATIONS],
        [token[:8] + secrets.token_bytes(24) for token in INVITATIONS],
        [RANKED[token] for token in INVITATIONS],
    ],
    ids=["derived", "eight equal bytes", "equal ranks"],
)
def test_it_finds_likeness(serials: list[bytes]) -> None:
    assert best(serials, {}) > COUNT // 2


@pytest.mark.parametrize("step", [1, -1])
def test_it_finds_an_order_in_a_file(step: int) -> None:
    text = b"".join(INVITATIONS) + b"between" + b"".join(SERIALS[::step])
    assert best(SERIALS, {"log": text}) == COUNT
