# SPDX-License-Identifier: Apache-2.0
"""A page for each command: its own help, and the commands of other pages that show it."""

import os
import re
from collections.abc import Sequence

import typer

from heapfit.cli.main import make_app
from heapfit.cli.printing.help_screen import HelpCommand
from site_pages import ROOT, page_names

FOLDER = "reference/commands"
_FENCE = re.compile(r"^```(?:sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^(?:\$ )?(heapfit .*)$", re.MULTILINE)
_MOST_EXAMPLES = 4


def command_pages() -> dict[str, str]:
    """The list of commands first, then each of them."""
    group = typer.main.get_command(make_app())
    shown = commands_shown()
    with group.make_context("heapfit", [], resilient_parsing=True) as context:
        names = group.list_commands(context)
        pages = {
            f"{FOLDER}/{_file(name)}": _page(
                name,
                group.get_command(context, name),
                shown,
                [line for line in shown if _command_of(line, names) == name],
            )
            for name in names
        }
        overview = context.get_help()
    links = [f"- [heapfit {name}](commands/{_file(name)})" for name in names]
    tree = ["```{toctree}", ":hidden:", "", *(f"commands/{_file(name)}" for name in names), "```"]
    listed = "\n".join(["# Commands", "", *_block(overview), "", *links, "", *tree, ""])
    return {"reference/commands.md": listed, **pages}


def _command_of(line: str, names: Sequence[str]) -> str:
    """The command of a line; some have two words, and the first of them is another."""
    return max((one for one in names if line.startswith(f"heapfit {one} ")), key=len, default="")


def commands_shown() -> dict[str, str]:
    """Commands that the repository's pages show and its tests run, each with its page."""
    shown: dict[str, str] = {}
    for page in page_names():
        blocks = _FENCE.findall((ROOT / page).read_text(encoding="utf-8"))
        for line in _COMMAND.findall("\n".join(blocks)):
            shown.setdefault(line, page)
    return shown


def _file(name: str) -> str:
    return f"{name.replace(' ', '-')}.md"


def _page(name: str, command: HelpCommand, shown: dict[str, str], examples: list[str]) -> str:
    with command.make_context(f"heapfit {name}", [], resilient_parsing=True) as context:
        command.shows_all = True
        told = command.get_help(context)
    lines = [f"# heapfit {name}", "", *_block(told)]
    if examples:
        lines += ["", "## On other pages", ""]
    for line in examples[:_MOST_EXAMPLES]:
        there = os.path.relpath(shown[line], FOLDER)
        place = "../../index.md" if shown[line] == "docs/README.md" else there
        lines += [f"From [{shown[line]}]({place}):", "", "```sh", line, "```", ""]
    return "\n".join([*lines, ""])


def _block(text: str) -> list[str]:
    return ["```text", *text.strip().splitlines(), "```"]
