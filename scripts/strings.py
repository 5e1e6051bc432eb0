# SPDX-License-Identifier: Apache-2.0
"""Prints every string of the command line, one a line, as docs/strings.txt has them reviewed.

Help and what commands print: all texts of several words in the modules of the commands, but for
the docstrings of what is no command. What is put in later stands as {}.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("python/heapfit/cli", "papers/heapfit_papers/cli")
FILES = (  # of other rooms, whose sentences commands print
    "python/heapfit/report/saving.py",
    "python/heapfit/report/league/verdict.py",
)


def strings() -> list[str]:
    """All of them, sorted, each once."""
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]
    files += [ROOT / file for file in FILES]
    found = {text for file in files for text in strings_of(file.read_text(encoding="utf-8"))}
    return sorted(found)


def strings_of(source: str) -> Iterator[str]:
    """The texts of a module in one line each.

    >>> list(strings_of('def command():\\n    "Do it now."\\n\\nprint(f"All {n} of it")'))
    ['Do it now.', 'All {} of it']
    """
    tree = ast.parse(source)
    silent = {id(node) for node in _docstrings(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            silent |= {id(part) for part in ast.walk(node)} - {id(node)}
    for node in ast.walk(tree):
        text = None if id(node) in silent else _text_of(node)
        if text is not None and " " in text and any(map(str.isalpha, text)):
            yield " ".join(text.split())


def _docstrings(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            is_help = isinstance(node, ast.FunctionDef) and node.name == "command"
            first = node.body[0]
            if isinstance(first, ast.Expr) and not is_help:
                yield first.value


def _text_of(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text_of(part) or "{}" for part in node.values)
    return None


if __name__ == "__main__":
    for one in strings():
        print(one)
