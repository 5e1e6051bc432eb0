# SPDX-License-Identifier: Apache-2.0
"""`heapfit front`: the design space of a trace and its Pareto front."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from heapfit.cli.arguments import (
    STANDARD_QUEUE,
    Alignment,
    AlignmentOption,
    AsJson,
    ClusterAddress,
    DropUnknown,
    PointerBitsOption,
    Prefer,
    Queue,
    Source,
    Workers,
    import_options,
)
from heapfit.cli.opened_trace import opened_trace
from heapfit.cli.printing import console
from heapfit.design.plan_files import trained_on_trace
from heapfit.front.design_front import (
    ALL_MEASURES,
    Configuration,
    Front,
    chosen,
    cost_of_choice,
    find_front,
    save_front,
)
from heapfit.front.instruction_model import Off
from heapfit.front.measures import ABOUT, parse_measures
from heapfit.front.pareto import Standing
from heapfit.front.space import configurations, named_configurations
from heapfit.plan.energy import load_sram
from heapfit.plan.plan import plan_table
from heapfit.sweep import Sweep
from heapfit.trace.loaded import load_trace
from heapfit.trace.names import source_name


def command(
    source: Source,
    allocators: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ALLOCATOR[:TUNABLE=VALUE,...]...]",
            help="Whose configurations to try; with tunables, that one alone [all that ship].",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="MEASURE,...",
            help="What the front is of: memory, accesses, energy, time, longest, size [all].",
        ),
    ] = None,
    prefer: Prefer = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for page and plans [out/NAME/front]."),
    ] = None,
    sram: Annotated[
        Path | None,
        typer.Option("--sram", help="Energy of an access by size of memory (docs/energy.md)."),
    ] = None,
    alignment: AlignmentOption = Alignment.BYTES_8,
    queue: Queue = STANDARD_QUEUE,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    as_json: AsJson = False,
) -> None:
    """Measure every configuration, find the Pareto front, write its plans and a page."""
    from heapfit.report.front.page import write_front_page

    measures = ALL_MEASURES if by is None else parse_measures(by)
    table = load_sram(sram)
    name = source_name(source)
    folder = output or Path("out") / name / "front"
    importing = import_options(queue, drop_unknown, pointer_bits)
    with (
        console.progress() as progress,
        Sweep(workers, cluster) as sweep,
        opened_trace(source, importing, progress) as trace,
    ):
        loaded = load_trace(trace, int(alignment), progress)
        portfolio = (
            named_configurations(loaded, allocators)
            if allocators
            else configurations(loaded, progress=progress)
        )
        front = find_front(loaded, portfolio, measures, table, sweep, progress)
        choice = None if prefer is None else chosen(front, prefer)
        paths = save_front(front, folder, trained_on_trace(trace, name))
        page = folder / "front.html"
        given = {"--by": by, "--prefer": prefer, "--sram": sram, "--alignment": alignment.value}
        write_front_page(page, front, name, choice, _typed(source, allocators, given), table)
    if as_json:
        console.out_json(_json(front, choice, paths, page))
    else:
        _print(front, choice, folder, page)


def _typed(source: Path, allocators: list[str] | None, given: Mapping[str, object]) -> str:
    """The command, to be typed again."""
    options = [str(word) for pair in given.items() if pair[1] is not None for word in pair]
    return shlex.join(["heapfit", "front", str(source), *(allocators or []), *options])


def _print(front: Front, choice: Configuration | None, folder: Path, page: Path) -> None:
    columns = ("front", "configuration", "R_safe", "accesses", "energy", "instructions")
    console.out_table(
        (*columns, "longest call", "code", "better"),
        [_cells(front, one) for one in sorted(front.configurations, key=_order)],
    )
    console.out(
        f"{len(front.members)} of {len(front.configurations)} on the front of "
        f"{', '.join(ABOUT[measure].title for measure in front.by)}; U_max "
        f"{front.comparison.u_max:,} B."
    )
    console.out(
        "instructions: model on an emulated Cortex-M4 at -O2, mean of a call, and of the longest "
        "call of this replay (no bound); +- the most it was off on traces it had not seen."
    )
    console.out(
        "-: not measured. energy: over the least. code: init, alloc and free at -Os, bytes."
    )
    if any(one.row.trained_on_this_trace for one in front.configurations):
        console.out("* trained on this trace: another run may need more.")
    _print_left_out(front)
    if choice is not None:
        console.out(f"chosen: {choice.name}, {cost_of_choice(front, choice)}.")
    console.out(f"plans  {folder}")
    console.out(f"page   {page}")


def _print_left_out(front: Front) -> None:
    """Those left out for one reason in one line."""
    left_out = front.comparison.not_applicable
    for why in dict.fromkeys(one.why for one in left_out):
        names = ", ".join(one.name for one in left_out if one.why == why)
        console.out(f"{names} left out: {why}.")


def _order(one: Configuration) -> tuple[bool, bool, int]:
    """The front first, then by memory, what has no region last."""
    memory = one.measures.memory
    return not one.is_on_front, memory is None, memory or 0


def _cells(front: Front, one: Configuration) -> tuple[object, ...]:
    figures = one.measures
    return (
        "front" if one.is_on_front else "",
        f"{one.name}{'*' if one.row.trained_on_this_trace else ''}",
        figures.memory,
        figures.accesses,
        front.energy_over_least(one),
        _modelled(figures.time, figures.time_off),
        _modelled(figures.longest, figures.longest_off),
        figures.size,
        _better(front, one),
    )


def _better(front: Front, one: Configuration) -> str:
    """Who is better than one that is not on the front."""
    if one.place.by is None:
        return "not comparable" if one.place.standing is Standing.UNKNOWN else ""
    name = front.configurations[one.place.by].name
    return f"as {name}" if one.place.standing is Standing.SAME else name


def _modelled(value: float | None, off: Off | None) -> str | None:
    """A figure of the model with how far it may be off."""
    if value is None:
        return None
    return f"{value:,.0f}" if off is None else f"{value:,.0f} +-{off.worst:.0%}"


def _json(
    front: Front, choice: Configuration | None, paths: Sequence[Path], page: Path
) -> dict[str, Any]:
    return {
        "u_max": front.comparison.u_max,
        "by": [measure.value for measure in front.by],
        "configurations": [_one_json(front, one) for one in front.configurations],
        "chosen": None if choice is None else choice.name,
        "cost_of_choice": None if choice is None else cost_of_choice(front, choice),
        "not_applicable": [
            {"name": one.name, "why": one.why} for one in front.comparison.not_applicable
        ],
        "plans": [str(path) for path in paths],
        "page": str(page),
    }


def _one_json(front: Front, one: Configuration) -> dict[str, Any]:
    better = None if one.place.by is None else front.configurations[one.place.by].name
    figures = asdict(one.measures)
    figures["energy"] = front.energy_over_least(one)
    return {
        "name": one.name,
        "reason": one.row.reason,
        "standing": one.place.standing.value,
        "by": better,
        "axes": one.axes,
        "code": one.code,
        **figures,
        "trained_on_this_trace": one.row.trained_on_this_trace,
        "plan": plan_table(one.row.plan),
    }
