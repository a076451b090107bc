"""The worker's path and sign-in in Firefox and WebKit, as Debian packages them.

`make browser` installs them where it may; a test that has no engine is skipped and says so.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.clients.javascript import PACKAGE, node
from tests.service.harness import Server
from tests.service.test_pages import survey

MINIBROWSER = "*/webkit2gtk-4.*/MiniBrowser"
PATIENCE = 60  # seconds: a busy machine is no bug


def test_firefox(sqlite_server: Server) -> None:
    firefox = shutil.which("firefox-esr") or shutil.which("firefox")
    if firefox is None:
        pytest.skip("Firefox is not here: make browser installs firefox-esr")
    if not (PACKAGE / "node_modules" / "puppeteer-core").is_dir():
        pytest.skip("puppeteer-core is not here: npm ci in clients/js")
    made = survey(sqlite_server, open=True)
    site = f"{sqlite_server.url}/"
    done = node("bin/firefox.mjs", firefox, made.link, site, sqlite_server.key)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "Firefox" in found.pop("agent")
    assert found == {"answered": "often", "same": True, "complaints": []}
    assert made.status["reports"] == 1


# Selenium warns of what it does itself.
@pytest.mark.filterwarnings("ignore:setting remote_server_addr:DeprecationWarning")
def test_webkit(sqlite_server: Server) -> None:
    made = survey(sqlite_server, open=True)
    with webkit() as driver:
        assert "AppleWebKit" in driver.execute_script("return navigator.userAgent")
        driver.get(made.link)
        click(driver, "#tasks label:nth-child(4)")
        seen(driver, "#draft:not(:empty)")
        driver.refresh()
        seen(driver, "#tasks :checked + span")
        click(driver, "#survey .primary")
        seen(driver, "#review:not([hidden])")
        body = text(driver, "#body")
        assert text(driver, "#rows td span:last-child") == "often"
        click(driver, "#back")
        seen(driver, "#survey:not([hidden])")
        click(driver, "#survey .primary")
        seen(driver, "#review:not([hidden])")
        assert text(driver, "#body") == body
        click(driver, "#send")
        seen(driver, "#done:not([hidden])")
        assert made.status["reports"] == 1

        driver.get(f"{sqlite_server.url}/")
        seen(driver, "#key").send_keys(sqlite_server.key)
        click(driver, "#sign-in-form .primary")
        seen(driver, "#list:not([hidden])")


@contextmanager
def webkit() -> Iterator[Any]:
    """WebKitGTK's small browser on a screen that nobody sees."""
    selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    driver = shutil.which("WebKitWebDriver")
    browser = next(Path("/usr/lib").glob(MINIBROWSER), None)
    screen = shutil.which("Xvfb")
    if driver is None or browser is None or screen is None:
        pytest.skip("WebKit is not here: make browser installs webkit2gtk-driver and xvfb")
    with virtual_screen(screen) as display:
        options = selenium.WebKitGTKOptions()
        options.binary_location = str(browser)
        options.add_argument("--automation")
        service = selenium.WebKitGTKService(driver, env={"DISPLAY": display})
        found = selenium.WebKitGTK(options=options, service=service)
        try:
            yield found
        finally:
            found.quit()


@contextmanager
def virtual_screen(program: str) -> Iterator[str]:
    """A screen of its own; the name of the display."""
    reader, writer = os.pipe()
    command = [program, "-displayfd", str(writer), "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL) as screen:
        os.close(writer)
        with os.fdopen(reader) as number:
            display = number.readline().strip()
        try:
            yield f":{display}"
        finally:
            screen.terminate()


def seen(driver: Any, selector: str) -> Any:
    """An element, as soon as it can be seen."""
    ui = pytest.importorskip("selenium.webdriver.support.ui")
    conditions = pytest.importorskip("selenium.webdriver.support.expected_conditions")
    condition = conditions.visibility_of_element_located(("css selector", selector))
    return ui.WebDriverWait(driver, PATIENCE).until(condition)


def click(driver: Any, selector: str) -> None:
    found = seen(driver, selector)
    driver.execute_script("arguments[0].scrollIntoView({ block: 'center' })", found)
    found.click()


def text(driver: Any, selector: str) -> str:
    return str(driver.find_element("css selector", selector).get_property("textContent"))
