# SPDX-License-Identifier: Apache-2.0
"""`heapfit place`: which requests go into which memory, and how small the first one can be.

With one memory: two programs in one heap, or apart.
"""

from __future__ import annotations

from heapfit.cli.arguments import command_line
from heapfit.cli.commands.fitting import PlaceCommand
from heapfit.cli.parser import UsageError
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.running import exit_unless, note_parts
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.incumbents.heap_names import MEMORY_HEAPS
from heapfit.drawing.html import write_document
from heapfit.drawing.parts import Column, Fields, Group, Line, Part, Table, hide_unless, which_hold
from heapfit.errors import HeapfitError
from heapfit.forecast.horizon import parse_horizon
from heapfit.importers import has_known_lifetimes, open_traces
from heapfit.memories.heap_map import map_memories
from heapfit.memories.joining import TOGETHER, Joining, join_programs
from heapfit.memories.placing import Placing, PlacingOptions, place_recordings
from heapfit.plan.memories import Memory, memories_tables, parse_memory
from heapfit.plan.plan_file import require_unedited, save_plan
from heapfit.plan.values import expand_names
from heapfit.programs.site_names import site_names
from heapfit.results.longer import describe_longer_runs
from heapfit.results.memories import (
    CURVE,
    RULES,
    SET_APART,
    describe_outlook,
    describe_served,
    memories_page,
)
from heapfit.trace.loaded import STANDARD_ALIGNMENT

_WORK = {"import": 10, "read events": 5, "profile": 5, "place": 80}
_JOINING = {"import": 20, "read events": 10, "profile": 10, "place": 60}
_MOST_SITES = 4  # on the first screen


def run(command: PlaceCommand) -> None:
    if len(command.memories) == 1:
        _join(command)
        return
    for source in filter(has_known_lifetimes, command.sources):
        raise UsageError(
            f"{source}: a network's tensors lie in one arena (bounds {source} -o places.h)"
        )
    if command.output is not None:
        require_unedited(command.output)
    options = PlacingOptions(
        command.admission,
        command.margin,
        tuple(command.needs or []),
        tuple(command.allocators or MEMORY_HEAPS[:1]),
        horizon=None if command.horizon is None else parse_horizon(command.horizon),
    )
    with progress_bar(_WORK) as progress, open_traces(command.sources, progress=progress) as traces:
        placing = place_recordings(traces, command.memories, options, progress)
        names = {
            site: name
            for one in placing.demands
            for site, name in site_names(one.loaded, command.programs or []).items()
        }
        if command.report is not None:
            heap_map = map_memories(placing, placing.demands[0])
            page = memories_page(placing, heap_map, names=names, command=command_line())
            write_document(command.report, page)
    if command.output is not None:
        save_plan(command.output, placing.plan_file)
    print_result(_parts(placing, names, command), command.as_json)


def _parts(placing: Placing, names: dict[int, str], command: PlaceCommand) -> list[Part]:
    first, size, is_whole = placing.memories[0], placing.size, command.every
    missing = size.region - first.size
    lacks = f" It has {first.size:,} B: {missing:,} B are missing." if missing > 0 else ""
    shown = [one for one in placing.curve if one.share in (0.5, 0.9, 1.0)]
    changes, lasts = placing.changes, placing.longer.lasts(size.region)
    fields = {
        "memory": first.name,
        "share_asked": placing.share,
        "needing": placing.needing,
        "region": size.region,
        "margin_percent": size.margin,
        "changes": changes.test.to_rows(),
        "least_share_of_changes": {"change": changes.worst, "share": changes.share},
    }
    found = (point for one in placing.curve for point in (one.by_size, one.by_site))
    is_less = any(one and one.size < placing.alone.size for one in found)
    written = (("plan", command.output), ("report", command.report))
    return [
        Fields(fields),
        Line(f"{first.name}: set it to {size.region:,} B. {describe_served(placing)}{lacks}"),
        *map(Line, which_hold((command.allocators, f"Each has a heap of {placing.heap.title}."))),
        *map(Line, describe_outlook(placing)),
        *hide_unless(is_whole, [Group("longer_runs", describe_longer_runs(placing.longer, lasts))]),
        Line(""),
        Table(RULES, placing.rules, "rules"),
        Line(""),
        Table(CURVE, placing.curve, "curve", shown=None if is_whole else shown),
        Line(""),
        *_settings_parts(placing, is_whole),
        *_site_parts(placing, names, is_whole),
        Fields(memories_tables(placing.plan)),
        Line(f"{SET_APART} Accesses are unknown: no time is estimated."),
        *map(
            Line,
            which_hold((is_less, "A rule that serves more may take less: blocks lie elsewhere.")),
        ),
        *(part for one in placing.demands for part in note_parts(one.loaded.trace.info, one.name)),
        *(Line(f"{name:7}{path}", is_copied=True) for name, path in written if path is not None),
    ]


def _settings_parts(placing: Placing, is_whole: bool) -> list[Part]:
    """The lines of the systems that have such memories; without `is_whole` those of the first."""
    shown = [*placing.system_lines.values()][: None if is_whole else 1]
    return [
        Fields(placing.system_lines),
        *(Line(text, is_copied=True) for texts in shown for text in texts),
    ]


def _site_parts(placing: Placing, names: dict[int, str], is_whole: bool) -> list[Part]:
    """The call sites inside where the rule goes by them."""
    if placing.by_site is None:
        return []
    sites = placing.by_site.rule.sites
    named = [names.get(site, f"{site:08x}") for site in sites]
    few = named if is_whole else named[:_MOST_SITES]
    rest = f", {len(named) - len(few)} more: --all" if len(named) > len(few) else ""
    is_told = is_whole or placing.by_site == placing.chosen
    return [
        Fields({"sites": [{"site": f"{one:08x}", "where": names.get(one)} for one in sites]}),
        *map(Line, which_hold((is_told, f"Call sites inside: {', '.join(few)}{rest}"))),
    ]


def _join(command: PlaceCommand) -> None:
    """Two programs in one memory; exit status 3 if it has no room for them."""
    allocators = expand_names(command.allocators or MEMORY_HEAPS[:1], MEMORY_HEAPS)
    if command.needs or command.report or command.horizon or len(allocators) > 1:
        raise HeapfitError(
            "--needs, --report, --horizon and several --allocators are for recordings in two "
            "memories"
        )
    memory = parse_memory(command.memories[0], find_heap(allocators[0], STANDARD_ALIGNMENT).plan)
    if len(command.sources) != 2 or command.output is not None:
        raise HeapfitError(
            "one --memory is for two programs: give two recordings, or one and a network, and no "
            "-o; or give two memories"
        )
    first, second = command.sources
    with progress_bar(_JOINING) as progress:
        joining = join_programs(first, second, allocators[0], progress=progress)
    print_result(_joining_parts(joining, memory), command.as_json)
    exit_unless(joining.least <= memory.size)


def _joining_parts(joining: Joining, memory: Memory) -> list[Part]:
    apart, most, least = joining.apart, joining.most, joining.least
    better = "one heap for both" if most < apart else "each its own"
    missing, together = least - memory.size, dict(joining.meetings).get(TOGETHER)
    begun = f"; {together:,} B begun together" if together else ""
    fits = "They fit" if missing <= 0 else f"They do not fit, {missing:,} B are missing in"
    columns: list[Column[tuple[str, int]]] = [
        Column("name", "in one heap", lambda one: one[0]),
        Column("region", "bytes", lambda one: one[1]),
        Column("over_apart", "of apart", lambda one: one[1] / max(apart, 1)),
    ]
    return [
        Fields({"memory": memory.name, "apart": apart, "together": most, "better": better}),
        Fields({"fits": missing <= 0, "alone": {one.name: one.alone for one in joining.programs}}),
        Line(
            f"{fits} {memory.name} ({memory.size:,} B). Better: {better}, {least:,} B. Apart they "
            f"need {apart:,} B "
            f"({', '.join(f'{one.name} {one.alone:,}' for one in joining.programs)}), in one heap "
            f"{most:,} B in the worst order tried{begun}."
        ),
        Table(columns, joining.meetings, "meetings"),
        Line("Sizes are of these recordings, without the margin of another run."),
    ]
