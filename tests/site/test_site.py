"""The site as it is built: complete, without requests elsewhere, readable from disk."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

import forsooth
from tests.cli.test_flags import flags, options
from tests.test_docs import NOTEBOOKS, PAGES, README, ROOT, blocks

pytest.importorskip("material", reason="the packages of the site are not installed")

from website.commands import commands, reference

LOADS = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}


def build(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", folder, *more],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> list[Path]:
    """All pages but the one for a server's error, whose links begin at the server's root."""
    return [page for page in sorted(site.rglob("*.html")) if page.name != "404.html"]


def test_every_page_is_in_the_site(site: Path) -> None:
    for source in (*PAGES, *NOTEBOOKS):
        if source != README:
            assert (site / source.relative_to(ROOT / "docs")).with_suffix(".html").exists()
    for notebook in NOTEBOOKS:
        assert (site / notebook.name).read_bytes() == notebook.read_bytes()


class Loaded(HTMLParser):
    """Addresses of what a page loads, and its elements with the class of a raw formula."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.raw: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if address := given.get(LOADS.get(tag, "")):
            self.addresses.append(address)
        if "arithmatex" in (given.get("class") or ""):
            self.raw.append(tag)


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: list[Path]) -> None:
    for page in pages:
        loaded = Loaded(page).addresses
        assert loaded
        assert not [each for each in loaded if re.match(r"(https?:)?//", each)], page.name
    for sheet in site.rglob("*.css"):
        addresses = re.findall(r"url\(([^)]*)\)", sheet.read_text(encoding="utf-8"))
        assert not [each for each in addresses if "//" in each.partition(",")[0]], sheet.name


def test_formulas_are_typeset(site: Path, pages: list[Path]) -> None:
    assert [page.name for page in pages if Loaded(page).raw] == []
    for name in ("proofs", "posterior", "mechanisms", "channels", "methods", "computation"):
        assert "<math" in (site / f"{name}.html").read_text(encoding="utf-8"), name


def test_the_font_has_every_character_of_the_formulas(pages: list[Path]) -> None:
    fonts = pytest.importorskip("fontTools.ttLib", reason="fontTools is not installed")
    has = fonts.TTFont(ROOT / "docs" / "fonts" / "formulas.woff").getBestCmap()
    for page in pages:
        for formula in re.findall(r"<math.*?</math>", page.read_text(encoding="utf-8"), re.S):
            text = Text(formula).found
            missing = {each for each in text if not each.isspace() and ord(each) not in has}
            assert not missing, f"{page.name}: {missing}"


class Text(HTMLParser):
    """The text of a piece of HTML."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self.found = ""
        self.feed(code)

    def handle_data(self, data: str) -> None:
        self.found += data


def test_every_command_and_flag_is_in_the_reference(site: Path) -> None:
    sections = dict(
        re.findall(r"^### (forsooth[^\n]*)\n(.*?)(?=^### |\Z)", reference(), re.S | re.M)
    )
    assert list(sections) == [name for name, _ in commands()]
    for name, section in sections.items():
        found = set(re.findall(r"^\| .*?`(--[a-z-]+)", section, re.M))
        expected = {flags(option)[0] for option in options(name.removeprefix("forsooth "))}
        assert found == expected, name
        assert "```sh\nforsooth " in section, name
    listed = set(re.findall(r"^\| `(forsooth [a-z -]+)` \|", page("commands"), re.M))
    assert listed == set(sections)
    built = (site / "commands.html").read_text(encoding="utf-8")
    headings = re.findall(r'<h3 id="forsooth-[^>]*>([^<]*)<', built)
    assert headings == list(sections)


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def used_in_the_documentation() -> Iterator[str]:
    """What the code blocks of all pages import from forsooth."""
    for source in PAGES:
        for block in blocks(source):
            if block.kind == "python":
                for module, names in re.findall(
                    r"^ *from (forsooth[\w.]*) import ([\w, ]+)$", block.text, re.M
                ):
                    yield from (f"{module}.{name.strip()}" for name in names.split(","))


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    documented = set(re.findall(r"^::: (\S+)", page("api"), re.M))
    public = {f"forsooth.{name}" for name in forsooth.__all__} | set(used_in_the_documentation())
    assert public - documented == {"forsooth.mechanisms", "forsooth.__version__"}
    makers = {
        f"forsooth.mechanisms.{name.__name__}" for name in forsooth.mechanisms.BUILDERS.values()
    }
    assert makers <= documented
    built = (site / "api.html").read_text(encoding="utf-8")
    assert [name for name in documented if f'id="{name}"' not in built] == []


def test_examples_in_docstrings_are_code(site: Path) -> None:
    built = (site / "api.html").read_text(encoding="utf-8")
    assert "&gt;&gt;&gt; " in built
    assert "<blockquote>" not in built


def test_a_broken_link_is_an_error(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("# Title\n\n[nowhere](#nowhere)\n")
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    config = tmp_path / "mkdocs.yml"
    config.write_text(
        settings.partition("hooks:")[0]
        + settings[settings.index("validation:") :].partition("nav:")[0]
    )
    done = build(tmp_path / "site", "-f", str(config))
    assert done.returncode != 0
    assert "nowhere" in done.stderr


class TestInABrowser:
    """Opened from disk, as `make docs` says."""

    @pytest.mark.parametrize("width", [390, 1280])
    def test_no_page_is_wider_than_the_window(self, pages: list[Path], width: int) -> None:
        browser = pytest.importorskip("tests.service.browser")
        with browser.chromium() as chromium:
            visitor = browser.visit(chromium, pages[0].as_uri(), width=width)
            for each in pages:
                visitor.page.goto(each.as_uri())
                visitor.page.wait_for_function("document.fonts.status === 'loaded'")
                wide = visitor.page.evaluate("document.documentElement.scrollWidth")
                assert wide <= width, each.name
            assert visitor.complaints == []
            elsewhere = [
                r.url for r in visitor.requests if not r.url.startswith(("file:", "data:"))
            ]
            assert elsewhere == []

    def test_the_search_finds_something(self, site: Path) -> None:
        browser = pytest.importorskip("tests.service.browser")
        with browser.chromium() as chromium:
            page = browser.visit(chromium, (site / "how-to" / "epsilon.html").as_uri()).page
            page.locator("input.md-search__input").press_sequentially("gold questions")
            page.locator(".md-search-result__link").first.wait_for()
            results = page.locator(".md-search-result__link").evaluate_all(
                "links => links.map(link => link.href)"
            )
            assert any("gold-questions.html" in each for each in results)
            visited = page.locator(".md-search-result__link").first
            visited.click()
            page.wait_for_url("**/gold-questions.html*")
