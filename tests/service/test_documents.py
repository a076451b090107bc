"""Texts for participants and boards: every number is the campaign's, in both forms."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from forsooth.privacy import Privacy
from forsooth.promise import promise
from forsooth.report.documents import Form, Kind
from forsooth.service.manifest import installed
from tests.service.browser import Browser, chromium
from tests.service.harness import Made, Server
from tests.service.test_life_pages import campaign_page

NASTY = "<script>alert(1)</script> *not bold* [x](y)"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


def text(made: Made, kind: Kind, form: Form) -> str:
    """As it is downloaded, as plain text without marks of its form."""
    reply = made.server.as_requester("GET", f"/{made.id}/documents/{kind}.{form}")
    assert reply.status == 200
    assert reply.headers["content-disposition"] == f'attachment; filename="{kind}.{form}"'
    written = reply.content.decode()
    if form == "html":
        assert "<script" not in written
        written = re.sub("</?mark>", "", written)
        written = html.unescape(re.sub(r"<style>.*</style>|<[^>]+>", " ", written, flags=re.DOTALL))
    else:
        assert r"\<script\>" in written or "<script" not in written
        written = re.sub(r"\\(?=\W)", "", re.sub(r"^(#+|-) |\*\*", "", written, flags=re.MULTILINE))
    return " ".join(written.split())


@pytest.mark.parametrize("form", ["md", "html"])
@pytest.mark.parametrize("kind", ["consent", "protection"])
@pytest.mark.parametrize(
    ("fields", "guarantee"),
    [
        ({"epsilon": 0.25}, Privacy(0.25)),
        ({"epsilon": 3, "protects": "answers", "open": True}, Privacy(3, "answers")),
        ({"epsilon": 1.5, "unit": "worker", "sampled": 2}, Privacy(0.75, cells=2)),
    ],
)
def test_every_number_is_the_campaigns(
    sqlite_server: Server, kind: Kind, form: Form, fields: dict[str, object], guarantee: Privacy
) -> None:
    made = sqlite_server.make(retention_days=45, **fields)
    said = text(made, kind, form)
    promised = promise(guarantee, 3, you=kind == "consent")
    for bound in promised.bounds:
        assert (
            f"{bound.about}: ε = {bound.epsilon:g}, {bound.strength} protection. "
            f"1 to 1 can become {bound.odds}." in said
        )
    for sentence in promised.sentences:
        assert " ".join(sentence.split()) in said
    assert "reports are erased 45 days after the survey closes" in said
    assert "in batches of at least 1, which means one by one." in said  # the tests' setting
    assert ("which questions were answered." in said) == (guarantee.protects == "answers")
    assert ("drawn by lot" in said) == (guarantee.cells is not None)
    if kind == "protection":
        assert installed().digest in said
        assert ("everybody with the link" in said) == bool(fields.get("open"))
        for conclusion in promised.conclusions[: len(promised.bounds)]:
            assert (
                f"50 % can become {conclusion.half}, and 1 % can become {conclusion.rare}." in said
            )


def test_what_is_not_set_is_left_open(sqlite_server: Server) -> None:
    made = sqlite_server.make(title=NASTY, max_reports=1200)
    forms: tuple[Form, ...] = ("md", "html")
    for form in forms:
        said = text(made, "protection", form)
        assert NASTY in said
        assert "End: after 1,200 reports." in said
        assert "kept until the campaign is deleted: [when this will be]." in said
        assert "no text of consent. [how participants consent]" in said
    agreed = sqlite_server.make(presentation={"consent": "Yes."}, closes_at="2031-01-31T12:00:00Z")
    said = text(agreed, "protection", "md")
    assert "Those who keep the list of invitations can tell whose report is whose." in said
    panel = {"parameter": "PROLIFIC_PID", "completion_code": "C1"}
    sent = sqlite_server.make(open=True, panel=panel)
    assert "people whom a panel sends, once per id" in text(sent, "protection", "md")
    assert "cannot be linked" not in text(sent, "protection", "md")
    assert "Those who know your id there can find your report" in text(sent, "consent", "html")
    assert "cannot be linked" in text(sqlite_server.make(open=True), "protection", "md")
    assert "participants must tick that they agree" in said
    assert "End: on 2031-01-31 12:00 (UTC) at the latest." in said


def test_they_are_the_requesters_alone(sqlite_server: Server) -> None:
    made = sqlite_server.make()
    path = f"/v1/campaigns/{made.id}/documents/consent"
    assert sqlite_server.call("GET", f"{path}.md").status == 401
    assert sqlite_server.as_requester("GET", f"/{made.id}/documents/consent.pdf").status == 422


def test_they_are_downloaded_from_the_page(
    browser: Browser, sqlite_server: Server, tmp_path: Path
) -> None:
    made = sqlite_server.make(draft=True)
    page = campaign_page(browser, made).page
    group = page.get_by_role("group", name="Information and consent")
    with page.expect_download() as download:
        group.get_by_role("button", name="Markdown").click()
    assert download.value.suggested_filename == "consent.md"
    download.value.save_as(tmp_path / "consent.md")
    kept = (tmp_path / "consent.md").read_text(encoding="utf-8")
    assert kept.startswith("# Information and consent: A survey\n\nYou are asked")
