# SPDX-License-Identifier: Apache-2.0
"""Charts of the requests: how often each size is asked for, how many are live, how long they live."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from heapfit.report.figure import ACCENT, Chart, Layout, Trace, band, level
from heapfit.report.numbers import count, percent, size

if TYPE_CHECKING:
    from heapfit.profile import Profile
    from heapfit.report.live_blocks import LiveBlocks

BAR_WIDTH = 0.035  # of a bar's place: equally wide everywhere on a logarithmic axis
LABEL_WIDTH, LABEL_HEIGHT = 0.15, 0.09  # of the panel, on a phone: labels closer than this would overlap
SMALL_CHART_POINTS = 100
SIZE_ZERO = 0.5  # where requests of 0 bytes stand on a logarithmic axis


def size_chart(profile: Profile, special: Sequence[int], special_share: float) -> Chart:
    """Two panels over one logarithmic axis: each size's share of the allocations and of the bytes."""
    sizes = profile.sizes.tolist()
    allocations = profile.allocations.tolist()
    asked = [s * n for s, n in zip(sizes, allocations, strict=True)]
    shares, byte_shares = _shares(allocations), _shares(asked)
    tallest = max(shares, default=0.0)
    labels = _labels([(s, shares[sizes.index(s)]) for s in special], _span(sizes), tallest)
    return Chart(
        identity="chart-sizes",
        meaning="Share of each request size in the allocations and in the bytes asked for.",
        data=[
            *_panel(sizes, shares, allocations, special, ("y", "allocations")),
            *_panel(sizes, byte_shares, asked, special, ("y2", "bytes asked for")),
            level(
                f"special from {special_share:.0%}",
                [10**decade for decade in _span(sizes)],
                special_share,
                color="var(--ink)",
                dash="dot",
            ),
        ],
        layout={
            "barmode": "overlay",
            "hovermode": "closest",
            "xaxis": _size_axis(sizes),
            "yaxis": _share_axis("of allocations", [0.54, 1.0])
            | {"range": [0, max([tallest, special_share, *(label["y"] for label in labels)]) * 1.13]},
            "yaxis2": _share_axis("of bytes", [0.0, 0.44]) | {"rangemode": "tozero"},
            "annotations": labels,
        },
        height=520,
    )


def _shares(amounts: Sequence[int]) -> list[float]:
    total = max(sum(amounts), 1)
    return [amount / total for amount in amounts]


def _panel(
    sizes: Sequence[int],
    shares: Sequence[float],
    amounts: Sequence[int],
    special: Sequence[int],
    axis_and_unit: tuple[str, str],
) -> list[Trace]:
    """Bars of one panel, once for the special sizes and once for all others."""
    axis, unit = axis_and_unit
    traces = []
    for is_special, name, colour in ((False, "size", "var(--quiet)"), (True, "special", ACCENT)):
        chosen = [i for i, s in enumerate(sizes) if (s in special) is is_special]
        places = [sizes[i] or SIZE_ZERO for i in chosen]
        traces.append(
            {
                "type": "bar",
                "name": "special sizes" if is_special else "other sizes",
                "legendgroup": name,
                "showlegend": axis == "y",
                "yaxis": axis,
                "x": places,
                "y": [shares[i] for i in chosen],
                "width": [place * BAR_WIDTH for place in places],
                "marker": {"color": colour, "line": {"width": 0}},
                "customdata": [[sizes[i], amounts[i]] for i in chosen],
                "hovertemplate": "%{customdata[0]:,d} B: %{customdata[1]:,d} "
                + unit
                + " (%{y:.1%})<extra></extra>",
            }
        )
    return traces


def _span(sizes: Sequence[int]) -> tuple[float, float]:
    """The decades the size axis shows, with air at both ends; at least one power of two each side."""
    low = math.log10(sizes[0] or SIZE_ZERO) if sizes else 0.0
    high = math.log10(sizes[-1] or SIZE_ZERO) if sizes else 1.0
    air = max(0.05 * (high - low), math.log10(2))
    return low - air, high + air


def _size_axis(sizes: Sequence[int]) -> Layout:
    """Ticks at powers of two, about eight of them."""
    low, high = _span(sizes)
    first, last = math.ceil(low / math.log10(2)), math.floor(high / math.log10(2))
    step = max(1, round((last - first) / 8))
    powers = [2**k for k in range(max(first, 0), last + 1, step)]
    return {
        "type": "log",
        "range": [low, high],
        "anchor": "y2",
        "title": {"text": "request, bytes"},
        "tickvals": powers,
        "ticktext": [count(power) for power in powers],
    }


def _share_axis(title: str, domain: list[float]) -> Layout:
    return {"title": {"text": title}, "tickformat": ".0%", "domain": domain}


def _labels(
    bars: Sequence[tuple[int, float]], span: tuple[float, float], tallest: float
) -> list[Layout]:
    """A label above each (size, share), tall bars first, lifted until no two overlap."""
    placed: list[tuple[float, float]] = []
    labels = []
    for bar_size, share in sorted(bars, key=lambda bar: -bar[1]):
        x = math.log10(bar_size or SIZE_ZERO)
        across = x / (span[1] - span[0])
        y = share
        while any(
            abs(across - other) < LABEL_WIDTH and abs(y - height) < LABEL_HEIGHT * tallest
            for other, height in placed
        ):
            y += 0.25 * LABEL_HEIGHT * tallest
        placed.append((across, y))
        labels.append(_label(x, y, f"{size(bar_size)}"))
    return labels


def _label(x: float, y: float, text: str) -> Layout:
    return {
        "x": x,
        "y": y,
        "text": f"<b>{text}</b>",
        "showarrow": False,
        "yanchor": "bottom",
        "font": {"color": ACCENT},
        "bgcolor": "var(--veil)",
        "borderpad": 1,
    }


def live_blocks_chart(live: LiveBlocks, number: int) -> Chart:
    """P_i(t) of one pool with its N_i as a dashed line."""
    series = live.blocks.coarser(SMALL_CHART_POINTS)
    highest = max([live.pool.count, live.peak])
    ticks = {"dtick": 1} if highest <= 3 else {"nticks": 4}
    return Chart(
        identity=f"chart-pool-{number}",
        meaning=f"Live blocks of the pool of {count(live.pool.size)} bytes over the events.",
        data=[
            *band("live blocks", series, ACCENT, "var(--accent-fill)"),
            level("set aside", series.events, live.pool.count, color="var(--other-1)", dash="dash"),
        ],
        layout={
            "showlegend": False,
            "margin": {"l": 8, "r": 8, "t": 6, "b": 8},
            "xaxis": {"tickformat": "~s", "hoverformat": ",d", "nticks": 4},
            "yaxis": {"range": [0, highest * 1.12], "tickformat": "~s", **ticks},
        },
        height=150,
    )


def lifetime_chart(profile: Profile) -> Chart:
    """Objects by how many events they lived, in powers of two; those never freed apart."""
    objects = profile.lifetimes.tolist()
    while objects and objects[-1] == 0:
        objects.pop()
    amounts = [*objects, profile.never_freed]
    names = [*(_lifetime_bin(b) for b in range(len(objects))), "never freed"]
    return Chart(
        identity="chart-lifetimes",
        meaning="Share of the objects by lifetime in events, and those never freed.",
        data=[_lifetime_bars(names, amounts)],
        layout={
            "showlegend": False,
            "hovermode": "closest",
            "bargap": 0.12,
            "xaxis": {"title": {"text": "events between allocation and free"}, "type": "category"},
            "yaxis": {"title": {"text": "of objects"}, "tickformat": ".0%", "rangemode": "tozero"},
        },
        height=340,
    )


def _lifetime_bars(names: Sequence[str], amounts: Sequence[int]) -> dict[str, Any]:
    shares = _shares(amounts)
    return {
        "type": "bar",
        "x": list(names),
        "y": shares,
        "marker": {"color": [ACCENT] * (len(names) - 1) + ["var(--other-1)"], "line": {"width": 0}},
        "customdata": [[count(n), percent(s)] for n, s in zip(amounts, shares, strict=True)],
        "hovertemplate": "%{x} events: %{customdata[0]} objects (%{customdata[1]})<extra></extra>",
    }


def _lifetime_bin(exponent: int) -> str:
    """The lifetimes of bin 2^exponent to 2^(exponent + 1) - 1, rounded above a thousand.

    >>> [_lifetime_bin(b) for b in (0, 3, 10, 21)]
    ['1', '8–15', '1k–2k', '2.1M–4.2M']
    """
    low, high = 1 << exponent, (2 << exponent) - 1
    if low == high:
        return str(low)
    return f"{_short(low)}–{_short(high)}"


def _short(number: int) -> str:
    for factor, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= factor:
            return f"{number / factor:.2g}{unit}" if number < 10 * factor else f"{number / factor:.0f}{unit}"
    return str(number)
