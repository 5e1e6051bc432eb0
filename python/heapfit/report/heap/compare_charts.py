# SPDX-License-Identifier: Apache-2.0
"""The chart of a comparison on several traces."""

from __future__ import annotations

from heapfit.comparison.matrix import Matrix
from heapfit.comparison.row import Row
from heapfit.report.drawing.figure import COLOURS, Chart, Trace, line_with_marks

_MOST_CURVES = 7


def matrix_chart(matrix: Matrix) -> Chart:
    """The region that the best candidates need for each trace, over the trace's peak."""
    return Chart(
        identity="chart-traces",
        meaning="Region needed over the peak of each trace, by candidate.",
        data=[
            _marks(matrix, name, COLOURS[place % len(COLOURS)])
            for place, name in enumerate(matrix.names[:_MOST_CURVES])
        ],
        layout={
            "hovermode": "closest",
            "xaxis": {"type": "category", "title": {"text": "trace"}},
            "yaxis": {"title": {"text": "region over the peak"}},
        },
        height=380,
    )


def _marks(matrix: Matrix, name: str, colour: str) -> Trace:
    known = [
        (column.label, cell.over_u_max)
        for column in matrix.columns
        if isinstance(cell := column.cell(name), Row) and cell.over_u_max is not None
    ]
    labels, ratios = [label for label, _ in known], [round(value, 4) for _, value in known]
    marker = {"color": colour, "size": 10}
    return line_with_marks(name, labels, ratios, colour) | {"mode": "markers", "marker": marker}
