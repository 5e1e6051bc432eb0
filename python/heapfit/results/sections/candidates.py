# SPDX-License-Identifier: Apache-2.0
"""Every plan that was measured on a recording, ranked and drawn."""

from __future__ import annotations

from dataclasses import dataclass

from heapfit.comparison.candidate import NotApplicable
from heapfit.comparison.row import Row
from heapfit.results.case import ReportCase
from heapfit.results.chart import Chart
from heapfit.results.number_text import size
from heapfit.results.sections.candidate_charts import footprint_chart, fragmentation_chart
from heapfit.results.sections.choice_charts import extra_memory_chart, trade_chart


@dataclass(frozen=True, slots=True)
class Candidates:
    """The rows of a comparison."""

    winner: Row
    rows: tuple[Row, ...]  # the winner, others, then those cut to this one recording
    base_alignment: int
    not_applicable: tuple[NotApplicable, ...]
    step: str  # how the winner's regions were tried
    regions: Chart
    trade: Chart | None
    memory: Chart
    fragmentation: Chart

    @property
    def charts(self) -> list[Chart]:
        """The charts of this part that are not empty."""
        charts = (self.regions, self.trade, self.memory, self.fragmentation)
        return [one for one in charts if one is not None]


def candidates_of(case: ReportCase) -> Candidates:
    """All rows of the case's comparison."""
    comparison, winner, profile = case.comparison, case.winner, case.shown.profile
    led = tuple(
        sorted(
            comparison.rows,
            key=lambda row: (row is not winner, row.is_cut_to_trace, row.r_safe is None),
        )
    )
    return Candidates(
        winner=winner,
        rows=led,
        base_alignment=comparison.base_alignment,
        not_applicable=comparison.not_applicable,
        step=_describe_step(winner),
        regions=extra_memory_chart(led),
        trade=trade_chart(case),
        memory=footprint_chart(profile, winner),
        fragmentation=fragmentation_chart(profile, winner),
    )


def _describe_step(winner: Row) -> str:
    if winner.step == 0:
        return "follows from the plan, not searched"
    return (
        "every region tried"
        if winner.is_exhaustive
        else f"smallest found, step {size(winner.step)}"
    )
