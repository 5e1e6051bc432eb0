# SPDX-License-Identifier: Apache-2.0
"""A plan becomes drop-in C: const tables, a thin wrapper and the files of core they need.

code/
  app_heap.h app_heap.c    the wrapper, with the plan's tables
  hfit/ src/               copies of core, unchanged
  README.md LICENSE plan.toml heapfit.spdx.json heapfit.sha256

For another language or a platform its own files stand beside these and call them. All the C can be
one file (heapfit.generate.one_file).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from heapfit.generate.code_size import measure
from heapfit.generate.core_files import licence, needed_files
from heapfit.generate.folder import staged_folder
from heapfit.generate.images import linked_images
from heapfit.generate.languages import language_named, require_fit
from heapfit.generate.names import checked_prefix
from heapfit.generate.options import GenerateOptions, with_region
from heapfit.generate.parts_list import write_parts_list
from heapfit.generate.platforms import (
    needs_counts,
    needs_one_file,
    platform_named,
    require_served,
    templates_for,
)
from heapfit.generate.tables import design_of, require_whole_blocks
from heapfit.generate.texts import (
    allocators_of,
    header_name,
    header_text,
    heap_texts,
    language_texts,
    one_file_texts,
    platform_texts,
    readme_text,
)
from heapfit.generate.worst_calls import call_bounds
from heapfit.plan.plan_file import PlanFile, save_plan

__all__ = ["GenerateOptions", "generate"]


def generate(
    plan_file: PlanFile,
    folder: Path,
    prefix: str = "app",
    language: str = "c",
    options: GenerateOptions | None = None,
) -> list[Path]:
    """Writes the folder and returns its files, sorted.

    Every external name begins with `prefix`, or with hfit, but for a platform's own. `language` is
    c, c++ or rust.
    HeapfitError, and nothing changed, if the plan has no region, the prefix is not fit for a name
    of the language, or the folder holds anything that `generate` did not write. The README tells
    code sizes if a C compiler is there, and the header what its calls cost at worst if that for an
    Arm is.
    """
    spoken = language_named(language)
    wanted = options or GenerateOptions()
    require_whole_blocks(plan_file)
    plan_file = with_region(plan_file, wanted.region)
    platforms = [platform_named(name) for name in dict.fromkeys(wanted.platforms)]
    has_counts = wanted.counts or needs_counts(platforms)
    is_one = wanted.is_one_file or needs_one_file(platforms)
    design = design_of(plan_file, checked_prefix(prefix), has_counts, wanted.is_given, is_one)
    require_fit(design, spoken)
    require_served(design, platforms)
    templates = templates_for(platforms, has_pools=bool(design.plan.pools))
    texts = heap_texts(design)
    made = "".join(texts.values())
    texts |= needed_files(allocators_of(design), made) | {"LICENSE": licence()}
    if is_one:
        texts = one_file_texts(design, texts)
    texts |= language_texts(design, spoken)
    with staged_folder(folder) as aside:
        _write(aside, texts)
        save_plan(aside / "plan.toml", plan_file)
        header = aside / header_name(design)
        with linked_images(aside, header, wanted.threads) as images:
            sizes, bounds = measure(aside, images), call_bounds(aside, header, images)
        header.write_text(header_text(design, bounds), "utf-8", newline="")
        # After the heap alone was measured: these may need headers that are not here.
        _write(aside, platform_texts(design, templates))
        readme = readme_text(design, sizes, spoken, platforms)
        (aside / "README.md").write_text(readme, encoding="utf-8")
        write_parts_list(aside, design.prefix, design.stamp)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="")
