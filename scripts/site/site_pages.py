# SPDX-License-Identifier: Apache-2.0
"""The repository's own pages as pages of the site, in the same folders, and the first page.

docs/README.md lists the pages by section. On the site what it has before them is the first page,
its sections are a page of their own and the table of contents. docs/evidence/README.md lists the
pages of its folder. A page that neither lists, and no listed page's list, is a warning.
"""

import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
INDEX = "index.md"
ALL = "all-pages.md"  # the list of all pages
CONTENTS = "docs/README.md"
EVIDENCE = "docs/evidence/README.md"
# Beside docs/: what pages lead to.
OTHERS = ("*.md", "examples/*/README.md", "recorder/**/*.md", "target/README.md")
REFERENCE = "Reference"  # the section that the pages made from code are listed in

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")
_SECTION = re.compile(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def page_names() -> list[str]:
    """Every page of the repository that is on the site, as git or a new file has it."""
    known = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--"]
    patterns = [f":(glob){one}" for one in ("docs/**/*.md", *OTHERS)]
    listing = subprocess.run(
        [*known, *patterns], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return sorted({name for name in listing.stdout.split() if (ROOT / name).is_file()})


def copied_pages() -> dict[str, str]:
    """The text of each page but the first, with links that lead to pages of the site."""
    names = page_names()
    copied = {
        name: with_links(name, (ROOT / name).read_text(encoding="utf-8"), names)
        for name in names
        if name != CONTENTS
    }
    copied[EVIDENCE] += "\n" + _tree("", _listed(copied[EVIDENCE], names, EVIDENCE))
    return copied


def with_links(name: str, text: str, names: Sequence[str]) -> str:
    """A page's text whose links to other pages hold on the site; other files are named instead."""
    at = INDEX if name == CONTENTS else name

    def mapped(link: re.Match[str]) -> str:
        picture, words, target, anchor = link.groups()
        path = os.path.normpath(PurePosixPath(name).parent / target)
        if picture:
            return f"![{words}]({_from(at, path)})"
        if path in (CONTENTS, "docs"):
            return f"[{words}]({_from(at, INDEX)})"
        if path in names:
            return f"[{words}]({_from(at, path)}{anchor or ''})"
        if f"{path}/README.md" in names:
            return f"[{words}]({_from(at, f'{path}/README.md')})"
        return words if path in words or words == "why" else f"{words} (`{path}`)"

    return _outside_fences(text, lambda part: _LINK.sub(mapped, part))


def first_pages(copied: Mapping[str, str], made: Sequence[str]) -> dict[str, str]:
    """The first page with the table of contents, and the list of all pages, from docs/README.md."""
    text = (ROOT / CONTENTS).read_text(encoding="utf-8")
    page = with_links(CONTENTS, text, list(copied))
    before, mark, lists = page.partition("## Start\n")
    trees = [
        _tree(title, _listed(body, list(copied)) + (list(made) if title == REFERENCE else []))
        for title, body in _SECTION.findall(page)
    ]
    more = f"[All pages]({ALL}) · {{ref}}`search <search>`\n"
    first = "\n".join([before, more, _tree("", [ALL]), *trees])
    return {INDEX: first, ALL: f"# All pages\n\n{mark}{lists}"}


def _listed(section: str, names: Sequence[str], page: str = INDEX) -> list[str]:
    """The pages that the items of a page's section begin with, in their order."""
    first = re.findall(r"^ *(?:- |\d+\. |\| )\[[^\]]*\]\(([^)#]+)\)", section, re.MULTILINE)
    folder = PurePosixPath(page).parent
    return [one for one in dict.fromkeys(first) if os.path.normpath(folder / one) in names]


def _tree(title: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    lines = [name.removesuffix(".md") for name in names]
    caption = [f":caption: {title}"] if title else []
    return "\n".join(["```{toctree}", *caption, ":hidden:", "", *lines, "```", ""])


def _from(page: str, target: str) -> str:
    return os.path.relpath(target, PurePosixPath(page).parent)


def _outside_fences(text: str, change: Callable[[str], str]) -> str:
    """Changes what of a page is no block of code."""
    parts, end = [], 0
    for fence in _FENCE.finditer(text):
        parts += [change(text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, change(text[end:])])
