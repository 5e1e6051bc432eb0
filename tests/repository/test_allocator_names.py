# SPDX-License-Identifier: Apache-2.0
"""Facts of an allocator are in its descriptor: the package does not know allocators by name.

Names stand where designs are composed of them, and where sizing and the heaps of other systems name
the allocator that is meant.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from heapfit import _engine

NAMES = frozenset(info.name for info in _engine.allocators())
# Folders of the package, and the file whose option --sized is named as an allocator is.
ALLOWED = ("design/", "sizing/", "comparison/incumbents/", "cli/arguments.py")
BUT = "design/offers.py"  # measures whatever it is given


def named_allocators(package: Path) -> Iterator[str]:
    """The places of string literals that name an allocator, alone or with its tunables."""
    for source in sorted(package.rglob("*.py")):
        place = source.relative_to(package)
        if place.as_posix().startswith(BUT) or not place.as_posix().startswith(ALLOWED):
            yield from (f"{place}:{where}" for where in literals_that_name(source))


def literals_that_name(source: Path) -> Iterator[str]:
    nodes = ast.walk(ast.parse(source.read_text()))
    for node in (node for node in nodes if isinstance(node, ast.Constant)):
        if isinstance(node.value, str) and re.split("[: ]", node.value)[0] in NAMES:
            yield f"{node.lineno}: {node.value!r} (its descriptor says its facts)"


def test_the_package_knows_no_allocator_by_name(root: Path) -> None:
    assert list(named_allocators(root / "python/heapfit")) == []
