# SPDX-License-Identifier: Apache-2.0
"""How long the heap lasts: the bytes that runs of each length need of it."""

from __future__ import annotations

from heapfit.comparison.longer import LongerRun, LongerRuns
from heapfit.drawing.number_text import known_size, size
from heapfit.drawing.parts import Column, Fields, Line, Part, Section, Table

_LAW = "By one law of many loads: it holds on average over them and bounds none (docs/margin.md)."

LONGER_RUNS: tuple[Column[LongerRun], ...] = (
    Column("name", "a run (--horizon)", page="a run"),
    Column("times"),
    Column("is_asked"),
    Column("usual", "9 of 10 run in", told=known_size),
    Column("needed", "99 of 100 run in", told=known_size),
    Column("reason"),
)


def describe_longer_runs(longer: LongerRuns, lasts: str, indent: int = 0) -> list[Part]:
    """The bytes by the length of a run, why a length is not told; `lasts`: what a size is for."""
    known = [row for row in longer.rows if row.needed is not None]
    untold = [f"{row.name}: {row.reason}." for row in longer.rows if row.reason]
    refusal = longer.refusal and {"reason": longer.refusal.reason, "advice": longer.refusal.advice}
    table = Table(LONGER_RUNS, longer.rows, "rows", shown=known, indent=indent)
    return [
        *([table] if longer.rows else [Fields({"rows": []})]),
        Fields({"refusal": refusal, "is_growing": longer.is_growing, "lasts": lasts}),
        *(Line(" " * indent + text) for text in untold),
    ]


def make_longer_section(longer: LongerRuns, region: int) -> Section:
    """The section of a page on longer runs in a heap of `region` bytes."""
    if longer.refusal is not None:
        return Section("longer", "Longer runs", [Line(longer.refusal.sentence())])
    known = [row for row in longer.rows if row.needed is not None]
    caption = f"{longer.heading()} The heap is set to {size(region)}. {_LAW}"
    parts: list[Part] = [Table(LONGER_RUNS, known, caption=caption, look="numbers")]
    return Section("longer", "Longer runs", parts)
