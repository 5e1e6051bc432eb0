# SPDX-License-Identifier: Apache-2.0
"""Several memories: the page of a placing, with a heap map of each, and what a plan's served."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from heapfit.comparison.heap_map import HeapMap
from heapfit.drawing.chart import COLOURS, Chart, Trace, byte_axis, line_with_marks
from heapfit.drawing.document import Document, reproduce_section
from heapfit.drawing.number_text import known_size, size
from heapfit.drawing.parts import (
    Column,
    Copyable,
    Details,
    Fields,
    HeapMapView,
    Line,
    Part,
    Section,
    Table,
    which_hold,
)
from heapfit.memories.joint import Joint, MemoryUse
from heapfit.memories.placing import CurvePoint, Placing
from heapfit.memories.search import FoundRule
from heapfit.plan.quantities import format_share
from heapfit.results.packed_map import pack_map
from heapfit.results.sizing import BYTES_HOVER


def _percent(share: float | None) -> str | None:
    return None if share is None else format_share(round(share, 4))


RULES: tuple[Column[tuple[str, FoundRule]], ...] = (
    Column("rule", "first memory serves first", lambda row: row[0]),
    Column("size", "bytes", lambda row: row[1].size, told=size),
    Column("reserve", "set apart", lambda row: row[1].rule.reserve, told=size),
    Column(
        "share",
        "requests",
        lambda row: row[1].requests_share,
        lambda row: _percent(row[1].requests_share),
    ),
    Column(
        "byte_share",
        "bytes x life",
        lambda row: row[1].byte_share,
        lambda row: _percent(row[1].byte_share),
        page="bytes × life",
    ),
)
CURVE: tuple[Column[CurvePoint], ...] = (
    Column("share", "inside", shown=lambda one: _percent(one.share)),
    Column("by_size", "by size", lambda one: one.by_size and one.by_size.size, told=known_size),
    Column("up_to", "up to", lambda one: one.by_size and one.by_size.rule.up_to, told=known_size),
    Column(
        "reserve", "set apart", lambda at: at.by_size and at.by_size.rule.reserve, told=known_size
    ),
    Column(
        "by_site", "by call site", lambda one: one.by_site and one.by_site.size, told=known_size
    ),
    Column("sites", "sites", lambda one: one.by_site and len(one.by_site.rule.sites)),
    Column(
        "site_reserve",
        "set apart",
        lambda at: at.by_site and at.by_site.rule.reserve,
        told=known_size,
    ),
)


SET_APART = "Set apart: for what needs it alone."


def memories_page(
    placing: Placing, heap_map: HeapMap, *, names: Mapping[int, str], command: str
) -> Document:
    """The page, whose map is of the first recording; `names` are call sites'."""
    record = pack_map(heap_map, names)
    rules = (
        "A rule says what the first memory serves first. Without margin, by exact replay of all "
        f"heaps together. {SET_APART}"
    )
    settings = [
        Copyable(f"settings-{system}", lines) for system, lines in placing.system_lines.items()
    ]
    sections: list[Section | HeapMapView] = [
        Section(
            "rules", "What each rule takes", [Line(rules), Table(RULES, placing.rules)], "Rules"
        ),
        Section(
            "curve",
            "How much inside for how many bytes",
            [_curve_chart(placing), Details("As a table", [Table(CURVE, placing.curve)])],
            "The curve",
        ),
        Section("settings", "Settings to copy", settings, "Settings"),
        HeapMapView(record, link="Heap maps"),
        reproduce_section(("", command)),
    ]
    return Document(
        command="place",
        kind=", ".join(one.name for one in placing.demands),
        title=f"{placing.memories[0].name} in {size(placing.size.region)}",
        sentences=[describe_served(placing)],
        remarks=[" ".join(describe_outlook(placing))],
        sections=[one for one in sections if one.place != "settings" or settings],
    )


def describe_served(placing: Placing) -> str:
    """What the first memory serves without the reserve, and what that is for."""
    chosen, inside = placing.chosen, _percent(placing.chosen.share)
    shared = "the requests that may be there" if placing.is_partial else "all requests"
    return (
        f"In {chosen.size:,} B all that needs it is served, and {inside} of {shared}; "
        f"{placing.size.margin:g} % is the reserve for other runs and changes."
    )


def describe_outlook(placing: Placing) -> list[str]:
    """What the size is for, and what the next build and longer runs need, in sentences."""
    region, sizes = placing.size.region, {one.name: one.size for one in placing.memories[1:]}
    lasts = placing.longer.lasts(region)
    rest = (
        f"{one.name} takes the rest: up to {one.footprint:,} of its {sizes[one.name]:,} B."
        for one in placing.settled.joint.uses
        if one.name in sizes
    )
    return [
        *which_hold((lasts, f"The size is for a run of {lasts}.")),
        " ".join([placing.changes.sentence(region), *rest]),
        placing.longer.sentence(region),
    ]


def _curve_chart(placing: Placing) -> Chart:
    """Bytes of the first memory over the share inside, by size and by call site."""

    def curve(name: str, find: Callable[[CurvePoint], FoundRule | None], colour: str) -> Trace:
        points = [point for point in map(find, placing.curve) if point is not None]
        shares = [100 * point.share for point in points]
        return line_with_marks(name, shares, [point.size for point in points], colour) | BYTES_HOVER

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
        caption="The least first memory found in which nothing that needs it is refused, by exact "
        "replay of all heaps. Shares are of requests, or of accesses where these are given. How "
        "often a block is used is unknown, so no time is estimated.",
    )


def joint_parts(joint: Joint) -> list[Part]:
    """The refusal if there is one, and a row for each memory."""
    columns: list[Column[MemoryUse]] = [
        Column("name", "memory"),
        Column("size", "bytes"),
        Column("footprint", "used"),
        Column("live_peak", "live at most"),
        Column("requests", "requests"),
        Column(
            "byte_share",
            "bytes x life",
            lambda one: joint.byte_share([one.name]),
            lambda one: format_share(joint.byte_share([one.name])),
        ),
    ]
    return [
        Fields({"holds": joint.refusal is None, "refusal": joint.refusal}),
        Line(joint.refusal or "All requests are served."),
        Table(columns, joint.uses, "memories"),
    ]
