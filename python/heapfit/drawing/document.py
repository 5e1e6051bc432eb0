# SPDX-License-Identifier: Apache-2.0
"""A result as a page: its answer, then its sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heapfit.drawing.parts import (
    Copyable,
    HeapMapView,
    NamedFigure,
    Part,
    Piece,
    Section,
    paragraph,
)

HOLDS, UNSURE, FAILED = "holds", "unsure", "failed"  # tones of an answer


@dataclass(frozen=True, slots=True)
class Document:
    """A page: the answer, and the sections that it rests on."""

    command: str  # that made the page: "fit"
    title: str
    sentences: Sequence[str]  # the answer
    sections: Sequence[Section | HeapMapView]
    kind: str = ""  # of its subject
    source: str = ""  # where the requests come from
    remarks: Sequence[str] = ()
    define: str = ""  # a line to copy into the program
    badge: str = ""  # the answer in a few words, in its colour
    tone: str = ""  # of the answer: HOLDS, UNSURE or FAILED; "": it has none
    trust: Sequence[NamedFigure] = ()  # what the answer rests on
    warnings: Sequence[str] = ()
    bytes_go: Sequence[Piece] = ()  # the parts of the bytes that are set
    plan_place: str = ""  # of the plan's text, to be saved
    name: str = ""  # of the page, in its browser's list; "": the title

    @property
    def links(self) -> list[tuple[str, str]]:
        """The anchor and name of each section that is open, in order."""
        links = (one for one in self.sections if isinstance(one, HeapMapView) or not one.is_folded)
        return [(one.place, one.link) for one in links if one.link]


def reproduce_section(*commands: tuple[str, str]) -> Section:
    """Commands to be copied, such as the one that made a page, each behind its purpose."""
    parts: list[Part] = []
    for number, (purpose, command) in enumerate(commands, 1):
        parts += [*paragraph(purpose), Copyable(f"command-{number}", [command])]
    return Section("reproduce", "How to reproduce", parts, "Reproduce")
