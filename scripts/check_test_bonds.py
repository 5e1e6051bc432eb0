# SPDX-License-Identifier: Apache-2.0
"""Counts where tests are bound to the inside of the package; fails where a count has risen.

    private names    imported from the package, or asked of a module or an object (`x._name`)
    replaced         what `monkeypatch.setattr` replaces

A test of a room's face stays when the room is rewritten. `--list` prints the places.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST = {"private names": 5, "replaced": 34}  # they only fall
PACKAGES = ("heapfit", "heapfit_papers", "harness")
OWN = {"self", "cls"}
PUBLIC = {"_engine", "_replace", "_asdict", "_fields", "_repr_html_"}  # the extension; Python's


def bonds(tree: ast.Module) -> Iterator[tuple[str, int, str]]:
    """The kind, line and text of each bond of a test file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and is_ours(node.module):
            names = (alias.name for alias in node.names if is_private(alias.name))
            yield from (("private names", node.lineno, name) for name in names)
        elif isinstance(node, ast.Attribute) and is_private(node.attr):
            if not (isinstance(node.value, ast.Name) and node.value.id in OWN):
                yield "private names", node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "monkeypatch.setattr":
            yield "replaced", node.lineno, ", ".join(ast.unparse(one) for one in node.args[:2])


def is_ours(module: str | None) -> bool:
    """Whether a module is one of our packages.

    >>> is_ours("heapfit.plan"), is_ours("heapfitting"), is_ours(None)
    (True, False, False)
    """
    return module is not None and module.split(".")[0] in PACKAGES


def is_private(name: str) -> bool:
    """Whether a name is for its module or class alone.

    >>> is_private("_find"), is_private("__init__"), is_private("_engine")
    (True, False, False)
    """
    return name.startswith("_") and not name.startswith("__") and name not in PUBLIC


def main() -> None:
    """Prints the counts; exit code 1 if one has risen."""
    counts = dict.fromkeys(MOST, 0)
    for file in sorted((ROOT / "tests").rglob("*.py")):
        for kind, line, text in bonds(ast.parse(file.read_text())):
            counts[kind] += 1
            if "--list" in sys.argv[1:]:
                print(f"{file.relative_to(ROOT)}:{line}: {kind}: {text}")
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()), "in tests")
    sys.exit(
        "\n".join(f"{kind}: at most {MOST[kind]}" for kind in MOST if counts[kind] > MOST[kind])
        or None
    )


if __name__ == "__main__":
    main()
