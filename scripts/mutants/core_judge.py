# SPDX-License-Identifier: Apache-2.0
"""Judges mutants of core by its unit tests, the contract suite, attacks, battery and bit flips.

All mutants of a run are compiled into the tests at once (`variants.py`), with -O1. Each test is run
once without a fault, which tells its time and the functions that it calls. A mutant is then met by
the tests that call its function: those that noticed its neighbours first, then the quickest,
until one fails.
"""

import re
import resource
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path

from mutants.mutant import Mutant
from mutants.native import Build
from mutants.tree import Tree
from mutants.variants import MOST, numbered, refused, with_variants
from mutants.verdict import INVALID, KILLED, LEFT, SAME, SURVIVED, TIMEOUT, Judge, Verdict

TESTS = ("tests/core", "tests/contract", "tests/attack", "tests/battery", "tests/faults")
LEVELS = (1, 0, 2)  # at which a fault may come to the same machine code
FOR_ALL = ('"../contract/plans.h"', '"every_plan.h"')  # what a unit test of all allocators includes
SLOW = ("test_huge_regions.c",)  # half a minute
CPU_SECONDS = 30  # the longest of the others takes 10
PATIENCE = 3  # times as long as without a fault, and a second more
BRIEF = 0.3  # seconds of a step that a quick run takes: most mutants are noticed in less
_INCLUDE = re.compile(r'^#include "(src/[^"]+|[^"/]+)"', re.MULTILINE)


class CoreJudge(Judge):
    """Builds the tests with all faults in a tree of their own, and runs them."""

    tests = TESTS

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.root = root
        self.tree = Tree(root, "core")  # as it stands, but for a fault that may be none
        self.faulty = Tree(root, "core-faulty")  # with all of them
        self.sources = allocators_of(root)
        self.units = {file: file.read_text() for file in sorted((root / "tests/core").glob("*.c"))}
        flags = "-O1 -fno-inline -w -DNDEBUG"  # inline, each copy would have the choice again
        options = ["-DCMAKE_BUILD_TYPE=", f"-DCMAKE_C_FLAGS={flags}", "-DHFIT_BUILD_ENGINE=OFF"]
        self.build = Build(self.faulty, "core", [*options, "-DHFIT_UNIT_LEVELS=0;1;2;3"])
        self.numbers: dict[str, int] = {}  # of the mutants that are compiled in
        self.calls: dict[str, bytes] = {}  # by test: 1 for each number whose function it calls
        self.seconds: dict[str, float] = {}
        self.long: list[str] = []  # steps that only what is left meets
        self.sound: dict[tuple[str, int], bytes] = {}  # code without a fault, by source and level
        self.noticed: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)

    def prepare(self, mutants: Iterable[Mutant]) -> None:
        """Compiles all of them in, but those that do not compile."""
        chosen = numbered(mutants)
        self.write(chosen)
        wrong = self.refused()
        chosen = {number: one for number, one in chosen.items() if number not in wrong}
        self.write(chosen)
        self.numbers = {one.key: number for number, one in chosen.items()}
        files = {one.file for one in chosen.values()}
        names = [name for name, included in self.sources.items() if files & included]
        quick, self.long = (list(steps) for steps in self.steps(names or list(self.sources)))
        self.long = [] if self.is_quick else self.long
        if not self.build.build(sorted({step.split()[1] for step in (*quick, *self.long)})):
            sys.exit("core's tests do not compile with the mutants in them")
        for step in quick:
            self.try_out(step)

    def write(self, chosen: dict[int, Mutant]) -> None:
        """The sources of core with these mutants in them."""
        of_file: dict[str, dict[int, Mutant]] = defaultdict(dict)
        for number, one in chosen.items():
            of_file[one.file][number] = one
        for path in sorted((self.root / "core/src").rglob("*.[ch]")):
            file = str(path.relative_to(self.root))
            self.write_file(file, with_variants(file, path.read_bytes(), of_file[file]))
        compiler = "core/include/hfit/compiler.h"
        text = (self.root / compiler).read_bytes()
        self.write_file(
            compiler, re.sub(rb"__attribute__\(\((always_inline|flatten)\)\)", b"", text)
        )

    def write_file(self, file: str, text: bytes) -> None:
        """In the tree with the faults, if it differs: what is built from it stays if not."""
        if (self.faulty.top / file).read_bytes() != text:
            (self.faulty.top / file).write_bytes(text)

    def refused(self) -> set[int]:
        """The numbers that some source with core's code does not compile with."""
        found: set[int] = set()
        for file in self.build.commands:
            if file.is_relative_to(self.faulty.top / "core/src") or file.parent.name == "core":
                found |= refused(self.build.errors(file))
        return found

    def try_out(self, step: str) -> None:
        """Runs a step without a fault; one that fails is named, and left out."""
        reached = self.faulty.top / "build/reached"
        reached.write_bytes(bytes(MOST))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code = self.run(step, CPU_SECONDS, f"HFIT_REACHED={reached}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.seconds[step] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.calls[step] = reached.read_bytes()
        if code != 0:
            print(f"{step}: fails without any mutant ({code}), and is left out", flush=True)
            self.failing.add(step)

    def judge(self, mutant: Mutant) -> Verdict:
        """What the tests say of one mutant; the long ones only of what is other machine code."""
        number = self.numbers.get(mutant.key)
        if number is None:
            return Verdict(INVALID)
        noticed = self.noticed[(mutant.file, mutant.function)]
        quick = (one for one in self.calls if one not in self.long)
        ordered = sorted(quick, key=lambda one: (-noticed[one], self.seconds[one]))
        brief = [one for one in ordered if self.seconds[one] <= BRIEF]
        found = self.first_noticing(brief if self.is_quick else ordered, number, noticed)
        if found is None and self.is_same(mutant):
            return Verdict(SAME)
        if self.is_quick:
            return found or Verdict(LEFT)
        return found or self.first_noticing(self.long, number, noticed) or Verdict(SURVIVED)

    def first_noticing(
        self, steps: Iterable[str], number: int, noticed: Counter[str]
    ) -> Verdict | None:
        """The verdict of the first step that does not end well with a mutant; None if all do."""
        for step in steps:
            if step not in self.calls:
                self.try_out(step)
            if step in self.failing or not self.calls[step][number]:
                continue
            limit = int(PATIENCE * self.seconds[step]) + 1
            code = self.run(step, limit, f"HFIT_MUTANT={number}")
            if code != 0:
                noticed[step] += 1
                return Verdict(TIMEOUT if code is None else KILLED, step.split()[0])
        return None

    def code_of(self, test: str) -> int | None:
        """How a step ends without a fault."""
        return self.run(test, CPU_SECONDS, "HFIT_MUTANT=0")

    def run(self, step: str, seconds: int, setting: str) -> int | None:
        """The end of a step: a program of the build with its arguments."""
        _, program, *arguments = step.split()
        return self.faulty.run(["env", setting, self.build.folder / program, *arguments], seconds)

    def is_same(self, mutant: Mutant) -> bool:
        """Whether the allocators that include its file come to the same machine code."""
        names = [name for name, files in self.sources.items() if mutant.file in files]
        sources = [self.source_of(name) for name in names] or [mutant.file]
        return all(self.is_same_at(mutant, *one) for one in product(sources, LEVELS))

    def is_same_at(self, mutant: Mutant, source: str, level: int) -> bool:
        """Whether one of them does at a level; what it is without a fault is compiled once."""
        if (source, level) not in self.sound:
            self.sound[source, level] = self.code(source, level)
        with self.tree.faulty(mutant):
            return self.code(source, level) == self.sound[source, level]

    def code(self, source: str, level: int) -> bytes:
        """What a source is compiled to at a level; nothing if it does not compile."""
        top, made = self.tree.top, self.tree.top / "build.o"
        command = ["gcc", "-std=c11", "-O1", "-w", "-ffreestanding", "-DNDEBUG", "-c",
                   f"-I{top}/core", f"-I{top}/core/include", f"-I{top}/tests/contract",
                   '-DHFIT_CONFIG_FILE="contract_config.h"', f"-DHFIT_SAFETY={level}",
                   top / source, "-o", made]  # fmt: skip
        told = subprocess.run(command, check=False, capture_output=True)
        return made.read_bytes() if told.returncode == 0 else b""

    def source_of(self, name: str) -> str:
        """The .c file of an allocator."""
        return next(file for file in self.sources[name] if file.endswith(f"/{name}.c"))

    def steps(self, names: list[str]) -> tuple[Iterator[str], Iterator[str]]:
        """What is run for some allocators: the tests' place, program, arguments; what is quick,
        then what only those meet that are left.

        The programs are those that the build has of a file, whatever their names.
        """
        return self.quick_steps(names), self.long_steps(names)

    def quick_steps(self, names: list[str]) -> Iterator[str]:
        """Unit tests, and little of what draws."""
        for file, text in self.units.items():
            if file.name not in SLOW and any(name in text for name in (*names, *FOR_ALL)):
                for program in self.programs(f"tests/core/{file.name}"):
                    yield f"tests/core/{file.name} {program}"
        for name in names:
            for contract in self.programs("tests/contract/contract.c"):
                yield f"tests/contract {contract} {name} 500"
            for attack in ("second_frees", "damaged_words"):
                yield f"tests/attack {self.programs(f'tests/attack/{attack}.c')[0]} 5000 {name}"

    def long_steps(self, names: list[str]) -> Iterator[str]:
        """As much as core's own tests draw, or nearly."""
        contracts = self.programs("tests/contract/contract.c")
        yield f"tests/attack {self.programs('tests/attack/explorer.c')[0]}"
        for name in names:
            for battery in self.programs("tests/battery/battery.c"):
                if not battery.endswith("0"):  # where attacks do harm
                    yield f"tests/battery {battery} {name}"
            for contract, steps in zip(contracts, (50_000, 2_000, 2_000, 2_000), strict=True):
                yield f"tests/contract {contract} {name} {steps}"
            yield f"tests/attack {self.programs('tests/attack/second_frees.c')[0]} 20000 {name}"
            yield f"tests/attack {self.programs('tests/attack/damaged_words.c')[0]} 1000000 {name}"
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
