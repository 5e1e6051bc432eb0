# SPDX-License-Identifier: Apache-2.0
"""Judges mutants of the engine by its C++ tests, then by Python tests through the extension.

C++ tests that include a header of the faulty file's room are run, those of its name first; then the
Python tests of the room, for which the extension is linked anew.
"""

import shutil
from pathlib import Path

from mutants.mutant import Mutant
from mutants.native import Build
from mutants.package_judge import make_environment
from mutants.tree import Tree
from mutants.verdict import INVALID, INVALID_CODE, SAME, Judge, Verdict

CPU_SECONDS = 60  # the longest C++ test takes 4
LIBRARY = "engine/libheapfit_engine.a"
EXTENSION = "python/bindings/_engine.abi3.so"
PROGRAM = "tests/engine/engine_tests"  # of all C++ tests
# What Python tests of a room's functions there are.
PYTHON_TESTS = {
    "adversary": ("test_adversary",),
    "budget": ("test_exact_budgets", "test_exhaustive", "test_best_classes"),
    "capture": ("test_captures", "test_link_layer", "test_packets", "test_queue_model"),
    "packing": ("test_bounds",),
    "profile": ("test_engine_crossing", "test_second_runs"),
    "replay": ("test_engine_crossing", "test_call_costs"),
    "simulate": ("test_engine_simulation", "test_simulation_exact"),
    "trace": (
        *("test_wire", "test_frames", "test_trace_rules", "test_engine_crossing", "test_importers"),
        *("test_heap_logs", "test_heaptrack", "test_bounds", "test_watch", "test_memories"),
    ),
    "workload": ("test_workloads",),
}


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
            failing, verdict = self.first_failure(judging_files(mutant.file, self.texts))
        self.require_sound(failing)
        return verdict

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


def judging_files(file: str, texts: dict[str, str]) -> list[str]:
    """C++ test files that include a header of the file's room, then the room's Python tests."""
    path = Path(file)
    room = path.parent.name
    is_top = room in {"src", "heapfit"}
    included = path.with_suffix(".hpp").name if is_top else f"{room}/"
    found = [name for name, text in texts.items() if included in text]
    found.sort(key=lambda name: (f"/{path.stem}.hpp" not in texts[name], name))
    python = PYTHON_TESTS.get(room, ())
    return [
        *(f"tests/engine/{name}.cpp" for name in found if name.startswith("test_")),
        *(f"tests/python/{name}.py" for name in python),
    ]


def extension_options(root: Path) -> list[str]:
    """What CMake is told to build engine, tests and extension as `make` has built the last."""
    return ["-C", str(root / "build/extension/CMakeInit.txt"),
            "-DCMAKE_BUILD_TYPE=Release", "-DHFIT_BUILD_ENGINE=ON", "-DHFIT_UNITY=OFF"]  # fmt: skip
