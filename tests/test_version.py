"""The version, which is written once, the digest of the source, and the extras."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import forsooth
from forsooth import version

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_version_is_written_in_one_place() -> None:
    assert forsooth.__version__ == version.__version__
    assert "version" not in PROJECT["project"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/forsooth/version.py"


def test_the_changelog_begins_with_this_version() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    newest = next(line for line in lines if line.startswith("## "))
    released, _, development = forsooth.__version__.partition(".dev")
    if development:
        assert newest == f"## {released}.dev (unreleased)"
    else:
        assert re.fullmatch(rf"## {re.escape(released)} \(\d{{4}}-\d\d-\d\d\)", newest)


def test_the_citation_is_of_the_latest_release() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    cited = re.search(r'^version: (\S+)\ndate-released: "(\S+)"$', text, re.M)
    assert cited is not None
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.search(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", changes, re.M)
    assert released is not None
    assert cited.groups() == released.groups()


def test_every_extra_is_looked_for() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    assert set(version.EXTRAS) == set(extras) - {"all", "dev", "docs"}
    assert extras["all"] == [f"forsooth[{','.join(sorted(version.EXTRAS))}]"]
    for extra, modules in version.EXTRAS.items():
        required = {line.split(">")[0].split("[")[0].replace("-", "_") for line in extras[extra]}
        assert set(modules) <= required


def test_an_extra_is_found_if_all_its_modules_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "EXTRAS", {"fast": ("json", "no_such_module"), "plots": ("json",)})
    assert version.extras() == {"fast": False, "plots": True}


def test_any_change_of_the_source_changes_the_digest(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    one, two = tmp_path / "one.py", tmp_path / "inner" / "two.py"
    one.write_text("a = 1\n")
    two.write_text("b = 2\n")
    digests = [version.source_digest(tmp_path)]
    assert version.source_digest(tmp_path) == digests[0]
    (tmp_path / "inner" / "two.pyc").write_bytes(b"bytecode is not source")
    assert version.source_digest(tmp_path) == digests[0]
    one.write_text("a = 2\n")
    digests.append(version.source_digest(tmp_path))
    two.rename(tmp_path / "two.py")
    digests.append(version.source_digest(tmp_path))
    one.unlink()
    digests.append(version.source_digest(tmp_path))
    assert len(set(digests)) == 4


def test_the_exact_version_has_both() -> None:
    assert version.exact_version() == f"{forsooth.__version__}+{version.source_digest()}"
    assert "an earlier version of forsooth; this is" in version.made_by_other(None)
    assert "forsooth 9.1+ab; this is" in version.made_by_other("9.1+ab")
