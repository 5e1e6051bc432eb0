# SPDX-License-Identifier: Apache-2.0
"""The gates of `make style` find what they are for, and pass what they should."""

import ast
from pathlib import Path

import pytest

import check_dead_code
import check_functions
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
