# SPDX-License-Identifier: Apache-2.0
"""Judges mutants of core by its unit tests, the contract suite, attacks, battery and bit flips.

Only tests of the allocators that include the faulty file are run, the quick ones first, until one
fails. Tests are compiled with -O1, which halves a mutant's cost.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from mutants.mutant import Mutant
from mutants.native import Build
from mutants.tree import Tree
from mutants.verdict import INVALID, SAME, Judge, Verdict

TESTS = ("tests/core", "tests/contract", "tests/attack", "tests/battery", "tests/faults")
LIBRARIES = [f"tests/contract/libhfit_level{level}.a" for level in (1, 0, 2)]
FOR_ALL = ('"../contract/plans.h"', '"every_plan.h"')  # what a unit test of all allocators includes
SLOW = ("test_huge_regions.c",)  # half a minute
CPU_SECONDS = 15  # the longest of the others takes 4
_INCLUDE = re.compile(r'^#include "(src/[^"]+|[^"/]+)"', re.MULTILINE)


class CoreJudge(Judge):
    """Builds and runs what concerns a mutant in a tree of its own."""

    tests = TESTS

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.tree = Tree(root, "core")
        self.sources = allocators_of(root)
        self.units = {file: file.read_text() for file in sorted((root / "tests/core").glob("*.c"))}
        options = ["-DCMAKE_BUILD_TYPE=", "-DCMAKE_C_FLAGS=-O1 -DNDEBUG", "-DHFIT_BUILD_ENGINE=OFF"]
        self.build = Build(self.tree, "core", [*options, "-DHFIT_UNIT_LEVELS=0;1;2;3"])
        self.sound = self.build.made(LIBRARIES) or sys.exit("core does not compile")

    def judge(self, mutant: Mutant) -> Verdict:
        """What the tests say of one mutant."""
        names = [name for name, files in self.sources.items() if mutant.file in files]
        steps = list(self.steps(names or list(self.sources)))
        with self.tree.faulty(mutant):
            source = self.tree.top / (self.source_of(names[0]) if names else mutant.file)
            if not self.build.compiles(source) or (made := self.build.made(LIBRARIES[:1])) is None:
                return Verdict(INVALID)
            if made == self.sound[:1] and self.build.made(LIBRARIES) == self.sound:
                return Verdict(SAME)
            failing, verdict = self.first_failure(steps)
        self.require_sound(failing)
        return verdict

    def source_of(self, name: str) -> str:
        """The .c file of an allocator."""
        return next(file for file in self.sources[name] if file.endswith(f"/{name}.c"))

    def code_of(self, test: str) -> int | None:
        """How a step ends; 1 if a white-box test does not compile."""
        _, program, *arguments = test.split()
        if not self.build.build([program]):
            return 1
        return self.tree.run([self.build.folder / program, *arguments], CPU_SECONDS)

    def steps(self, names: list[str]) -> Iterator[str]:
        """What is run for some allocators, in its order: the tests' place, program, arguments.

        The programs are those that the build has of a file, whatever their names.
        """
        for file, text in sorted(self.units.items(), key=lambda one: one[0].stem[5:] not in names):
            if file.name not in SLOW and any(name in text for name in (*names, *FOR_ALL)):
                for program in self.programs(f"tests/core/{file.name}"):
                    yield f"tests/core/{file.name} {program}"
        contracts = self.programs("tests/contract/contract.c")
        for name in names:
            yield f"tests/contract {contracts[0]} {name} 50000"
        yield f"tests/attack {self.programs('tests/attack/explorer.c')[0]}"
        for name in names:
            yield f"tests/attack {self.programs('tests/attack/second_frees.c')[0]} 20000 {name}"
        for name in names:
            yield f"tests/attack {self.programs('tests/attack/damaged_words.c')[0]} 1000000 {name}"
        for contract in contracts[1:]:
            for name in names:
                yield f"tests/contract {contract} {name} 2000"
        for battery in self.programs("tests/battery/battery.c"):
            for name in names if not battery.endswith("0") else ():  # where attacks do harm
                yield f"tests/battery {battery} {name}"
        yield f"tests/faults {self.programs('tests/faults/faults.c')[0]}"

    def programs(self, file: str) -> list[str]:
        """Of a file of tests, that of the level which firmware has first; ends if there is none."""
        found = self.build.programs.get(file) or sys.exit(f"{file}: no program is built of it")
        return sorted(found, key=lambda program: (not program.endswith("1"), program))


def allocators_of(root: Path) -> dict[str, set[str]]:
    """Each allocator of core, and the files of core/src that its source includes in the end."""
    lines = (root / "core/allocators.def").read_text()
    found = {}
    for name in re.findall(r"^HFIT_ALLOCATOR\((\w+)\)", lines, re.MULTILINE):
        source = next((root / "core/src").rglob(f"{name}.c"))
        found[name] = {str(file.relative_to(root)) for file in included(root, source)}
    return found


def included(root: Path, source: Path) -> set[Path]:
    """A file of core and all that it includes of core/src."""
    found: set[Path] = set()
    left = [source]
    while left:
        file = left.pop()
        found.add(file)
        for name in _INCLUDE.findall(file.read_text()):
            beside, from_top = file.parent / name, root / "core" / name
            target = beside if beside.is_file() else from_top
            if target.is_file() and target not in found:
                left.append(target)
    return found
