# SPDX-License-Identifier: Apache-2.0
"""What every page about a case shows: its answer, its map, its peak, the program, the candidates.

A case is a recording, the plans measured on it, and the chosen one.
"""

from __future__ import annotations

from heapfit.comparison.case import ReportCase
from heapfit.comparison.heap_map import MappedCase
from heapfit.drawing.parts import HeapMapView, Section
from heapfit.results.packed_map import pack_map
from heapfit.results.sections.candidates import candidates_section, heap_parts
from heapfit.results.sections.peak import peak_sections
from heapfit.results.sections.plan_layers import plan_section
from heapfit.results.sections.program import pools_section, program_section


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
