# SPDX-License-Identifier: Apache-2.0
"""A plan of several memories becomes C: const tables for core's rule, a heap and a region each."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.generate.core_files import (
    PLAN_OF_BUILD,
    STAMP,
    collect_core_files,
    contract_number,
    core_stamp,
    core_text,
    licence,
    operation_names,
)
from heapfit.generate.folder import stage_code_folder
from heapfit.generate.names import Text, core_word, make_identifier, parse_prefix, printable
from heapfit.generate.options import GenerateOptions
from heapfit.generate.parts_list import write_parts_list
from heapfit.generate.tables import PlanTable, plan_figures, plan_table_of, require_shipped
from heapfit.generate.texts import fill_template
from heapfit.plan.memories import CAPABILITIES, MemoriesPlan, Memory, bits_of
from heapfit.plan.plan_file import PlanFile, save_plan
from heapfit.plan.targets import Language

_RULE = "memories"  # core's source


@dataclass(frozen=True, slots=True)
class MemoryTable:
    """One memory of the generated C."""

    name: Text
    macro: Text  # what its macros begin with
    size: int
    offers: int
    plan: PlanTable
    section: Text
    waits: int

    @property
    def allocator(self) -> Text:
        """The allocator of its heap."""
        return self.plan.allocator


@dataclass(frozen=True, slots=True)
class MemoriesDesign:
    """The data of the templates; sizes in bytes."""

    prefix: Text
    plan_name: Text
    trained_on: Text
    events: int
    stamp: Text
    base_alignment: int
    memories: tuple[MemoryTable, ...]
    needs: tuple[tuple[Text, int], ...]
    of_needs: int
    by_size: tuple[tuple[int, int], ...]
    by_tag: tuple[int, ...]
    sites: tuple[tuple[int, Text], ...]


def generate_memories(
    plan_file: PlanFile, plan: MemoriesPlan, folder: Path, prefix: str
) -> list[Path]:
    """Writes the folder and returns its files, sorted; HeapfitError as `generate`."""
    design = design_of(plan_file, plan, parse_prefix(prefix))
    with stage_code_folder(folder) as staging:
        for name, text in memories_texts(design).items():
            (staging / name).parent.mkdir(parents=True, exist_ok=True)
            (staging / name).write_text(text, encoding="utf-8", newline="")
        save_plan(staging / "plan.toml", plan_file)
        write_parts_list(staging, design.prefix, design.stamp)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def require_plain(name: str, language: Language, options: GenerateOptions) -> None:
    """HeapfitError for anything but C without options."""
    if language is not Language.C or options != GenerateOptions(threads=options.threads):
        raise HeapfitError(
            f"{name}: a plan of several memories becomes plain C alone (omit the other options)"
        )


def design_of(plan_file: PlanFile, plan: MemoriesPlan, prefix: Text) -> MemoriesDesign:
    """The design of a plan; HeapfitError if one of its heaps is not shipped."""
    rule = plan.rule
    memories = tuple(_memory_table(one, plan_file, prefix) for one in plan.memories)
    routes = [plan.route(order) for order in rule.by_tag]
    by_size = [(up_to, plan.route(order)) for up_to, order in rule.by_size]
    figures = [prefix, plan_file.base_alignment, by_size, routes, plan.route(rule.of_needs)]
    heaps = [(one.name, one.size, one.offers, plan_figures(one.plan)) for one in memories]
    digest = hashlib.sha256(json.dumps([figures, heaps]).encode()).hexdigest()
    return MemoriesDesign(
        prefix=prefix,
        plan_name=printable(plan_file.name),
        trained_on=printable(plan_file.trained_on.trace),
        events=plan_file.trained_on.events,
        stamp=Text(digest[:8]),
        base_alignment=plan_file.base_alignment,
        memories=memories,
        needs=tuple((Text(name.upper()), bits_of([name])) for name in CAPABILITIES),
        of_needs=plan.route(rule.of_needs),
        by_size=tuple(by_size),
        by_tag=tuple(routes),
        sites=tuple(sorted((tag, Text(f"{site:08x}")) for site, tag in rule.sites.items())),
    )


def _memory_table(memory: Memory, plan_file: PlanFile, prefix: Text) -> MemoryTable:
    require_shipped(memory.plan, plan_file.name)
    name = make_identifier(Text(f"{prefix}_{core_word(memory.name)}"), plan_file.name)
    engine = memory.plan.engine()
    if memory.size < engine.smallest_region:
        raise HeapfitError(
            f"{memory.name}: {memory.size} bytes cannot hold its heap (at least "
            f"{engine.smallest_region})"
        )
    return MemoryTable(
        core_word(memory.name),
        Text(f"{prefix}_{core_word(memory.name)}".upper()),
        memory.size,
        memory.bits,
        plan_table_of(engine, name),
        Text(memory.section),
        memory.wait_states or 0,
    )


def memories_texts(design: MemoriesDesign) -> dict[str, str]:
    """All files of the folder but the plan, by name."""
    allocators = list(
        dict.fromkeys(
            table.allocator for memory in design.memories for table in memory.plan.chain()
        )
    )
    figures = {
        "design": design,
        "upper": Text(design.prefix.upper()),
        "allocators": allocators,
        "contract": contract_number(),
        "core_stamp": core_stamp(),
        "operations": operation_names(),
    }
    texts = {
        f"{design.prefix}_memories.h": fill_template("memories.h.j2", figures),
        f"{design.prefix}_memories.c": fill_template("memories.c.j2", figures),
        "README.md": fill_template("memories.md.j2", figures),
        STAMP: fill_template("stamp.h.j2", figures),
        PLAN_OF_BUILD: core_text(PLAN_OF_BUILD),
        "LICENSE": licence(),
    }
    return texts | collect_core_files([*allocators, _RULE], "".join(texts.values()))
