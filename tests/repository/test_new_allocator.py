# SPDX-License-Identifier: Apache-2.0
"""An allocator is one header, one source and one line; all else follows from them.

A copy of this tree gets a first fit of another name, as a third party would add it, whose
descriptor says no more than it must. The copy is built as core with its contract tests and as a
wheel, and the wheel is used where the tree is not: all that asks the registry takes such an
allocator, and says that the rest is unknown.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from heapfit import _engine

NAME = "demo_fit"
TEMPLATE = "first_fit"
PLAN = f"""
schema = 1
name = "by_hand"
heapfit = "0"
region = 4096
base_alignment = 16
u_max = 1000
pointer_bits = 32
trained_on = {{ trace = "none", content = "sha256:{"0" * 64}", events = 0, kind = "heap" }}
plan = {{ allocator = "{NAME}", coalesce = 1 }}
"""
# All that a descriptor must say (hfit/descriptor.h).
DESCRIPTOR = f"""
const hfit_allocator hfit_{NAME}_allocator = {{
    .name = "{NAME}",
    .title = "first fit of a third party",
    .origin = "a test of the registry",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_{NAME}_plan),
    .operations = &hfit_{NAME}_operations,
}};
"""
SUITES = ("contract1", "battery1", "faults")
ASKS = re.compile(r"_engine\.allocators\(|find_allocators\(|list_shipped\(")
WORD = re.compile(r"\w+")
# What was measured of allocators is no more than measured: a new one's figures are unknown.
MEASURED = {
    "tests/target/test_measured_codes.py",
    "tests/repository/test_new_allocator.py",  # this
}
# On boards the new one is replayed and linked; the host judges it by the contract.
BOARDS = "tests/target/test_contract.py::"
Run = Callable[..., str]


def run(*command: str | Path, cwd: Path) -> str:
    paths = {"PYTHONPATH": "target:papers"}  # of the tree that is the working folder
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, env=os.environ | paths
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def bare(source: str) -> str:
    """A source whose descriptor says no more than it must, without the functions it named."""
    before, _, rest = source.partition("static bool holes_of")
    tunables = rest[rest.index("static const hfit_tunable") : rest.index("const hfit_allocator ")]
    return before + tunables + DESCRIPTOR.lstrip()


@pytest.fixture(scope="module")
def tree(root: Path, files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This tree with one more allocator: one header, one source, one line."""
    copy = tmp_path_factory.mktemp("clone")
    for file in files:
        target = copy / file.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    for part in ("include/hfit/{}.h", "src/tiling/{}.c"):
        text = (copy / "core" / part.format(TEMPLATE)).read_text()
        text = text.replace(TEMPLATE, NAME).replace(TEMPLATE.upper(), NAME.upper())
        (copy / "core" / part.format(NAME)).write_text(bare(text) if part.endswith("c") else text)
    with (copy / "core/allocators.def").open("a") as registry:
        registry.write(f"HFIT_ALLOCATOR({NAME})\n")
    lay_environment(copy / ".venv")
    return copy


def lay_environment(there: Path) -> None:
    """This environment, linked, but for the headers that the extension is compiled with: CMake
    follows links, and ccache knows what was compiled by the paths in the tree."""
    [here] = [Path(entry) for entry in sys.path if Path(entry, "nanobind").is_dir()]
    site = there / here.relative_to(sys.prefix)
    shutil.copytree(here / "nanobind", site / "nanobind")
    for inside, outside in ((there, Path(sys.prefix)), (site, here)):
        for entry in outside.iterdir():
            if not (inside / entry.name).exists():
                (inside / entry.name).symlink_to(entry)


@pytest.fixture(scope="module")
def wheel(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the extended tree; built where this tree builds, so that ccache knows most."""
    folder = tmp_path_factory.mktemp("wheel")
    run(
        *(tree / ".venv/bin/python", "-m", "pip", "wheel", "--quiet"),
        *("--no-build-isolation", "--no-deps"),
        *("--config-settings=build-dir=build/extension", "--wheel-dir", folder, tree),
        cwd=folder,
    )
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has the wheel and heapfit's dependencies, and does not see this tree."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=True)
    [site] = folder.glob("lib/python3*/site-packages")
    # A .pth inside a folder named here is not read, so the tree's own editable install stays out.
    dependencies = [entry for entry in sys.path if Path(entry).name == "site-packages"]
    (site / "dependencies.pth").write_text("\n".join(dependencies))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return folder / "bin/python"


@pytest.fixture
def heapfit(python: Path, tmp_path: Path) -> Run:
    """Runs the command line of the extended wheel."""

    def command(*arguments: str | Path) -> str:
        return run(python, "-m", "heapfit", *arguments, cwd=tmp_path)

    return command


@pytest.fixture(scope="module")
def suites(tree: Path) -> Path:
    """The C suites that run over the registry, built as a release in the extended tree."""
    run("cmake", "--preset", "release", cwd=tree)
    run("cmake", "--build", "--preset", "release", "--target", *SUITES, cwd=tree)
    return tree / "build/release/tests"


def test_the_contract_suite_judges_a_new_allocator(tree: Path, suites: Path) -> None:
    suite = suites / "contract/contract1"
    run(suite, NAME, "20000", cwd=tree)

    source = tree / "core/src/tiling" / f"{NAME}.c"
    sound = source.read_text()
    source.write_text(
        sound.replace("list_push(heap, LIST_HEAD, chunk);", "(void)heap, (void)chunk;")
    )
    run("cmake", "--build", suites.parent, "--target", "contract1", cwd=tree)
    source.write_text(sound)
    broken = subprocess.run([suite, NAME, "20000"], capture_output=True, text=True, check=False)
    assert broken.returncode != 0
    assert NAME in broken.stderr


def test_a_new_allocator_is_attacked_by_the_battery(tree: Path, suites: Path) -> None:
    table = run(suites / "battery/battery1", NAME, cwd=tree)
    [row] = [line.split() for line in table.splitlines() if line.startswith(NAME)]
    assert set(row[1:]) <= {".", "r", "-"}, table
    assert len(row) > 16


def test_every_bit_of_a_new_allocators_metadata_is_flipped(tree: Path, suites: Path) -> None:
    assert NAME in run(suites / "faults/faults", NAME, cwd=tree)


def test_what_asks_the_registry_holds_of_a_new_allocator(
    python: Path, tree: Path, root: Path
) -> None:
    others = {info.name for info in _engine.allocators()}
    options = ("-q", "-p", "no:cacheprovider", "-k", f"{NAME} or not ({' or '.join(others)})")
    told = run(python, "-m", "pytest", *options, *asks_the_registry(root), cwd=tree)
    assert " passed" in told.splitlines()[-1]


def asks_the_registry(root: Path) -> list[str]:
    """The Python tests that go through the allocators there are, as pytest takes them."""
    files = {
        test.relative_to(root).as_posix(): asking_tests(test.read_text())
        for test in sorted((root / "tests").rglob("test_*.py"))
    }
    assert {name for name, tests in files.items() if tests} > MEASURED
    asking = {
        f"{file}::{test}" for file, tests in files.items() for test in tests if file not in MEASURED
    }
    others = {test for test in asking if not test.startswith(BOARDS)}
    assert others < asking
    return sorted(others)


def asking_tests(source: str) -> set[str]:
    """The tests of a file that ask, or whose fixtures, functions and tables do."""
    definitions = defaultdict(str)
    for node in ast.parse(source).body:
        for name in defined_by(node):
            start = min(one.lineno for one in [node, *getattr(node, "decorator_list", [])])
            definitions[name] += "\n".join(source.splitlines()[start - 1 : node.end_lineno])
    asking = {name for name, text in definitions.items() if ASKS.search(text)}
    words = {name: set(WORD.findall(text)) for name, text in definitions.items()}
    while more := {name for name in words if words[name] & asking} - asking:
        asking |= more
    return {name for name in asking if name.startswith("test_")}


def defined_by(node: ast.stmt) -> set[str]:
    """The names that a statement of a module gives."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    return {
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }


@pytest.fixture
def trace(root: Path) -> Path:
    [path] = (root / "examples/lwip-echo").glob("*.parquet")
    return path


def test_what_a_new_allocator_leaves_out_is_listed_as_unknown(heapfit: Run) -> None:
    lines = heapfit("allocators", NAME).splitlines()
    for label in ("worst case", "bytes a block", "fragmentation"):
        assert f"  {label:17}unknown" in lines
    assert lines[lines.index("  layout") + 1].split() == ["unknown"]
    assert f"\n{NAME}: first fit of a third party\n" in heapfit("allocators")
    [told] = json.loads(heapfit("allocators", NAME, "--json"))["allocators"]
    assert [told[key] for key in ("worst_case", "block_bytes", "fragmentation", "layout")] == (
        [None] * 4
    )


def test_a_new_allocator_is_compared_like_any_other(
    heapfit: Run, trace: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    told = heapfit("compare", trace, TEMPLATE, NAME, "--json", "--report", page)
    sizes = {row["name"]: row["r_min"] for row in json.loads(told)["rows"]}
    assert sizes[NAME] == sizes[TEMPLATE] > 0
    assert NAME in page.read_text()


def test_what_a_new_allocator_does_not_say_costs_it_the_largest_margin(
    python: Path, tmp_path: Path
) -> None:
    code = f"""
from heapfit.comparison.margin import MarginBasis, MarginKind, margin_for, margin_kind
from heapfit.forecast.load import Load
from heapfit.plan.plan import Plan
for is_trained in (False, True):
    assert margin_kind(Plan("{NAME}"), is_trained) is MarginKind.UNKNOWN
print(*(margin_for(MarginBasis(Load((1 << 20,) * runs), MarginKind.UNKNOWN)) for runs in (1, 4)))
"""
    assert run(python, "-c", code, cwd=tmp_path) == "34.0 34.0\n"


def test_a_new_allocator_is_tried_by_fit(heapfit: Run, trace: Path, tmp_path: Path) -> None:
    told = json.loads(heapfit("fit", trace, "--effort", "quick", "--json", "-o", tmp_path / "out"))
    [fit] = told["fits"]
    assert NAME in [row["name"] for row in fit["rows"]]
    assert NAME in (tmp_path / "out/report.html").read_text()


def test_nothing_is_proven_of_a_new_allocator(heapfit: Run, trace: Path) -> None:
    assert "U_max" in (told := heapfit("bounds", trace, "--search", "0"))
    assert NAME not in told


def test_a_new_allocator_becomes_code(heapfit: Run, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN)
    heapfit("generate", plan)
    command = ("gcc", "-std=c11", "-ffreestanding", "-Wall", "-Werror", "-I.", "-c")
    run(*command, "app_heap.c", f"src/tiling/{NAME}.c", cwd=tmp_path / "code")


def test_a_new_allocator_gets_its_section_in_the_documentation(python: Path, tree: Path) -> None:
    page = run(python, "scripts/allocators_page.py", cwd=tree)
    [section] = re.findall(rf"^### `{NAME}`\n(.*?)^\| tunable", page, re.MULTILINE | re.DOTALL)
    assert section.count("unknown") == 4


def test_what_was_not_measured_of_a_new_allocator_is_unknown(heapfit: Run, trace: Path) -> None:
    names = f"{NAME}:list=1,{TEMPLATE}:list=1"
    found = json.loads(heapfit("fit", trace, "--all", "--allocators", names, "--json"))
    by_name = {one["name"]: one for one in found["fits"][0]["rows"]}
    new, known = by_name[f"{NAME}:list=1"], by_name[f"{TEMPLATE}:list=1"]
    assert (new["size"], new["time"]) == (None, None)
    assert None not in (known["size"], known["time"])
