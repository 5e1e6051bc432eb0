# SPDX-License-Identifier: Apache-2.0
"""Which mutants are judged: drawn by a seed, new lines more often, or those that have changed."""

import hashlib
import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
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
    without: tuple[str, ...] = ()  # folders

    def files(self, root: Path) -> list[str]:
        """From the repository's top, sorted."""
        found = {file.relative_to(root) for one in self.patterns for file in root.glob(one)}
        return sorted(str(file) for file in found if not {*file.parts} & {*self.without})

    def mutants(self, root: Path) -> list[Mutant]:
        """All of them, whether they compile or not."""
        files = self.files(root)
        return [one for file in files for one in mutants_of(file, (root / file).read_bytes())]


ENGINE = ("engine/src/**/*.cpp", "engine/src/**/*.hpp", "engine/include/**/*.hpp")
TELLING = ("cli", "drawing", "outputs")  # which print, draw and write alone
NEWEST = 4.0  # times as often as a line that has stood for long a new one is drawn
HALVED = 7 * 86_400  # seconds in which what is above 1 halves: after a month it is 1.15
POPULATIONS = {
    "core": Population("core", ("core/src/**/*.[ch]",), 0.95),
    "engine": Population("engine", ENGINE, 0.85),
    "package": Population("package", ("python/heapfit/**/*.py",), 0.85, TELLING),
}


def in_drawn_order(
    mutants: list[Mutant], seed: int, ages: Mapping[str, Sequence[int]] | None = None
) -> list[Mutant]:
    """Shuffled by a hash of seed and key, so that an edit changes its own function's place only.

    `ages` are those of each file's lines, in seconds: new ones come sooner (Efraimidis and
    Spirakis, Weighted random sampling with a reservoir, 2006).
    """

    def lot(mutant: Mutant) -> float:
        drawn = hashlib.sha256(f"{seed} {mutant.key}".encode()).digest()
        lines = (ages or {}).get(mutant.file, ())
        age = lines[mutant.line - 1] if mutant.line <= len(lines) else 0
        weight = 1 + (NEWEST - 1) * 0.5 ** (age / HALVED) if ages else 1
        return -math.log((int.from_bytes(drawn[:8]) + 1) / (2**64 + 1)) / weight

    return sorted(mutants, key=lot)


def line_by_line(mutants: Iterable[Mutant], void: Collection[str] = ()) -> list[Mutant]:
    """In their order, but one of each line first, then a second of each, and so on.

    `void` are keys of those that are known to be none: a line that has one has its turn again.
    """
    met: Counter[tuple[str, int]] = Counter()
    turns = []
    for one in mutants:
        place = (one.file, one.line)
        turns.append((met[place], one))
        met[place] += one.key not in void
    return [one for _, one in sorted(turns, key=lambda turn: turn[0])]


def ages_of_lines(root: Path, files: Iterable[str]) -> dict[str, list[int]]:
    """Seconds from each line's last change to the newest commit; 0 of what is not committed."""
    newest = int(_run_git(root, "log", "-1", "--format=%ct"))
    found = {}
    for file in files:
        blame = _run_git(root, "blame", "--line-porcelain", "--", file)
        times = re.findall(r"^committer-time (\d+)$", blame, re.MULTILINE)
        found[file] = [max(0, newest - int(time)) for time in times]
    return found


def on_changed_lines(root: Path, mutants: list[Mutant], base: str) -> list[Mutant]:
    """Those on lines that differ from a commit's."""
    changed = changed_lines(root, base)
    return [one for one in mutants if one.line in changed.get(one.file, ())]


def changed_lines(root: Path, base: str) -> dict[str, set[int]]:
    """By file; lines that were only deleted leave none."""
    diff = _run_git(root, "diff", "--unified=0", "--no-color", "--no-ext-diff", base, "--")
    found: dict[str, set[int]] = {}
    file = ""
    for line in diff.split("\n"):
        if line.startswith("+++ "):
            file = line.removeprefix("+++ b/")
        elif hunk := _HUNK.match(line):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            found.setdefault(file, set()).update(range(first, first + count))
    return found


def _run_git(root: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=root, check=False, capture_output=True,
        encoding="utf-8", errors="replace",
    )  # fmt: skip
    if done.returncode != 0:
        sys.exit(f"git: {done.stderr.strip().splitlines()[0]}")
    return done.stdout
