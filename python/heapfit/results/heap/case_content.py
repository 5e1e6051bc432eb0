# SPDX-License-Identifier: Apache-2.0
"""What every page about a case shows: its map, its peak, the program, and the candidates."""

from __future__ import annotations

from heapfit.progress import Progress, ignore_progress
from heapfit.results.case import ReportCase
from heapfit.results.heap_map.packed import pack_map
from heapfit.results.heap_map.replays import map_of, subjects_of
from heapfit.results.sections.candidates import candidates_of
from heapfit.results.sections.content import PageCommand, PageContent, PageOpening
from heapfit.results.sections.peak import peak_of
from heapfit.results.sections.plan_layers import PlanPart, plan_layers
from heapfit.results.sections.program import program_of
from heapfit.sweep.threads import run_beside_body


def gather_case(
    case: ReportCase,
    opening: PageOpening,
    commands: tuple[PageCommand, ...],
    progress: Progress = ignore_progress,
) -> PageContent:
    """The content of a page about a case; a page replaces what it has of its own."""
    shown, winner, subjects = case.shown, case.winner, subjects_of(case)
    with run_beside_body(shown.threads, lambda: peak_of(case, subjects)) as peak:
        heap_map = None
        if subjects:
            heap_map = pack_map(map_of(shown, subjects, progress=progress), case.sites)
            progress("pack the heap map", 1.0)
    return PageContent(
        opening=opening,
        heap_map=heap_map,
        peak=peak(),
        program=program_of(shown, winner.plan),
        candidates=candidates_of(case),
        notes=shown.trace.info.notes,
        plan=PlanPart(plan_layers(winner.plan, winner.replay_region), ()),
        commands=commands,
    )
