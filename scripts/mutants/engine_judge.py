# SPDX-License-Identifier: Apache-2.0
"""Judges mutants of the engine by its C++ tests, then by Python tests through the extension.

C++ tests that include a header of the faulty file's room are run, those of its name first; then the
Python tests that use what the bindings have of the room, for which the extension is linked anew.
"""

import re
import shutil
from pathlib import Path

from mutants.mutant import Mutant
from mutants.native import Build
from mutants.package_judge import Reach, make_environment, module_of
from mutants.tree import Tree
from mutants.verdict import INVALID, INVALID_CODE, SAME, Judge, Verdict

CPU_SECONDS = 60  # the longest C++ test takes 4
LIBRARY = "engine/libheapfit_engine.a"
EXTENSION = "python/bindings/_engine.abi3.so"
PROGRAM = "tests/engine/engine_tests"  # of all C++ tests
NEAREST = 6  # Python test files for each file, those of its name first
SHORTEST_WORD = 3  # letters, more than which a word of its name has
_BOUND = re.compile(r'(?:class_<[^;]*?>\(module|module\.def\(|enum_<[^;]*?>\(module)[^"]*"(\w+)"')


class EngineJudge(Judge):
    """Builds and runs what concerns a mutant in a tree of its own."""

    tests = ("tests/engine", "tests/python")

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.tree = Tree(root, "engine")
        self.python = make_environment(self.tree)
        self.texts = {
            file.stem: file.read_text() for file in sorted((root / "tests/engine").glob("*.cpp"))
        }
        self.python_tests = python_tests(root)
        self.build = Build(self.tree, "engine", extension_options(root))
        self.sound = self.build.made([LIBRARY])

    def judge(self, mutant: Mutant) -> Verdict:
        """What the tests say of one mutant."""
        is_inner = mutant.file.startswith("engine/src/")
        with self.tree.faulty(mutant):
            made = self.build.made([LIBRARY])
            if made is None:
                return Verdict(INVALID)
            if is_inner and made == self.sound:
                return Verdict(SAME)
            failing, verdict = self.first_failure(self.judging_files(mutant.file))
        self.require_sound(failing)
        return verdict

    def judging_files(self, file: str) -> list[str]:
        """C++ test files that include a header of the file's room, then the room's Python tests."""
        path = Path(file)
        room = path.parent.name
        is_top = room in {"src", "heapfit"}
        included = path.with_suffix(".hpp").name if is_top else f"{room}/"
        found = [name for name, text in self.texts.items() if included in text]
        found.sort(key=lambda name: (f"/{path.stem}.hpp" not in self.texts[name], name))
        cpp = (f"tests/engine/{name}.cpp" for name in found if name.startswith("test_"))
        words = [word for word in path.stem.split("_") if len(word) > SHORTEST_WORD]
        python = self.python_tests.get(room, [])
        python = sorted(python, key=lambda test: not any(word in test for word in words))
        return [*cpp, *python[:NEAREST]]

    def makes(self, test: str) -> bool:
        """Builds what a test file needs; False if that does not compile."""
        if test.endswith(".cpp"):
            return self.build.build([PROGRAM])
        if not self.build.build([EXTENSION]):
            return False
        shutil.copy2(self.build.folder / EXTENSION, self.tree.top / "python/heapfit")
        return True

    def code_of(self, test: str) -> int | None:
        """How a test file ends. A header's fault may not compile where it is used."""
        if not self.makes(test):
            return INVALID_CODE
        if test.endswith(".cpp"):
            subject = Path(test).stem.removeprefix("test_")
            return self.tree.run([self.build.folder / PROGRAM, subject], CPU_SECONDS)
        options = ["-x", "-q", "-p", "no:cacheprovider"]
        return self.tree.run([self.python, "-B", "-m", "pytest", *options, test], CPU_SECONDS)


def python_tests(root: Path) -> dict[str, list[str]]:
    """The Python test files of each room, nearest first: those that name what is bound of it, or
    import what does.
    """
    reach = Reach(root)
    uses: dict[str, set[str]] = {}
    for file in sorted((root / "python/bindings").glob("*.cpp")):
        text = file.read_text()
        for room in set(re.findall(r'#include "heapfit/(\w+)/', text)):
            uses.setdefault(room, set()).update(_BOUND.findall(text))
    sources = {
        module_of(file.relative_to(root)): set(re.findall(r"_engine\.(\w+)", file.read_text()))
        for file in (root / "python/heapfit").rglob("*.py")
    }
    found = {}
    for room, names in uses.items():
        modules = [module for module, used in sources.items() if used & names]
        tests = reach.tests(modules, names, []) if modules else []
        found[room] = [test for test in tests if not test.startswith("tests/target/")]
    return found


def extension_options(root: Path) -> list[str]:
    """What CMake is told to build engine, tests and extension as `make` has built the last."""
    return ["-C", str(root / "build/extension/CMakeInit.txt"),
            "-DCMAKE_BUILD_TYPE=Release", "-DHFIT_BUILD_ENGINE=ON", "-DHFIT_UNITY=OFF"]  # fmt: skip
