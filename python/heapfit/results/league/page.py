# SPDX-License-Identifier: Apache-2.0
"""The page of a league: who needs least memory, at what cost, on which recordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit.league import League, Standing
from heapfit.results import html
from heapfit.results.chart import Chart
from heapfit.results.league.charts import cost_chart, league_memory_chart
from heapfit.results.league.verdict import LEARNED, verdicts

_TEMPLATE = Path(__file__).with_name("league.html.j2")
_SHOWN = 8  # rows of a table that are not folded


@dataclass(frozen=True, slots=True)
class Section:
    """The entrants that can be compared: one alignment, one kind of learning."""

    identity: str  # of the element
    title: str
    learned: str
    charts: tuple[Chart, ...]
    standings: tuple[Standing, ...]


def render(league: League, standings: Sequence[Standing], command: str) -> str:
    """The page as text, the same for the same league; `command` is what was typed."""
    sections = _sections(league, standings)
    charts = [chart for section in sections for chart in section.charts]
    return html.render(
        _TEMPLATE,
        "league",
        charts,
        sections=sections,
        standings=standings,
        verdicts=list(verdicts(standings)),
        most_shown=_SHOWN,
        recordings=league.recordings,
        entrants=league.entrants,
        wide=len({row.recording for row in league.rows if row.recorded_bits == 64}),
        command=command,
    )


def _sections(league: League, standings: Sequence[Standing]) -> list[Section]:
    found = []
    for alignment in sorted({one.alignment for one in standings}):
        for number, (learned, learning) in enumerate(LEARNED.items()):
            these = tuple(
                one for one in standings if (one.alignment, one.learned) == (alignment, learned)
            )
            if these:
                rows = [
                    row
                    for row in league.rows
                    if (row.alignment, row.learned) == (alignment, learned)
                ]
                identity = f"aligned-{alignment}-{number}"
                title = f"Blocks aligned to {alignment} B, {learning}"
                charts = (league_memory_chart(identity, rows, these), cost_chart(identity, these))
                found.append(Section(identity, title, learned, charts, these))
    return found
