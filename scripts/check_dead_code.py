# SPDX-License-Identifier: Apache-2.0
"""Fails on functions and names that nothing uses but tests, in Python, C and C++.

Python is read by vulture; what templates name is used, too. A C or C++ function counts as used if
its name stands somewhere beside its definition and its declaration; compilers find unused statics.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import lizard
from vulture import Vulture

import heapfit

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ("python/heapfit", "papers/heapfit_papers", "target/harness", "scripts", "bench")
HARNESS_USERS = "tests/target"  # what the harness of the boards is for
GUIDE = "docs/python.md"
FOR_FIRMWARE = "recorder/target"  # what its headers declare, firmware calls
NATIVE = ("core", "baselines", "papers", "recorder", "engine", "python/bindings")
# What is used from outside, and by whom.
ALLOWED = {
    "do_GET": "http.server",
    "log_message": "http.server",
    "daemon_threads": "socketserver",
    "handle_error": "socketserver",
    "exec_module": "importlib, of a loader",
    "external_attr": "zipfile",
    "readable": "io.BufferedReader",
    "__getattr__": "Python, for a name that a module has not",
    "__dir__": "Python",
    "_repr_html_": "notebooks",
    "provide": "tests, which measure what rows share only once",
    "heap_resize_usable": "operations.h, by HFIT_DO(resize_usable)",
    "reallocarray": "programs that are recorded",
    "NB_MODULE": "Python, when it loads the extension",
    **dict.fromkeys(
        (
            "pytest_runtest_logstart",
            "pytest_runtest_logreport",
            "pytest_runtest_protocol",
            "pytest_fixture_setup",
        ),
        "pytest, of a plug-in",
    ),
}
SPHINX = "scripts/site/conf.py"  # whose names Sphinx reads
_WORD = re.compile(r"\b[A-Za-z_]\w*")
# HFIT_DO(alloc) becomes guarded_alloc at safety level 3, and heap_alloc below.
_GUARDED = re.compile(r"\bHFIT_DO\((\w+)\)")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def unused_python() -> Iterator[str]:
    """Names of our packages that only tests use, if anything does."""
    search = Vulture()
    search.scavenge([str(ROOT / folder) for folder in (*PYTHON, HARNESS_USERS)])
    read = {*names_in_templates(), *names_in_strings(), *names_offered(), *names_in_guide()}
    named = {*ALLOWED, *read}
    for item in search.get_unused_code(min_confidence=60):
        place = item.filename.relative_to(ROOT)
        is_elsewhere = place.is_relative_to(HARNESS_USERS) or place == Path(SPHINX)
        if not (item.name in named or is_elsewhere):
            yield f"{place}:{item.first_lineno}: {item.name} is used by nothing but tests"


def names_offered() -> set[str]:
    """What the package offers to other people's programs."""
    return set(dir(heapfit))


def names_in_guide() -> set[str]:
    """What the guide's code asks of results, as other people's programs do."""
    pages = [page.read_text() for page in ROOT.glob(GUIDE)]
    lines = re.findall(r"^(?:>>>|\.\.\.) (.*)$", "\n".join(pages), re.MULTILINE)
    return {name for line in lines for name in re.findall(r"\.([a-z]\w*)", line)}


def names_in_templates() -> set[str]:
    """What pages and generated C are made with."""
    templates = (file for folder in PYTHON for file in (ROOT / folder).rglob("*.j2"))
    return {name for file in templates for name in _WORD.findall(file.read_text())}


def names_in_strings() -> set[str]:
    """Strings that are names, as attributes are asked for, and members of enumerations."""
    trees = (
        ast.parse(file.read_text()) for folder in PYTHON for file in (ROOT / folder).rglob("*.py")
    )
    nodes = [node for tree in trees for node in ast.walk(tree)]
    return {
        *(one.value for one in nodes if isinstance(one, ast.Constant) and is_name(one.value)),
        *(name for one in nodes if isinstance(one, ast.ClassDef) for name in members_of(one)),
    }


def is_name(value: object) -> bool:
    """Whether a constant is a string that could name something."""
    return isinstance(value, str) and value.isidentifier()


def members_of(of: ast.ClassDef) -> list[str]:
    """An enumeration's members: a word that a user types stands for one."""
    if not any(ast.unparse(base).endswith("Enum") for base in of.bases):
        return []
    assigned = [one for one in of.body if isinstance(one, ast.Assign)]
    return [ast.unparse(target) for one in assigned for target in one.targets]


def unused_native() -> Iterator[str]:
    """Functions that nothing calls but tests."""
    texts = {
        file.relative_to(ROOT): _COMMENT.sub(" ", file.read_text())
        for folder in NATIVE
        for file in sorted((ROOT / folder).rglob("*"))
        if file.suffix in {".c", ".h", ".cpp", ".hpp", ".def"}
    }
    uses = Counter(word for text in texts.values() for word in _WORD.findall(text))
    uses.update(names_in_templates())
    uses.update(f"guarded_{word}" for text in texts.values() for word in _GUARDED.findall(text))
    headers = [text for file, text in texts.items() if file.suffix in {".h", ".hpp"}]
    declared = Counter(word for text in headers for word in set(_WORD.findall(text)))
    for file, text in texts.items():
        for name in sorted(functions_of(file, text)):
            is_apart = file.suffix in {".c", ".cpp"} and declared[name] > 0
            if is_apart and file.is_relative_to(FOR_FIRMWARE):
                continue
            if uses[name] <= 1 + is_apart and name not in ALLOWED:
                yield f"{file}: {name} is used by nothing but tests"


def functions_of(file: Path, text: str) -> set[str]:
    """Names of the functions that a file defines, of methods without their class."""
    functions = lizard.analyze_file.analyze_source_code(str(file), text).function_list
    names = {function.name.rpartition("::")[2] for function in functions}
    return {name for name in names if _WORD.fullmatch(name)}


def main() -> None:
    """Prints what is dead; exit code 1 if anything is."""
    dead = [*unused_python(), *unused_native()]
    print(*dead, sep="\n", end="\n" if dead else "")
    sys.exit(bool(dead))


if __name__ == "__main__":
    main()
