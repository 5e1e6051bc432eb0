# SPDX-License-Identifier: Apache-2.0
"""The kind of a recording: a line, a table of what grows, its JSON, and the section of a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from heapfit.drawing.chart import (
    ACCENT,
    OTHERS,
    Chart,
    band,
    byte_axis,
    event_axis,
    line,
    live_extremes,
)
from heapfit.drawing.number_text import rate, size
from heapfit.drawing.parts import Column, Line, Part, Section, Table, columns, object_of, paragraph
from heapfit.forecast.filling import describe_growth
from heapfit.forecast.growth import BlockGroup
from heapfit.forecast.kind import Kind, RecordingKind

_SHOWN = 8  # growing parts
_TITLES = {
    Kind.SERVICE: "A service",
    Kind.JOB: "A job",
    Kind.GROWING: "Growing",
    Kind.CYCLE: "A cycle",
    Kind.TOO_SHORT: "Too short to say if a service or a job",
}


def describe_kind(kind: RecordingKind) -> str:
    """The kind, and what shows it."""
    return f"{_TITLES[kind.kind]}: {kind.reason}."


def describe_kinds(kinds: Sequence[RecordingKind]) -> str:
    """The kinds of several recordings by their number, or the one that there is."""
    if len(kinds) == 1:
        return describe_kind(kinds[0])
    counts = Counter(kind.kind for kind in kinds)
    nouns = (Kind.SERVICE, Kind.JOB, Kind.CYCLE)
    told = (f"{n} {one}{'s' * (one in nouns and n > 1)}" for one, n in counts.most_common())
    return f"Kinds: {', '.join(told)}."


def growth_parts(kind: RecordingKind, names: Mapping[int, str]) -> list[Part]:
    """What grows, by call site, size and thread, the largest of each first; nothing: no part."""
    if not kind.growth:
        return []
    grew = describe_growth(kind, names) if kind.is_growing else ""
    return [*paragraph(grew), Line(""), growth_table(kind, names)]


def growth_table(
    kind: RecordingKind, names: Mapping[int, str], indent: int = 0
) -> Table[BlockGroup]:
    """The parts that grew; a page names call sites, as far as `names` has them."""
    scale = 1000 / kind.windows.events
    columns: list[Column[BlockGroup]] = [
        Column(heading="grew", page="part", shown=lambda part: _name_part(part, names)),
        Column(
            heading="B per 1,000 events", shown=lambda part: scale * part.trend.slope, told=rate
        ),
        Column(
            heading="held, born after start-up",
            page="held",
            shown=lambda part: part.held,
            told=size,
        ),
        Column(heading="blocks", shown=lambda part: part.blocks),
    ]
    return Table(
        columns,
        kind.growth[:_SHOWN],
        caption="What grew while recorded. Held: born after the start-up and live at the end.",
        indent=indent,
    )


def _name_part(part: BlockGroup, names: Mapping[int, str]) -> str:
    if part.family == "site":
        return names.get(part.name, f"call site {part.frame:08x}")
    return f"blocks of {size(part.name)}" if part.family == "size" else f"thread {part.name}"


def kind_section(
    kind: RecordingKind, others: Sequence[RecordingKind], names: Mapping[int, str]
) -> Section:
    """The section of a page; `others` are the kinds of all, `names` those of call sites."""
    parts: list[Part] = [
        Line(describe_kind(kind)),
        *paragraph(describe_kinds(others) if len(others) > 1 else ""),
        _draw_kind(kind),
        *([growth_table(kind, names)] if kind.growth else []),
    ]
    return Section("kind", f"Kind of recording: {kind.kind}", parts, "Kind")


def kind_fields(kind: RecordingKind) -> dict[str, object]:
    """The kind by the names that its figures have in the JSON; rates in bytes an event."""
    windows, rate = kind.windows, kind.rate
    return {
        **object_of(columns("kind", "reason", "period"), kind),
        "rate": {"bytes_per_event": rate.slope, "low": rate.low, "high": rate.high, "p": rate.p},
        "microseconds_per_event": kind.microseconds,
        "windows": object_of(columns("events", "starts", "peaks", "troughs"), windows),
        "growth": [
            {
                "family": part.family,
                "name": part.name,
                "frame": part.frame or None,
                "held": part.held,
                "blocks": part.blocks,
                "bytes_per_event": part.trend.slope / windows.events,
            }
            for part in kind.growth
        ],
    }


def _draw_kind(kind: RecordingKind) -> Chart:
    profile, windows, trend = kind.profile, kind.windows, kind.trend
    middles, last = (windows.starts + windows.events / 2).tolist(), len(windows) - 1
    flat = windows.troughs - trend.slope * np.arange(len(windows))
    middle = (float(np.median(flat)) if last > 0 else 0.0) + trend.slope * last / 2
    slopes = (
        ("trend", trend.slope, "solid"),
        ("slowest of 95 %", trend.low, "dot"),
        ("fastest of 95 %", trend.high, "dot"),
    )
    straight: dict[str, str] = {"shape": "linear"}
    return Chart(
        identity="chart-kind",
        meaning="Live bytes over the events, the least of each window, and their trend.",
        data=[
            *band("live bytes", live_extremes(profile), "var(--quiet)", "var(--live)"),
            line(
                "least of each window",
                middles,
                windows.troughs.tolist(),
                color=OTHERS[0],
                **straight,
            ),
            *(
                line(
                    name,
                    [middles[0], middles[-1]],
                    [middle - slope * last / 2, middle + slope * last / 2],
                    color=ACCENT,
                    dash=dash,
                    **straight,
                )
                for name, slope, dash in slopes
                if last > 0
            ),
        ],
        layout={"xaxis": event_axis(profile.events), "yaxis": byte_axis()},
        height=340,
        caption="Grey: live bytes. Line: the least of each of 48 windows after the start-up, and "
        "its trend, dotted the slowest and the fastest that fit it (95 %).",
    )
