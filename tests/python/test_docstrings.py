# SPDX-License-Identifier: Apache-2.0
"""The examples in docstrings run."""

import doctest
import importlib
from pathlib import Path

import pytest

import heapfit.errors

PACKAGE = Path(heapfit.errors.__file__).parent
MODULES = [
    ".".join(("heapfit", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name not in ("__init__.py", "__main__.py")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [finder.find(importlib.import_module(name)) for name in MODULES]
    assert sum(len(test.examples) for tests in found for test in tests) > 5
