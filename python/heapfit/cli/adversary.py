# SPDX-License-Identifier: Apache-2.0
"""`heapfit adversary`: the worst that a program within a trace's limits can do to a plan."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from heapfit.cli.arguments import (
    STANDARD_QUEUE,
    Alignment,
    AlignmentOption,
    AsJson,
    DropUnknown,
    PointerBitsOption,
    Queue,
    Seed,
    Source,
    import_options,
)
from heapfit.cli.opened_trace import opened_trace
from heapfit.cli.printing import console
from heapfit.compare.jobs import Contestants
from heapfit.design.robust.adversary import AdversaryOptions, Attack, Attacks, attack_plans
from heapfit.plan.plan_file import load_plan
from heapfit.trace.names import source_name

_MILLION = 1_000_000


def command(
    source: Source,
    allocators: Annotated[
        list[str] | None,
        typer.Argument(metavar="ALLOCATOR", help="NAME or NAME:TUNABLE=VALUE,..., as for compare."),
    ] = None,
    plans: Annotated[
        list[Path] | None, typer.Option("--plan", help="A plan file; may be given many times.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for what is found [out/NAME/adversary]."),
    ] = None,
    region: Annotated[
        int | None,
        typer.Option(
            "--region", min=1, help="To be broken, in bytes [the plan's, or R_safe on the trace]."
        ),
    ] = None,
    effort: Annotated[
        int, typer.Option("--effort", min=1, help="Million events to replay for each plan.")
    ] = 20,
    seed: Seed = 1,
    alignment: AlignmentOption = Alignment.BYTES_8,
    queue: Queue = STANDARD_QUEUE,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    as_json: AsJson = False,
) -> None:
    """Search requests within a trace's limits that break a plan, and store the worst."""
    if not allocators and not plans:
        raise typer.BadParameter("give an allocator, or --plan")
    plan_files = tuple(load_plan(path) for path in plans or [])
    name = source_name(source)
    with (
        console.progress() as progress,
        opened_trace(source, import_options(queue, drop_unknown, pointer_bits), progress) as trace,
    ):
        attacks = attack_plans(
            trace,
            name,
            Contestants(tuple(allocators or []), plan_files, int(alignment)),
            output or Path("out") / name / "adversary",
            AdversaryOptions(region, effort * _MILLION, seed),
            progress,
        )
    if as_json:
        console.out_json({**_json(attacks), "seed": seed})
        return
    _print(attacks)


def _print(attacks: Attacks) -> None:
    console.out_table(
        ("plan", "on the trace", "attacked in", "worst found", "proven at most", "over U_max"),
        [_cells(one, attacks.u_max) for one in attacks.attacks],
    )
    console.out(
        f"Regions in bytes; U_max {attacks.u_max:,}. Limits: the trace's sizes, of each as many "
        "live blocks as it had, no more live bytes."
    )
    console.out(
        f"Any allocator: {attacks.least_of_any:,} at least, were each size asked for in any number "
        "(Robson 1974)."
    )
    for attack in attacks.attacks:
        console.out(_told(attack))
    for left_out in attacks.not_applicable:
        console.out(f"{left_out.name} left out: {left_out.why}.")


def _cells(attack: Attack, u_max: int) -> tuple[object, ...]:
    worst = attack.worst
    worst_size = None if worst is None else worst.r_safe
    return (
        attack.name,
        attack.on_trace.r_safe,
        attack.region,
        worst_size,
        None if attack.proven is None else attack.proven.size,
        None if worst_size is None else worst_size / max(u_max, 1),
    )


def _told(attack: Attack) -> str:
    worst = attack.worst
    stopped = " (interrupted: the worst so far)" if attack.is_stopped else ""
    if worst is None and attack.plays == 0 and attack.proven is not None:
        return f"{attack.name}: nothing within the limits breaks it: {attack.proven.why}."
    if worst is None:
        return f"{attack.name}: none of {attack.plays:,} sequences breaks it{stopped}."
    in_any = "any region" if worst.is_refused_in_any else f"{worst.refused_in:,} B"
    return (
        f"{attack.name}: {worst.events:,} events, the last refused in {in_any}{stopped}: "
        f"heapfit compare {worst.trace} --plan {worst.plan}"
    )


def _json(attacks: Attacks) -> dict[str, Any]:
    return {
        "u_max": attacks.u_max,
        "least_of_any": attacks.least_of_any,
        "attacks": [_attack_json(one) for one in attacks.attacks],
        "not_applicable": [asdict(one) for one in attacks.not_applicable],
    }


def _attack_json(attack: Attack) -> dict[str, Any]:
    worst = attack.worst
    return {
        "name": attack.name,
        "region": attack.region,
        "on_trace": {"r_min": attack.on_trace.r_min, "r_safe": attack.on_trace.r_safe},
        "proven": None if attack.proven is None else asdict(attack.proven),
        "worst": None
        if worst is None
        else {**asdict(worst), "trace": str(worst.trace), "plan": str(worst.plan)},
        "plays": attack.plays,
        "events": attack.events,
        "is_stopped": attack.is_stopped,
    }
