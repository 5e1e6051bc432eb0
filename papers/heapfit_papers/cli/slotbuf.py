# SPDX-License-Identifier: Apache-2.0
"""`heapfit slotbuf`: the slot-buffer benchmark of Cebeci 2019 on any allocator."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from heapfit import _engine
from heapfit.cli.arguments import AsJson, Seed
from heapfit.cli.printing import console
from heapfit.plan.plan import plan_table
from heapfit.plan.plan_file import load_plan
from heapfit_papers.reproduce.finding import Finding
from heapfit_papers.reproduce.paper_000_second import judge
from heapfit_papers.slotbuf.benchmark import (
    REPORT_REGION,
    STANDARD_LEAST,
    STANDARD_MOST,
    Slotbuf,
    SlotbufSpec,
    plan_of,
    run_slotbuf,
    store_workload,
    write_distribution,
)
from heapfit_papers.slotbuf.measures import measure_report

_NAMES = ", ".join(info.name for info in _engine.allocators())
_ALLOCATOR = "segregated_fit"
_OUTPUT = Path("out/slotbuf")
_MOST = 2**64 - 1  # what the engine's numbers hold


def command(
    buffer: Annotated[
        int, typer.Argument(min=1, max=_MOST, help="Slots, each with a block or none.")
    ],
    iterations: Annotated[
        int, typer.Argument(min=1, max=_MOST, help="Loops; each draws a slot and turns it over.")
    ],
    allocator: Annotated[
        str,
        typer.Option(
            "--allocator",
            help=f"NAME or NAME:TUNABLE=VALUE,... with NAME one of {_NAMES}. The report's first "
            "version is first_fit:coalesce=0, its second segregated_fit.",
        ),
    ] = _ALLOCATOR,
    plan: Annotated[
        Path | None, typer.Option("--plan", help="A plan file instead of an allocator.")
    ] = None,
    least: Annotated[
        int, typer.Option("--min", min=1, max=_MOST, help="Smallest request in bytes.")
    ] = STANDARD_LEAST,
    most: Annotated[
        int, typer.Option("--max", min=1, max=_MOST, help="Largest request in bytes.")
    ] = STANDARD_MOST,
    region: Annotated[
        int, typer.Option("--region", min=1, max=_MOST, help="Bytes, headers included.")
    ] = REPORT_REGION,
    header: Annotated[
        int | None,
        typer.Option("--header", min=1, max=_MOST, help="Bytes before each block [24 if tunable]."),
    ] = None,
    exact_lists: Annotated[
        int | None,
        typer.Option("--exact-lists", min=1, max=_MOST, help="Exact lists of segregated_fit [16]."),
    ] = None,
    seed: Seed = 1,
    claims: Annotated[
        bool,
        typer.Option("--claims", help="Do the report's own runs too and judge its claims."),
    ] = False,
    trace: Annotated[
        Path | None,
        typer.Option("--trace", help="Store what the run asks for as a trace, too."),
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for dist.dat and slotbuf.html.")
    ] = _OUTPUT,
    as_json: AsJson = False,
) -> None:
    """Run the slot-buffer benchmark of Cebeci 2019 and show the free list it leaves."""
    from heapfit_papers.pages.slotbuf_page import write_slotbuf_page

    given = {"header_size": header, "exact_lists": exact_lists}
    tunables = {name: value for name, value in given.items() if value is not None}
    if plan is not None and (tunables or allocator != _ALLOCATOR):
        raise typer.BadParameter("a plan file tells the allocator and its tunables itself")
    chosen = load_plan(plan).plan if plan is not None else plan_of(allocator, tunables)
    spec = SlotbufSpec(buffer, iterations, chosen, least, most, region, seed)
    with console.progress() as progress:
        run = run_slotbuf(spec, progress)
        report = measure_report(progress) if claims else None
        if trace is not None:
            store_workload(trace, spec, progress)
    judged = judge(report) if report is not None else ()
    paths = {"distribution": output / "dist.dat", "page": output / "slotbuf.html"}
    paths |= {"trace": trace} if trace is not None else {}
    write_distribution(paths["distribution"], run)
    write_slotbuf_page(paths["page"], run, _typed(spec, plan, claims), report)
    if as_json:
        console.out_json(_json(run, judged, paths))
    else:
        _print(run, judged, paths)


def _typed(spec: SlotbufSpec, plan: Path | None, claims: bool) -> str:
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


def _print(run: Slotbuf, claims: Sequence[Finding], paths: Mapping[str, Path]) -> None:
    spec, counts = run.spec, run.counts
    console.out(
        f"{spec.plan.allocator}: {spec.slots:,} slots, {spec.least:,} to {spec.most:,} B in "
        f"{spec.region:,} B, seed {spec.seed}"
    )
    if counts.refused is None:
        console.out(f"loops             {counts.loops:,}")
    else:
        console.out(
            f"loops             {counts.loops:,}, then out of memory: {counts.refused:,} B refused"
        )
    console.out(f"palloc calls      {counts.alloc.calls:,}")
    console.out(f"pree calls        {counts.free.calls:,}")
    console.out(f"free list length  {run.free_blocks:,}")
    console.out(f"total free space  {run.free_bytes:,} B, {run.mean_free:,.0f} B a block")
    console.out(f"worst palloc      {counts.alloc.worst:,} accesses; pree {counts.free.worst:,}")
    if claims:
        console.out("")
        rows = [(one.figure.says, one.figure.published, one.ours, one.verdict) for one in claims]
        console.out_table(("claim", "report", "found", "verdict"), rows)
        console.out("")
    for name, path in paths.items():
        console.out(f"{name:18}{path}")


def _json(run: Slotbuf, claims: Sequence[Finding], paths: Mapping[str, Path]) -> dict[str, Any]:
    spec, counts = run.spec, run.counts
    calls = {"palloc": counts.alloc, "pree": counts.free}
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
        **{
            name: {"calls": cost.calls, "accesses": cost.accesses, "worst": cost.worst}
            for name, cost in calls.items()
        },
        "free_blocks": run.free_blocks,
        "free_bytes": run.free_bytes,
        "free_sizes": run.free_sizes.tolist(),
        "live_blocks": counts.live_blocks,
        "live_bytes": counts.live,
        "u_max": counts.live_peak,
        "footprint": run.footprint,
        "claims": [
            {
                "row": one.figure.row,
                "where": one.figure.where,
                "statement": one.figure.says,
                "published": one.figure.published,
                "found": one.ours,
                "verdict": one.verdict.value,
                "remark": one.why,
            }
            for one in claims
        ],
        "paths": {name: str(path) for name, path in paths.items()},
    }
