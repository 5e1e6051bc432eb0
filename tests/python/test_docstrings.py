# SPDX-License-Identifier: Apache-2.0
"""Every module is imported by its name, and the examples in its docstrings run."""

import doctest
import importlib
from pathlib import Path

import heapfit.errors

PACKAGE = Path(heapfit.errors.__file__).parent


def test_every_module_is_what_its_name_says_and_its_examples_run():
    attempted = failed = 0
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join((PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts))
        name = name.removesuffix(".__init__")
        offered = {}
        exec(f"import {name} as module", offered)
        assert offered["module"] is importlib.import_module(name)
        ran = doctest.testmod(offered["module"])
        attempted, failed = attempted + ran.attempted, failed + ran.failed
    assert failed == 0
    assert attempted > 5
