"""The built client in a real browser: its store is atomic and lasts, its draws pass the audit."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import forsooth
from forsooth import Scale, mechanisms
from forsooth.auditing import audit_reports
from tests.clients.javascript import read_samples

STATIC = Path(forsooth.__file__).parent / "service" / "static"
CLIENT = "const client = await import('/forsooth-client.js');"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The folder of the built client on a port of its own."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(STATIC))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, headless."""
    sync_api = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not here: the client cannot be run in a browser")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield launched
        launched.close()


def test_two_windows_change_one_memory(browser: Any, address: str) -> None:
    """Every change is made to what the other window wrote before; one that fails writes nothing."""
    context = browser.new_context()
    one, two = context.new_page(), context.new_page()
    for page in (one, two):
        page.goto(address)
    script = f"""async (mark) => {{ {CLIENT}
        const store = client.browserStore();
        const all = Array.from({{ length: 20 }}, () => store.update((text) => (text ?? "") + mark));
        await Promise.all(all);
        const failed = store.update(() => {{ throw new client.ForsoothError("no", "answered"); }});
        return await failed.catch((error) => error.code);
    }}"""
    one.evaluate(f"() => {{ window.done = ({script})('1'); }}")
    assert two.evaluate(script, "2") == one.evaluate("() => window.done") == "answered"
    kept = context.new_page()
    kept.goto(address)
    text = kept.evaluate(f"async () => {{ {CLIENT} return await client.browserStore().read(); }}")
    assert sorted(text) == ["1"] * 20 + ["2"] * 20
    context.close()


def test_reports_of_version_0_1_0_are_carried_over(browser: Any, address: str) -> None:
    """They are still the only ones of their campaigns."""
    page = browser.new_context().new_page()
    page.goto(address)
    kept = {"invitation": "A", "design": "B", "tasks": "C", "body": "{}", "accepted": True}
    script = f"""async (kept) => {{ {CLIENT}
        await new Promise((resolve) => {{
            const request = indexedDB.open("forsooth", 1);
            request.onupgradeneeded = () => request.result.createObjectStore("reports");
            request.onsuccess = () => {{
                const table = request.result.transaction("reports", "readwrite");
                table.objectStore("reports").add(JSON.stringify(kept), "https://a/v1/campaigns/1");
                table.oncomplete = () => resolve(request.result.close());
            }};
        }});
        return JSON.parse(await client.browserStore().read()).campaigns;
    }}"""
    assert page.evaluate(script, kept) == {"https://a/v1/campaigns/1": kept}
    page.context.close()


def test_its_draws_pass_the_audit(browser: Any, address: str) -> None:
    mechanism = mechanisms.rr(Scale.parse("0..4"), 1.0)
    page = browser.new_page()
    page.goto(address)
    script = f"""async (text) => {{ {CLIENT}
        const mechanism = client.readMechanism(text);
        const lines = [JSON.stringify({{ mechanism: text, tasks: ["a", "b"] }})];
        for (let draw = 0; draw < 20000; draw++) {{
            const given = [["a", draw % 6], ["b", (draw + 1) % 6]].filter(([, code]) => code < 5);
            const answers = Object.fromEntries(given.map(([task, code]) => [task, String(code)]));
            const coins = client.secureCoins;
            const {{ bytes }} = await client.makeReport(mechanism, ["a", "b"], answers, coins, "");
            const report = btoa(String.fromCharCode(...bytes));
            lines.push(JSON.stringify({{ worker: String(draw), answers, report }}));
        }}
        return lines.join("\\n");
    }}"""
    found = audit_reports(*read_samples(page.evaluate(script, mechanism.to_json())))
    assert found.holds, found.violations
    assert found.value is not None
    assert found.value.epsilon > 0.6


def test_where_nothing_may_be_kept_nothing_is_sent(browser: Any, address: str) -> None:
    page = browser.new_page()
    page.goto(address)
    script = f"""async () => {{ {CLIENT}
        const closed = {{ open() {{ throw new DOMException("denied", "SecurityError"); }} }};
        Object.defineProperty(window, "indexedDB", {{ value: closed }});
        const refused = await client.browserStore().update(() => "text").catch((error) => error);
        return {{ code: refused.code, message: refused.message }};
    }}"""
    refusal = page.evaluate(script)
    assert refusal["code"] == "storage"
    assert "nothing is sent" in refusal["message"]
