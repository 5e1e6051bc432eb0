# SPDX-License-Identifier: Apache-2.0
"""The kind of a recording as a line, and in the JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from heapfit.forecast.filling import describe_growth
from heapfit.forecast.growth import BlockGroup
from heapfit.forecast.kind import Kind, RecordingKind
from heapfit.results.parts import Column, Line, Part, Table, paragraph

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
    return f"Kinds: {', '.join(_count(*pair) for pair in counts.most_common())}."


def _count(kind: Kind, count: int) -> str:
    is_noun = kind in (Kind.SERVICE, Kind.JOB, Kind.CYCLE)
    return f"{count} {kind}{'s' if is_noun and count > 1 else ''}"


def growth_parts(kind: RecordingKind) -> Iterator[Part]:
    """What grows, by call site, size and thread, the largest of each first; nothing: no part."""
    if not kind.growth:
        return
    if kind.is_growing:
        yield from paragraph(describe_growth(kind, {}))
    scale = 1000 / kind.windows.events
    columns: list[Column[BlockGroup]] = [
        Column(heading="grew", shown=_describe_part),
        Column(heading="B per 1,000 events", shown=lambda part: scale * part.trend.slope),
        Column(heading="held at the end", shown=lambda part: part.held),
        Column(heading="blocks", shown=lambda part: part.blocks),
    ]
    yield Line("")
    yield Table(columns, kind.growth[:_SHOWN])


def _describe_part(part: BlockGroup) -> str:
    if part.family == "site":
        return f"call site {part.frame:08x}"
    return f"{part.name:,} B blocks" if part.family == "size" else f"thread {part.name}"


def kind_fields(kind: RecordingKind) -> dict[str, object]:
    """The kind by the names that its figures have in the JSON; rates in bytes an event."""
    windows, rate = kind.windows, kind.rate
    return {
        "kind": kind.kind,
        "reason": kind.reason,
        "period": kind.period,
        "rate": {"bytes_per_event": rate.slope, "low": rate.low, "high": rate.high, "p": rate.p},
        "microseconds_per_event": kind.microseconds,
        "windows": {
            "events": windows.events,
            "starts": windows.starts,
            "peaks": windows.peaks,
            "troughs": windows.troughs,
        },
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
