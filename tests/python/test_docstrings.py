# SPDX-License-Identifier: Apache-2.0
"""The examples in docstrings run."""

import doctest
import importlib
import inspect
from pathlib import Path
from types import ModuleType

import pytest

import heapfit.errors

PACKAGE = Path(heapfit.errors.__file__).parent
MODULES = [
    ".".join(("heapfit", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name not in ("__init__.py", "__main__.py")
]


class Finder(doctest.DocTestFinder):
    """Finds the examples of decorated functions, too."""

    def __init__(self) -> None:
        super().__init__(exclude_empty=True)

    def _from_module(self, module: ModuleType, found: object) -> bool:
        return super()._from_module(module, inspect.unwrap(found))


def examples_of(name: str) -> list[doctest.DocTest]:
    return Finder().find(importlib.import_module(name))


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name):
    runner = doctest.DocTestRunner()
    assert sum(runner.run(test).failed for test in examples_of(name)) == 0


def test_the_examples_of_checked_functions_are_among_them():
    assert "heapfit.front_door.compare" in {one.name for one in examples_of("heapfit.front_door")}
