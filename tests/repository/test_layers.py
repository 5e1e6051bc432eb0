# SPDX-License-Identifier: Apache-2.0
"""Layers point one way: core <- baselines <- papers' C <- engine <- bindings <- package <- cli."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

# Each native layer: its folder and the layers it may include.
NATIVE = {
    "core": ("core", {"core"}),
    "recorder": ("recorder", {"recorder"}),
    "baselines": ("baselines", {"core", "baselines"}),
    "papers": ("papers", {"core", "baselines", "papers"}),
    "engine": ("engine", {"core", "baselines", "papers", "recorder", "engine"}),
    "bindings": ("python/bindings", {"core", "baselines", "recorder", "engine", "bindings"}),
}
INCLUDE_FOLDERS = (
    *("core", "core/include", "baselines", "baselines/include", "papers", "papers/include"),
    *("recorder", "recorder/target"),
    *("engine/include", "engine/src", "python/bindings"),
)
CORE_SYSTEM_HEADERS = {"stdbool.h", "stddef.h", "stdint.h"}
PYTHON_HEADER = re.compile(r"Python\.h|nanobind/|numpy/|pybind11/")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
# The command line draws; what lies below it is called by notebooks and tests just as well.
TERMINAL_MODULES = {"argparse", "getopt", "rich"}


def native_layer(root: Path, file: Path) -> str | None:
    for layer, (folder, _) in NATIVE.items():
        if file.is_relative_to(root / folder):
            return layer
    return None


def resolve(root: Path, source: Path, name: str) -> Path | None:
    folders = [source.parent, *(root / folder for folder in INCLUDE_FOLDERS)]
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def native_violations(root: Path) -> Iterator[str]:
    sources = (f for f in root.rglob("*") if f.suffix in {".c", ".h", ".cpp", ".hpp", ".def"})
    for source in sorted(sources):
        layer = native_layer(root, source)
        if layer is None:
            continue
        for quoted, system in INCLUDE.findall(source.read_text()):
            target = resolve(root, source, quoted or system)
            problem = include_problem(root, layer, quoted, system, target)
            if problem:
                yield f"{source.relative_to(root)}: {problem}"


def include_problem(
    root: Path, layer: str, quoted: str, system: str, target: Path | None
) -> str | None:
    if target is not None:
        found = native_layer(root, target.resolve())
        return None if found in NATIVE[layer][1] else f"{layer} includes {found}: {quoted}"
    if quoted:
        return f"includes a file that is not there: {quoted}"
    if layer == "core" and system not in CORE_SYSTEM_HEADERS:
        return f"core is freestanding but includes <{system}>"
    if layer != "bindings" and PYTHON_HEADER.match(system):
        return f"only the bindings know Python, but this includes <{system}>"
    return None


def imported_modules(source: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            prefix = "." * node.level + (node.module or "")
            yield prefix
            yield from (f"{prefix}.{alias.name}" for alias in node.names)


def package_violations(package: Path) -> Iterator[str]:
    for source in sorted(package.rglob("*.py")):
        place = source.relative_to(package)
        is_command_line = place.parts[0] in {"cli", "__main__.py"}
        for module in imported_modules(source):
            top = module.split(".")[0]
            if module.startswith("."):
                yield f"{place}: imports {module}; write the full name"
            elif not is_command_line and (
                module.startswith("heapfit.cli") or top in TERMINAL_MODULES
            ):
                yield f"{place}: imports {module}, which belongs to the command line"


MODULES = {"pyelftools": "elftools", "pyserial": "serial"}  # of packages that are called otherwise


def test_native_layers_point_one_way(root: Path) -> None:
    assert list(native_violations(root)) == []


def test_the_library_does_not_know_the_command_line(root: Path) -> None:
    assert list(package_violations(root / "python/heapfit")) == []


def test_the_package_imports_only_what_it_declares(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    asked = [project["dependencies"], *project["optional-dependencies"].values()]
    names = (re.split(r"[^\w-]", dependency)[0] for some in asked for dependency in some)
    declared = {MODULES.get(name, name.replace("-", "_")) for name in names}
    # _typeshed exists for type checkers only.
    allowed = declared | set(sys.stdlib_module_names) | {"heapfit", "_typeshed"}
    imported = {
        module.split(".")[0]
        for source in (root / "python/heapfit").rglob("*.py")
        for module in imported_modules(source)
    }
    assert imported <= allowed
