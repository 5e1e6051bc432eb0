# SPDX-License-Identifier: Apache-2.0
"""The page of a placing: the first memory over the share inside, and a heap map of each memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from heapfit import _engine
from heapfit.memories.demand import Demand
from heapfit.memories.placing import CurvePoint, Placing
from heapfit.memories.search import Point
from heapfit.plan.quantities import format_share
from heapfit.results import html
from heapfit.results.chart import COLOURS, Chart, Trace, byte_axis, line_with_marks
from heapfit.results.heap_map.packed import MAP_SCRIPT, pack_map
from heapfit.results.heap_map.replays import (
    ELSEWHERE,
    HeapMap,
    MappedHeap,
    RegionReplay,
    find_gaps,
    sites_of,
)
from heapfit.results.number_text import size

_TEMPLATE = Path(__file__).with_name("memories.html.j2")


def write_memories_page(
    path: Path, placing: Placing, names: Mapping[int, str], outlook: Sequence[str], command: str
) -> None:
    """Writes the page, whose maps are of the first recording.

    `names` are call sites'; `outlook` are sentences about the next build and longer runs.
    """
    chart, demand = _curve_chart(placing), placing.demands[0]
    record = pack_map(map_memories(placing, demand), names)
    text = html.render(
        _TEMPLATE,
        f"{placing.memories[0].name} in {size(placing.size.region)}",
        [chart],
        own_scripts={MAP_SCRIPT: record},
        chart_shown=chart,
        placing=placing,
        outlook=outlook,
        settings=placing.system_lines,
        subject=", ".join(one.name for one in placing.demands),
        percent=lambda share: format_share(round(share, 4)),
        heap_map_record=record,
        command=command,
    )
    html.write_page(path, text)


def map_memories(placing: Placing, demand: Demand) -> HeapMap:
    """The map of each memory of the plan, with what the recording has there."""
    plan, events = placing.plan, demand.loaded.events
    replay = plan.replay(demand.loaded.largest_alignment, keeps_places=True)
    replay.feed(events, demand.requests(plan))
    is_there = demand.sizes[demand.asks][: len(replay.numbers)] > 0
    numbers, offsets = replay.numbers[is_there], replay.offsets[is_there].astype(np.uint64)
    heaps = []
    for number, (memory, use) in enumerate(zip(plan.memories, replay.shares(), strict=True)):
        region = memory.size if number == 0 else max(use.footprint, 1)
        own = RegionReplay(region, np.where(numbers == number, offsets, ELSEWHERE), None)
        peak = demand.loaded.profile.u_max_event
        heaps.append(MappedHeap(memory.name, own, (own,), len(events), peak))
    lifetimes, gaps = _engine.Lifetimes(events), find_gaps(demand.loaded)
    sites = sites_of(demand.loaded, lifetimes)
    note = "Each memory is drawn to its highest byte in use, at a scale of its own."
    return HeapMap(tuple(heaps), lifetimes, sites, gaps, True, has_own_scales=True, note=note)


def _curve_chart(placing: Placing) -> Chart:
    """Bytes of the first memory over the share inside, by size and by call site."""

    def curve(name: str, find: Callable[[CurvePoint], Point | None], colour: str) -> Trace:
        points = [point for point in map(find, placing.curve) if point is not None]
        shares = [100 * point.share for point in points]
        drawn = line_with_marks(name, shares, [point.size for point in points], colour)
        return drawn | {"hovertemplate": "%{y:,d} B"}

    curves = (
        curve("by size", lambda one: one.by_size, COLOURS[0]),
        curve("by call site", lambda one: one.by_site, COLOURS[1]),
    )
    return Chart(
        identity="chart-memory",
        meaning="Bytes of the first memory over the share of requests that it serves.",
        data=[one for one in curves if one["x"]],
        layout={"xaxis": {"title": {"text": "% served inside"}}, "yaxis": byte_axis()},
        height=420,
    )
