# SPDX-License-Identifier: Apache-2.0
"""What a page about a heap consists of, in the order in which it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heapfit.report.drawing import rendering
from heapfit.report.drawing.figure import Chart
from heapfit.report.drawing.number_text import NO_BREAK
from heapfit.report.sections.candidates import Candidates
from heapfit.report.sections.peak import Peak
from heapfit.report.sections.plan_layers import PlanPart
from heapfit.report.sections.program import Program
from heapfit.report.sections.risk import Risk
from heapfit.trace.stored import TraceInfo

_MAP_SCRIPT = Path(__file__).parents[1] / "heap_map" / "map.js"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its name, and what it says of the answer."""

    name: str
    value: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Opening:
    """The answer, and what it rests on."""

    command: str  # that made the page: "fit"
    title: str
    source: str  # where the requests come from
    kind: str  # of the recording
    sentences: tuple[str, ...]  # the answer
    lead: tuple[Figure, ...] = ()
    remarks: tuple[str, ...] = ()
    define: str = ""  # a line to copy into the program
    trust: tuple[Figure, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """A command to type, and what it does."""

    purpose: str
    text: str


@dataclass(frozen=True, slots=True)
class Content:
    """A page; None where a part has nothing to show."""

    opening: Opening
    heap_map: dict[str, Any] | None  # packed.py's record
    peak: Peak
    risk: Risk | None
    program: Program
    candidates: Candidates | None
    notes: tuple[str, ...]  # of the import
    plan: PlanPart | None
    commands: tuple[Command, ...]
    own: tuple[Chart, ...] = ()  # of the one page alone
    own_links: tuple[tuple[str, str], ...] = ()  # place and name of its sections

    @property
    def charts(self) -> list[Chart]:
        """Every chart."""
        parts = (self.peak, self.risk, self.program, self.candidates)
        return [*self.own, *(chart for part in parts if part for chart in part.charts)]

    @property
    def links(self) -> list[tuple[str, str]]:
        """Place and name of each section that is there, in order."""
        sections: list[tuple[object, str, str]] = [
            (self.heap_map, "heap-map", "Heap map"),
            *((True, place, name) for place, name in self.own_links),
            (self.peak, "peak", self.peak.title),
            (self.risk, "risk", "Size against risk"),
            (self.program.pool_charts, "pools", "Live blocks"),
            (self.candidates, "candidates", "Candidates"),
            (self.program, "program", "The program"),
            (self.plan, "plan", "Plan"),
            (self.commands, "reproduce", "Reproduce"),
            (True, "glossary", "Glossary"),
        ]
        return [(place, name) for is_there, place, name in sections if is_there]


def render(template: Path, content: Content, **own: object) -> str:
    """The page as text, the same for the same content; `own` is what its template shows besides."""
    record = content.heap_map
    return rendering.render(
        template,
        content.opening.title,
        content.charts,
        own_scripts={_MAP_SCRIPT: record} if record else {},
        content=content,
        heap_map_record=record,
        **own,
    )


def kind_of(info: TraceInfo) -> str:
    """What was recorded."""
    return "packet capture" if info.kind == "packets" else "heap trace"


def source_of(info: TraceInfo, path: object) -> str:
    """Where the requests come from; for packets also how long each one stays."""
    source = info.source or str(path)
    return f"{source}, queue {info.queue}" if info.kind == "packets" and info.queue else source


def pointers_told(infos: Sequence[TraceInfo]) -> Figure:
    """The width of the recorded pointers."""
    if all(info.kind == "packets" for info in infos):
        return Figure("recorded on", "the wire", "packets have no pointers")
    widths = sorted({info.pointer_bits for info in infos if info.pointer_bits})
    told = ", ".join(f"{width}{NO_BREAK}bit" for width in widths) or "not stated"
    return Figure("recorded on", told, "sizes hold for such pointers")
