# SPDX-License-Identifier: Apache-2.0
"""Which mutants are judged: drawn by a seed from all, or those of lines that have changed."""

import hashlib
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from mutants.faults import mutants_of
from mutants.mutant import Mutant

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Population:
    """Files whose functions are mutated, and the least share that tests should kill."""

    name: str
    patterns: tuple[str, ...]  # of files, from the repository's top
    aim: float

    def files(self, root: Path) -> list[str]:
        """From the repository's top, sorted."""
        found = {file for pattern in self.patterns for file in root.glob(pattern)}
        return sorted(str(file.relative_to(root)) for file in found)

    def mutants(self, root: Path) -> list[Mutant]:
        """All of them, whether they compile or not."""
        files = self.files(root)
        return [one for file in files for one in mutants_of(file, (root / file).read_bytes())]


ENGINE = ("engine/src/**/*.cpp", "engine/src/**/*.hpp", "engine/include/**/*.hpp")
DECIDING = ("comparison", "fitting", "design", "plan", "sizing", "generate")  # not printing alone
POPULATIONS = {
    "core": Population("core", ("core/src/**/*.[ch]",), 0.95),
    "engine": Population("engine", ENGINE, 0.85),
    "package": Population(
        "package", tuple(f"python/heapfit/{room}/**/*.py" for room in DECIDING), 0.85
    ),
}


def in_drawn_order(mutants: list[Mutant], seed: int) -> list[Mutant]:
    """Shuffled by a hash of seed and key, so that an edit changes its own function's place only."""

    def lot(mutant: Mutant) -> str:
        return hashlib.sha256(f"{seed} {mutant.key}".encode()).hexdigest()

    return sorted(mutants, key=lot)


def on_changed_lines(root: Path, mutants: list[Mutant], base: str) -> list[Mutant]:
    """Those on lines that differ from a commit's."""
    changed = changed_lines(root, base)
    return [one for one in mutants if one.line in changed.get(one.file, ())]


def changed_lines(root: Path, base: str) -> dict[str, set[int]]:
    """By file; lines that were only deleted leave none."""
    command = ["git", "diff", "--unified=0", "--no-color", "--no-ext-diff", base, "--"]
    diff = subprocess.run(
        command, cwd=root, check=False, capture_output=True, encoding="utf-8", errors="replace"
    )
    if diff.returncode != 0:
        sys.exit(f"git: {diff.stderr.strip().splitlines()[0]}")
    found: dict[str, set[int]] = {}
    file = ""
    for line in diff.stdout.split("\n"):
        if line.startswith("+++ "):
            file = line.removeprefix("+++ b/")
        elif hunk := _HUNK.match(line):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            found.setdefault(file, set()).update(range(first, first + count))
    return found
