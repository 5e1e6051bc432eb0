# SPDX-License-Identifier: Apache-2.0
"""Mutants that no test can kill, each with the argument why, in equivalents.toml beside this file.

One is named by its file and function, the text of its line and what that becomes, so that it stays
named when other lines change.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mutants.mutant import Mutant, line_of


@dataclass(frozen=True, slots=True)
class Equivalent:
    """As it stands in the file; `becomes` is the new text of `was`, a part of `line`."""

    file: str
    function: str
    line: str
    was: str
    becomes: str
    reason: str

    def matches(self, row: dict[str, str]) -> bool:
        """Whether a kept row is this mutant."""
        names = ("file", "function", "was", "becomes")
        return row["text"] == self.line and all(row[name] == getattr(self, name) for name in names)


@cache
def equivalents(root: Path) -> list[Equivalent]:
    """All that are named."""
    file = root / "scripts/mutants/equivalents.toml"
    return [Equivalent(**one) for one in tomllib.loads(file.read_text()).get("mutant", [])]


def is_named(root: Path, top: Path, mutant: Mutant) -> bool:
    """Whether a mutant of the tree at `top` is named: nothing need be run on it."""
    row = {name: str(getattr(mutant, name)) for name in ("file", "function", "was", "becomes")}
    return any(one.matches({**row, "text": line_of(top, mutant)}) for one in equivalents(root))


def named_equivalents(root: Path, rows: Iterable[dict[str, str]]) -> set[str]:
    """The keys of those kept rows that are named."""
    named = equivalents(root)
    return {row["key"] for row in rows if any(one.matches(row) for one in named)}
