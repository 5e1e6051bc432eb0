# SPDX-License-Identifier: Apache-2.0
"""A page for each C header that users include: what it says at its head, then its declarations."""

import re
from pathlib import Path

from site_pages import ROOT

FOLDER = "reference/c"
# Where headers lie, and the name by which a program includes them.
HEADERS = {"core/include": "hfit/*.h", "recorder/target": "*.h"}
_HEAD = re.compile(r"/\*[^\n]*SPDX[^\n]*\*/\n/\*\n(.*?)^ \*/\n", re.MULTILINE | re.DOTALL)
_STAR = re.compile(r"^ \* ?", re.MULTILINE)


def header_pages() -> dict[str, str]:
    """The list of headers first, then each of them."""
    found = {
        f"{FOLDER}/{path.stem}.md": _page(path.relative_to(ROOT / folder).as_posix(), path)
        for folder, pattern in HEADERS.items()
        for path in sorted((ROOT / folder).glob(pattern))
    }
    names = [Path(page).name for page in found]
    links = [f"- [{Path(name).stem}.h](c/{name})" for name in names]
    tree = ["```{toctree}", ":hidden:", "", *(f"c/{name}" for name in names), "```"]
    about = (
        "Headers of `core/`, which generated folders copy, and of the recorder for "
        "microcontrollers. `contract.h` says what every allocator promises; `config.h` has what "
        "a build can change."
    )
    listed = "\n".join(["# C headers", "", about, "", *links, "", *tree, ""])
    return {"reference/c.md": listed, **found}


def _page(name: str, path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    head = _HEAD.match(text)
    told = _STAR.sub("", head[1]).rstrip() if head else ""
    rest = text[head.end() :] if head else text
    prose = ["```text", *told.splitlines(), "```", ""] if told else []
    return "\n".join([f"# {name}", "", *prose, "```c", *rest.strip().splitlines(), "```", ""])
