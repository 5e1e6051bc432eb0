# SPDX-License-Identifier: Apache-2.0
"""What every page about a case shows: its map, its peak, the program, and the candidates."""

from __future__ import annotations

from heapfit.progress import Progress, ignore_progress
from heapfit.results.case import ReportCase
from heapfit.results.heap_map.packed import pack_map
from heapfit.results.heap_map.replays import map_of, subjects_of
from heapfit.results.parts import HeapMap, Section
from heapfit.results.sections.candidates import candidates_section, heap_figures, heap_parts
from heapfit.results.sections.peak import peak_of
from heapfit.results.sections.plan_layers import plan_section
from heapfit.results.sections.program import pools_section, program_section
from heapfit.sweep.threads import run_beside_body


def case_sections(
    case: ReportCase, verdict: str = "", progress: Progress = ignore_progress
) -> list[Section | HeapMap | None]:
    """The sections about a case; `verdict` is said of the choice."""
    shown, winner, subjects = case.shown, case.winner, subjects_of(case)
    with run_beside_body(shown.threads, lambda: peak_of(case, subjects)) as peak:
        heap_map = None
        if subjects:
            heap_map = pack_map(map_of(shown, subjects, progress=progress), case.sites)
            progress("pack the heap map", 1.0)
    return [
        HeapMap(heap_map) if heap_map else None,
        peak(),
        pools_section(shown, winner.plan),
        candidates_section(case, verdict),
        program_section(shown, heap_parts(case), heap_figures(winner)),
        plan_section(winner.plan, winner.replay_region),
    ]
