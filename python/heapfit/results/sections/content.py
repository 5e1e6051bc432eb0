# SPDX-License-Identifier: Apache-2.0
"""The content of a page about a heap, in the order in which it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heapfit.results import html
from heapfit.results.chart import Chart
from heapfit.results.heap_map.packed import MAP_SCRIPT
from heapfit.results.sections.candidates import Candidates
from heapfit.results.sections.kind import KindPart
from heapfit.results.sections.longer import LongerPart
from heapfit.results.sections.peak import Peak
from heapfit.results.sections.plan_layers import PlanPart
from heapfit.results.sections.program import ProgramPart
from heapfit.results.sections.risk import Risk
from heapfit.trace.stored import TraceInfo


@dataclass(frozen=True, slots=True)
class PageFigure:
    """A figure with its name and a remark."""

    name: str
    value: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class PagePart:
    """A part of a sum, in bytes."""

    name: str
    bytes: int
    colour: str  # a variable of page.css


HOLDS, UNSURE, FAILED = "holds", "unsure", "failed"  # tones of an answer


@dataclass(frozen=True, slots=True)
class PageOpening:
    """The first part of a page: the answer, and the evidence for it."""

    command: str  # that made the page: "fit"
    title: str
    source: str  # where the requests come from
    kind: str  # of the recording
    sentences: tuple[str, ...]  # the answer
    lead: tuple[PageFigure, ...] = ()
    remarks: tuple[str, ...] = ()
    define: str = ""  # a line to copy into the program
    trust: tuple[PageFigure, ...] = ()
    warnings: tuple[str, ...] = ()
    badge: str = ""  # the answer in a few words, in its colour
    tone: str = ""  # of the answer: HOLDS, UNSURE or FAILED; "": it has none
    bytes_go: tuple[PagePart, ...] = ()  # the parts of the bytes that are set


@dataclass(frozen=True, slots=True)
class PageCommand:
    """A command to type, and its purpose."""

    purpose: str
    text: str


@dataclass(frozen=True, slots=True)
class PageContent:
    """The content of a page; None for a part that has nothing to show."""

    opening: PageOpening
    heap_map: dict[str, Any] | None  # packed.py's record
    peak: Peak
    program: ProgramPart
    notes: tuple[str, ...]  # of the import
    commands: tuple[PageCommand, ...]
    risk: Risk | None = None
    candidates: Candidates | None = None
    plan: PlanPart | None = None
    kind: KindPart | None = None
    longer: LongerPart | None = None
    own: tuple[Chart, ...] = ()  # of the one page alone
    own_links: tuple[tuple[str, str], ...] = ()  # place and name of its sections

    @property
    def charts(self) -> list[Chart]:
        """The charts of all parts of the page."""
        parts = (self.kind, self.longer, self.peak, self.risk, self.program, self.candidates)
        return [*self.own, *(chart for part in parts if part for chart in part.charts)]

    @property
    def links(self) -> list[tuple[str, str]]:
        """The anchor and name of each section that is on the page, in order."""
        sections: list[tuple[object, str, str]] = [
            (self.risk, "risk", "Will it hold?"),
            (self.longer, "longer", "Longer runs"),
            *((True, place, name) for place, name in self.own_links),
            (self.heap_map, "heap-map", "Heap map"),
            (self.kind, "kind", "Kind"),
            (self.peak, "peak", self.peak.title),
            (self.program.pool_charts, "pools", "Live blocks"),
            (self.candidates, "candidates", "Candidates"),
            (self.program, "program", "The program"),
            (self.plan, "plan", "Plan"),
            (self.commands, "reproduce", "Reproduce"),
            (True, "glossary", "Glossary"),
        ]
        return [(place, name) for is_there, place, name in sections if is_there]


def render(template: Path, content: PageContent, **own: object) -> str:
    """The page as text, the same for the same content; `own` is what its template shows besides."""
    record = content.heap_map
    return html.render(
        template,
        content.opening.title,
        content.charts,
        own_scripts={MAP_SCRIPT: record} if record else {},
        content=content,
        heap_map_record=record,
        **own,
    )


def recording_kind(info: TraceInfo) -> str:
    """The kind of recording, in words."""
    return "packet capture" if info.kind == "packets" else "heap trace"


def request_source(info: TraceInfo, path: object) -> str:
    """The source of the requests; for packets with the queue model."""
    source = info.source_title or str(path)
    return f"{source}, queue {info.queue}" if info.kind == "packets" and info.queue else source


def pointer_figure(infos: Sequence[TraceInfo]) -> PageFigure:
    """A figure of the recorded pointers' width."""
    if all(info.kind == "packets" for info in infos):
        return PageFigure("recorded on", "the wire", "packets have no pointers")
    widths = sorted({info.pointer_bits for info in infos if info.pointer_bits})
    text = ", ".join(f"{width} bit" for width in widths) or "not stated"
    return PageFigure("recorded on", text, "sizes hold for such pointers")
