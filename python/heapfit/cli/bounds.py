# SPDX-License-Identifier: Apache-2.0
"""`heapfit bounds`: the least any heap can need for a trace, and the most some ever do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from heapfit import _engine
from heapfit.bounds.adversary import Attack, attack_plan
from heapfit.bounds.placement import Placement
from heapfit.bounds.trace_bounds import Bounds, find_bounds
from heapfit.bounds.worst_cases import Limits, Premise, WorstCase
from heapfit.cli.commands.comparisons import BoundsCommand
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.running import import_options, note_parts
from heapfit.drawing.parts import Column, Fields, Line, Part, Table, columns, which_hold
from heapfit.errors import HeapfitError
from heapfit.importers import open_trace
from heapfit.plan.plan_file import PlanFile, load_plan
from heapfit.plan.quantities import format_share
from heapfit.progress import Progress
from heapfit.trace.loaded import LoadedTrace, load_trace

_MILLION = 1_000_000
_WORK = {
    "import": 4,
    "read events": 3,
    "profile": 20,
    "offline packing": 73,
    "attack": 40,
}  # shares of processor time
_REQUESTS = {
    Premise.THIS_TRACE: "this trace",
    Premise.THESE_SIZES: "these sizes",
    Premise.ANY_SIZES: "any sizes",
    Premise.ANY_NUMBER: "any number",
}


def run(command: BoundsCommand) -> None:
    plans = list(map(load_plan, command.plans or []))
    for one in plans:
        if one.heap:
            raise HeapfitError(f"{one.name}: is a system's heap, which takes requests of its own")
    importing = import_options(command.queue)
    with progress_bar(_WORK) as progress, open_trace(command.source, importing, progress) as trace:
        loaded = load_trace(trace, command.alignment, progress)
        bounds = find_bounds(loaded, command.seed, command.search * _MILLION, progress)
        packing, lifetimes = bounds.packing, _engine.Lifetimes(loaded.events)
        if command.output is not None and not packing.is_aligned:
            raise HeapfitError(
                f"{command.source}: {len(lifetimes):,} lifetimes are too many to place with the "
                "alignments that they ask for"
            )
        if command.output is not None:
            Placement(command.source, lifetimes, packing.offsets).save(command.output)
        attacks = []
        for one in [] if bounds.search.is_stopped else plans:
            attacks.append(_attack(one, loaded, command, progress))
            if attacks[-1].is_stopped:
                break
    parts = [
        *_parts(bounds, command.alignment),
        *_attack_parts(attacks, bounds.u_max),
        *note_parts(trace.info),
        *(
            [
                Line(
                    f"{command.output}: {len(lifetimes):,} lifetimes and their places",
                    is_copied=True,
                )
            ]
            if command.output
            else []
        ),
    ]
    print_result(parts, command.as_json)
    if bounds.search.is_stopped or any(one.is_stopped for one in attacks):
        raise KeyboardInterrupt  # what was found until then is printed


def _attack(
    plan: PlanFile, loaded: LoadedTrace, command: BoundsCommand, progress: Progress
) -> Attack:
    found = attack_plan(
        plan.plan,
        Limits.of_trace(loaded),
        region=plan.region,
        seed=command.seed,
        events=command.search * _MILLION,
        base_alignment=loaded.trace.base_alignment_for(plan.plan.alignment),
        progress=progress,
    )
    return replace(found, name=plan.name)


_ATTACK: tuple[Column[Attack], ...] = (
    Column("name", "plan"),
    Column("region", "attacked in"),
    Column("broken", "largest broken", shown=lambda one: "any" if one.breaks_any else one.broken),
    Column("proven", "proven at most", shown=lambda one: one.proven and one.proven.size),
)


def _attack_parts(attacks: Sequence[Attack], u_max: int) -> list[Part]:
    """The worst that was found of each plan, between its region and what is proven."""
    told: list[Column[Attack]] = [
        *_ATTACK[:-1],
        Column(heading="over U_max", shown=lambda one: (one.broken or 0) / max(u_max, 1) or None),
        *_ATTACK[-1:],
        *columns("breaks_any", "plays", "events", "is_stopped"),
    ]
    proven = (
        "proven at most: a region, tables included, for these sizes with no more of each live "
        "than here; -: none is proven. Worst cases above are of blocks, of any sizes."
    )
    sentences = map(Line, [*map(_describe_attack, attacks), proven])
    return [Line(""), Table(told, attacks, "attacks"), *sentences] if attacks else []


def _describe_attack(attack: Attack) -> str:
    stopped = " (interrupted: the worst so far)" if attack.is_stopped else ""
    if attack.proven is not None and attack.plays == 0:
        return f"{attack.name}: nothing within the limits exhausts it: {attack.proven.why}."
    if attack.broken is None:
        return f"{attack.name}: none of {attack.plays:,} sequences exhausts it{stopped}."
    region = "any region" if attack.breaks_any else f"{attack.broken:,} B"
    return f"{attack.name}: requests within the limits run out of memory in {region}{stopped}."


def _parts(bounds: Bounds, alignment: int) -> list[Part]:
    figures = ("zoned", "orders", "pairs", "placements", "is_stopped")
    placed = {"height": bounds.packing.height, "is_aligned": bounds.packing.is_aligned}
    packing = {name: getattr(bounds.search, name) for name in figures} | {
        **placed,
        "floor": bounds.floor,
        "is_least": bounds.packing.height == bounds.floor,
    }
    whole = {one.name: getattr(bounds, one.name) for one in fields(bounds) if one.name != "search"}
    columns: list[Column[WorstCase]] = [
        Column("name", "bound"),
        Column("premise", "requests", shown=lambda bound: _REQUESTS[bound.premise]),
        Column("size", "bytes"),
        Column(heading="over U_max", shown=lambda bound: bound.size / max(bounds.u_max, 1)),
        Column("why", "what"),
    ]
    return [
        Fields({**whole, **placed, "packing": packing, "alignment": alignment}),
        Table(columns, _rows(bounds)),
        Line(_describe_packing(bounds)),
        Line(
            f"these sizes: {Premise.THESE_SIZES}. any sizes: {Premise.ANY_SIZES} of n bytes, with "
            f"no more live blocks k. any number: {Premise.ANY_NUMBER}. All ask for no more live "
            "bytes than U_max. M: the most that their blocks take, headers and rounding included."
        ),
        *map(
            Line,
            which_hold(
                (
                    bounds.worst_cases,
                    "Worst cases are of blocks: an allocator's tables are not in them, as they "
                    "are in the regions that compare and --plan tell.",
                ),
                (
                    bounds.u_max and not bounds.worst_cases,
                    "No worst case of an allocator is proven: requests ask for larger alignments.",
                ),
            ),
        ),
    ]


def _rows(bounds: Bounds) -> list[WorstCase]:
    """The bounds as rows of one table, from U_max to the worst cases of allocators."""
    why = "no placement is lower" if bounds.floor > bounds.u_max else "as U_max"
    rows = (
        ("U_max", bounds.u_max, "no region is smaller", Premise.THIS_TRACE),
        ("proven least", bounds.floor, why, Premise.THIS_TRACE),
        (
            "offline packing",
            bounds.packing.height,
            "all lifetimes known, no headers",
            Premise.THIS_TRACE,
        ),
        (
            "greedy by size",
            bounds.greedy,
            "largest first, lowest free place (TFLite Micro)",
            Premise.THIS_TRACE,
        ),
        (
            "sum S_i P_i,max",
            bounds.static,
            "a pool for each size, at its own peak",
            Premise.THESE_SIZES,
        ),
        (
            "any allocator",
            bounds.least_of_any,
            "at least: M (1 + log2(n) / 2) - n + 1 (Robson 1974)",
            Premise.ANY_NUMBER,
        ),
    )
    known = [
        WorstCase(name, size, why, premise) for name, size, why, premise in rows if size is not None
    ]
    return [*known, *bounds.worst_cases]


def _describe_packing(bounds: Bounds) -> str:
    search = bounds.search
    zones = f"{search.zoned:,} placements tried with zones for common sizes"
    how = which_hold(
        (True, zones if search.zoned else "placed in order of requests"),
        (search.orders, f"{search.orders:,} orders with lookahead"),
        (search.placements, f"{search.placements:,} placements of one block by branch and bound"),
        (search.is_stopped, "interrupted, the best so far"),
    )
    aligned = "" if bounds.packing.is_aligned else ", if no request asked for an alignment"
    return f"The packing is {_quality(bounds)}{aligned}: {', '.join(how)}."


def _quality(bounds: Bounds) -> str:
    floor, height = bounds.floor, bounds.packing.height
    if height == bounds.u_max:
        return "the least, proven by its height"
    if height == floor:
        return "the least, proven by " + (
            "the alignments of what is live at once"
            if floor > bounds.search.floor
            else "a search that ended"
        )
    why = (
        "placed anew at the alignments asked for, which --search leaves out: more does not help"
        if height > bounds.search.height
        else "effort exhausted"
    )
    return f"at most {format_share(height / max(floor, 1) - 1)} above the least ({why})"
