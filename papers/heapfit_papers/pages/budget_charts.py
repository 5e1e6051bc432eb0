# SPDX-License-Identifier: Apache-2.0
"""Figures 3 and 5 to 7 of Lee and Yi 2008."""

from __future__ import annotations

from heapfit.drawing.chart import ACCENT, OTHERS, Chart, level, line
from heapfit_papers.pages.parts import (
    PaperFigure,
    colour_of,
    dot_curve,
    draw_bars,
    draw_curve,
    hatch_bars,
    plain_layout,
    short,
)
from heapfit_papers.reproduce import code_sizes
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.paper_003_budgets import example_walk
from heapfit_papers.reproduce.paper_003_memory import (
    all_code,
    bars_of,
    figure_7_runs,
    with_shared,
)
from heapfit_papers.reproduce.table_2 import ALLOCATORS, BUDGETED, EVENTS, WORKLOADS, table_2


def example(_: Laboratory) -> PaperFigure:
    walk = example_walk()
    events = list(range(1, len(walk.used) + 1))
    at_peak, fitting = int(walk.live[int(walk.used.argmax())][0]), walk.greedy()[0]
    data = [
        line("U(t)", events, walk.used.tolist(), color=ACCENT),
        *(
            line(
                f"U<sup>B</sup>(t), N<sub>1</sub> = {count}",
                events,
                walk.compute_used([count, 0, 0]).tolist(),
                color=OTHERS[i],
                dash="dot",
            )
            for i, count in enumerate((at_peak, fitting))
        ),
        level("U<sub>max</sub>", events, walk.u_max, color="var(--ink)", dash="dash"),
    ]
    return PaperFigure(
        "Figure 3: what a budget does to U(t)",
        Chart(
            "chart-003-3",
            "Live bytes of an example, and what they become with two budgets.",
            data,
            plain_layout("event", "bytes", {"rangemode": "tozero"}),
            340,
        ),
        f"As many blocks as are live at the peak, {at_peak}, lift U_max; {fitting} does "
        "not. Numbers of ours: the paper's figure has none.",
    )


def memory_needed(laboratory: Laboratory) -> PaperFigure:
    """Figure 5 of Lee and Yi."""
    bars = bars_of(laboratory.measure_once(table_2))
    places = [f"workload {number}" for number in WORKLOADS]
    data = [
        hatch_bars(
            draw_bars(short(name), places, [100 * bars[name][n] for n in WORKLOADS], colour_of(i)),
            i,
        )
        for i, name in enumerate(ALLOCATORS)
    ]
    layout = plain_layout("", "R over that of budgeted, %", {"rangemode": "tozero"})
    return PaperFigure(
        "Figure 5: memory of eleven allocators",
        Chart(
            "chart-003-5",
            "R of eleven allocators on five workloads over that of the budgeted one.",
            data,
            layout | {"barmode": "group", "bargap": 0.25},
            420,
        ),
        f"Capped walks of {EVENTS:,} events. Published: budgeted always least, 8.9 to 49.5 % "
        "below Lea's.",
    )


def code(laboratory: Laboratory) -> PaperFigure:
    """Figure 6 of Lee and Yi."""
    weighed = laboratory.measure_once(all_code)
    sizes = with_shared(weighed)
    names = [short(name) for name in ALLOCATORS]
    bars = draw_bars("code", names, [sizes.get(name, 0) for name in ALLOCATORS], ACCENT)
    return PaperFigure(
        "Figure 6: code size",
        Chart(
            "chart-003-6",
            "Bytes of code of eleven allocators.",
            [bars],
            plain_layout("", "bytes of code", {}) | {"showlegend": False},
            320,
        ),
        weighed.missing or f"{code_sizes.HOW}. budgeted includes its TLSF.",
    )


def draw_scales(laboratory: Laboratory) -> PaperFigure:
    """Figure 7 of Lee and Yi."""
    found = laboratory.measure_once(figure_7_runs)
    totals = found.totals()
    at = [mine[BUDGETED] for mine in totals.values()]
    data = [
        dot_curve(
            draw_curve(
                short(name),
                at,
                [mine[name] / mine[BUDGETED] for mine in totals.values()],
                colour_of(i),
            ),
            i,
        )
        for i, name in enumerate(ALLOCATORS)
    ]
    layout = plain_layout(
        "R and code of budgeted, bytes", "R and code over that", {"range": [0.5, 2.1]}
    )
    layout["xaxis"] |= {"type": "log", "tickformat": "~s", "dtick": 1}
    return PaperFigure(
        "Figure 7: memory and code as workload 5 grows",
        Chart(
            "chart-003-7",
            "R and code of eleven allocators over those of budgeted, by size of the workload.",
            data,
            layout,
            420,
        ),
        found.weighed.missing or "Published: budgeted is least above 16 KB.",
    )
