# SPDX-License-Identifier: Apache-2.0
"""`heapfit size traffic`: the least memory that admits a share of offered traffic."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from heapfit.cli.arguments import Admission, AsJson, Seed
from heapfit.cli.printing.parts import Column, Fields, Line, Part, Table, object_of, out_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.plan.plan import plan_table
from heapfit.simulation.traffic import load_traffic
from heapfit.sizing.from_traffic import (
    STANDARD_REPLICATIONS,
    Aim,
    SizedScheme,
    TrafficSizing,
    size_for,
)
from heapfit.sweep import usable_cores


class By(StrEnum):
    """What is counted as admitted."""

    BYTES = "bytes"
    REQUESTS = "requests"


def command(
    traffic: Annotated[Path, typer.Argument(help="A file with the [traffic] of a scenario.")],
    admission: Admission = 0.999,
    by: Annotated[By, typer.Option("--by", help="What is counted of the traffic.")] = By.BYTES,
    overhead: Annotated[
        int,
        typer.Option(
            "--overhead", min=0, max=4096, help="Bytes of bookkeeping that each buffer takes."
        ),
    ] = 0,
    buffer: Annotated[
        int | None,
        typer.Option(
            "--buffer", min=1, max=2**30, help="Bytes of each fixed buffer [the largest request]."
        ),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option("--exact", help="Print closed forms alone, at once, and simulate nothing."),
    ] = False,
    curve: Annotated[
        bool, typer.Option("--curve", help="Print other refusal probabilities as well.")
    ] = False,
    replications: Annotated[
        int, typer.Option("--replications", min=2, max=10_000, help="Of a simulation.")
    ] = STANDARD_REPLICATIONS,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", min=1, max=1024, help="Number of threads [one for each processor]."
        ),
    ] = None,
    seed: Seed = 1,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a page with the curve.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Size schemes so that a share of offered traffic is admitted, least memory first."""
    has_curve = curve or report is not None
    aim = Aim(admission, by.value, overhead, buffer, exact, replications, seed, has_curve)
    with progress_bar() as progress:
        sizing = size_for(load_traffic(traffic), aim, workers or usable_cores(), progress)
    if report is not None:
        from heapfit.report.sizing import write_traffic_page  # jinja2 takes long to load

        write_traffic_page(report, sizing, traffic, _typed(traffic, aim))
    out_result(_parts(sizing, traffic), as_json)


def _typed(path: Path, aim: Aim) -> str:
    """The command that gives this, with all that decides it."""
    words = ["heapfit", "size", "traffic", str(path), "--admission", f"{aim.admission:.15g}"]
    words += ["--by", aim.by, "--overhead", str(aim.overhead), "--curve"]
    words += ["--buffer", str(aim.buffer_size)] if aim.buffer_size is not None else []
    words += ["--exact"] if aim.exact_alone else []
    words += ["--replications", str(aim.replications), "--seed", str(aim.seed)]
    return shlex.join(words)


def _end(sized: SizedScheme, end: int) -> int | None:
    """An end of the interval, where there is one."""
    return None if sized.memory is None or sized.is_exact else end


def _plan(sized: SizedScheme) -> dict[str, object] | None:
    return None if sized.scheme is None else plan_table(sized.scheme.plan)


def _what(sized: SizedScheme) -> str:
    """What a scheme is made of, in words."""
    if sized.scheme is None:
        return sized.why_not
    plan, scalars = sized.scheme.plan, sized.scheme.plan.scalars
    if "blocks" in scalars:
        return f"{scalars['blocks']:,} x {scalars['block_size']:,} B"
    if "partitions" in scalars:
        return f"{scalars['partitions']:,} x {scalars['partition_size']:,} B"
    if plan.pools:
        blocks = sum(pool.count for pool in plan.pools)
        return f"{len(plan.pools)} pools, {blocks:,} blocks"
    return "one heap"


_COLUMNS: tuple[Column[SizedScheme], ...] = (
    Column("scheme", "scheme", lambda sized: sized.name),
    Column("admission"),
    Column("memory", "memory"),
    Column(
        "lowest",
        "from",
        lambda sized: None if sized.memory is None else sized.lowest,
        lambda sized: _end(sized, sized.lowest),
    ),
    Column(
        "highest",
        "to",
        lambda sized: None if sized.memory is None else sized.highest,
        lambda sized: _end(sized, sized.highest),
    ),
    Column(heading="made of", shown=_what),
    Column(
        "reached",
        "refused",
        shown=lambda sized: None if sized.memory is None else f"{1 - sized.reached:.2e}",
    ),
    Column("half_width"),
    Column(
        "unseen",
        "unseen",
        shown=lambda sized: None if sized.unseen is None else f"{1 - sized.unseen:.2e}",
    ),
    Column("unseen_half_width"),
    Column("exact", value=lambda sized: sized.is_exact),
    Column("plan", value=_plan),
    Column("why_not"),
)
_OF_CURVE: tuple[Column[SizedScheme], ...] = (
    Column(heading="scheme", shown=lambda sized: sized.name),
    Column(heading="refused", shown=lambda sized: f"{1 - sized.admission:.1e}"),
    Column(heading="memory", shown=lambda sized: sized.memory),
)


def _parts(sizing: TrafficSizing, path: Path) -> Iterator[Part]:
    """Each kind of scheme, least memory first, and the curve if there is one."""
    aim = sizing.aim
    yield Fields({"traffic": path, "admission": aim.admission, "by": aim.by})
    yield Fields({"overhead": aim.overhead, "seed": aim.seed})
    yield Line(f"{path.name}: least memory that admits {aim.admission:g} of the {aim.by}")
    yield Table(_COLUMNS, sizing.schemes, "schemes")
    yield Fields({"curve": [object_of(_COLUMNS, sized) for sized in sizing.curve]})
    if sizing.curve:
        yield Line("")
        yield Table(_OF_CURVE, [sized for sized in sizing.curve if sized.memory is not None])
    yield Line(
        "memory: bytes, bookkeeping included; from, to: where 95 % confidence puts it; without"
    )
    yield Line("them it is exact (Erlang-B for fixed_pool, Kaufman-Roberts for chained_pool).")
    yield Line("unseen: refused of as many other draws, on which the memory was not found.")
