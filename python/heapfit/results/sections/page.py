# SPDX-License-Identifier: Apache-2.0
"""What pages about a heap share: the order of their sections, and words on their recordings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from heapfit.results.number_text import marked
from heapfit.results.parts import (
    Bullets,
    Copyable,
    Glossary,
    HeapMap,
    Line,
    NamedFigure,
    Section,
)
from heapfit.trace.stored import TraceInfo

# The places of the sections, in the order in which a page is read.
_ORDER = (
    *("risk", "longer", "choices", "today", "runs", "traces"),
    *("plans-regions", "recordings", "grew", "heap-map", "kind", "peak", "pools", "candidates"),
    *("plans", "program", "notes", "plan", "reproduce", "glossary"),
)


def in_order(
    sections: Iterable[Section | HeapMap | None],
    notes: Sequence[str],
    commands: Sequence[tuple[str, str]],
) -> list[Section | HeapMap]:
    """The sections in their order, and those that every such page has.

    `notes` are the import's; a command has its purpose before it. Of two in one place the last is
    taken.
    """
    reproduce = [
        part
        for number, (purpose, command) in enumerate(commands, 1)
        for part in (Line(purpose), Copyable(f"command-{number}", [command]))
    ]
    told = Bullets(notes) if notes else Line("Nothing was skipped, repaired or odd.")
    alike = (
        Section("notes", "Notes from the import", [told], "", "box"),
        Section("reproduce", "How to reproduce", reproduce, "Reproduce", is_folded=True),
        Section("glossary", "What each figure means", [Glossary()], "Glossary", is_folded=True),
    )
    placed = {one.place: one for one in (*alike, *sections) if one is not None}
    return [placed[place] for place in _ORDER if place in placed]


def recording_kind(info: TraceInfo) -> str:
    """The kind of recording, in words."""
    return "packet capture" if info.kind == "packets" else "heap trace"


def request_source(info: TraceInfo, path: object) -> str:
    """The source of the requests; for packets with the queue model."""
    source = info.source_title or str(path)
    return f"{source}, queue {info.queue}" if info.kind == "packets" and info.queue else source


def name_source(source: str) -> Markup:
    """Where the requests come from, as a page names it below its title."""
    return marked("from <b>{}</b>", source)


def pointer_figure(infos: Sequence[TraceInfo]) -> NamedFigure:
    """A figure of the recorded pointers' width."""
    if all(info.kind == "packets" for info in infos):
        return NamedFigure("recorded on", "the wire", "packets have no pointers")
    widths = sorted({info.pointer_bits for info in infos if info.pointer_bits})
    text = ", ".join(f"{width} bit" for width in widths) or "not stated"
    return NamedFigure("recorded on", text, "sizes hold for such pointers")
