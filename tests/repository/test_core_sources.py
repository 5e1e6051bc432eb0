# SPDX-License-Identifier: Apache-2.0
"""core/ keeps what firmware counts on: no library, no mutable globals, no floats, no recursion.

The baselines keep it too, or their figures could not be held against core's.
"""

import os
import re
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from grid import of_the_day

HOSTED_NAMES = {
    "malloc", "calloc", "realloc", "abort", "exit", "assert", "errno",
    "printf", "fprintf", "sprintf", "snprintf", "puts",
    "memcpy", "memmove", "memset", "memcmp", "strlen", "strcpy", "strcmp", "setjmp", "longjmp",
}  # fmt: skip
FLOATS = {"float", "double", "_Complex"}
FOLDERS = ("core", "baselines", "papers")
COMMENT_OR_STRING = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
FLOAT_LITERAL = re.compile(r"\b\d+\.\d*|\b\d+[eE][-+]?\d+\b")
EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')
PRIVATE_INCLUDE = re.compile(r'^#include "(src/[^"]+)"', re.MULTILINE)
# What an includer is to define is declared where it is asked for: no option of gcc allows that.
LEFT_TO_THE_INCLUDER = re.compile(r"'\w+' (?:used|declared 'static') but never defined")
DEFINITIONS = (
    re.compile(r"^#define (\w+)", re.MULTILINE),
    re.compile(r"^\}\s*(\w+);", re.MULTILINE),
    re.compile(r"^typedef [^{;]*?(\w+);", re.MULTILINE),
    re.compile(r"^static[^;={}()]*?\b(\w+)\([^;{]*\)\s*\{", re.MULTILINE),
)
ENUM = re.compile(r"\benum\s*\w*\s*\{([^}]*)\}")
RV32 = ("riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32")
MUTABLE_SYMBOLS = set("bBcCdDsS")  # as nm names them: zeroed, common, initialised, small


def code_of(source: str) -> str:
    return COMMENT_OR_STRING.sub(" ", source)


def identifiers(source: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", code_of(source)))


def compiler_words(source: str) -> set[str]:
    words = {name for name in identifiers(source) if name.startswith("__") or name == "_Pragma"}
    return words - {"__cplusplus"} | set(re.findall(r"#\s*pragma\b", code_of(source)))


def compile_core(root: Path, folder: Path, *options: str) -> list[Path]:
    """Objects as firmware builds them: not position-independent, so const tables stay ROM."""
    objects = []
    for source in sorted(file for name in FOLDERS for file in (root / name / "src").rglob("*.c")):
        target = folder / f"{source.parent.parent.name}_{source.stem}.o"
        command = ["gcc", "-std=c11", "-ffreestanding", "-fno-pie",
                   "-fno-tree-loop-distribute-patterns", *options,
                   *(f"-I{root / name / part}" for name in FOLDERS for part in ("include", "")),
                   "-c", str(source), "-o", str(target)]  # fmt: skip
        subprocess.run(command, check=True, cwd=folder)
        objects.append(target)
    return objects


def symbols(objects: list[Path]) -> list[tuple[str, str]]:
    """Pairs of nm's letter and the name."""
    listing = subprocess.run(
        ["nm", "--format=posix", *objects], check=True, capture_output=True, text=True
    ).stdout
    rows = (line.split() for line in listing.splitlines() if not line.endswith(":"))
    return [(row[1], row[0]) for row in rows if row]


def test_a_build_for_rv32_and_few_bytes_calls_no_library(root):
    """A struct that begins with constants is a memcpy there, and nowhere else."""
    for source in sorted((root / "core/src").rglob("*.c")):
        command = [*RV32, "-Os", "-std=c11", "-ffreestanding", "-S", "-o", "-",
                   "-fno-tree-loop-distribute-patterns", f"-I{root}/core", f"-I{root}/core/include",
                   str(source)]  # fmt: skip
        code = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        assert not HOSTED_NAMES & set(re.findall(r"\b(?:call|tail)\s+(\w+)", code)), source


def calls(folder: Path) -> dict[str, set[str]]:
    """Who calls whom, from gcc's call-graph files; calls through pointers are left out."""
    graph = defaultdict(set)
    for file in folder.glob("*.ci"):
        for caller, callee in EDGE.findall(file.read_text()):
            if callee != "__indirect_call":
                graph[caller].add(callee)
    return graph


def find_cycle(graph: dict[str, set[str]]) -> list[str]:
    """One chain of calls that comes back to its start, or an empty list."""
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        done.add(name)
        for callee in sorted(graph.get(name, ())):
            cycle = visit(callee, [*path, name])
            if cycle:
                return cycle
        return []

    return next((cycle for name in sorted(graph) if (cycle := visit(name, []))), [])


def include_options(root: Path) -> list[str]:
    return [f"-I{root / name / part}" for name in FOLDERS for part in ("", "include")]


@cache
def private_headers(root: Path) -> dict[str, Path]:
    """By the name that an include gives them."""
    return {
        f"src/{file.relative_to(root / name / 'src')}": file
        for name in FOLDERS
        for file in sorted((root / name / "src").rglob("*.h"))
    }


def complaints_alone(root: Path, compiler: str, header: str) -> list[str]:
    """What a compiler says of a header that nothing stands before, and that is included twice."""
    command = [compiler, "-std=c11", "-x", "c", "-fsyntax-only", "-Wall", "-Wextra", "-Wconversion",
               "-Wno-unused-function", "-DHFIT_THIS(operation)=hfit_alone_##operation",
               *include_options(root), "-"]  # fmt: skip
    if compiler == "clang":
        command += ["-Wno-undefined-internal", "-Wno-undefined-inline"]
    program = f'#include "{header}"\n' * 2 + "typedef int not_empty;\n"
    plain = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        command, input=program, text=True, capture_output=True, check=False, env=plain
    )
    lines = [line for line in done.stderr.splitlines() if re.search(r"(?:error|warning):", line)]
    return [line for line in lines if not LEFT_TO_THE_INCLUDER.search(line)]


@cache
def reached_private(root: Path, source: Path) -> set[str]:
    """The private headers that gcc opens for a source."""
    command = ["gcc", "-MM", "-DHFIT_THIS(operation)=x", *include_options(root), str(source)]
    rule = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    opened = {Path(word) for word in rule.replace("\\\n", " ").split()[2:]}
    return {name for name, file in private_headers(root).items() if file in opened}


def defined_names(code: str) -> set[str]:
    names = {name for pattern in DEFINITIONS for name in pattern.findall(code)}
    for body in ENUM.findall(code):
        names |= set(re.findall(r"(?:^|,)\s*([A-Za-z_]\w*)", body))
    return names


def unnamed_sources(root: Path, file: Path) -> dict[str, set[str]]:
    """Headers that a file uses names of and reaches through others only, and these names.

    A name that several of the headers it reaches define is passed over: it may be any one's.
    """
    reached = reached_private(root, file)
    headers = private_headers(root)
    defined = {name: defined_names(code_of(headers[name].read_text())) for name in reached}
    text = file.read_text()
    code = code_of(text)
    used = identifiers(code) - defined_names(code)
    once = {name for name in used if sum(name in names for names in defined.values()) == 1}
    named = set(PRIVATE_INCLUDE.findall(text))
    return {
        header: once & names
        for header, names in defined.items()
        if header not in named and once & names
    }


@pytest.fixture(scope="module")
def core_texts(root: Path) -> dict[str, str]:
    files = [f for name in FOLDERS for f in (root / name).rglob("*") if f.suffix in {".c", ".h"}]
    assert files
    return {str(f.relative_to(root)): f.read_text() for f in files}


def test_core_names_nothing_of_a_hosted_library(core_texts: dict[str, str]) -> None:
    found = {name: identifiers(text) & HOSTED_NAMES for name, text in core_texts.items()}
    assert {name: words for name, words in found.items() if words} == {}


def test_core_computes_without_floats(core_texts: dict[str, str]) -> None:
    for name, text in core_texts.items():
        assert not identifiers(text) & FLOATS, name
        assert not FLOAT_LITERAL.search(code_of(text)), name


def test_core_speaks_of_compilers_in_one_file_alone(core_texts: dict[str, str]) -> None:
    """What begins with two underscores is a compiler's, and so are pragmas."""
    found = {name: compiler_words(text) for name, text in core_texts.items()}
    assert found.pop("core/include/hfit/compiler.h")
    assert {name: words for name, words in found.items() if words} == {}


def test_core_compiles_as_plain_c(root: Path) -> None:
    """As gcc does, told that it is another compiler; tcc is tried in tests/python."""
    for source in sorted(file for name in FOLDERS for file in (root / name / "src").rglob("*.c")):
        command = ["gcc", "-U__GNUC__", "-std=c11", "-ffreestanding", "-fsyntax-only", "-Wall",
                   "-Wextra", "-Wconversion", "-Werror", *include_options(root)]  # fmt: skip
        subprocess.run([*command, source], check=True)


def test_generated_code_asks_compilers_for_nothing_that_core_does_not(root: Path) -> None:
    templates = [*(root / "python/heapfit/generate/templates").glob("*.[ch].j2")]
    assert templates
    for template in templates:
        assert not compiler_words(template.read_text()), template


@pytest.fixture(scope="module")
def released(root: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """The symbols of core and the baselines as firmware builds them."""
    return symbols(compile_core(root, tmp_path_factory.mktemp("released"), "-Os"))


def test_core_links_with_nothing(released: list[tuple[str, str]]) -> None:
    needed = {name for letter, name in released if letter == "U"}
    given = {name for letter, name in released if letter != "U"}
    assert needed - given == set()


def test_core_holds_no_mutable_data(released: list[tuple[str, str]]) -> None:
    assert [name for letter, name in released if letter in MUTABLE_SYMBOLS] == []


def test_every_external_name_of_core_has_our_prefix(released: list[tuple[str, str]]) -> None:
    external = [name for letter, name in released if letter.isupper()]
    assert [name for name in external if not name.startswith("hfit_")] == []


def test_no_function_of_core_calls_itself(root: Path, tmp_path: Path) -> None:
    compile_core(root, tmp_path, "-O0", "-fcallgraph-info")
    graph = calls(tmp_path)
    assert graph
    assert find_cycle(graph) == []


@pytest.mark.parametrize(
    "compiler", of_the_day(3, [("gcc", "-std=c11"), ("clang", "-std=c11"), ("g++", "-std=c++17")])
)
def test_every_public_header_stands_alone(root: Path, compiler: tuple[str, str]) -> None:
    name, standard = compiler
    language = "c++" if name == "g++" else "c"
    for header in sorted(
        file for name in FOLDERS for file in (root / name / "include").rglob("*.h")
    ):
        command = [name, standard, "-x", language, "-fsyntax-only", "-Wall", "-Wextra",
                   "-Wconversion", "-Wpedantic", "-Werror",
                   *(f"-I{root / name / 'include'}" for name in FOLDERS), "-"]  # fmt: skip
        twice = f"#include <{header.parent.name}/{header.name}>\n" * 2
        program = twice + "typedef int not_empty;\n"
        subprocess.run(command, input=program, text=True, check=True)


@pytest.mark.parametrize("compiler", of_the_day(2, ["gcc", "clang"]))
def test_every_private_header_compiles_alone(root: Path, compiler: str) -> None:
    complaints = {name: complaints_alone(root, compiler, name) for name in private_headers(root)}
    assert {name: lines for name, lines in complaints.items() if lines} == {}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_header_that_needs_another_before_it_is_found(
    root: Path, tmp_path: Path, compiler: str
) -> None:
    header = tmp_path / "lonely.h"
    header.write_text("static inline uint32_t first(void) { return TILING_FIRST; }\n")
    assert complaints_alone(root, compiler, str(header))


def test_a_source_names_all_its_parts_in_the_order_they_build_on_each_other(root: Path) -> None:
    headers = private_headers(root)
    for source in sorted(file for name in FOLDERS for file in (root / name / "src").rglob("*.c")):
        named = PRIVATE_INCLUDE.findall(source.read_text())
        assert set(named) == reached_private(root, source), source
        for place, name in enumerate(named):
            below = reached_private(root, headers[name]) - {name}
            assert below <= set(named[:place]), f"{source} names {name} before what it builds on"


def test_no_file_uses_a_header_that_it_only_reaches_through_others(root: Path) -> None:
    files = [file for name in FOLDERS for file in (root / name / "src").rglob("*.[ch]")]
    found = {str(file): unnamed_sources(root, file) for file in sorted(files)}
    assert {name: headers for name, headers in found.items() if headers} == {}
