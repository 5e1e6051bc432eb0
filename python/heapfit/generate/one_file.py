# SPDX-License-Identifier: Apache-2.0
"""A generated folder's C in one file: every include of ours replaced by what it names.

app_heap.c
  hfit/*.h, app_plan.h    what all sources share
  src/**/INNER.c          of each allocator behind pools, with its headers and names of its own
  src/**/OUTER.c          of the one that is called, with its headers
  the wrapper

Each allocator is written as a source of its own, and they call their work by the same names, such
as heap_alloc. So those of an inner one become heap_alloc_in_INNER, and its macros end with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_INCLUDE = re.compile(
    r'^[ \t]*#[ \t]*include[ \t]+"((?:hfit|src)/[^"]+|\w+_plan\.h)"[^\n]*\n', re.M
)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_ENUM = re.compile(r"\benum\b\s*\w*\s*\{([^}]*)\}")
_TYPE = re.compile(r"^\}\s*(\w+);|^typedef\b[^;{]*?(?:\(\*(\w+)\)\([^;]*\)|\b(\w+));", re.MULTILINE)
_TAG = re.compile(r"\b(?:struct|enum|union)\s+(?:HFIT_MAY_ALIAS\s+)?(\w+)\s*\{")
_FUNCTION_OR_TABLE = re.compile(r"^(?!typedef)[a-z][\w \t*]*?\b(\w+)(?=[(\[]| =)", re.MULTILINE)
_PASTED = re.compile(r"\b(?!hfit_)(\w+_)##operation\b")  # such as heap_##operation
_FOR_ALL = {"src/region.h", "src/size.h"}  # beside hfit/ and the plan
_NO_NAMES = {"_Static_assert", "HFIT_THIS", "HFIT_MAY_ALIAS", "enum"}

# The plan is there before any allocator, and for all of them.
_BEFORE_PLAN = """
#ifdef HFIT_ANY_PLAN
#error "one file is the heap of one plan: generate folders for HFIT_ANY_PLAN"
#endif

#define HFIT_THIS(operation) hfit_##operation
"""
_BEHIND_PLAN = "#undef HFIT_THIS\n"


def in_one_file(texts: Mapping[str, str], wrapper: str, sources: Sequence[str]) -> str:
    """The C of a folder whose files are `texts`, as the text of one file named `wrapper`.

    `sources` are the allocators', from the outermost inwards; the wrapper calls the first.
    """
    outer, *inner = sources
    common: dict[str, str] = {}
    parts = [_inner_section(texts, source, common) for source in reversed(inner)]
    seen: set[str] = set()
    parts += [_title(name) + _expanded(texts, name, common, seen) for name in (outer, wrapper)]
    return "".join([_head(texts[wrapper]), _BEFORE_PLAN, *common.values(), _BEHIND_PLAN, *parts])


def _head(wrapper: str) -> str:
    """What stands above the wrapper's first line of code: licence, and whose heap it is."""
    return wrapper[: wrapper.index("\n#include")]


def _title(source: str) -> str:
    return f"\n/* ---- {source} ---- */\n\n"


def _inner_section(texts: Mapping[str, str], source: str, common: dict[str, str]) -> str:
    """An allocator behind pools; what it defines gets names of its own."""
    ours = _expanded(texts, source, common, set())
    place = source.rpartition("/")[2].removesuffix(".c")
    fields = set(re.findall(r"\w+", "".join(common.values())))  # of structs that all know
    for name in _defined(ours, place):
        access = r"(?<!\.)(?<!->)" if name in fields else ""
        ours = re.sub(rf"{access}\b{name}\b", f"{name}_in_{place}", ours)
    ours = _PASTED.sub(rf"\1##operation##_in_{place}", ours)
    ended = sorted(set(_MACRO.findall(ours)))
    return "".join([_title(source), ours, *(f"#undef {name}\n" for name in ended)])


def _expanded(texts: Mapping[str, str], name: str, common: dict[str, str], seen: set[str]) -> str:
    """A file with what it includes in its place, but for what is in `common`, or comes to be."""
    seen.add(name)

    def included(match: re.Match[str]) -> str:
        wanted = match[1]
        if wanted in common or wanted in seen:
            return ""
        text = _expanded(texts, wanted, common, seen)
        if wanted.startswith("src/") and wanted not in _FOR_ALL:
            return text
        common[wanted] = text
        return ""

    return _INCLUDE.sub(included, texts[name])


def _defined(text: str, allocator: str) -> set[str]:
    """Functions, tables, types and constants that a text defines, but not hfit_ALLOCATOR_x."""
    plain = _COMMENT.sub("", text)
    constants = (
        re.match(r"\s*(\w+)", item) for body in _ENUM.findall(plain) for item in body.split(",")
    )
    found = {match[1] for match in constants if match}
    found |= {name for names in _TYPE.findall(plain) for name in names if name}
    found |= set(_TAG.findall(plain)) | set(_FUNCTION_OR_TABLE.findall(plain))
    return {name for name in found - _NO_NAMES if not name.startswith(f"hfit_{allocator}_")}
