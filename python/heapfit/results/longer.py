# SPDX-License-Identifier: Apache-2.0
"""How long the heap lasts: the bytes that runs of each length need of it."""

from __future__ import annotations

from heapfit.comparison.longer import LongerRun, LongerRuns
from heapfit.results.chart import ACCENT, OTHERS, Chart, level, line_with_marks
from heapfit.results.number_text import known_size, size
from heapfit.results.parts import Column, Fields, Line, Part, Section, Table

_LAW = (
    "By one law, fitted to many loads: it holds on average over them and bounds no single one "
    "(docs/margin.md)."
)

LONGER_RUNS: tuple[Column[LongerRun], ...] = (
    Column("name", "a run (--horizon)", page="a run"),
    Column("times"),
    Column("is_asked"),
    Column("usual", "9 of 10 run in", told=known_size),
    Column("needed", "99 of 100 run in", told=known_size),
    Column("reason"),
)


def longer_parts(longer: LongerRuns, indent: int = 0) -> list[Part]:
    """The bytes by the length of a run, and why a length is not told."""
    known = [row for row in longer.rows if row.needed is not None]
    untold = [f"{row.name}: {row.reason}." for row in longer.rows if row.reason]
    refusal = longer.refusal and {"reason": longer.refusal.reason, "advice": longer.refusal.advice}
    table = Table(LONGER_RUNS, longer.rows, "rows", shown=known, indent=indent)
    return [
        *([table] if longer.rows else [Fields({"rows": []})]),
        Fields({"refusal": refusal, "is_growing": longer.is_growing}),
        *(Line(" " * indent + text) for text in untold),
    ]


def longer_section(longer: LongerRuns, region: int) -> Section:
    """The section of a page on longer runs in a heap of `region` bytes."""
    if longer.refusal is not None:
        return Section("longer", "Longer runs", [Line(longer.refusal.sentence())])
    caption = f"The heap is set to {size(region)}."
    parts: list[Part] = [
        Line(f"{longer.sentence()} {_LAW}"),
        _draw_regions(longer, region),
        Table(LONGER_RUNS, [row for row in longer.rows if row.needed is not None], caption=caption),
    ]
    return Section("longer", "Longer runs", parts)


def _draw_regions(longer: LongerRuns, region: int) -> Chart:
    """The bytes for most and for nearly all runs, over their length."""
    known = [row for row in longer.rows if row.needed is not None]
    times = [row.times for row in known]
    usual, needed = ([getattr(row, name) for row in known] for name in ("usual", "needed"))
    low, high = min([*usual, region]), max([*needed, region])
    air = max((high - low) // 8, 8)
    ticks = {"tickvals": times, "ticktext": [f"{one:g}" for one in times]}
    return Chart(
        identity="chart-longer",
        meaning="Bytes in which 9 of 10 and 99 of 100 runs run, over the length of the run.",
        data=[
            line_with_marks("9 of 10", times, usual, OTHERS[0]),
            line_with_marks("99 of 100", times, needed, ACCENT),
            level("set the heap to", times, region, color="var(--ink)", dash="dash"),
        ],
        layout={
            "xaxis": {"type": "log", "title": {"text": "times as long"}, **ticks},
            "yaxis": {
                "title": {"text": "bytes"},
                "tickformat": "~s",
                "range": [low - air, high + air],
            },
        },
        height=300,
        caption="The bytes in which 9 of 10 runs and 99 of 100 run, by their length. Dashed: the "
        "heap as it is set.",
    )
