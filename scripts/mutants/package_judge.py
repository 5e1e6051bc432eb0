# SPDX-License-Identifier: Apache-2.0
"""Judges mutants of the package by the tests that execute the faulty statement.

Which do is seen in a run without a fault, file by file: first those that name the function or what
calls it, then the nearest by their imports and by names. They run until one fails, the quickest of
a file first, in an environment of their own, whose package is the copied tree's. What only other
tests would notice survives: the share is a lower bound.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from mutants.mutant import Mutant, mutated
from mutants.reached import Reached, compile_by_content, last_started, run_tests
from mutants.tree import Tree
from mutants.verdict import INVALID, KILLED, SURVIVED, TIMEOUT, Judge, Verdict

NEAREST = 12  # test files that are looked at for each function
CALLING = 4  # of these by the calls between
MOST_CALLS = 5  # between a test and the faulty function
MOST_CALLERS = 12  # of one name: what more functions have is many functions' name
MOST_NAMED = 4  # names of a module that a test uses, which count
CPU_SECONDS = 200  # of one test file
OF_A_FILE = 30.0  # seconds of the tests that a mutant meets, as they take without a fault
CHOSEN_SECONDS = 120.0  # and of all files
PATIENCE = 3  # times as long as without a fault, and START seconds more
START = 60
SLOW = ("_benches", "_corpus")  # the ends of files that run a benchmark or fit a hundred recordings
FOLDERS = ("tests/python", "tests/target")


class PackageJudge(Judge):
    """Runs tests that execute a statement, of the nearest files, on a tree where it is faulty."""

    tests = FOLDERS

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.tree, marked = Tree(root, "package"), Tree(root, "package-marked")
        self.python = make_environment(self.tree)
        compile_by_content(self.tree, self.python)
        self.reach = Reach(root)
        self.dear = tuple((root / "tests/more.txt").read_text().split())  # files, and tests
        dear_alone = [one for one in self.dear if "::" in one]
        self.reached = Reached(marked, make_environment(marked), dear_alone)

    def judge(self, mutant: Mutant) -> Verdict:
        """What the tests say of one mutant."""
        file = self.tree.top / mutant.file
        try:
            ast.parse(mutated(file.read_bytes(), mutant))
        except SyntaxError:
            return Verdict(INVALID)
        for tests, seconds in self.executing(mutant):
            with self.tree.faulty(mutant):
                code = self.run(tests, int(PATIENCE * seconds) + START)
            if code != 0:
                failing = last_started(self.tree)
                self.require_sound(failing)
                return Verdict(TIMEOUT if code is None else KILLED, failing.partition("::")[0])
        return Verdict(SURVIVED)

    def code_of(self, test: str) -> int | None:
        """How one test ends."""
        return self.run([test], CPU_SECONDS)

    def run(self, tests: list[str], seconds: int) -> int | None:
        """How these end in the tree as it is."""
        return run_tests(self.tree, self.python, tests, seconds)

    def executing(self, mutant: Mutant) -> Iterator[tuple[list[str], float]]:
        """Tests that execute a mutant's statement, and their seconds without a fault.

        Of each of the nearest files in its turn those that end soonest, as long as all may take;
        of dear files last, and none that is dear alone.
        """
        defined = names_in(self.tree.top / mutant.file)
        own = mutant.function.split(".")
        left = CHOSEN_SECONDS
        near = self.reach.tests([module_of(Path(mutant.file))], defined, own)
        calling = sorted(near, key=self.reach.calls_to(own[-1]))[:CALLING]  # a stable order
        nearest = list(dict.fromkeys([*calling, *near]))[:NEAREST]
        for file in sorted(nearest, key=lambda one: one.startswith(self.dear)):
            chosen: list[str] = []
            seconds = 0.0
            for test in self.reached.tests(file, mutant, CPU_SECONDS):
                if test.name not in self.failing and seconds + test.seconds < min(OF_A_FILE, left):
                    chosen.append(test.name)
                    seconds += test.seconds
            left -= seconds
            if chosen:
                yield chosen, seconds


class Reach:
    """Which test files reach a place: by the imports between, by the names that both have."""

    def __init__(self, root: Path) -> None:
        self.imports = import_graph(root)
        self.callers = callers_by_name(root / "python/heapfit")
        self.words = {
            name: set(re.findall(r"\w+", (root / name).read_text()))
            for name in self.imports
            if name.startswith("tests/")
        }

    def tests(self, modules: list[str], names: set[str], own: list[str]) -> list[str]:
        """The nearest first: few imports away from one of the modules, named after it or its rooms,
        with names that it defines, most of all its `own`.
        """
        found = []
        for test, words in self.words.items():
            near = min(self._distance(test, module) for module in modules)
            named = min(len(words & names), MOST_NAMED) + 2 * len(words & {*own})
            found.append((near - named, test))
        return [test for _, test in sorted(found)]

    def calls_to(self, function: str) -> Callable[[str], int]:
        """Tells of a test file how many calls lead from a name in it to the function, at most."""
        found: dict[str, int] = {}
        level, seen = {function}, {function}
        for calls in range(MOST_CALLS):
            found = {test: calls for test, words in self.words.items() if words & level} | found
            known = [self.callers.get(name, set()) for name in level]
            level = {name for one in known if len(one) <= MOST_CALLERS for name in one} - seen
            seen |= level
        return lambda test: found.get(test, MOST_CALLS)

    def _distance(self, test: str, module: str) -> int:
        _, *rooms, last = module.split(".")
        named = 2 * (last in test) + sum(room in test for room in rooms)
        return distance(self.imports, test, module) - named


def callers_by_name(package: Path) -> dict[str, set[str]]:
    """For each name that functions mention, those functions' own names."""
    trees = (ast.walk(ast.parse(file.read_text())) for file in sorted(package.rglob("*.py")))
    found: dict[str, set[str]] = {}
    for function in (one for tree in trees for one in tree if isinstance(one, ast.FunctionDef)):
        names = {getattr(one, "id", getattr(one, "attr", "")) for one in ast.walk(function)}
        for name in names - {function.name}:
            found.setdefault(name, set()).add(function.name)
    return found


def names_in(file: Path) -> set[str]:
    """What a module defines for others."""
    defining = (ast.FunctionDef, ast.ClassDef)
    found = {one.name for one in ast.walk(ast.parse(file.read_text())) if isinstance(one, defining)}
    return {name for name in found if not name.startswith("_")}


def make_environment(tree: Tree) -> Path:
    """A Python whose `heapfit` is the tree's; all else is of the environment that runs this.

    It is the tree's `.venv`, where scripts that a test starts look for `heapfit`. The links of the
    environment that runs this to its checkout are left out: a file that adds a folder to the path
    does not have the files of that folder read that would.
    """
    folder = tree.top / ".venv"
    python = folder / "bin/python"
    if not python.is_file():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    ours = Path(sysconfig.get_path("purelib"))
    inside = folder / ours.relative_to(sys.prefix)
    write_command(folder / "bin/heapfit", python)
    paths = [tree.top / name for name in ("python", "papers", "target")]
    paths.append(Path(__file__).parents[1])  # of what the tests' runs are noted by
    others = [path for path in sys.path if Path(path).name == ours.name]
    (inside / "tree.pth").write_text("".join(f"{path}\n" for path in (*paths, *others)))
    for source in (ours / "heapfit").iterdir():  # what an editable installation holds is native
        target = tree.top / "python/heapfit" / source.name
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)
    return python


def write_command(file: Path, python: Path) -> None:
    """`heapfit` as an installation has it, for tests that start it by its name."""
    file.write_text(f"#!{python}\nimport sys\nfrom heapfit.cli.main import run\nsys.exit(run())\n")
    file.chmod(0o755)


def module_of(file: Path) -> str:
    """The name of a module of python/."""
    parts = file.with_suffix("").parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def import_graph(root: Path) -> dict[str, set[str]]:
    """Modules of the package and test files, and the names that each imports."""
    package = {
        module_of(file.relative_to(root)): imported(file)
        for file in (root / "python/heapfit").rglob("*.py")
    }
    tests = {
        os.fspath(file.relative_to(root)): imported(file)
        for file in sorted(one for name in FOLDERS for one in (root / name).glob("test_*.py"))
        if not file.stem.endswith(SLOW)
    }
    return {**package, **tests}


def imported(file: Path) -> set[str]:
    """Names that may be modules: of `from a import b` both a and a.b."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def distance(graph: dict[str, Iterable[str]], start: str, goal: str) -> int:
    """Imports from one to the other; 99 if none lead there."""
    left = deque([(start, 0)])
    seen = {start}
    while left:
        name, steps = left.popleft()
        if name == goal:
            return steps
        for other in graph.get(name, ()):
            if other not in seen:
                seen.add(other)
                left.append((other, steps + 1))
    return 99
