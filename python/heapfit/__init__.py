# SPDX-License-Identifier: Apache-2.0
"""heapfit fits a heap to a program: traces, profiles, plans, exact replay, generated C.

docs/python.md is the guide. The names that are offered here, and where each comes from, are listed
once, in the stub beside this file; a name's module is imported when the name is first used, so that
`import heapfit` costs nothing. No room has the name of a function. What is deeper in the package
may change with any version.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path

_OFFERED = re.compile(r"^from (\S+) import (\w+) as \2$", re.MULTILINE)


@cache
def _modules() -> dict[str, str]:
    """The module of each name, as the stub has it."""
    stub = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    return {name: module for module, name in _OFFERED.findall(stub)}


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("heapfit._engine").version  # the extension takes a tenth of a second
    if name not in _modules():
        raise AttributeError(f"module 'heapfit' has no attribute '{name}'")
    return getattr(import_module(_modules()[name]), name)  # numpy, pyarrow and highspy with it


def __dir__() -> list[str]:
    return sorted([*_modules(), "__version__"])
