"""Flags that have a new name: for one release the old one still works and names the new one."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

from forsooth.cli.console import notice

# command → old flag → new flag; remove in 0.3.0
RENAMED: dict[str, dict[str, str]] = {
    "perturb": {"--tasks": "--task-list", "--workers": "--worker-list"},
    "infer": {"--workers": "--worker-output", "--differences": "--differences-output"},
    "evaluate": {
        "--truth": "--truth-file",
        "--epsilon": "--epsilons",
        "--mechanism": "--mechanisms",
        "--method": "--methods",
    },
    "reproduce": {"--truth": "--truth-file"},
    "plan": {"--truth": "--truth-prior"},
    "design": {"--truth": "--truth-prior"},
    "audit": {"--truth-inputs": "--answers"},
    "bench": {"--figure": "--plot"},
    "bound lp": {"--truth": "--truth-values"},
    "bound rr": {"--truth": "--truth-values"},
    "serve": {"--workers": "--processes"},
}


def command(name: str) -> type[TyperCommand]:
    """The class of a command whose old flags still work."""

    class Renaming(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            return super().parse_args(ctx, with_new_names(args, RENAMED[name]))

    return Renaming


def group(name: str) -> type[TyperGroup]:
    """The same for a command that has commands of its own."""

    class RenamingGroup(TyperGroup):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            return super().parse_args(ctx, with_new_names(args, RENAMED[name]))

    return RenamingGroup


def with_new_names(arguments: list[str], names: dict[str, str]) -> list[str]:
    """The arguments with today's flags; one line on standard error for each old one."""
    found, mentioned = [], set()
    flags = arguments[: arguments.index("--")] if "--" in arguments else arguments
    for argument in flags:
        old, equals, value = argument.partition("=")
        if old in names:
            mentioned.add(old)
            argument = f"{names[old]}{equals}{value}"
        found.append(argument)
    for old in sorted(mentioned):
        notice(f"{old} is now {names[old]}; the old name goes away with the next release")
    return found + arguments[len(flags) :]
