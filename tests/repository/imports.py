# SPDX-License-Identifier: Apache-2.0
"""Who imports whom among our Python packages: modules by name, and the rooms they lie in."""

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

EXTENSION = "heapfit._engine"  # compiled, below all of them


@dataclass(frozen=True)
class Import:
    """One module that names another; both are written in full, "heapfit.plan.plan"."""

    source: str
    line: int
    target: str


def imports_of(folders: Iterable[Path]) -> list[Import]:
    """All imports among the packages that lie in some folders, those inside functions included."""
    files = {
        module_name(package, file): file
        for package in folders
        for file in sorted(package.rglob("*.py"))
    }
    return [
        Import(source, line, target)
        for source, file in files.items()
        for line, name in imported_names(file)
        if (target := module_of(name, files)) and target != source
    ]


def module_name(package: Path, file: Path) -> str:
    """A folder's __init__ is named as such: it is a module beside the others."""
    return ".".join(file.relative_to(package.parent).with_suffix("").parts)


def imported_names(file: Path) -> Iterator[tuple[int, str]]:
    """The line and the full name of each import; of `from a import b` it is a.b."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def module_of(name: str, modules: Collection[str]) -> str | None:
    """The module that a name is or lies in; a folder is its __init__. None: no module of ours."""
    if name.startswith(EXTENSION):
        return None
    parts = name.split(".")
    prefixes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    named = (module for prefix in prefixes for module in (prefix, f"{prefix}.__init__"))
    return next((module for module in named if module in modules), None)


def edges_inside(folder: str, imports: Iterable[Import]) -> dict[str, set[str]]:
    """Between what lies in a folder, "heapfit.design": its modules and the folders below it."""
    edges: dict[str, set[str]] = {}
    for one in imports:
        source, target = child(folder, one.source), child(folder, one.target)
        if source and target and source != target:
            edges.setdefault(source, set()).add(target)
    return edges


def child(folder: str, module: str) -> str | None:
    """The module or folder directly in a folder that a module is or lies in."""
    if not module.startswith(f"{folder}."):
        return None
    return module.removeprefix(f"{folder}.").split(".")[0]
