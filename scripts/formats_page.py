# SPDX-License-Identifier: Apache-2.0
"""Prints docs/import-formats.md with its table as heapfit.importers lists the formats."""

import re
from pathlib import Path

from heapfit.importers import FORMATS

PAGE = Path(__file__).resolve().parents[1] / "docs/import-formats.md"
_TABLE = re.compile(r"(?<=^\| format \| what it is \|\n\|---\|---\|\n)(?:\|.*\n)+", re.MULTILINE)


def page() -> str:
    """The page as it should be."""
    rows = "".join(f"| `{one.name}` | {one.title} |\n" for one in FORMATS)
    return _TABLE.sub(lambda _: rows, PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    print(page(), end="")
