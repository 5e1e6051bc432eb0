# SPDX-License-Identifier: Apache-2.0
"""Modules as far as a command's help needs them: without the imports that only functions use.

Help shows the options of a command, which are its signature. The libraries that the command runs
take ten times as long to load. So within `Outlines` a module of ours is loaded without the imports
whose names neither its statements nor the signature of a `command` use. Such an import is made when
another module asks for its name, and all are made by `complete`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import ModuleType
from typing import ClassVar

_OURS = ("heapfit", "heapfit_papers")


class Outlines(MetaPathFinder):
    """While entered, loads modules of ours as outlines; modules loaded before stay complete."""

    # Of all: modules outlive a help that ended, as where a test runs several commands.
    _pending: ClassVar[list[_LateImports]] = []

    def __enter__(self) -> Outlines:
        sys.meta_path.insert(0, self)
        return self

    def __exit__(self, *_error: object) -> None:
        sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the other finders find, with another loader; None if the module is not ours."""
        if fullname.partition(".")[0] not in _OURS:
            return None
        others = (one for one in sys.meta_path if one is not self)
        specs = (one.find_spec(fullname, path, target) for one in others)
        spec = next((one for one in specs if one), None)
        if spec and spec.origin and spec.origin.endswith(".py"):
            spec.loader = _Loader(fullname, spec.origin, self._pending)
        return spec

    @classmethod
    def complete(cls) -> None:
        """Makes every import that was postponed."""
        while cls._pending:
            cls._pending[-1].make()


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, pending: list[_LateImports]) -> None:
        super().__init__(name, path)
        self._pending = pending

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module without its late imports."""
        tree = ast.parse(self.get_data(self.path))
        needed = _names_needed(tree)
        late = [one for one in tree.body if _names_bound(one) and not _names_bound(one) & needed]
        tree.body = [one for one in tree.body if one not in late]
        if late:
            _LateImports(module, late, self._pending)
        exec(compile(tree, self.path, "exec"), module.__dict__)


class _LateImports:
    """Imports of a module that are still to be made; the module's `__getattr__` until then."""

    def __init__(
        self, module: ModuleType, late: list[ast.stmt], pending: list[_LateImports]
    ) -> None:
        self._module, self._late, self._pending = module, late, pending
        pending.append(self)
        module.__dict__["__getattr__"] = self._get

    def make(self) -> None:
        """Makes the imports, once."""
        self._pending.remove(self)
        del self._module.__dict__["__getattr__"]
        source = compile(ast.Module(self._late, []), str(self._module.__file__), "exec")
        exec(source, self._module.__dict__)

    def _get(self, name: str) -> object:
        if any(name in _names_bound(one) for one in self._late):
            self.make()
            return getattr(self._module, name)
        raise AttributeError(f"module '{self._module.__name__}' has no attribute '{name}'")


def _names_bound(statement: ast.stmt) -> set[str]:
    """The names that an import binds; none for other statements and for `__future__`.

    >>> sorted(_names_bound(ast.parse("from os import path, sep as mark").body[0]))
    ['mark', 'path']
    """
    is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    if is_future or not isinstance(statement, ast.Import | ast.ImportFrom):
        return set()
    return {one.asname or one.name.partition(".")[0] for one in statement.names}


def _names_needed(tree: ast.Module) -> set[str]:
    """The names that are read as a module is loaded, or as its `command` is parsed.

    >>> sorted(_names_needed(ast.parse("def f(a: A = B): return C")))
    ['B']
    """
    names, left = set(), list[ast.AST](tree.body)
    while left:
        node = left.pop()
        if isinstance(node, ast.Name):
            names.add(node.id)
        left += _parts_to_run(node)
    return names


def _parts_to_run(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that run as its module is loaded; of annotations a command's alone."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        annotated = [one.annotation for one in node.args.args if one.annotation]
        defaults = [one for one in (*node.args.defaults, *node.args.kw_defaults) if one]
        return [*node.decorator_list, *defaults, *(annotated if node.name == "command" else ())]
    if isinstance(node, ast.Lambda):
        return []
    if isinstance(node, ast.AnnAssign):
        return [node.value] if node.value else []
    return list(ast.iter_child_nodes(node))
