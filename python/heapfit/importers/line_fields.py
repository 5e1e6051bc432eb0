# SPDX-License-Identifier: Apache-2.0
"""The one grammar of lines that a user describes, for calls and for telemetry.

    "Allocated {size} bytes at {address}"  -->  text, field, text, field, text

A field is {name} or {name:form}: x is hexadecimal without 0x; s, ms and us are units of time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from heapfit.errors import HeapfitError, did_you_mean

# The letters that fields have in the engine's patterns of calls (log_pattern.hpp), by their forms;
# "" for what no call has: the bytes of a heap, of which telemetry is.
_AMOUNT: Final = MappingProxyType({"": "", "x": ""})
_FIELDS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "address": {"": "A", "x": "A"},
        "size": {"": "U", "x": "H"},
        "old": {"": "O", "x": "O"},
        "count": {"": "N"},
        "task": {"": "K", "x": "K"},
        "site": {"": "C", "x": "Q"},
        "time": {"s": "Z", "ms": "M", "us": "T"},
        "memory": {"": "V"},
        "any": {"": "X"},
        **dict.fromkeys(("free", "used", "total", "largest", "least", "failed"), _AMOUNT),
    }
)
_FIELD: Final = re.compile(r"\{([a-z]+)(?::([a-z]*))?\}")


class LineField(NamedTuple):
    """A field of a described line."""

    name: str
    form: str  # "" where it has none
    letter: str  # of the engine's patterns; "" where no call has it


def parse_line(text: str, option: str = "--line") -> list[str | LineField]:
    """The texts and fields of a described line, in turn; HeapfitError if a field is unknown.

    >>> [one if isinstance(one, str) else one.name for one in parse_line("m;{free} of {total:x}")]
    ['m;', 'free', ' of ', 'total', '']
    """
    pieces = _FIELD.split(text)
    parts: list[str | LineField] = [pieces[0]]
    for name, form, behind in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        parts += [_make_field(name, form or "", option), behind]
    return parts


def _make_field(name: str, form: str, option: str) -> LineField:
    forms = _FIELDS.get(name)
    if forms is None:
        raise HeapfitError(f"{option}: {{{name}}} is no field ({did_you_mean(name, _FIELDS)})")
    if form not in forms:
        known = " or ".join(f"{{{name}:{one}}}" if one else f"{{{name}}}" for one in forms)
        given = f"{name}:{form}" if form else name
        raise HeapfitError(f"{option}: {{{given}}} tells no unit or form: write {known}")
    return LineField(name, form, forms[form])
