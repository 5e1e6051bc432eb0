# SPDX-License-Identifier: Apache-2.0
"""A page for each command: its own help, and the commands of other pages that show it."""

import os
import re
from collections.abc import Iterable

from heapfit.cli.main import all_commands, help_of
from site_pages import ROOT, page_names

FOLDER = "reference/commands"
_FENCE = re.compile(r"^```(?:sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^(?:\$ )?(heapfit .*)$", re.MULTILINE)
_MOST_EXAMPLES = 4


def command_pages() -> dict[str, str]:
    """The list of commands first, then each of them."""
    shown, names = commands_shown(), list(all_commands())
    pages = {
        f"{FOLDER}/{name}.md": _page(
            name, shown, [line for line in shown if line.startswith(f"heapfit {name} ")]
        )
        for name in names
    }
    links = [f"- [heapfit {name}](commands/{name}.md)" for name in names]
    tree = ["```{toctree}", ":hidden:", "", *(f"commands/{name}.md" for name in names), "```"]
    listed = "\n".join(["# Commands", "", *_block(help_of("")), "", *links, "", *tree, ""])
    return {"reference/commands.md": listed, **pages}


def commands_shown() -> dict[str, str]:
    """Commands that the repository's pages show and its tests run, each with its page."""
    shown: dict[str, str] = {}
    for page in page_names():
        blocks = _FENCE.findall((ROOT / page).read_text(encoding="utf-8"))
        for line in _COMMAND.findall("\n".join(blocks)):
            shown.setdefault(line, page)
    return shown


def _page(name: str, shown: dict[str, str], examples: list[str]) -> str:
    lines = [f"# heapfit {name}", "", *_block(help_of(name, is_all=True))]
    if examples:
        lines += ["", "## On other pages", ""]
    for line in examples[:_MOST_EXAMPLES]:
        there = os.path.relpath(shown[line], FOLDER)
        place = "../../index.md" if shown[line] == "docs/README.md" else there
        lines += [f"From [{shown[line]}]({place}):", "", "```sh", line, "```", ""]
    return "\n".join([*lines, ""])


def _block(lines: Iterable[str]) -> list[str]:
    return ["```text", *lines, "```"]
