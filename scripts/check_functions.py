# SPDX-License-Identifier: Apache-2.0
"""Fails on functions that are too long, take too much or nest too deep, and on unexplained imports.

                 Python              C and C++
    lines        here                lizard
    parameters   here                lizard; more than five of Python's are given by name
    nesting      ruff (PLR1702)      blocks, counted here: lizard takes `else if` for a level

Imports in functions and for type checkers, and modules imported by name, are few and say why.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import lizard

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ("python/heapfit", "papers", "target/harness", "scripts", "tests", "bench", "examples")
# A test's parameters are fixtures and what it is run for, an example's the program's that it plays.
MANY_PARAMETERS = {"tests", "examples"}
NATIVE = (
    "core",
    "baselines",
    "papers/src",
    "recorder",
    "engine",
    "python/bindings",
    "python/heapfit/plugin",
    "target",
    "tests",
    "examples",
)
SHIPPED = ("python/heapfit", "papers", "target/harness")  # whose imports stand at the top
MOST_LINES = 50
MOST_PARAMETERS = 7
MOST_UNNAMED = 5  # of a function of the package: with more, all from the third on are keyword-only
MOST_PLACED = 2
MOST_NESTED = 3
MOST_LATE_IMPORTS = 16
# Functions beyond a limit, as FILE:NAME, each with its reason. One that keeps the limits fails.
ALLOWED = {
    "python/heapfit/comparison/incumbents/needs.py:search": "what three callers vary, by name",
    "python/heapfit/fitting/fit.py:fit": "options come third, as in heapfit.fit and in scripts",
    "python/bindings/adversary.cpp:search": "what Python gives by name",
    "python/bindings/replay.cpp:make_replay": "what Python gives by name",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Problem = tuple[str, str]  # where, and what is wrong

_NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_BLOCK_AFTER = re.compile(r"(?:\)|\b(?:else|do|try))\s*$")


def python_problems(file: Path) -> Iterator[Problem]:
    """Functions of a Python file beyond a limit."""
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if not isinstance(node, Function):
            continue
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > MOST_LINES:
            yield f"{file}:{node.name}", f"{lines} lines"
        count = parameters(node.args)
        if count > MOST_PARAMETERS and file.parts[0] not in MANY_PARAMETERS:
            yield f"{file}:{node.name}", f"{count} parameters"
        by_place = placed(node.args)
        if count > MOST_UNNAMED and by_place > MOST_PLACED and "heapfit" in file.parts:
            yield f"{file}:{node.name}", f"{by_place} of {count} parameters by their place"


def parameters(arguments: ast.arguments) -> int:
    """How many a function has, the object of a method aside."""
    starred = [one for one in (arguments.vararg, arguments.kwarg) if one]
    return placed(arguments) + len(arguments.kwonlyargs) + len(starred)


def placed(arguments: ast.arguments) -> int:
    """How many of them may be given by their place."""
    named = [*arguments.posonlyargs, *arguments.args]
    return len([one for one in named if one.arg not in {"self", "cls"}])


def native_problems(file: Path) -> Iterator[Problem]:
    """Functions of a C or C++ file beyond a limit."""
    text = (ROOT / file).read_text()
    lines = text.splitlines()
    for function in lizard.analyze_file.analyze_source_code(str(file), text).function_list:
        name = f"{file}:{function.name.rpartition('::')[2]}"
        nested = nesting("\n".join(lines[function.start_line - 1 : function.end_line]))
        if function.length > MOST_LINES:
            yield name, f"{function.length} lines"
        if function.parameter_count > MOST_PARAMETERS:
            yield name, f"{function.parameter_count} parameters"
        if nested > MOST_NESTED:
            yield name, f"{nested} blocks in one another"


def nesting(function: str) -> int:
    """How deep blocks lie in a function's text.

    >>> nesting("int f(int a) { if (a) { return 1; } else if (b) { int c[] = {0}; } }")
    1
    """
    code = _NOT_CODE.sub(" ", function)
    opened: list[bool] = []  # whether each brace that is open begins a block
    deepest = 0
    for place, letter in enumerate(code):
        if letter == "{":
            opened.append(_BLOCK_AFTER.search(code[max(0, place - 80) : place]) is not None)
            deepest = max(deepest, sum(opened))
        elif letter == "}" and opened:
            opened.pop()
    return max(0, deepest - 1)  # the function's own is no level


def late_imports(file: Path) -> Iterator[Problem]:
    """Imports of a Python file that are not made when it is, and whether a comment says why."""
    text = (ROOT / file).read_text()
    lines = text.splitlines()
    for line in sorted(late_lines(ast.parse(text))):
        says_why = "#" in lines[line - 1] or lines[line - 2].lstrip().startswith("#")
        yield f"{file}:{line}", "" if says_why else "a late import without its reason"


def late_lines(tree: ast.Module) -> set[int]:
    """Lines of imports inside functions, of blocks for type checkers and of imports by name."""
    lines = set()
    for node in ast.walk(tree):
        if isinstance(node, Function):
            lines |= {
                one.lineno for one in ast.walk(node) if isinstance(one, ast.Import | ast.ImportFrom)
            }
        is_for_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        is_by_name = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module")
        if is_for_types or is_by_name:
            lines.add(node.lineno)
    return lines


def files_in(folders: tuple[str, ...], suffixes: set[str]) -> list[Path]:
    """The sources below some folders, from the repository's top."""
    return sorted(
        file.relative_to(ROOT)
        for folder in folders
        for file in (ROOT / folder).rglob("*")
        if file.suffix in suffixes
    )


def problems_of_the_repository() -> Iterator[str]:
    """Each as a line."""
    native = {".c", ".h", ".cpp", ".hpp"}
    problems = [
        *(one for file in files_in(PYTHON, {".py"}) for one in python_problems(file)),
        *(one for file in files_in(NATIVE, native) for one in native_problems(file)),
    ]
    excused = set(ALLOWED)
    yield from (f"{place}: {what}" for place, what in problems if place not in excused)
    for place in sorted(excused - {place for place, _ in problems}):
        yield f"{place}: keeps all limits, but is excused in {Path(__file__).name}"
    late = [one for file in files_in(SHIPPED, {".py"}) for one in late_imports(file)]
    yield from (f"{place}: {what}" for place, what in late if what)
    if len(late) > MOST_LATE_IMPORTS:
        places = ", ".join(place for place, _ in late)
        yield f"{len(late)} late imports, above {MOST_LATE_IMPORTS}: {places}"


def main() -> None:
    """Prints what is wrong; exit code 1 if anything is."""
    problems = list(problems_of_the_repository())
    print(*problems, sep="\n", end="\n" if problems else "")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
