# SPDX-License-Identifier: Apache-2.0
"""The mutation tool: which faults it makes, which it draws, and what a kept result rests on."""

import subprocess
from pathlib import Path

import pytest

from mutants.draw import POPULATIONS, changed_lines, line_by_line, on_changed_lines
from mutants.engine_judge import python_tests
from mutants.equivalents import equivalents
from mutants.faults import mutants_of
from mutants.mutant import Mutant, mutated
from mutants.noting import BYTES
from mutants.package_judge import (
    MOST_CALLS,
    SLOW,
    Reach,
    import_graph,
    make_environment,
    names_in,
)
from mutants.reached import Reached, Statement, last_started, run_tests, with_marks
from mutants.tree import Tree
from mutants.variants import numbered, refused, with_variants

C_SOURCE = b"""\
static bool f(int a, int b) {
    HFIT_ASSERT(a < 9);
    if (a < b && g(a, b)) {
        return false;
    }
    call(a);
    return a + 2 > b;
}
"""
CPP_SOURCE = b"""\
namespace n {
Some Thing::find(int a) const {
    if (is_there(a)) throw Error("at", a + 1);
    return made(a);
}
}
"""
PYTHON_SOURCE = b'''\
class A:
    """Of 3."""

    def f(self, a: int, b: int = 7) -> int:
        """Adds 1."""
        if a not in self.seen or a <= b:
            raise ValueError(f"{a + 1}")
        self.seen = a
        other = [x for x in zip(a, a, strict=True) if x.is_free]
        return a // b if a else other[0]
'''


def changes(file: str, source: bytes) -> set[tuple[str, str, str]]:
    return {(one.operator, one.was, one.becomes) for one in mutants_of(file, source)}


def test_faults_of_c_are_these() -> None:
    assert changes("a.c", C_SOURCE) == {
        ("logic", "&&", "||"), ("comparison", "<", "<="), ("comparison", "<", ">="),
        ("condition", "a < b && g(a, b)", "(!(a < b && g(a, b)))"), ("arguments", "a, b", "b, a"),
        ("constant", "false", "true"), ("statement", "call(a);", ";"),
        ("return", "a + 2 > b", "0"), ("comparison", ">", ">="), ("comparison", ">", "<="),
        ("arithmetic", "+", "-"), ("constant", "2", "(2 + 1)"), ("constant", "2", "(2 - 1)"),
    }  # fmt: skip


def test_what_is_thrown_is_no_fault_in_cpp() -> None:
    assert changes("a.cpp", CPP_SOURCE) == {
        ("condition", "is_there(a)", "(!(is_there(a)))"), ("return", "made(a)", "{}"),
    }  # fmt: skip
    assert {one.function for one in mutants_of("a.cpp", CPP_SOURCE)} == {"find"}


def test_faults_of_python_are_these() -> None:
    assert changes("a.py", PYTHON_SOURCE) == {
        ("logic", "or", "and"), ("comparison", "not in", "in"),
        ("comparison", "<=", "<"), ("comparison", "<=", ">"),
        ("condition", "a not in self.seen or a <= b", "(not (a not in self.seen or a <= b))"),
        ("statement", "self.seen = a", "pass"), ("condition", "x.is_free", "(not (x.is_free))"),
        ("return", "a // b if a else other[0]", "None"), ("condition", "a", "(not (a))"),
        ("arithmetic", "//", "*"), ("constant", "0", "(0 + 1)"), ("constant", "0", "(0 - 1)"),
    }  # fmt: skip
    assert {one.function for one in mutants_of("a.py", PYTHON_SOURCE)} == {"A.f"}


def test_a_mutant_keeps_the_lines_that_follow_where_they_are() -> None:
    source = b"void f(void) {\n    call(a,\n         b);\n    more();\n}\n"
    without = next(one for one in mutants_of("a.c", source) if one.was.startswith("call"))
    assert without.line == 2
    assert mutated(source, without) == b"void f(void) {\n    ;\n\n    more();\n}\n"


@pytest.mark.parametrize("population", POPULATIONS.values(), ids=lambda one: one.name)
def test_each_population_has_thousands_of_mutants_with_keys_of_their_own(
    root: Path, population: object
) -> None:
    mutants = population.mutants(root)
    assert len(mutants) > 5000
    assert len({one.key for one in mutants}) == len(mutants)
    for one in mutants[::500]:
        source = (root / one.file).read_bytes()
        assert source[one.start : one.end].decode() == one.was
        assert mutated(source, one).count(b"\n") >= source.count(b"\n")


CHOSEN = b"""\
#define TWICE(x) x##_twice
static inline int TWICE(f)(int a, const int *b) {
    return a + *b;
}
int printf(const char *, ...);
int main(void) {
    const int one = 1;
    printf("%d", f_twice(3, &one));
    return 0;
}
"""


def test_one_program_has_all_mutants_and_the_environment_chooses(tmp_path: Path) -> None:
    mutants = numbered(one for one in mutants_of("a.c", CHOSEN) if "f" not in one.function)
    mutants[9] = Mutant("a.c", "f", 3, CHOSEN.index(b"*b;"), CHOSEN.index(b"b;") + 1, "*b", "b->c",
                        "statement", "key")  # fmt: skip
    compiler = ["gcc", "-w", "-fmax-errors=0", "a.c", "-o", "a"]
    for _ in range(2):
        (tmp_path / "a.c").write_bytes(with_variants("a.c", CHOSEN, mutants))
        told = subprocess.run(compiler, cwd=tmp_path, capture_output=True, text=True, check=False)
        wrong = refused(told.stderr)
        assert wrong == ({9} if 9 in mutants else set())
        mutants = {number: one for number, one in mutants.items() if number not in wrong}
    assert (tmp_path / "a").is_file()
    minus = next(number for number, one in mutants.items() if one.becomes == "-")
    nothing = next(number for number, one in mutants.items() if one.becomes == "0")
    (tmp_path / "reached").write_bytes(bytes(65_536))
    for number, printed in ((0, "4"), (minus, "2"), (nothing, "0")):
        environment = {"HFIT_MUTANT": str(number), "HFIT_REACHED": str(tmp_path / "reached")}
        done = subprocess.run([tmp_path / "a"], env=environment, capture_output=True, check=True)
        assert done.stdout.decode() == printed
    assert (tmp_path / "reached").read_bytes()[minus] == 1


def test_each_line_has_its_turn_before_one_has_a_second() -> None:
    mutants = line_by_line(mutants_of("a.c", C_SOURCE))
    lines = [one.line for one in mutants]
    assert sorted(lines[: len({*lines})]) == sorted({*lines})


def git(folder: Path, *words: str) -> None:
    name = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "-C", folder, *name, *words], check=True, capture_output=True)


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """A repository whose second function has changed since its commit."""
    git(tmp_path, "init")
    (tmp_path / "a.c").write_text("int f(int a) {\n    return a + 1;\n}\n\nint g(void);\n")
    git(tmp_path, "add", "a.c")
    git(tmp_path, "commit", "-m", "a")
    text = "int f(int a) {\n    return a + 1;\n}\n\nint g(int a) {\n    return a - 3;\n}\n"
    (tmp_path / "a.c").write_text(text)
    return tmp_path


def test_only_changed_lines_are_mutated_since_a_commit(changed: Path) -> None:
    assert changed_lines(changed, "HEAD") == {"a.c": {5, 6, 7}}
    mutants = mutants_of("a.c", (changed / "a.c").read_bytes())
    assert {one.function for one in on_changed_lines(changed, mutants, "HEAD")} == {"g"}


def test_every_named_equivalent_is_a_mutant_with_an_argument(root: Path) -> None:
    for one in equivalents(root):
        mutants = mutants_of(one.file, (root / one.file).read_bytes())
        lines = (root / one.file).read_text().splitlines()
        assert any(
            (found.function, found.was, found.becomes) == (one.function, one.was, one.becomes)
            and lines[found.line - 1].strip() == one.line
            for found in mutants
        ), one
        assert len(one.reason.split()) > 5


def test_a_tree_holds_a_fault_no_longer_than_it_is_judged(changed: Path) -> None:
    tree = Tree(changed, "core")
    sound = (tree.top / "a.c").read_bytes()
    mutant = next(one for one in mutants_of("a.c", sound) if one.was == "-")
    with tree.faulty(mutant):
        assert b"a + 3" in (tree.top / "a.c").read_bytes()
    assert (tree.top / "a.c").read_bytes() == sound == (changed / "a.c").read_bytes()


def test_the_engine_s_mutants_are_judged_by_tests_that_are_there(root: Path) -> None:
    rooms = {path.name for path in (root / "engine/src").iterdir() if path.is_dir()}
    found = python_tests(root)
    assert rooms == set(found)
    for room, tests in found.items():
        assert len(tests) >= 6, room
        assert all((root / test).is_file() for test in tests)


def test_a_module_s_names_are_those_that_it_defines(tmp_path: Path) -> None:
    text = "from b import other\nimport c as d\nclass C:\n    def f(self): pass\ndef _g(): pass\n"
    (tmp_path / "a.py").write_text(text)
    assert names_in(tmp_path / "a.py") == {"C", "f"}


MARKED = '''\
class A:
    """Of 3."""

    def f(self, a):
        """Adds 1."""
        # A note.
        if a > 3:
            return a + \\
                1
        elif a < 0:
            return 0
        return a


def g(a):
    @cache
    def inner():
        return a

    return inner


def nothing(a):
    """Does none."""
    match a:
        case 0:
            g(a)
'''


def test_a_statement_marks_its_byte_when_it_is_executed() -> None:
    statements: list[Statement] = []
    marked = with_marks(MARKED, "a.py", statements)
    assert {one.first for one in statements} == {6, 7, 10, 11, 15, 17, 19, 24, 26}
    assert Statement("a.py", 7, 8) in statements
    seen = bytearray(len(statements))
    module = {BYTES: seen, "cache": lambda inner: inner}
    exec(marked, module)

    def executed() -> set[int]:
        marks = zip(statements, seen, strict=True)
        lines = {one.first for one, mark in marks if mark}
        seen[:] = bytes(len(seen))
        return lines

    assert executed() == set()
    assert module["A"]().f(4) == 5 and executed() == {6, 7}
    assert module["A"]().f(3) == 3 and executed() == {6, 11}
    assert module["g"](5)() == 5 and executed() == {15, 17, 19}
    assert module["A"].f.__doc__ == "Adds 1."


PACKAGE = """\
def sign(a):
    if a < 0:
        return -1
    return a > 7
"""
USED = """\
import subprocess
import sys
import pytest
from heapfit.a import sign


@pytest.fixture(scope="module")
def four():
    return sign(4)


def test_negative():
    assert sign(-4) == -1


def test_of_fixture(four):
    assert four == 0


def test_of_a_killed_program(four):
    code = "from heapfit.a import sign; sign(-1); import os; os.kill(os.getpid(), 9)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == -9


def test_that_fails_anyway():
    assert sign(-1) == 5
"""


def test_a_fault_meets_the_tests_that_execute_its_statement(changed: Path) -> None:
    files = {
        "python/heapfit/__init__.py": "",
        "python/heapfit/a.py": PACKAGE,
        "tests/test_a.py": USED,
    }
    for name, text in files.items():
        (changed / name).parent.mkdir(parents=True, exist_ok=True)
        (changed / name).write_text(text)
    tree = Tree(changed, "package")
    python = make_environment(tree)
    marked = Tree(changed, "marked")
    reached = Reached(marked, make_environment(marked))
    mutants = mutants_of("python/heapfit/a.py", PACKAGE.encode())
    met = {
        one.was: {
            test.name.partition("::test_")[2] for test in reached.tests("tests/test_a.py", one, 60)
        }
        for one in mutants
    }
    assert met["<"] == {"negative", "of_fixture", "of_a_killed_program"}
    assert met["1"] == {"negative", "of_a_killed_program"}
    assert met["7"] == {"of_fixture", "of_a_killed_program"}
    with tree.faulty(next(one for one in mutants if one.was == "1")):
        names = [f"tests/test_a.py::test_{name}" for name in ("of_fixture", "negative")]
        assert run_tests(tree, python, [*names, names[0]], 60) == 1
        assert last_started(tree) == names[1]


def test_the_package_s_judge_knows_tests_that_call_a_function_over_others(root: Path) -> None:
    """Its name is in no test, and its module imported by nearer ones."""
    calls = Reach(root).calls_to("write_heap_sources")
    assert calls("tests/python/test_host_run.py") == 1, "_compile_heap calls it"
    assert calls("tests/python/test_generate.py") > calls("tests/python/test_host_run.py")
    assert Reach(root).calls_to("no_such_name")("tests/python/test_generate.py") == MOST_CALLS


def test_the_package_s_judge_may_choose_every_test_file_but_the_slow_ones(root: Path) -> None:
    files = {f"tests/python/{file.name}" for file in (root / "tests/python").glob("test_*.py")}
    left = files - import_graph(root).keys()
    assert len(left) < 5
    assert all(Path(name).stem.endswith(SLOW) for name in left), left
