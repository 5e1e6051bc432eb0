# SPDX-License-Identifier: Apache-2.0
"""A plan of several memories becomes C: const tables for core's rule, a heap and a region each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from heapfit.errors import HeapfitError
from heapfit.generate.core_files import (
    PLAN_OF_BUILD,
    STAMP,
    collect_core_files,
    core_text,
    licence,
    source_names,
)
from heapfit.generate.names import Text, comment_text, core_word, make_identifier
from heapfit.generate.options import GenerateOptions
from heapfit.generate.tables import PlanTable, plan_figures, plan_table_of, require_shipped
from heapfit.generate.texts import fill_template
from heapfit.plan.memories import CAPABILITIES, MemoriesPlan, Memory, bits_of
from heapfit.plan.plan_file import PlanFile

_RULE = "memories"  # core's source


def require_plain(name: str, options: GenerateOptions) -> None:
    """HeapfitError for anything but C without options."""
    if options != GenerateOptions(threads=options.threads):
        raise HeapfitError(
            f"{name}: a plan of several memories becomes plain C alone (omit the other options)"
        )


def memories_texts(
    plan_file: PlanFile, plan: MemoriesPlan, prefix: Text
) -> tuple[dict[str, str], Text]:
    """All files of the folder but its plan, by name, and the stamp that tells it from others.

    HeapfitError if one of its heaps is not shipped.
    """
    rule, route = plan.rule, plan.route
    tables = [_plan_table(one, plan_file, prefix) for one in plan.memories]
    by_size = [(up_to, route(order)) for up_to, order in rule.by_size]
    routes, of_needs = [route(order) for order in rule.by_tag], route(rule.of_needs)
    figures = [prefix, plan_file.base_alignment, by_size, routes, of_needs]
    pairs = [*zip(plan.memories, tables, strict=True)]
    heaps = [(one.name, one.size, one.bits, plan_figures(table)) for one, table in pairs]
    stamp = Text(hashlib.sha256(json.dumps([figures, heaps]).encode()).hexdigest()[:8])
    memories = [
        {
            "name": core_word(one.name),
            "macro": Text(f"{prefix}_{core_word(one.name)}".upper()),
            "size": one.size,
            "offers": one.bits,
            "plan": table,
            "allocator": table.allocator,
            "section": Text(one.section),
            "waits": one.wait_states or 0,
        }
        for one, table in pairs
    ]
    design = {
        "prefix": prefix,
        "plan_name": comment_text(plan_file.name),
        "trained_on": comment_text(plan_file.trained_on.trace),
        "events": plan_file.trained_on.events,
        "stamp": stamp,
        "base_alignment": plan_file.base_alignment,
        "memories": memories,
        "needs": [(Text(name.upper()), bits_of([name])) for name in CAPABILITIES],
        "of_needs": of_needs,
        "by_size": by_size,
        "by_tag": routes,
        "sites": sorted((tag, Text(f"{site:08x}")) for site, tag in rule.sites.items()),
    }
    return _fill_texts(design, prefix, tables), stamp


def _plan_table(memory: Memory, plan_file: PlanFile, prefix: Text) -> PlanTable:
    require_shipped(memory.plan, plan_file.name)
    name = make_identifier(Text(f"{prefix}_{core_word(memory.name)}"), plan_file.name)
    engine = memory.plan.engine()
    if memory.size < engine.smallest_region:
        raise HeapfitError(
            f"{memory.name}: {memory.size} bytes cannot hold its heap (at least "
            f"{engine.smallest_region})"
        )
    return plan_table_of(engine, name)


def _fill_texts(
    design: Mapping[str, object], prefix: Text, tables: Sequence[PlanTable]
) -> dict[str, str]:
    allocators = list(dict.fromkeys(one.allocator for table in tables for one in table.chain()))
    figures = {"design": design, "upper": Text(prefix.upper()), "allocators": allocators}
    texts = {
        f"{prefix}_memories.h": fill_template("memories.h.j2", figures),
        f"{prefix}_memories.c": fill_template("memories.c.j2", figures),
        "README.md": fill_template("memories.md.j2", figures),
        STAMP: fill_template("stamp.h.j2", figures),
        PLAN_OF_BUILD: core_text(PLAN_OF_BUILD),
        "LICENSE": licence(),
    }
    return texts | collect_core_files(source_names([*allocators, _RULE]), "".join(texts.values()))
