# SPDX-License-Identifier: Apache-2.0
"""What every page about a case shows: its answer, its map, its peak, the program, the candidates.

A case is a recording, the plans measured on it, and the chosen one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heapfit.comparison.case import ReportCase
from heapfit.comparison.heap_map import MappedCase
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import pools_warning
from heapfit.results.document import Document
from heapfit.results.number_text import percent, size
from heapfit.results.packed_map import pack_map
from heapfit.results.parts import HeapMapView, Section, which_hold
from heapfit.results.sections.candidates import candidates_section, heap_parts
from heapfit.results.sections.page import (
    name_source,
    order_sections,
    recording_kind,
    request_source,
)
from heapfit.results.sections.peak import peak_sections
from heapfit.results.sections.plan_layers import plan_section
from heapfit.results.sections.program import pools_section, program_section

_TABLES = ("plans", "traces")  # places of sections that have a table of heaps


def case_page(
    opening: Document,
    case: ReportCase,
    mapped: MappedCase,
    *more: Section | None,
    commands: Sequence[tuple[str, str]],
) -> Document:
    """The page of a case that begins so, with more sections."""
    sections = [*case_sections(case, mapped), *more]
    has_table = any(one.place in _TABLES for one in more if one)
    ordered = order_sections(sections, case.shown.trace.info.notes, commands, has_table=has_table)
    return replace(opening, sections=ordered)


def case_sections(
    case: ReportCase, mapped: MappedCase, verdict: str = ""
) -> list[Section | HeapMapView | None]:
    """The sections about a case; `verdict` is said of the choice."""
    shown, winner, (heap_map, peaks) = case.shown, case.winner, mapped
    return [
        None if heap_map is None else HeapMapView(pack_map(heap_map, case.sites)),
        *peak_sections(shown, peaks, case.sites),
        pools_section(shown, winner.plan),
        candidates_section(case, verdict),
        program_section(shown, heap_parts(case)),
        plan_section(winner.plan, winner.replay_region),
    ]


def opening_of(case: ReportCase, command: str) -> Document:
    """The page of one recording, without its sections: the plan to take and what it needs."""
    comparison, winner, info = case.comparison, case.winner, case.shown.trace.info
    warning = pools_warning(winner, comparison)
    return Document(
        command=command,
        title=info.program or case.shown.trace.path.stem,
        source=name_source(request_source(info, case.shown.trace.path.name)),
        sections=(),
        kind=recording_kind(info),
        sentences=(),
        remarks=(describe_need(winner),),
        warnings=which_hold(
            (
                info.kind == "heap" and not info.pointer_bits,
                "The recording does not state its pointer size.",
            ),
            (warning, f"The {warning}."),
        ),
    )


def describe_need(winner: Row) -> str:
    """The sentence that says which region a plan needs for a recording."""
    if winner.r_safe is None:
        return "No plan serves this recording in any region tried."
    above = percent(winner.r_safe / max(winner.u_max, 1) - 1)
    return (
        f"{winner.name} needs {size(winner.r_safe)} for this recording, {above} above its peak "
        f"of {size(winner.u_max)}."
    )
