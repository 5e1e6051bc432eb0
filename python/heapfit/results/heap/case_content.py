# SPDX-License-Identifier: Apache-2.0
"""What every page about a case shows: its map, its peak, the program, and the candidates."""

from __future__ import annotations

from heapfit.comparison.case import ReportCase
from heapfit.comparison.heap_map import measure_case
from heapfit.progress import Progress, ignore_progress
from heapfit.results.packed_map import pack_map
from heapfit.results.parts import HeapMap, Section
from heapfit.results.sections.candidates import candidates_section, heap_figures, heap_parts
from heapfit.results.sections.peak import peak_section
from heapfit.results.sections.plan_layers import plan_section
from heapfit.results.sections.program import pools_section, program_section


def case_sections(
    case: ReportCase, verdict: str = "", progress: Progress = ignore_progress
) -> list[Section | HeapMap | None]:
    """The sections about a case; `verdict` is said of the choice."""
    shown, winner = case.shown, case.winner
    heap_map, peaks = measure_case(case, progress)
    record = None if heap_map is None else HeapMap(pack_map(heap_map, case.sites))
    progress("pack the heap map", 1.0)
    return [
        record,
        peak_section(shown, peaks, case.sites),
        pools_section(shown, winner.plan),
        candidates_section(case, verdict),
        program_section(shown, heap_parts(case), heap_figures(winner)),
        plan_section(winner.plan, winner.replay_region),
    ]
