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

from pathlib import Path

from heapfit.comparison.incumbents.heap_plans import describe_own_heap
from heapfit.errors import HeapfitError
from heapfit.generate.code_size import measure_code_sizes, read_code_size
from heapfit.generate.core_files import copy_recorder
from heapfit.generate.folder import list_files, stage_code_folder, write_texts
from heapfit.generate.linked_folder import link_images
from heapfit.generate.memories import memories_texts, require_plain
from heapfit.generate.names import parse_prefix
from heapfit.generate.options import DEFAULT_OPTIONS, GenerateOptions
from heapfit.generate.parts_list import write_parts_list
from heapfit.generate.tables import (
    HeapDesign,
    design_from_plan_file,
    make_shipped_design,
    require_whole_blocks,
)
from heapfit.generate.texts import (
    fill_added_texts,
    header_name,
    header_text,
    readme_text,
    source_texts,
)
from heapfit.generate.worst_calls import call_bounds
from heapfit.plan.plan_file import PlanFile, plan_text

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
    word, design = parse_prefix(prefix), None
    if plan_file.memories is None:
        design = make_shipped_design(plan_file, word, options)
        added, texts = fill_added_texts(design), source_texts(design)
        plan_file, stamp = design.file, design.stamp
    else:
        require_plain(plan_file.name, options)
        texts, stamp = memories_texts(plan_file, plan_file.memories, word)
    with stage_code_folder(folder) as staging:
        write_texts(staging, texts | {"plan.toml": plan_text(plan_file)})
        if design is not None:
            # The heap alone is measured: what is added may need headers that are not here.
            write_texts(staging, added | _measure_texts(staging, design))
        write_parts_list(staging, word, stamp)
        if options.inspect is not None:
            options.inspect(staging)
    return list_files(folder)


def write_heap_sources(plan_file: PlanFile, folder: Path, prefix: str) -> HeapDesign:
    """Writes the heap's C alone, for a region that the program passes; nothing is measured."""
    require_whole_blocks(plan_file)
    design = design_from_plan_file(plan_file, parse_prefix(prefix), GenerateOptions(is_given=True))
    write_texts(folder, source_texts(design))
    return design


def write_recorder(folder: Path) -> list[Path]:
    """Writes the recorder of firmware, for the heap that it has, and returns its files, sorted."""
    with stage_code_folder(folder) as staging:
        copy_recorder(staging)
    return list_files(folder)


def _measure_texts(staging: Path, design: HeapDesign) -> dict[str, str]:
    """The header with the bounds of its calls and the README with code sizes, measured so far."""
    options, header = design.options, staging / header_name(design)
    with link_images(staging, header, options.threads, options.progress) as images:
        measured = measure_code_sizes(staging, images)
        bounds = call_bounds(staging, header, images)
    options.progress("compile the code", 1.0)
    sizes = [*(read_code_size(design.file.plan) if options.counts else ()), *measured]
    return {header.name: header_text(design, bounds), "README.md": readme_text(design, sizes)}
