# SPDX-License-Identifier: Apache-2.0
"""How long the heap lasts: what runs as long as the recording, and longer ones, need of it."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor

from heapfit.comparison.margin import HeapSize
from heapfit.forecast.horizon import Forecast, LongerRun, LongerRunTable
from heapfit.results.chart import ACCENT, OTHERS, Chart, level, line, line_with_marks
from heapfit.results.number_text import known_size, size
from heapfit.results.parts import Column, Line, Part, Section, Table

_LEAST_CHANCE, _MOST_CHANCE = 0.01, 0.99  # that are told as figures
_WIDEST_INTERVAL = 0.5  # of a chance that is told as a figure
_UNKNOWN = "unknown"


def longer_section(longer: LongerRunTable, region: int) -> Section:
    """The section of a page on longer runs in a heap of `region` bytes."""
    return Section("longer", "Longer runs", _tell_longer(longer, region))


def _tell_longer(longer: LongerRunTable, region: int) -> list[Part]:
    if longer.refusal is not None:
        advice = longer.refusal.advice
        further = f" {advice[:1].upper()}{advice[1:]}." if advice else ""
        return [Line(f"Not known, as {longer.refusal.reason}.{further}")]
    known = [(row, row.needed) for row in longer.rows if row.needed is not None]
    foretold = [row for row in longer.rows if row.chance is not None]
    caption = f"A run of each length in the heap that is set: {size(region)}."
    return [
        Line(
            f"By {longer.basis}. The region is set for runs as long as the recording: its margin "
            "is what other runs of measured programs needed. Longer runs may need more."
        ),
        _draw_regions(known, region),
        Table(LONGER_RUNS, foretold, caption=caption),
    ]


def describe_chance(row: LongerRun) -> str | None:
    """The chance of the heap that is set, in percent, or what a wide interval leaves of it.

    None where it is not forecast.
    """
    if row.chance is None:
        return None
    low, high = row.interval or (row.chance, row.chance)
    if high - low > _WIDEST_INTERVAL:
        return _UNKNOWN if low < _LEAST_CHANCE else f"at least {floor(100 * low)} %"
    if row.chance < _LEAST_CHANCE:
        return "below 1 %"
    return "above 99 %" if row.chance > _MOST_CHANCE else f"about {100 * row.chance:.0f} %"


def describe_risk_as_long(longer: LongerRunTable) -> tuple[str, bool]:
    """How many runs as long as the recording run out of memory, as a clause.

    "" where that is not known or below 1 %; True if even the least of its interval is not below.
    """
    row = next(iter(longer.rows), None)
    if row is None or row.chance is None or row.chance < _LEAST_CHANCE:
        return "", False
    chance = describe_chance(row)
    if chance == _UNKNOWN:
        return "", False
    runs = "runs" if row.name == "1 run" else "runs as long"
    is_certain = row.interval is not None and row.interval[0] >= _LEAST_CHANCE
    return f"{chance} of {runs} would run out", is_certain


def describe_chances(row: LongerRun) -> str | None:
    """The interval that holds the chance 9 times of 10, in percent."""
    if row.interval is None:
        return None
    low, high = row.interval
    return f"{floor(100 * low)} to {max(1, ceil(100 * high))} %"


def _draw_regions(known: list[tuple[LongerRun, Forecast]], region: int) -> Chart:
    """The region for a chance of 1 % over the length of the run, with its interval."""
    points = sorted((row.times, needed.low, needed.region, needed.high) for row, needed in known)
    times, lows, needs, highs = ([one[place] for one in points] for place in range(4))
    low, high = int(min(*lows, region)), int(max(*highs, region))
    air = max((high - low) // 8, 8)
    dotted = {"dash": "dot", "color": OTHERS[0], "shape": "linear"}
    ticks = {"tickvals": times, "ticktext": [f"{one:g}" for one in times]}
    return Chart(
        identity="chart-longer",
        meaning="Region for a chance of 1 % to run out of memory, over the length of the run.",
        data=[
            line("90 % interval, low end", times, [*map(int, lows)], **dotted),
            line("high end", times, [*map(int, highs)], **dotted),
            line_with_marks("needed for 1 %", times, [*map(int, needs)], ACCENT),
            level("set the heap to", times, region, color="var(--ink)", dash="dash"),
        ],
        layout={
            "xaxis": {"type": "log", "title": {"text": "times as long"}, **ticks},
            "yaxis": {
                "title": {"text": "region, bytes"},
                "tickformat": "~s",
                "range": [low - air, high + air],
            },
        },
        height=300,
        caption="The region in which 1 of 100 runs is out of memory, by the length of the run. "
        "Dotted: its 90 % interval. Dashed: the region to set.",
    )


def describe_rows(
    longer: LongerRunTable, size: HeapSize, name: str, set_to: Callable[[int], int] | None = None
) -> list[str]:
    """Why a length is not forecast, and what to set a memory of this name to for a horizon.

    `set_to` is how a kept heap counts its region.
    """
    texts = []
    for row in longer.rows:
        if row.reason:
            texts.append(f"{row.name}: {row.reason}.")
        elif row.is_asked and row.needed is not None:
            region = row.needed.region
            texts.append(
                f"The margin of {size.margin:g} % is enough for {row.name}."
                if region <= size.region
                else f"For {row.name} set {name} to {set_to(region) if set_to else region:,} B: "
                f"--margin {size.margin_to(region):g} makes it so."
            )
    return texts


LONGER_RUNS: tuple[Column[LongerRun], ...] = (
    Column(heading="a run (--horizon)", page="a run", shown=lambda row: row.name),
    Column(heading="runs out", page="runs out of memory", shown=describe_chance),
    Column(heading="90 % interval", shown=describe_chances),
    Column(
        heading="bytes for 1 %",
        shown=lambda row: row.needed and row.needed.region,
        told=known_size,
    ),
    Column(heading="from", page="", shown=lambda row: row.needed and row.needed.low),
    Column(heading="to", page="", shown=lambda row: row.needed and row.needed.high),
    Column(
        page="90 % interval",
        shown=lambda row: row.needed and f"{size(row.needed.low)} to {size(row.needed.high)}",
    ),
)
