# SPDX-License-Identifier: Apache-2.0
"""`heapfit slotbuf`: the slot-buffer benchmark of Cebeci 2019 on any allocator."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from heapfit import _engine
from heapfit.cli.parser import UsageError
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import step_bar
from heapfit.drawing.parts import Column, Fields, Line, Part, object_of
from heapfit.errors import HeapfitError
from heapfit.outputs.folder import stage_folder
from heapfit.plan.plan import plan_table
from heapfit.plan.plan_file import load_plan
from heapfit.plan.quantities import parse_sizes
from heapfit_papers.cli.commands import STANDARD_ALLOCATOR, SlotbufCommand
from heapfit_papers.pages.slotbuf_page import write_slotbuf_page
from heapfit_papers.slotbuf.benchmark import (
    Slotbuf,
    SlotbufSpec,
    plan_of,
    run_slotbuf,
    write_distribution,
)

_DISTRIBUTION, _PAGE = "dist.dat", "slotbuf.html"


def run(command: SlotbufCommand) -> None:
    if command.plan is not None and command.allocator != STANDARD_ALLOCATOR:
        raise UsageError("a plan file already names the allocator and its tunables")
    chosen = (
        load_plan(command.plan).plan if command.plan is not None else plan_of(command.allocator)
    )
    spec = SlotbufSpec(
        command.buffer,
        command.iterations,
        chosen,
        *_parse_range(command.sizes),
        command.region,
        command.seed,
    )
    with step_bar() as progress:
        run = run_slotbuf(spec, progress)
    with stage_folder(command.output) as aside:
        write_distribution(aside / _DISTRIBUTION, run)
        write_slotbuf_page(aside / _PAGE, run, _format_command(spec, command.plan))
    paths = {"distribution": command.output / _DISTRIBUTION, "page": command.output / _PAGE}
    print_result(_parts(run, paths), command.as_json)


def _parse_range(text: str) -> tuple[int, int]:
    """The two sizes of --sizes; HeapfitError if there are not two that ascend."""
    sizes = parse_sizes(text)
    if len(sizes) != 2:
        raise HeapfitError(f"--sizes {text}: give the smallest and the largest, as 8,350")
    return sizes[0], sizes[1]


def _format_command(spec: SlotbufSpec, plan: Path | None) -> str:
    """The command that gives this run, with all that decides it."""
    words = ["heapfit", "slotbuf", str(spec.slots), str(spec.iterations)]
    if plan is not None:
        words += ["--plan", str(plan)]
    else:
        settings = ",".join(f"{name}={value}" for name, value in spec.plan.scalars.items())
        words.append(":".join(filter(None, [spec.plan.allocator, settings])))
    words += ["--sizes", f"{spec.least},{spec.most}", "--region", str(spec.region)]
    words += ["--seed", str(spec.seed)]
    return shlex.join(words)


def _parts(run: Slotbuf, paths: Mapping[str, Path]) -> Iterator[Part]:
    yield Fields(_fields(run))
    yield from map(Line, _lines(run))
    yield Fields({"paths": paths})
    for name, path in paths.items():
        yield Line(f"{name:18}{path}", is_copied=True)


def _lines(run: Slotbuf) -> Iterator[str]:
    spec, counts = run.spec, run.counts
    yield (
        f"{spec.plan.allocator}: {spec.slots:,} slots, {spec.least:,} to {spec.most:,} B in "
        f"{spec.region:,} B, seed {spec.seed}"
    )
    refused = counts.refused
    ending = "" if refused is None else f", then out of memory: {refused:,} B refused"
    yield f"loops             {counts.loops:,}{ending}"
    yield f"palloc calls      {counts.alloc.calls:,}"
    yield f"pree calls        {counts.free.calls:,}"
    yield f"free list length  {run.free_blocks:,}"
    yield f"total free space  {run.free_bytes:,} B, {run.mean_free:,.0f} B a block"
    yield f"worst palloc      {counts.alloc.worst:,} accesses; pree {counts.free.worst:,}"


def _fields(run: Slotbuf) -> dict[str, object]:
    spec, counts = run.spec, run.counts
    return {
        "plan": plan_table(spec.plan),
        "buffer": spec.slots,
        "iterations": spec.iterations,
        "min": spec.least,
        "max": spec.most,
        "region": spec.region,
        "seed": spec.seed,
        "loops": counts.loops,
        "refused": counts.refused,
        "palloc": object_of(_COST, counts.alloc),
        "pree": object_of(_COST, counts.free),
        "free_blocks": run.free_blocks,
        "free_bytes": run.free_bytes,
        "free_sizes": run.free_sizes,
        "live_blocks": counts.live_blocks,
        "live_bytes": counts.live,
        "u_max": counts.live_peak,
        "footprint": run.footprint,
    }


_COST: tuple[Column[_engine.CallAccesses], ...] = (
    Column("calls"),
    Column("accesses"),
    Column("worst"),
)
