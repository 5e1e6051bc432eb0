# SPDX-License-Identifier: Apache-2.0
"""`heapfit slotbuf`: the slot-buffer benchmark of Cebeci 2019 on any allocator."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import typer

from heapfit import _engine
from heapfit.cli.printing.parts import (
    Column,
    Fields,
    Line,
    Part,
    Table,
    object_of,
    print_result,
)
from heapfit.cli.printing.progress import step_bar
from heapfit.outputs.folder import stage_folder
from heapfit.plan.plan import plan_table
from heapfit.plan.plan_file import load_plan
from heapfit_papers.cli.commands import STANDARD_ALLOCATOR, SlotbufCommand
from heapfit_papers.pages.slotbuf_page import write_slotbuf_page
from heapfit_papers.reproduce.finding import Finding
from heapfit_papers.reproduce.paper_000_second import judge
from heapfit_papers.slotbuf.benchmark import (
    Slotbuf,
    SlotbufSpec,
    plan_of,
    run_slotbuf,
    write_distribution,
)
from heapfit_papers.slotbuf.measures import measure_report

_DISTRIBUTION, _PAGE = "dist.dat", "slotbuf.html"


def run(command: SlotbufCommand) -> None:
    if command.plan is not None and command.allocator != STANDARD_ALLOCATOR:
        raise typer.BadParameter("a plan file already names the allocator and its tunables")
    chosen = (
        load_plan(command.plan).plan if command.plan is not None else plan_of(command.allocator)
    )
    spec = SlotbufSpec(
        command.buffer,
        command.iterations,
        chosen,
        command.least,
        command.most,
        command.region,
        command.seed,
    )
    with step_bar() as progress:
        run = run_slotbuf(spec, progress)
        report = measure_report(progress) if command.claims else None
    judged = judge(report) if report is not None else ()
    with stage_folder(command.output) as aside:
        write_distribution(aside / _DISTRIBUTION, run)
        write_slotbuf_page(
            aside / _PAGE, run, _format_command(spec, command.plan, command.claims), report
        )
    paths = {"distribution": command.output / _DISTRIBUTION, "page": command.output / _PAGE}
    print_result(_parts(run, judged, paths), command.as_json)


def _format_command(spec: SlotbufSpec, plan: Path | None, claims: bool) -> str:
    """The command that gives this run, with all that decides it."""
    words = ["heapfit", "slotbuf", str(spec.slots), str(spec.iterations)]
    if plan is not None:
        words += ["--plan", str(plan)]
    else:
        settings = ",".join(f"{name}={value}" for name, value in spec.plan.scalars.items())
        words += ["--allocator", ":".join(filter(None, [spec.plan.allocator, settings]))]
    words += ["--min", str(spec.least), "--max", str(spec.most), "--region", str(spec.region)]
    words += ["--seed", str(spec.seed), *(["--claims"] if claims else [])]
    return shlex.join(words)


def _parts(run: Slotbuf, claims: Sequence[Finding], paths: Mapping[str, Path]) -> Iterator[Part]:
    yield Fields(_fields(run))
    yield from map(Line, _lines(run))
    if claims:
        yield Line("")
        yield Table(_CLAIM, claims, "claims")
        yield Line("")
    else:
        yield Fields({"claims": []})
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


_COST: tuple[Column[_engine.CallCost], ...] = (Column("calls"), Column("accesses"), Column("worst"))
_CLAIM: tuple[Column[Finding], ...] = (
    Column("row", value=lambda one: one.figure.row),
    Column("kind", value=lambda one: one.figure.kind),
    Column("where", value=lambda one: one.figure.where),
    Column("statement", "claim", lambda one: one.figure.says),
    Column("published", "report", lambda one: one.figure.published),
    Column("found", "found", lambda one: one.ours),
    Column("verdict", "verdict"),
    Column("remark", value=lambda one: one.why),
)
