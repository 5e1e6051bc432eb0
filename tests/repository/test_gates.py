# SPDX-License-Identifier: Apache-2.0
"""The gates of `make style` find what they are for, and pass what they should."""

import ast
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import check_dead_code
import check_functions
import check_statements
import check_test_bonds

LONG = "def f():\n" + "    print(1)\n" * 50
WIDE = "def f(self, a, b, /, c, d, *e, h, i, **g): ...\n"
PLACED = "def f(self, a, b, c, *, d, e, g): ...\n"
NATIVE_LONG = "int f(void) {\n" + "    g();\n" * 50 + "}\n"
NATIVE_WIDE = "int f(int a, int b, int c, int d, int e, int g, int h, int i) { return 0; }\n"
NATIVE_DEEP = """int f(int a) {
    while (a) {
        if (a) {
            do {
                for (;;) {
                }
            } while (a);
        }
    }
}
"""
NATIVE_FLAT = """int f(int a) {
    const int c[] = {1, 2};
    const char *text = "{{{{ ) {";
    if (a) {
        return 1;
    } else if (c[0]) { // ) {
        return 2;
    } else if (c[1]) {
        return 3;
    } else if (text) {
        return 4;
    }
    return 0;
}
"""


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize(
    ("name", "text", "problems"),
    [
        ("a.py", LONG, ["51 lines"]),
        ("a.py", LONG.replace("print(1)", "pass", 1).rpartition("    print")[0], []),
        ("a.py", WIDE, ["8 parameters"]),
        ("heapfit/a.py", PLACED, ["3 of 6 parameters by their place"]),
        ("heapfit/a.py", PLACED.replace(", e, g", ""), []),
        ("heapfit/a.py", PLACED.replace("c, *", "*, c"), []),
        ("a.c", NATIVE_LONG, ["52 lines"]),
        ("a.cpp", NATIVE_WIDE, ["8 parameters"]),
        ("a.c", NATIVE_DEEP, ["4 blocks in one another"]),
        ("a.c", NATIVE_FLAT, []),
    ],
)
def test_a_function_beyond_a_limit_is_found(
    tmp_path: Path, name: str, text: str, problems: list[str]
) -> None:
    file = written(tmp_path, name, text)
    check = (
        check_functions.python_problems if name.endswith(".py") else check_functions.native_problems
    )
    assert [what for _, what in check(file)] == problems


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("import a\n", set()),
        ("def f():\n    import a\n    from b import c\n", {2, 3}),
        ("if TYPE_CHECKING:\n    import a\n", {1}),
        ("x = importlib.import_module('a')\n", {1}),
    ],
)
def test_late_imports_are_found(text: str, lines: set[int]) -> None:
    assert check_functions.late_lines(ast.parse(text)) == lines


def test_a_late_import_says_why(tmp_path: Path) -> None:
    text = (
        "def f():\n    import a  # loads for a second\n    # an extra\n    import b\n    import c\n"
    )
    found = list(check_functions.late_imports(written(tmp_path, "a.py", text)))
    assert [what for _, what in found] == ["", "", "a late import without its reason"]


PYTHON = """from enum import Enum
class A(Enum):
    RED = "red"
def used(): ...
def unused(): ...
used()
"""


def test_what_binds_a_test_to_the_inside_is_found() -> None:
    text = """
from heapfit.plan import _merge, merge
monkeypatch.setattr(plan, "load", None)
assert plan._find(1) == self._own == plan.__doc__ == heapfit._engine
"""
    assert [bond[1:] for bond in check_test_bonds.bonds(ast.parse(text))] == [
        (2, "_merge"),
        (3, "plan, 'load'"),
        (4, "plan._find"),
    ]


def test_what_nothing_uses_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_dead_code, "ROOT", tmp_path)
    for folder in check_dead_code.PYTHON:
        (tmp_path / folder).mkdir(parents=True)
    written(tmp_path, "python/heapfit/a.py", PYTHON)
    written(tmp_path, "python/heapfit/a.j2", "")
    written(tmp_path, "tests/target/a.py", "def helper(): ...\n")
    written(tmp_path, "core/a.h", "int declared(void);\nint called(void);\n")
    written(tmp_path, "core/a.c", "int declared(void) { return called(); } // declared\n")
    written(tmp_path, "core/b.c", "int called(void) { return 1; }\n")
    assert list(check_dead_code.unused_python()) == [
        "python/heapfit/a.py:2: A is used by nothing but tests",
        "python/heapfit/a.py:5: unused is used by nothing but tests",
    ]
    assert list(check_dead_code.unused_native()) == [
        "core/a.c: declared is used by nothing but tests"
    ]
    written(tmp_path, "python/heapfit/a.j2", "{{ unused() }}")
    assert len(list(check_dead_code.unused_python())) == 1


Commit = Callable[..., None]


@pytest.fixture
def commit(tmp_path: Path) -> Commit:
    """Commits a room of so many statements, in a repository of two commits' age."""
    git = ("git", "-C", tmp_path, "-c", "user.name=a", "-c", "user.email=a@b")

    def commit(message: str, switch: str = "", **rooms: int) -> None:
        for room, count in rooms.items():
            written(tmp_path, f"python/heapfit/{room}/a.py", "import os\n" + "a = 1\n" * count)
        lines = [*([["checkout", "-q", *switch.split()]] if switch else []), ["add", "python"]]
        for words in [*lines, ["commit", "-q", "-m", message]]:
            subprocess.run([*git, *words], check=True, stdout=subprocess.DEVNULL)

    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    commit("plan: the first", plan=300, trace=10)
    return commit


def judged(folder: Path) -> list[str]:
    return [one.partition(":")[0] for one in check_statements.judge_head(folder)]


RISE = "the total rises by {}"


@pytest.mark.parametrize(
    ("message", "rooms", "told"),
    [
        ("plan: the same elsewhere", {"plan": 299, "trace": 11}, []),
        ("plan: a field", {"plan": 301}, [RISE.format(1)]),
        ("plan: a field (4D)", {"plan": 301}, []),
        ("plan: two issues, 4D and 4G", {"plan": 500}, []),
        ("plan: too much for 4G", {"plan": 401}, [RISE.format(101)]),
        ("plan: less\n\nRemoves: the rest", {"plan": 1, "trace": 211}, []),
        ("plan: moved", {"plan": 1, "trace": 211}, ["201 statements are added (trace +201)"]),
        ("plan: moved", {"plan": 1, "trace": 210}, []),
    ],
)
def test_a_commit_that_adds_statements_says_what_for(
    tmp_path: Path, commit: Commit, message: str, rooms: dict[str, int], told: list[str]
) -> None:
    commit(message, **rooms)
    assert judged(tmp_path) == told


def test_an_issue_allows_its_statements_once(tmp_path: Path, commit: Commit) -> None:
    commit("plan: half of 4G", plan=360)
    commit("plan: a reason of its own", plan=350)
    commit("plan: the rest of 4G", plan=390)
    assert judged(tmp_path) == []
    commit("plan: beyond 4G", plan=391)
    commit("plan: and beyond 4G", plan=392)
    [told] = check_statements.judge_head(tmp_path)
    assert told == "the total rises by 1: 4G may add 0 more"


def test_a_merge_is_judged_by_what_it_merges(tmp_path: Path, commit: Commit) -> None:
    commit("plan: for 4D", "-b side", plan=350)
    commit("trace: less", trace=9)
    commit("bounds: one", "main", bounds=1)
    merge = ["merge", "-q", "--no-ff", "--no-commit", "side"]
    subprocess.run(["git", "-C", tmp_path, *merge], check=True)
    commit("Merge side")
    assert check_statements.count_changes("HEAD^1", "HEAD", tmp_path).total() == 49
    assert judged(tmp_path) == []


def test_a_shallow_clone_needs_the_parent_alone(tmp_path: Path, commit: Commit) -> None:
    commit("plan: one", plan=301)
    for depth, told in ((2, [RISE.format(1)]), (1, [])):
        clone = tmp_path / f"clone{depth}"
        words = ["clone", "-q", "--depth", str(depth), f"file://{tmp_path}", clone]
        subprocess.run(["git", *words], check=True)
        assert judged(clone) == told


@pytest.mark.usefixtures("commit")
def test_what_is_not_committed_is_compared_with_head(tmp_path: Path) -> None:
    written(tmp_path, "python/heapfit/new.py", "a = 1\nb = 2\n")
    written(tmp_path, "python/heapfit/trace/a.py", "")
    (tmp_path / "python/heapfit/plan/a.py").unlink()
    changes = check_statements.count_changes("HEAD", None, tmp_path)
    assert changes == Counter(new=2, trace=-10, plan=-300)
