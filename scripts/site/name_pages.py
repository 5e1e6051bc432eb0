# SPDX-License-Identifier: Apache-2.0
"""One page of all names that `import heapfit` offers: signatures, what they say, fields."""

import ast
import inspect
import re
from dataclasses import is_dataclass
from types import FunctionType

import heapfit

PAGE = "reference/python-names.md"
_NAMED = re.compile(r"<function (\w+) at 0x\w+>")  # a standard value that is a function
_FIELD = re.compile(r"^    (\w+): ([^#\n]+?)(?: = ([^#\n]+?))? *(?:# (.*))?$")


def name_pages() -> dict[str, str]:
    """Functions first, then records."""
    offered = {name: getattr(heapfit, name) for name in dir(heapfit) if name != "__version__"}
    functions = [_function(n, one) for n, one in offered.items() if isinstance(one, FunctionType)]
    records = [_record(n, one) for n, one in offered.items() if isinstance(one, type)]
    about = "What `import heapfit` offers; [the guide](../docs/python.md) shows it at work."
    parts = ["# Python names", about, "## Functions", *functions, "## Records", *records]
    return {PAGE: "\n\n".join(parts) + "\n"}


def _function(name: str, function: FunctionType) -> str:
    signature = _NAMED.sub(r"\1", str(inspect.signature(function)).replace("'", ""))
    return "\n\n".join(
        [f"### `{name}`", f"```python\n{name}{_folded(signature)}\n```", _said(function)]
    )


def _record(name: str, record: type) -> str:
    parts = [f"### `{name}`", _said(record)]
    if is_dataclass(record):
        parts.append("\n".join(_fields(record)))
    parts += [
        f"`{one}`: {_first_paragraph(value)}"
        for one, value in inspect.getmembers(record)
        if not one.startswith("_") and _is_own(value) and inspect.getdoc(value)
    ]
    return "\n\n".join(part for part in parts if part)


def _is_own(value: object) -> bool:
    return isinstance(value, property | FunctionType) or inspect.ismethod(value)


def _fields(record: type) -> list[str]:
    """A table of a dataclass's fields with the comments behind them, where it has any."""
    source = inspect.getsource(record)
    (tree,) = ast.parse(source).body
    assert isinstance(tree, ast.ClassDef)
    lines = source.splitlines()
    rows = [_row(lines[one.lineno - 1]) for one in tree.body if isinstance(one, ast.AnnAssign)]
    return ["| field | type | standard | |", "|---|---|---|---|", *rows] if rows else []


def _row(line: str) -> str:
    found = _FIELD.match(line)
    assert found, line
    name, kind, standard, meaning = (one and one.replace("|", "\\|") for one in found.groups())
    return f"| `{name}` | `{kind}` | {f'`{standard}`' if standard else ''} | {meaning or ''} |"


def _said(thing: object) -> str:
    """The docstring, its examples as code."""
    text = inspect.getdoc(thing) or ""
    said, mark, example = text.partition("\n>>> ")
    return f"{said.strip()}\n\n```python\n>>> {example}\n```" if mark else said


def _first_paragraph(thing: object) -> str:
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


def _folded(signature: str) -> str:
    """One parameter a line, where the line would be long."""
    if len(signature) < 70:
        return signature
    inside, _, result = signature.removeprefix("(").rpartition(")")
    parameters = re.split(r", (?![^\[]*\])", inside)
    return "(\n" + "".join(f"    {one},\n" for one in parameters) + f"){result}"
