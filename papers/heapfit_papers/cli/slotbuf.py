# SPDX-License-Identifier: Apache-2.0
"""`heapfit slotbuf`: the slot-buffer benchmark of Cebeci 2019 on any allocator."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from heapfit import _engine
from heapfit.cli.arguments import (
    SEED,
    AsJson,
    PlanOption,
    Region,
    make_output_option,
    show_in_help,
    take_size,
)
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
from heapfit_papers.pages.slotbuf_page import write_slotbuf_page
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
    write_distribution,
)
from heapfit_papers.slotbuf.measures import measure_report

_NAMES = ", ".join(info.name for info in _engine.allocators())
_ALLOCATOR = "segregated_fit"
EXAMPLES = ("heapfit slotbuf 300 1000", "heapfit slotbuf 10 10 --allocator tlsf --seed 7")
_DISTRIBUTION, _PAGE = "dist.dat", "slotbuf.html"
_OUTPUT = Path("out/slotbuf")
_MOST = 2**64 - 1  # what the engine's numbers hold


_Buffer: TypeAlias = Annotated[
    int, typer.Argument(min=1, max=_MOST, help="Number of slots, each with a block or none.")
]
_Iterations: TypeAlias = Annotated[
    int,
    typer.Argument(
        min=1, max=_MOST, help="Number of loops, each of which draws a slot and turns it over."
    ),
]
_Allocator: TypeAlias = Annotated[
    str,
    typer.Option(
        "--allocator",
        help=f"NAME or NAME:TUNABLE=VALUE,... with NAME one of {_NAMES}. The report's first "
        "version is first_fit:coalesce=0, its second segregated_fit. Headers have 24 bytes unless "
        "header_size says otherwise.",
    ),
]
_Least: TypeAlias = Annotated[
    int, typer.Option("--min", help="Smallest request in bytes.", **take_size(1, _MOST))
]
_Most: TypeAlias = Annotated[
    int, typer.Option("--max", help="Largest request in bytes.", **take_size(1, _MOST))
]
_Claims: TypeAlias = Annotated[
    bool, typer.Option("--claims", help="Do the report's own runs as well and judge its claims.")
]
_OutputFolder: TypeAlias = Annotated[Path, make_output_option("dist.dat and slotbuf.html")]


def command(
    buffer: _Buffer,
    iterations: _Iterations,
    allocator: _Allocator = _ALLOCATOR,
    plan: PlanOption = None,
    least: _Least = STANDARD_LEAST,
    most: _Most = STANDARD_MOST,
    region: Region = REPORT_REGION,
    seed: Annotated[int, show_in_help(SEED)] = 1,
    claims: _Claims = False,
    output: _OutputFolder = _OUTPUT,
    as_json: AsJson = False,
) -> None:
    """Run the slot-buffer benchmark of Cebeci 2019 and show the free list it leaves."""
    if plan is not None and allocator != _ALLOCATOR:
        raise typer.BadParameter("a plan file already names the allocator and its tunables")
    chosen = load_plan(plan).plan if plan is not None else plan_of(allocator)
    spec = SlotbufSpec(buffer, iterations, chosen, least, most, region, seed)
    with step_bar() as progress:
        run = run_slotbuf(spec, progress)
        report = measure_report(progress) if claims else None
    judged = judge(report) if report is not None else ()
    with stage_folder(output) as aside:
        write_distribution(aside / _DISTRIBUTION, run)
        write_slotbuf_page(aside / _PAGE, run, _format_command(spec, plan, claims), report)
    paths = {"distribution": output / _DISTRIBUTION, "page": output / _PAGE}
    print_result(_parts(run, judged, paths), as_json)


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
