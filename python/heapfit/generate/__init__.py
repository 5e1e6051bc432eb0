# SPDX-License-Identifier: Apache-2.0
"""A plan becomes drop-in C: const tables, a thin wrapper and the files of core they need.

code/
  app_heap.h app_heap.c    the wrapper, with the plan's tables
  hfit/ src/               copies of core, unchanged
  README.md LICENSE plan.toml heapfit.spdx.json heapfit.sha256

For another language or a platform its own files are added, which call these. All the C can be
one file (heapfit.generate.one_file).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from heapfit.comparison.incumbents.heap_plans import describe_own_heap
from heapfit.comparison.incumbents.heaps import TLSF
from heapfit.errors import HeapfitError
from heapfit.generate.code_size import CodeSize, measure_code_sizes, read_code_size
from heapfit.generate.core_files import collect_core_files, copy_recorder, licence, recorder_texts
from heapfit.generate.folder import list_files, stage_code_folder, write_texts
from heapfit.generate.images import link_images
from heapfit.generate.memories import generate_memories, require_plain
from heapfit.generate.names import parse_prefix
from heapfit.generate.options import DEFAULT_OPTIONS, GenerateOptions
from heapfit.generate.parts_list import write_parts_list
from heapfit.generate.platforms import FORMS, templates_of
from heapfit.generate.tables import (
    HeapDesign,
    design_from_plan_file,
    require_shipped,
    require_whole_blocks,
)
from heapfit.generate.texts import (
    added_texts,
    allocators_of,
    header_name,
    header_text,
    heap_texts,
    one_file_texts,
    readme_text,
)
from heapfit.generate.worst_calls import call_bounds
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import PlanFile, save_plan
from heapfit.plan.targets import Platform, find_platform

_GUARD_REGION = 2048  # bytes: the places of freed blocks that wait, and more

__all__ = ["GenerateOptions", "generate", "write_heap_sources", "write_recorder"]


def generate(
    plan_file: PlanFile,
    folder: Path,
    prefix: str = "app",
    options: GenerateOptions = DEFAULT_OPTIONS,
) -> list[Path]:
    """Writes the folder and returns its files, sorted.

    Every external name begins with `prefix`, or with hfit, but for a platform's own. HeapfitError,
    and nothing changed, if the plan has no region, the prefix is not fit for a name of the options'
    language, or the folder holds anything that `generate` did not write. The README has code sizes,
    and the header what its calls cost at worst, if a C compiler for an Arm is there.
    """
    if plan_file.heap:
        raise HeapfitError(f"{plan_file.name}: {describe_own_heap(plan_file)}")
    if plan_file.memories is not None:
        require_plain(plan_file.name, options)
        return generate_memories(plan_file, plan_file.memories, folder, prefix)
    require_shipped(plan_file.plan, plan_file.name)
    require_whole_blocks(plan_file)
    if options.region is not None:  # nothing was tried for it
        plan_file = replace(plan_file, region=options.region, margin=None)
    if Platform.GUARD in options.platforms:
        plan_file = _plan_guarded(plan_file, options)
    platforms = [find_platform(name) for name in dict.fromkeys(options.platforms)]
    design = design_from_plan_file(
        plan_file,
        parse_prefix(prefix),
        replace(options, counts=options.counts or any(FORMS[one].counts for one in platforms)),
        is_one_file=any(FORMS[one].is_one_file for one in platforms),
    )
    templates = templates_of(design, platforms)
    texts = _source_texts(design)
    with stage_code_folder(folder) as staging:
        write_texts(staging, texts)
        save_plan(staging / "plan.toml", plan_file)
        measured = _measure(staging, design, options)
        # After the heap alone was measured: these may need headers that are not here.
        write_texts(staging, added_texts(design, templates))
        sizes = [*(read_code_size(plan_file.plan) if design.options.counts else ()), *measured]
        readme = readme_text(design, sizes, platforms)
        (staging / "README.md").write_text(readme, encoding="utf-8")
        write_parts_list(staging, design.prefix, design.stamp)
        if options.inspect is not None:
            options.inspect(staging)
    return list_files(folder)


def _plan_guarded(plan_file: PlanFile, options: GenerateOptions) -> PlanFile:
    """The heap that names misuse: TLSF, whatever the plan, with room for what is beside blocks."""
    region = options.region or 8 * ((plan_file.region or 0) * 3 // 16) + _GUARD_REGION
    plan = Plan(TLSF, {"alignment": plan_file.plan.alignment})
    return replace(plan_file, plan=plan, region=region, margin=None)


def write_heap_sources(plan_file: PlanFile, folder: Path, prefix: str) -> HeapDesign:
    """Writes the heap's C alone, for a region that the program passes; nothing is measured."""
    require_whole_blocks(plan_file)
    options = GenerateOptions(is_given=True)
    design = design_from_plan_file(plan_file, parse_prefix(prefix), options)
    write_texts(folder, _source_texts(design))
    return design


def write_recorder(folder: Path) -> list[Path]:
    """Writes the recorder of firmware, for the heap that it has, and returns its files, sorted."""
    with stage_code_folder(folder) as staging:
        copy_recorder(staging)
    return list_files(folder)


def _measure(staging: Path, design: HeapDesign, options: GenerateOptions) -> list[CodeSize]:
    """The code sizes of the staged heap; its header gets the bounds of its calls."""
    header = staging / header_name(design)
    with link_images(staging, header, options.threads, options.progress) as images:
        measured = measure_code_sizes(staging, images)
        bounds = call_bounds(staging, header, images)
    options.progress("compile the code", 1.0)
    header.write_text(header_text(design, bounds), "utf-8", newline="")
    return measured


def _source_texts(design: HeapDesign) -> dict[str, str]:
    """The files of the heap itself by name: its own, core's, the recorder's and the licence."""
    texts = heap_texts(design)
    made = "".join(texts.values())
    texts |= collect_core_files(allocators_of(design), made) | {"LICENSE": licence()}
    texts = one_file_texts(design, texts) if design.is_one_file else texts
    return texts | (recorder_texts() if design.options.records else {})
