# SPDX-License-Identifier: Apache-2.0
"""What pages about a heap share: the order of their sections, and words on their recordings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from markupsafe import Markup

from heapfit.drawing.document import reproduce_section
from heapfit.drawing.number_text import mark_up
from heapfit.drawing.parts import Bullets, Glossary, HeapMapView, Line, Section
from heapfit.trace.stored import TraceInfo

# The places of the sections, in the order in which a page is read: those that are open, then those
# that are opened by a click.
_OPEN = ("recordings", "grew", "peak", "heap-map", "choices", "traces")
_FOLDED = (
    *("kind", "longer", "runs", "today", "bytes", "pools", "candidates", "program"),
    *("notes", "plan", "reproduce", "glossary"),
)


def order_sections(
    sections: Iterable[Section | HeapMapView | None],
    notes: Sequence[str],
    commands: Sequence[tuple[str, str]],
    *,
    has_table: bool = True,
) -> list[Section | HeapMapView]:
    """The sections in their order, and those that every such page has.

    `notes` are the import's; a command has its purpose before it. Of two in one place the last is
    taken. Without another table of heaps the candidates are open.
    """
    told = Bullets(notes) if notes else Line("Nothing was skipped, repaired or odd.")
    alike = (
        Section("notes", "Notes from the import", [told]),
        reproduce_section(*commands),
        Section("glossary", "What each figure means", [Glossary()]),
    )
    placed = {one.place: one for one in (*alike, *sections) if one is not None}
    opened = [place for place in _OPEN if place in placed]
    opened += [] if has_table else ["candidates"]
    folded = [placed[place] for place in _FOLDED if place in placed and place not in opened]
    return [
        *(placed[place] for place in opened),
        *(replace(one, is_folded=True) if isinstance(one, Section) else one for one in folded),
    ]


def recording_kind(info: TraceInfo) -> str:
    """The kind of recording, in words."""
    return "packet capture" if info.kind == "packets" else "heap trace"


def request_source(info: TraceInfo, path: object) -> str:
    """The source of the requests; for packets with the queue model."""
    source = info.source_title or str(path)
    return f"{source}, queue {info.queue}" if info.kind == "packets" and info.queue else source


def name_source(source: str) -> Markup:
    """Where the requests come from, as a page names it below its title."""
    return mark_up("from <b>{}</b>", source)
