# SPDX-License-Identifier: Apache-2.0
"""A generated folder's C in one file: each of our includes replaced by the file it names.

app_heap.c
  hfit/*.h, app_plan.h    what all sources share
  src/**/INNER.c          of each allocator behind pools, with its headers
  src/**/OUTER.c          of the one that is called, with its headers
  the wrapper, and before it the header with the lock, which may be a platform's

That header meets no name of core's: heap_alloc of an allocator's source becomes
hfit_heap_alloc_in_OUTER, load_word, which all share, hfit_load_word, and macros end before the
wrapper. So the allocators, which call their work by the same names, do not meet either.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

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
# A name, and what stands before that of a field or of an operation.
_NAME = re.compile(r"(\.|->|\boffsetof\(\w+, |\bHFIT_(?:THIS|DO|WORK)\(|)\b([A-Za-z]\w*)")
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


def join_sources(texts: Mapping[str, str], wrapper: str, sources: Sequence[str]) -> str:
    """The C of a folder whose files are `texts`, as the text of one file named `wrapper`.

    `sources` are the allocators', from the outermost inwards; the wrapper calls the first.
    """
    common: dict[str, str] = {}
    sections = [_section(texts, source, common) for source in reversed(sources)]
    calls = _title(wrapper) + _expand_includes(texts, wrapper, common, set())
    shared = "".join(text for name, text in common.items() if name.startswith("src/"))
    core = "".join([_BEFORE_PLAN, *common.values(), _BEHIND_PLAN, *sections])
    return "".join(
        [
            texts[wrapper].partition("\n#include")[0],
            _rename_definitions(core, shared),
            _undefine_macros(shared),
            calls,
        ]
    )


def _title(source: str) -> str:
    return f"\n/* ---- {source} ---- */\n\n"


def _section(texts: Mapping[str, str], source: str, common: dict[str, str]) -> str:
    """The section of an allocator, in which what it defines has names of its own."""
    ours = _expand_includes(texts, source, common, set())
    place = f"_in_{source.rpartition('/')[2].removesuffix('.c')}"
    known = _COMMENT.sub("", "".join(common.values()))
    fields = set(re.findall(r"\w+", known))  # of structs that all know
    named = _PASTED.sub(
        rf"hfit_\1##operation##{place}", _rename_definitions(ours, ours, place, fields)
    )
    return "".join([_title(source), named, _undefine_macros(ours)])


def _rename_definitions(
    text: str, definitions: str, place: str = "", fields: Collection[str] = ()
) -> str:
    """A text whose names that `definitions` defines are prefixed and end with `place`."""
    names = _find_definitions(definitions)

    def rename(match: re.Match[str]) -> str:
        access, name = match.groups()
        is_operation = access.startswith("HFIT_")
        is_as_it_was = name not in names or is_operation or (access and name in fields)
        return match[0] if is_as_it_was else f"{access}hfit_{name}{place}"

    return _NAME.sub(rename, text)


def _undefine_macros(text: str) -> str:
    """The lines that undefine the macros of a text."""
    return "".join(f"#undef {name}\n" for name in sorted(set(_MACRO.findall(text))))


def _expand_includes(
    texts: Mapping[str, str], name: str, common: dict[str, str], seen: set[str]
) -> str:
    """A file with its includes expanded, except those that are in `common` or now go there."""
    seen.add(name)

    def expand(match: re.Match[str]) -> str:
        wanted = match[1]
        if wanted in common or wanted in seen:
            return ""
        text = _expand_includes(texts, wanted, common, seen)
        if wanted.startswith("src/") and wanted not in _FOR_ALL:
            return text
        common[wanted] = text
        return ""

    return _INCLUDE.sub(expand, texts[name])


def _find_definitions(text: str) -> set[str]:
    """The functions, tables, types and constants a text defines, but those named hfit_."""
    plain = _COMMENT.sub("", text)
    constants = (
        re.match(r"\s*(\w+)", item) for body in _ENUM.findall(plain) for item in body.split(",")
    )
    found = {
        *(match[1] for match in constants if match),
        *(name for names in _TYPE.findall(plain) for name in names if name),
        *_TAG.findall(plain),
        *_FUNCTION_OR_TABLE.findall(plain),
    }
    return {name for name in found - _NO_NAMES if not name.startswith("hfit_")}
