# SPDX-License-Identifier: Apache-2.0
"""Which functions of the package a test file calls, and what it costs: seen while it runs.

It runs once on sources in which each function's first act is to mark a byte. The bytes are a file
that all its processes map, so that a command that a test starts counts as the test does, and one
that is killed, too.
"""

import hashlib
import json
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import tree_sitter
from tree_sitter import Node

from mutants.faults import PYTHON, functions
from mutants.tree import Tree

MARKS = "HEAPFIT_MARKS"  # the environment's name of the file of bytes
PACKAGE = "python/heapfit"
BYTES = "marks_of_reach"  # and the name of those that all modules see
HOOK = (
    f"import builtins, mmap, os; name = os.environ.get({MARKS!r}); "
    f"builtins.{BYTES} = mmap.mmap(os.open(name, os.O_RDWR), 0) if name else None\n"
)


@dataclass(frozen=True, slots=True)
class Run:
    """A test file without a fault: `functions` as file::name, `seconds` of processor time.

    `failing` are its tests that fail in the tree anyway, for want of something: they tell nothing.
    """

    functions: list[str]
    seconds: float
    failing: list[str]


@dataclass(slots=True)
class Reached:
    """What was seen of each test file; kept in the tree until the file or the package changes."""

    tree: Tree
    python: Path
    seen: dict[str, Run] = field(default_factory=dict)
    _sources: dict[Path, str] = field(init=False)

    def __post_init__(self) -> None:
        """Reads the package as it is."""
        files = sorted((self.tree.top / PACKAGE).rglob("*.py"))
        self._sources = {file: file.read_text() for file in files}
        packages = next(self.python.parents[1].glob("lib/*/site-packages"))
        (packages / "marks.pth").write_text(HOOK)

    def run_of(self, test: str, most_seconds: int) -> Run:
        """Of a test file; it is run where that is not known."""
        if test not in self.seen:
            kept = self.tree.top / "build/reached" / f"{test.replace('/', '-')}.json"
            key = self._key_of(test)
            read = json.loads(kept.read_text()) if kept.is_file() else {}
            if read.pop("key", "") != key:
                read = asdict(self._observe(test, most_seconds))
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_text(json.dumps({"key": key, **read}))
            self.seen[test] = Run(**read)
        return self.seen[test]

    def _key_of(self, test: str) -> str:
        texts = [*self._sources.values(), (self.tree.top / test).read_text()]
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()

    def _observe(self, test: str, most_seconds: int) -> Run:
        """Runs it; what is out of time calls nothing, as nothing could be told by it."""
        marks, results = (self.tree.top / "build" / name for name in ("marks", "results.xml"))
        marks.parent.mkdir(exist_ok=True)
        results.unlink(missing_ok=True)
        command = [*pytest_command(self.python), f"--junitxml={results}", test]
        before = seconds_of_children()
        with self._marking() as names:
            marks.write_bytes(bytes(len(names)))
            self.tree.run(["env", f"{MARKS}={marks}", *command], most_seconds)
        seconds = round(seconds_of_children() - before, 1)
        if not results.is_file():
            return Run([], seconds, [])
        called = (name for name, mark in zip(names, marks.read_bytes(), strict=True) if mark)
        cases = ElementTree.parse(results).iter("testcase")
        wrong = {
            one.get("name")
            for one in cases
            for end in ("failure", "error")
            if one.find(end) is not None
        }
        return Run(sorted(called), seconds, sorted(f"{test}::{name}" for name in wrong))

    @contextmanager
    def _marking(self) -> Iterator[list[str]]:
        """With functions that mark; their names, in the order of their bytes."""
        names: list[str] = []
        try:
            for file, text in self._sources.items():
                marked = with_marks(text, os.fspath(file.relative_to(self.tree.top)), names)
                file.write_text(marked)
            yield names
        finally:
            for file, text in self._sources.items():
                file.write_text(text)


def with_marks(text: str, file: str, names: list[str]) -> str:
    """A module whose outermost functions and methods mark; adds their names."""
    lines = text.split("\n")
    tree = tree_sitter.Parser(tree_sitter.Language(PYTHON.language)).parse(text.encode())
    for function, name in reversed(list(functions(tree.root_node, ()))):
        line = first_act(function)
        if line is not None and line > function.start_point.row:
            indent = " " * (len(lines[line]) - len(lines[line].lstrip()))
            mark = f"{indent}if {BYTES}: {BYTES}[{len(names)}] = 1"
            lines.insert(line, mark)
            names.append(name_of_mark(file, name))
    return "\n".join(lines)


def name_of_mark(file: str, function: str) -> str:
    """Of a function, from the repository's top."""
    return f"{file}::{function}"


def first_act(function: Node) -> int | None:
    """The line, from 0, of the first statement behind a docstring; None without one."""
    body = function.child_by_field_name("body")
    acts = [child for child in body.named_children if child.type != "comment"] if body else []
    if (
        acts
        and acts[0].type == "expression_statement"
        and acts[0].named_children[0].type == "string"
    ):
        del acts[0]
    return acts[0].start_point.row if acts else None


def pytest_command(python: Path) -> list[str | Path]:
    """Runs tests in a tree, in the order of their files."""
    return [python, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]


def seconds_of_children() -> float:
    """Processor time of all that have ended and were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
