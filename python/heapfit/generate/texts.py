# SPDX-License-Identifier: Apache-2.0
"""The generated texts: templates filled with numbers and checked names, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import jinja2
from jinja2 import Environment

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.generate.code_size import CodeSize
from heapfit.generate.core_files import (
    PLAN_OF_BUILD,
    STAMP,
    collect_core_files,
    contract_number,
    core_stamp,
    header_of,
    licence,
    operation_names,
    recorder_texts,
    sink_texts,
)
from heapfit.generate.names import Text, comment_text
from heapfit.generate.one_file import join_sources
from heapfit.generate.tables import HeapDesign
from heapfit.plan.targets import PLATFORMS

_TEMPLATES = Path(__file__).parent / "templates"
_POINTER_SIZE = 4  # bytes of the heap's address, on a 32-bit target
_COUNTS_SIZE = 20  # bytes of what calls have done there
_RESERVED = re.compile(r"__|_$")  # C++ reserves names with two underscores, Rust warns of them


def source_texts(design: HeapDesign) -> dict[str, str]:
    """The files of the heap itself by name: its own, core's, the recorder's and the licence."""
    texts, wrapper = heap_texts(design), f"{design.prefix}_heap.c"
    texts |= collect_core_files(design.sources, "".join(texts.values()))
    if design.is_one_file:
        header, one = header_name(design), join_sources(texts, wrapper, design.sources)
        texts = {header: texts[header], wrapper: one}
    return texts | {"LICENSE": licence()} | (recorder_texts() if design.options.records else {})


def heap_texts(design: HeapDesign) -> dict[str, str]:
    """The header, the source and the stamp of core, by file name."""
    pooled = any(table.takes_pools for table in design.plan.chain())
    return {
        header_name(design): header_text(design, None),
        f"{design.prefix}_heap.c": _fill("heap.c.j2", design, pooled=pooled),
        f"{design.prefix}_plan.h": _fill("plan.h.j2", design),
        PLAN_OF_BUILD: _fill("plan_of_build.h.j2", design),
        STAMP: _fill("stamp.h.j2", design),
    }


def fill_added_texts(design: HeapDesign) -> dict[str, str]:
    """The files of languages and of platforms, and a recorder's sinks, by file name.

    HeapfitError if the design's prefix or region does not suit the language, a platform has no
    block's size at free where the plan's heap needs it, or two have different files of one name.
    """
    templates = _templates_of(design)
    own = [Text(name) for name in templates if name.endswith(".c") and "/" not in name]
    is_freertos = "heap_hfit.c" in templates
    task = [Text("sinks/freertos_task.c")] if is_freertos else []
    recorder = (
        [Text("record.c"), Text("sinks/characters.c"), *task] if design.options.records else []
    )
    heap = [Text(f"{design.prefix}_heap.c"), *([] if design.is_one_file else design.sources)]
    sources = {"heap_sources": heap, "sources": [*heap, *own, *recorder]}
    filled = {name: _fill(template, design, **sources) for name, template in templates.items()}
    if not design.options.records:
        return filled
    settings = recorder_texts(["adapters/freertos_config.h"]) if is_freertos else {}
    return filled | sink_texts() | settings


def _templates_of(design: HeapDesign) -> dict[str, str]:
    found: dict[str, str] = {}
    for platform in design.platforms:
        form = PLATFORMS[platform]
        if form.is_language:
            _require_fit(design, form.title)
        if form.frees_without_size and design.needs_size:
            raise HeapfitError(
                f"plan {design.plan_name}: {design.plan.allocator} needs sized deallocation, "
                f"but {form.title}'s {form.frees_without_size} passes no size "
                "(choose a plan of another allocator)"
            )
        for name, template in form.files_of(pools_alone=design.is_pools_alone).items():
            if found.setdefault(name.format(design.prefix), template) != template:
                raise HeapfitError(
                    f"platform {platform}: its {name} collides with that of another platform "
                    "(generate two folders)"
                )
    return found


def _require_fit(design: HeapDesign, language: str) -> None:
    """No keyword is made of a prefix: each name has more behind it."""
    if design.options.is_given:
        raise HeapfitError(
            f"{language}: the first request makes the heap, so it cannot take a region (omit "
            "--region-given or the language)"
        )
    if _RESERVED.search(design.prefix):
        raise HeapfitError(
            f"prefix {str(design.prefix)!a}: names of {language} must not hold two _ side by side "
            "(for example: app)"
        )


def header_name(design: HeapDesign) -> str:
    """The name of the header that a program includes."""
    return f"{design.prefix}_heap.h"


def header_text(design: HeapDesign, bounds: Mapping[str, object] | None) -> str:
    """The header; the `bounds` of its calls, if they are known, are in its first comment."""
    return _fill("heap.h.j2", design, bounds=bounds)


def readme_text(design: HeapDesign, sizes: Sequence[CodeSize]) -> str:
    """The page that says what the folder is, what it costs and what it needs."""
    figures = {
        "allocators": design.allocators,
        "platforms": [Text(platform) for platform in design.platforms],
        "pages": [Text(f"{one}/README.md.j2") for one in design.platforms if PLATFORMS[one].files],
        "more_ram": _POINTER_SIZE
        + design.options.counts * (_COUNTS_SIZE + 4 * (not design.needs_size)),
    }
    return _fill("README.md.j2", design, sizes=sizes, **figures)


def _fill(template: str, design: HeapDesign, **more: object) -> str:
    figures = {
        "design": design,
        "upper": Text(design.prefix.upper()),
        "headers": [header_of(allocator) for allocator in design.allocators],
    }
    return fill_template(template, figures | more)


def fill_template(template: str, figures: Mapping[str, object]) -> str:
    """A template filled with numbers and checked names."""
    return _environment().get_template(template).render(figures)


@cache
def _environment() -> Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        finalize=_require_checked,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {
        "version": comment_text(_engine.version),
        "contract": contract_number(),
        "core_stamp": core_stamp(),
        "operations": operation_names(),
    }
    environment.filters["listed"] = lambda row: Text(" ".join(f"{number}," for number in row))
    environment.filters["grouped"] = lambda number: Text(f"{number:,}")
    environment.filters["left"] = lambda text, width: Text(f"{text:<{width}}")
    environment.filters["right"] = lambda number, width: Text(f"{number:>{width},}")
    return environment


def _require_checked(value: object) -> object:
    """TypeError for a name that heapfit.generate.names did not check, before it becomes code."""
    if not isinstance(value, int | Text):
        raise TypeError(f"a template was given {type(value).__name__} {value!r}")
    return value
