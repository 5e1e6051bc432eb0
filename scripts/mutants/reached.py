# SPDX-License-Identifier: Apache-2.0
"""Which statements of the package each test of a file executes, and how long that takes.

The file runs once on sources in which each statement of a function is preceded by one that marks a
byte. The bytes are a file that all processes of a test map, so that a command that it starts counts
as the test does, and one that is killed, too.
"""

import hashlib
import json
import os
import subprocess
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tree_sitter
from tree_sitter import Node

from mutants.faults import PYTHON, functions
from mutants.mutant import Mutant
from mutants.noting import BYTES, MARKS, STARTED
from mutants.tree import Tree

PACKAGE = "python/heapfit"
HOOK = (
    f"import builtins, mmap, os; name = os.environ.get({MARKS!r}); "
    f"builtins.{BYTES} = mmap.mmap(os.open(name, os.O_RDWR), 0) if name else None\n"
)
MOST_SECONDS = 300  # of one test, which waits for nothing if it takes longer


@dataclass(frozen=True, slots=True)
class Statement:
    """Lines of a file, which count from 0."""

    file: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Seen:
    """A test without a fault: what it takes, and a bit of each statement that it executes."""

    name: str
    seconds: float
    statements: int


@dataclass(slots=True)
class Reached:
    """What was seen of each test file; kept in the tree until the file or the package changes."""

    tree: Tree  # whose sources mark from now on
    python: Path
    dear: Collection[str] = ()  # tests that are not run for it
    statements: list[Statement] = field(init=False, default_factory=list)
    _package: str = field(init=False)
    _seen: dict[str, list[Seen]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Reads the package as it is, and marks it."""
        digest = hashlib.sha256()
        for file in sorted((self.tree.top / PACKAGE).rglob("*.py")):
            text = file.read_text()
            digest.update(text.encode())
            name = os.fspath(file.relative_to(self.tree.top))
            file.write_text(with_marks(text, name, self.statements))
        self._package = digest.hexdigest()
        packages = next(self.python.parents[1].glob("lib/*/site-packages"))
        (packages / "marks.pth").write_text(HOOK)
        compile_by_content(self.tree, self.python)

    def tests(self, file: str, mutant: Mutant, most_seconds: int) -> list[Seen]:
        """Those of a file that execute a mutant's statement, the quickest first."""
        there = [
            (one.first, number)
            for number, one in enumerate(self.statements)
            if one.file == mutant.file and one.first < mutant.line <= one.last + 1
        ]
        bit = 1 << max(there)[1] if there else 0
        found = [one for one in self._seen_of(file, most_seconds) if one.statements & bit]
        return sorted(found, key=lambda one: one.seconds)

    def _seen_of(self, test: str, most_seconds: int) -> list[Seen]:
        """Of all tests of a file that pass; it is run where that is not known."""
        if test not in self._seen:
            kept = self.tree.top / "build/reached" / f"{test.replace('/', '-')}.json"
            key = self._key_of(test)
            read = json.loads(kept.read_text()) if kept.is_file() else {}
            if read.get("key") != key:
                read = {"key": key, "tests": self._observe(test, most_seconds)}
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_text(json.dumps(read))
            self._seen[test] = [
                Seen(name, one["seconds"], int(one["statements"], 16))
                for name, one in read["tests"].items()
            ]
        return self._seen[test]

    def _key_of(self, test: str) -> str:
        text = self._package + (self.tree.top / test).read_text()
        return hashlib.sha256(text.encode()).hexdigest()

    def _observe(self, test: str, most_seconds: int) -> dict[str, dict[str, Any]]:
        """Runs it; what is out of time by then is not seen, as nothing could be told by it."""
        marks = self.tree.top / "build/marks"
        marks.parent.mkdir(exist_ok=True)
        marks.write_bytes(bytes(len(self.statements)))
        noted = marks.with_suffix(".jsonl")
        noted.write_text("")
        settings = [f"{MARKS}={marks}"]
        options = [f"--deselect={one}" for one in self.dear]
        run_tests(self.tree, self.python, [test], most_seconds, settings, options)
        return dict(json.loads(line) for line in noted.read_text().splitlines())


def run_tests(
    tree: Tree, python: Path, tests: list[str], most_seconds: int,
    settings: Iterable[str] = (), options: Iterable[str] = ("-x",),
) -> int | None:  # fmt: skip
    """How pytest ends that runs these in their order, to the first failure."""
    started, listed = (tree.top / "build" / name for name in ("started", "tests.txt"))
    started.parent.mkdir(exist_ok=True)
    started.write_text(tests[0])
    listed.write_text("\n".join(tests))
    pytest = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    waiting = ["-o", f"faulthandler_timeout={MOST_SECONDS}", "-o", "faulthandler_exit_on_timeout=1"]
    command = [*pytest, "-p", "mutants.noting", *waiting, *options, f"@{listed}"]
    return tree.run(["env", f"{STARTED}={started}", *settings, *command], most_seconds)


def last_started(tree: Tree) -> str:
    """The test that ran last."""
    return (tree.top / "build/started").read_text()


def compile_by_content(tree: Tree, python: Path) -> None:
    """The package: a file that is changed twice in a second is compiled twice."""
    command = [python, "-m", "compileall", "-q", "--invalidation-mode=checked-hash"]
    subprocess.run([*command, tree.top / PACKAGE], check=True)


def with_marks(text: str, file: str, statements: list[Statement]) -> str:
    """A module whose functions' statements mark; adds them."""
    lines = text.split("\n")
    tree = tree_sitter.Parser(tree_sitter.Language(PYTHON.language)).parse(text.encode())
    found = {
        one.start_point.row: one
        for function, _ in functions(tree.root_node, ())
        for one in statements_in(function)
    }
    for line, one in sorted(found.items(), reverse=True):
        indent = " " * (len(lines[line]) - len(lines[line].lstrip()))
        lines.insert(line, f"{indent}if {BYTES}: {BYTES}[{len(statements)}] = 1")
        statements.append(Statement(file, line, one.end_point.row))
    return "\n".join(lines)


def statements_in(node: Node) -> Iterator[Node]:
    """All below a node that stand in a block, but docstrings."""
    for child in node.named_children:
        is_act = node.type == "block" and child.type not in {"comment", "case_clause"}
        if is_act and not is_text(child) and child.start_point.row > node.parent.start_point.row:
            yield child
        yield from statements_in(child)


def is_text(node: Node) -> bool:
    """Whether a statement is a string alone."""
    return node.type == "expression_statement" and node.named_children[0].type == "string"
