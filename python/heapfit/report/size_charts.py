# SPDX-License-Identifier: Apache-2.0
"""Charts of the requests: how often each size is asked for, how many live, for how long."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from heapfit.report.figure import ACCENT, Chart, Layout, Trace, band, level
from heapfit.report.numbers import count, percent, size

if TYPE_CHECKING:
    from heapfit.profile import Profile
    from heapfit.report.live_blocks import LiveBlocks

BAR_WIDTH = 0.006  # of the axis
LABEL_WIDTH = 0.15  # of the panel, on a phone: closer labels would overlap
LABEL_HEIGHT = 0.09  # likewise
SMALL_CHART_POINTS = 100
SIZE_ZERO = 0.5  # where requests of 0 bytes stand on a logarithmic axis


def size_chart(profile: Profile, special: Sequence[int], special_share: float) -> Chart:
    """Each size's share of the allocations and of the bytes, over one logarithmic axis."""
    sizes = profile.sizes.tolist()
    allocations = profile.allocations.tolist()
    asked = [s * n for s, n in zip(sizes, allocations, strict=True)]
    shares, byte_shares = _shares(allocations), _shares(asked)
    tallest = max(shares, default=0.0)
    labels = labels([(s, shares[sizes.index(s)]) for s in special], _span(sizes), tallest)
    top = max([tallest, special_share, *(label["y"] for label in labels)])
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
            "yaxis": _share_axis("of allocations", [0.54, 1.0]) | {"range": [0, top * 1.13]},
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
    low, high = _span(sizes)
    width = 10 ** (BAR_WIDTH * (high - low)) - 1  # of its place, so equally wide on the log axis
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
                "width": [place * width for place in places],
                "marker": {"color": colour, "line": {"width": 0}},
                "customdata": [[sizes[i], amounts[i]] for i in chosen],
                "hovertemplate": "%{customdata[0]:,d} B: %{customdata[1]:,d} "
                + unit
                + " (%{y:.1%})<extra></extra>",
            }
        )
    return traces


def _span(sizes: Sequence[int]) -> tuple[float, float]:
    """The decades of the size axis: all sizes, and at least one power of two on each side."""
    low = math.log10(sizes[0] or SIZE_ZERO) if sizes else 0.0
    high = math.log10(sizes[-1] or SIZE_ZERO) if sizes else 1.0
    air = max(0.05 * (high - low), math.log10(2))
    return low - air, high + air


def _size_axis(sizes: Sequence[int]) -> Layout:
    """Ticks at powers of two, about eight of them."""
    low, high = _span(sizes)
    first = math.ceil(low / math.log10(2) - 1e-9)
    last = math.floor(high / math.log10(2) + 1e-9)
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


def labels(
    bars: Sequence[tuple[int, float]], span: tuple[float, float], tallest: float
) -> list[Layout]:
    """A label above each (size, share), tall bars first, lifted until no two overlap."""
    placed: list[tuple[float, float]] = []
    labels = []
    for bar_size, share in sorted(bars, key=lambda bar: -bar[1]):
        x = math.log10(bar_size or SIZE_ZERO)
        across = (x - span[0]) / (span[1] - span[0])
        anchor = _anchor(across, [other for other, _ in placed])
        y = share
        while any(
            abs(across - other) < LABEL_WIDTH and abs(y - height) < LABEL_HEIGHT * tallest
            for other, height in placed
        ):
            y += 0.25 * LABEL_HEIGHT * tallest
        placed.append((across, y))
        labels.append(_label(x, y, size(bar_size), anchor))
    return labels


def _anchor(across: float, taller: Sequence[float]) -> str:
    """The end of a label that stands above its bar: it grows away from the nearest taller bar."""
    near = [other for other in taller if abs(other - across) < LABEL_WIDTH]
    if not near:
        return "center"
    nearest = min(near, key=lambda other: abs(other - across))
    return "left" if nearest < across else "right"


def _label(x: float, y: float, text: str, anchor: str) -> Layout:
    return {
        "x": x,
        "y": y,
        "text": f"<b>{text}</b>",
        "showarrow": False,
        "xanchor": anchor,
        "yanchor": "bottom",
        "font": {"color": ACCENT},
        "bgcolor": "var(--veil)",
        "borderpad": 1,
    }


def live_blocks_chart(live: LiveBlocks, number: int) -> Chart:
    """P_i(t) of one pool with its N_i as a dashed line."""
    series = live.blocks
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
        has_tools=False,
    )


def lifetime_chart(profile: Profile) -> Chart:
    """Objects by how many events they lived, in powers of two; those never freed apart."""
    objects = profile.lifetimes.tolist()
    while objects and objects[-1] == 0:
        objects.pop()
    return Chart(
        identity="chart-lifetimes",
        meaning="Share of the objects by lifetime in events, and those never freed.",
        data=[_lifetime_bars(objects, profile.never_freed)],
        layout={
            "showlegend": False,
            "hovermode": "closest",
            "bargap": 0.12,
            "xaxis": {
                "title": {"text": "lived this many events, up to twice as many"},
                "type": "category",
            },
            "yaxis": {"title": {"text": "of objects"}, "tickformat": ".0%", "rangemode": "tozero"},
        },
        height=340,
    )


def _lifetime_bars(objects: Sequence[int], never_freed: int) -> Trace:
    """Bar b for lifetimes of 2^b to 2^(b + 1) - 1 events, the last one for what was never freed."""
    amounts = [*objects, never_freed]
    shares = _shares(amounts)
    lives = [f"{1 << b:,} to {(2 << b) - 1:,} events" for b in range(len(objects))]
    texts = zip([*lives, "never freed"], amounts, shares, strict=True)
    return {
        "type": "bar",
        "x": [*(_short(1 << b) for b in range(len(objects))), "never"],
        "y": shares,
        "marker": {"color": [ACCENT] * len(objects) + ["var(--other-1)"], "line": {"width": 0}},
        "customdata": [[life, count(n), percent(share)] for life, n, share in texts],
        "hovertemplate": "%{customdata[0]}: %{customdata[1]} objects (%{customdata[2]})"
        "<extra></extra>",
    }


def _short(power: int) -> str:
    """A power of two for an axis, in the binary prefixes that keep it a power of two.

    >>> [_short(1 << b) for b in (3, 10, 21)]
    ['8', '1 Ki', '2 Mi']
    """
    for shift, unit in ((40, "Ti"), (30, "Gi"), (20, "Mi"), (10, "Ki")):
        if power >> shift:
            return f"{power >> shift} {unit}"
    return str(power)
