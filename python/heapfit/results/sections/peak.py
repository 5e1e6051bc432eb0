# SPDX-License-Identifier: Apache-2.0
"""The moment of the peak: the use of each heap's bytes, and who holds the live ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from heapfit.comparison.heap_map import PeakUse
from heapfit.drawing.chart import Chart, Trace, row_axis, row_title
from heapfit.drawing.number_text import percent, size
from heapfit.drawing.parts import Column, Line, Part, Piece, Section, Strip, Table, which_hold
from heapfit.plan.quantities import format_event
from heapfit.results.packed_map import site_label
from heapfit.trace.blocks import blocks_of
from heapfit.trace.loaded import LoadedTrace

_MOST_HOLDERS = 12
_MOST_SIZES = 6
_PARTS = (  # field, name, colour
    ("payload", "requested", "var(--live)"),
    ("rounding", "rounding", "var(--other-2)"),
    ("control", "headers and tables", "var(--other-1)"),
    ("holes", "holes and idle blocks", "var(--other-4)"),
    ("largest_free", "largest free piece", "var(--accent-fill)"),
)


_HEAPS: tuple[Column[PeakUse], ...] = (
    Column(page="heap", shown=lambda one: one.name),
    Column(page="asked for", shown=lambda one: one.payload, told=size),
    Column(page="rounding", shown=lambda one: one.rounding, told=size),
    Column(page="headers and tables", shown=lambda one: one.control, told=size),
    Column(page="holes and idle blocks", shown=lambda one: one.holes, told=size),
    Column(page="largest free piece", shown=lambda one: one.largest_free, told=size),
    Column(page="region", shown=lambda one: one.region, told=size),
)
Holder: TypeAlias = tuple[Piece, int]  # of the live bytes, and how many blocks they are in

_AT_PEAK = "Each heap in the region that it needs, at the peak of live bytes."


def peak_sections(
    shown: LoadedTrace,
    heaps: Sequence[PeakUse],
    sites: Mapping[int, str],
    moment: tuple[str, str, int] | None = None,
) -> list[Section]:
    """Who holds the live bytes of a moment, and what each heap makes of its bytes then.

    The moment: its title, a sentence and the event it follows; None: the recording's peak.
    """
    title, sentence, event = moment or ("The peak", _AT_PEAK, shown.profile.u_max_event)
    found = find_holders(shown, event, sites)
    live = sum(one.bytes for one, _ in found)
    heading = f"{title}: {size(live)} live after {format_event(event)}"
    parts: list[Part] = [
        Line(_describe_holders(shown, sites)),
        Strip([piece for piece, _ in found]),
        Table(_holder_columns(live), found, look="cards numbers sortable"),
    ]
    caption = (
        f"{sentence} Holes and idle blocks of pools are free, but not in one piece; headers and "
        "tables are the heap's own."
    )
    used: list[Part] = [peak_chart(heaps, caption), Table(_HEAPS, heaps)] if heaps else []
    return [
        Section("peak", heading, parts, title),
        *([Section("bytes", "Where the bytes of each heap are", used)] if used else []),
    ]


def _holder_columns(live: int) -> list[Column[Holder]]:
    return [
        Column(page="holder", shown=lambda one: one[0].name),
        Column(page="live bytes", shown=lambda one: one[0].bytes, told=size),
        Column(page="blocks", shown=lambda one: one[1]),
        Column(page="share", shown=lambda one: one[0].bytes / live, told=percent),
    ]


def _describe_holders(shown: LoadedTrace, sites: Mapping[int, str]) -> str:
    return which_hold(
        (len(shown.sites) == 0, "By size: the recording has no call sites."),
        (sites, "Call sites by function and line, and the sizes that each asks for."),
        (
            True,
            "Call sites, by the recorder's hash (--program names them), and the sizes that each "
            "asks for.",
        ),
    )[0]


def peak_chart(heaps: Sequence[PeakUse], caption: str = "") -> Chart:
    """One bar for each heap, as long as its region."""
    longest = max(one.region for one in heaps)
    return Chart(
        identity="chart-peak",
        meaning="Bytes of each heap's region at the peak, by use.",
        data=[_bar_part(heaps, *part) for part in _PARTS],
        layout={
            "barmode": "stack",
            "bargap": 0.6,
            "hovermode": False,
            "xaxis": {"title": {"text": "bytes"}, "range": [0, longest * 1.02], "tickformat": "~s"},
            "yaxis": row_axis([one.name for one in heaps]),
            "annotations": [
                row_title(one.name, size(one.region), i - 0.26) for i, one in enumerate(heaps)
            ],
        },
        height=70 + 48 * len(heaps),
        caption=caption,
    )


def _bar_part(heaps: Sequence[PeakUse], field: str, name: str, colour: str) -> Trace:
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "x": [getattr(one, field) for one in heaps],
        "y": list(range(len(heaps))),
        "marker": {"color": colour},
    }


def find_holders(
    shown: LoadedTrace, peak: int, names: Mapping[int, str] | None = None
) -> tuple[Holder, ...]:
    """The holders of the bytes live after event `peak`: call sites if known, else sizes."""
    blocks = blocks_of(shown)
    is_live = blocks.are_live_at(peak)
    sizes = blocks.sizes[is_live].tolist()
    if len(shown.sites) == 0:
        return _group_by_size(Counter(sizes), _MOST_HOLDERS)
    sites = shown.sites[blocks.starts[is_live]].tolist()
    held: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for (site, asked), number in Counter(zip(sites, sizes, strict=True)).items():
        held[site_label(site, names or {})][asked] += number
    found = [
        (
            Piece(
                name,
                sum(its.elements()),
                parts=tuple(piece for piece, _ in _group_by_size(its, _MOST_SIZES)),
            ),
            its.total(),
        )
        for name, its in held.items()
    ]
    return _select_largest(found, _MOST_HOLDERS)


def _group_by_size(held: Counter[int], most: int) -> tuple[Holder, ...]:
    found = [(Piece(size(asked), asked * blocks), blocks) for asked, blocks in held.items()]
    return _select_largest(found, most)


def _select_largest(found: Sequence[Holder], most: int) -> tuple[Holder, ...]:
    """The holders with the most bytes, and all others as one."""
    ranked = sorted(found, key=lambda one: (-one[0].bytes, one[0].name))
    kept, rest = ranked[:most], ranked[most:]
    if rest:
        total, blocks = sum(one.bytes for one, _ in rest), sum(its for _, its in rest)
        kept.append((Piece(f"{len(rest):,} others", total), blocks))
    return tuple(kept)
