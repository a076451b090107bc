"""A real browser for the pages' tests: what it asked for, what it complained of."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

from playwright.sync_api import Browser, Dialog, Page, Request, sync_playwright  # noqa: E402

__all__ = ["DESK", "PHONE", "Browser", "Page", "Visitor", "chromium", "visit"]

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
PHONE, DESK = 390, 1280
PATIENCE = 20_000  # milliseconds: a busy machine is no bug


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium, without a window."""
    path = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if path is None:
        pytest.skip("there is no Chromium here")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Visitor:
    """A person with a browser profile of their own."""

    page: Page
    requests: list[Request] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    warnings: int = 0  # "leave this page?"

    @property
    def reports(self) -> list[str]:
        """The bodies of all that was posted to a campaign, in order."""
        return [
            request.post_data or ""
            for request in self.requests
            if request.method == "POST" and request.url.endswith("/reports")
        ]

    def asked(self, dialog: Dialog) -> None:
        """Leave a page that warns; no other dialog is expected."""
        if dialog.type == "beforeunload":
            self.warnings += 1
        else:
            self.complaints.append(f"dialog {dialog.message}")
        dialog.accept()

    def seen(self) -> str:
        """All text on the page."""
        return self.page.locator("body").inner_text()


def visit(browser: Browser, url: str, *, width: int = DESK, height: int = 900) -> Visitor:
    """Open a page in a fresh profile and listen to everything."""
    context = browser.new_context(viewport={"width": width, "height": height})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    visitor = Visitor(page)
    page.on("request", lambda request: visitor.requests.append(request))
    page.on("pageerror", lambda error: visitor.complaints.append(str(error)))
    page.on("dialog", visitor.asked)
    page.on(
        "console",
        lambda message: (
            visitor.complaints.append(message.text)
            if message.type in ("error", "warning")
            else None
        ),
    )
    page.goto(url)
    return visitor
