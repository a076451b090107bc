"""A flag has one type and one meaning in every command, and old names still work."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from forsooth.cli import app, renamed
from tests.conftest import Command

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"


def commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every command that can be run, by its name after ``forsooth``."""
    yield name, command
    if isinstance(command, TyperGroup):
        for word, each in command.commands.items():
            yield from commands(each, f"{name} {word}".strip())


COMMANDS = dict(commands(get_command(app)))


def options(name: str) -> list[Any]:
    return [each for each in COMMANDS[name].params if each.param_type_name == "option"]


def flags(option: Any) -> list[str]:
    return [flag for flag in option.opts if flag.startswith("--")]


def takes(option: Any) -> str:
    """What stands after the flag."""
    return "" if option.is_flag else option.metavar or "?"


def kind(name: str, option: Any) -> object:
    """The type of one value: of ``int | None`` and of ``list[int]`` it is int."""
    hinted: Any = get_type_hints(inspect.unwrap(COMMANDS[name].callback)).get(option.name)
    while parts := [part for part in get_args(hinted) if part is not type(None)]:
        (hinted,) = parts
    return hinted


def used() -> dict[str, dict[str, Any]]:
    """By flag the commands that have it, with their options."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for name in COMMANDS:
        for option in options(name):
            for flag in flags(option):
                found[flag][name] = option
    return found


@pytest.mark.parametrize("flag", sorted(used()))
def test_a_flag_means_the_same_in_every_command(flag: str) -> None:
    found = used()[flag].values()
    assert len({takes(option) for option in found}) == 1, "different metavars"
    assert len({kind(name, option) for name, option in used()[flag].items()}) == 1, "other types"
    assert len({option.is_flag for option in found}) == 1
    shorts = {tuple(sorted(set(option.opts) - set(flags(option)))) for option in found}
    assert len(shorts) == 1, "different short names"
    assert "?" not in {takes(option) for option in found}, "a value without a metavar"


@pytest.mark.parametrize("flag", sorted(used()))
def test_the_ending_of_a_flag_says_what_it_takes(flag: str) -> None:
    """The rule of CONTRIBUTING.md."""
    taken = {takes(option) for option in used()[flag].values()}
    if flag in ("--workers", "--tasks", "--processes", "--repeats", "--seed"):
        assert taken == {"N"}
    if re.search(r"[a-z]-(list|file|output)$", flag):
        assert taken == {"FILE"}
    if flag in ("--epsilons", "--mechanisms", "--methods", "--truth-values"):
        assert next(iter(taken)).endswith(",…")


def test_every_command_prints_json_and_explains_itself() -> None:
    for name, command in COMMANDS.items():
        if isinstance(command, TyperGroup) and name != "serve":
            continue
        assert "--json" in {flag for option in options(name) for flag in flags(option)}, name
        assert "Example: `forsooth " in command.help, name
        for option in options(name):
            assert option.help, f"{name} {option.opts}"
            assert option.help[-1] in ".)", f"{name} {option.opts}: {option.help}"


def test_the_page_about_the_commands_is_complete() -> None:
    """docs/commands.md: flag, value, commands."""
    listed = {}
    rows = re.findall(
        r"^\| `(--[a-z-]+)(?: ([^`]+))?`[^|]*\|[^|]+\| ([^|]+) \|$", PAGE.read_text(), re.M
    )
    for flag, value, where in rows:
        listed[flag] = (value, set(where.split(", ")))
    expected = {
        flag: (takes(next(iter(found.values()))), {name or "forsooth" for name in found})
        for flag, found in used().items()
        if flag not in ("--help", "--install-completion", "--show-completion")
    }
    everywhere = {name for name in COMMANDS if "--json" in str([o.opts for o in options(name)])}
    expected["--json"] = ("", {"every command"})
    assert everywhere
    assert listed == expected


def test_old_names_are_free_and_new_ones_exist() -> None:
    for name, names in renamed.RENAMED.items():
        present = {flag for option in options(name) for flag in flags(option)}
        assert not present & set(names), "an old name cannot have a new meaning yet"
        assert set(names.values()) <= present


@pytest.mark.parametrize("name", renamed.RENAMED)
def test_old_names_are_on_the_page(name: str) -> None:
    for old, new in renamed.RENAMED[name].items():
        assert f"| `{name}` | `{old}` | `{new}` |" in PAGE.read_text()


def test_new_names_take_the_place_of_old_ones() -> None:
    names = {"--tasks": "--task-list"}
    given = ["a.csv", "--tasks", "t.csv", "--tasks=u.csv", "--json", "--", "--tasks"]
    found = renamed.with_new_names(given, names)
    assert found == [
        "a.csv",
        "--task-list",
        "t.csv",
        "--task-list=u.csv",
        "--json",
        "--",
        "--tasks",
    ]


def test_an_old_name_works_and_names_the_new_one(forsooth: Command) -> None:
    old, new = (
        forsooth("bound", "rr", flag, 4, "--json") for flag in ("--truth", "--truth-values")
    )
    assert old.stdout == new.stdout
    assert new.stderr == ""
    assert old.stderr.splitlines() == [
        "note: --truth is now --truth-values; the old name goes away with the next release"
    ]
    assert "--truth " not in forsooth("bound", "rr", "--help").stdout
    assert "--processes" in forsooth("serve", "--workers", "0").stderr
