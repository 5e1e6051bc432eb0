# SPDX-License-Identifier: Apache-2.0
"""The charts of a league: memory by entrant, and memory over accesses."""

from __future__ import annotations

from collections.abc import Sequence

from heapfit.league import LeagueRow, Standing
from heapfit.results.chart import (
    COLOURS,
    Chart,
    Layout,
    Trace,
    nth_mark,
    points,
    row_axis,
    row_title,
)
from heapfit.results.number_text import figure_text

_MOST_SHOWN = 14  # entrants in a chart; the tables have all


def league_memory_chart(
    identity: str, rows: Sequence[LeagueRow], standings: Sequence[Standing]
) -> Chart:
    """The memory of each entrant: a line each, with a mark for each recording."""
    shown = [one for one in standings[:_MOST_SHOWN] if one.median is not None]
    places = {one.entrant: place for place, one in enumerate(shown)}
    known = [row for row in rows if row.entrant in places and row.over_u_max is not None]
    known.sort(key=lambda row: (places[row.entrant], row.recording))
    each = _marks(
        "a recording",
        [(round(row.over_u_max or 0, 4), places[row.entrant], row.recording) for row in known],
        {"color": COLOURS[0], "size": 7, "opacity": 0.6},
    )
    middle = _marks(
        "median of the recordings",
        [(round(one.median or 0, 4), places[one.entrant], "median") for one in shown],
        {"color": COLOURS[1], "size": 9, "symbol": "diamond"},
    )
    return Chart(
        identity=f"chart-memory-{identity}",
        meaning="Bytes each recording needs over its peak of live bytes; one line an entrant.",
        data=[each, middle],
        layout={
            "hovermode": "closest",
            "xaxis": {
                "title": {
                    "text": "bytes needed over the peak (R<sub>safe</sub> / U<sub>max</sub>)"
                },
                "type": "log",
            },
            "yaxis": row_axis("entrant", list(places), 0.9),
            "annotations": [_entrant_label(one, place) for place, one in enumerate(shown)],
        },
        height=70 + 34 * len(shown),
    )


def _marks(name: str, found: Sequence[tuple[float, int, str]], marker: Layout) -> Trace:
    """The marks of points, each with its ratio, line and name."""
    ratios, places, labels = zip(*found, strict=True) if found else ((), (), ())
    return points(name, ratios, places, marker) | {
        "text": [figure_text(label) for label in labels],
        "hovertemplate": "%{text}: %{x:.4}<extra></extra>",
    }


def _entrant_label(one: Standing, place: int) -> Layout:
    """The name of an entrant above its line, at the left edge whatever the axis begins with."""
    title = row_title(one.entrant, f"{one.median:.3f}", place - 0.2, bgcolor="var(--paper)")
    return title | {"place": 0}


def cost_chart(identity: str, standings: Sequence[Standing]) -> Chart:
    """Memory over the accesses of a call: nearer to the corner is better in both."""
    known = [one for one in standings[:_MOST_SHOWN] if one.median and one.accesses is not None]
    data = [
        points(
            figure_text(one.entrant),
            [round(one.accesses or 0, 2)],
            [round(one.median or 0, 4)],
            nth_mark(number) | {"size": 9},
        )
        | {"hovertemplate": "%{y:.4} of the peak, %{x} accesses"}
        for number, one in enumerate(known)
    ]
    return Chart(
        identity=f"chart-cost-{identity}",
        meaning="Median of R_safe over U_max, over the metadata accesses of a call.",
        data=data,
        layout={
            "hovermode": "closest",
            "xaxis": {"title": {"text": "loads and stores of metadata a call, median"}},
            "yaxis": {"title": {"text": "bytes needed over the peak, median"}},
        },
        height=420,
    )
