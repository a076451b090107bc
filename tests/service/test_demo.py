"""The demo: simulated results to look at, a survey to answer, nothing left at the end."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Command
from tests.service.browser import PHONE, chromium, visit
from tests.service.harness import Server


def test_a_demo_to_click_through(tmp_path: Path) -> None:
    server = Server("", tmp_path).start()
    database = Path(str(server.announced["database"]).removeprefix("sqlite:///"))
    try:
        listed = server.as_requester("GET", "").json["campaigns"]
        by_closed = {each["closed"]: each for each in listed}
        assert by_closed[True]["reports"] == 300
        assert "simulated" in by_closed[True]["title"]
        asked = server.call("GET", f"/v1/campaigns/{by_closed[True]['id']}").json
        assert "no person has answered" in asked["description"]
        link = server.announced["campaign"]
        assert link == by_closed[False]["link"]
        assert database.exists()
        with chromium() as browser:
            visitor = visit(browser, link, width=PHONE)
            visitor.page.get_by_text("How often do you work while ill?").first.wait_for()
            assert not visitor.complaints
    finally:
        assert server.stop() == 0
    assert not database.parent.exists()


def test_the_demo_has_a_database_of_its_own(forsooth: Command) -> None:
    done = forsooth("serve", "--demo", "--database", "sqlite:///mine.db")
    assert done.returncode == 2
    assert "leave out --database" in done.stderr
