"""The reference of the command line, made from the commands themselves when the site is built.

The line `<!-- every command -->` of a page is replaced by a section for each command: what it does,
its arguments and its flags, as `--help` says.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from typer.core import TyperGroup
from typer.main import get_command

from forsooth.cli import app

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = "<!-- every command -->"
_CODE = re.compile(r"(?<=[ (>])<code>[^<]*</code>")  # in a line
_EXAMPLES = re.compile(r"Example: (`forsooth .*?)(?=\n\n|\Z)", re.S)
_COMMAND = re.compile(r"`(forsooth [^`]*)`")
_FLAG = re.compile(r"--?[a-z][a-z-]*")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs with the Markdown of every page."""
    return markdown.replace(MARK, reference()) if MARK in markdown else markdown


def on_page_content(content: str, **_: Any) -> str:
    """Called by mkdocs with the HTML of every page: no line breaks after the hyphens of a flag."""
    return _CODE.sub(lambda code: _FLAG.sub(r'<span class="flag">\g<0></span>', code[0]), content)


def reference() -> str:
    """A section for every command that can be run."""
    return "\n\n".join(_section(name, command) for name, command in commands())


def commands() -> Iterator[tuple[str, Any]]:
    """Every command that can be run, with its whole name."""
    return _below("forsooth", get_command(app))


def _below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    group = isinstance(command, TyperGroup)
    if not group or (command.invoke_without_command and name != "forsooth"):
        yield name, command
    if group:
        for word, each in command.commands.items():
            yield from _below(f"{name} {word}", each)


def _section(name: str, command: Any) -> str:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option"]
    usage = [name, *(_usage(each) for each in arguments), "[OPTIONS]" if options else ""]
    parts = [
        f"### {name}",
        f"```text\n{' '.join(filter(None, usage))}\n```",
        _examples_in_a_block(command.help or ""),
        _table("argument", [(f"`{_metavar(each)}`", _meaning(each)) for each in arguments]),
        _table("flag", [(_flags(each), _meaning(each)) for each in options]),
    ]
    return "\n\n".join(filter(None, parts))


def _examples_in_a_block(text: str) -> str:
    """The examples on lines of their own, where they can be copied and scroll on a phone."""
    return _EXAMPLES.sub(_block, text)


def _block(found: re.Match[str]) -> str:
    lines = [" ".join(command.split()) for command in _COMMAND.findall(found[1])]
    return "\n".join(("Example:\n\n```sh", *lines, "```"))


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _usage(argument: Any) -> str:
    several = "…" if argument.nargs != 1 else ""
    return (
        f"{_metavar(argument)}{several}"
        if argument.required
        else f"[{_metavar(argument)}{several}]"
    )


def _flags(option: Any) -> str:
    value = "" if option.is_flag else f" {_metavar(option)}"
    return ", ".join(f"`{flag}{value}`" for flag in (*option.opts, *option.secondary_opts))


def _meaning(parameter: Any) -> str:
    """What `--help` says, with the default as it shows it."""
    return f"{parameter.help or ''}{_default(parameter)}"


def _default(parameter: Any) -> str:
    value, shown = parameter.default, parameter.show_default
    if parameter.required:
        return " *Required.*"
    if isinstance(shown, str):
        return f" *Default: {shown}.*"
    if not shown or value in (None, False, "", ()) or callable(value):
        return ""
    values = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return f" *Default:* `{values}`."


def _table(kind: str, rows: list[tuple[str, str]]) -> str:
    if not rows:
        return ""
    cells = [(kind, "meaning"), ("---", "---"), *rows]
    return "\n".join(f"| {_cell(first)} | {_cell(second)} |" for first, second in cells)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
