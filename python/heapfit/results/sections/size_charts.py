# SPDX-License-Identifier: Apache-2.0
"""Charts of the requests: how often each size is requested, how many live, for how long."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

from heapfit.plan.plan import Pool
from heapfit.results.chart import ACCENT, Chart, Extremes, Layout, Trace, band, event_axis, level
from heapfit.results.number_text import count, marked, percent, size
from heapfit.trace.profile import Profile

BAR_WIDTH = 0.006  # of the axis
MOST_BARS = 1_000  # of a panel; sizes closer than a bar's width share one where there are more
SMALL_CHART_POINTS = 100
SIZE_ZERO = 0.5  # where requests of 0 bytes stand on a logarithmic axis


def size_chart(profile: Profile, special: Sequence[int], special_share: float) -> Chart:
    """Each size's share of the allocations and of the bytes, over one logarithmic axis."""
    sizes, allocations = profile.sizes.tolist(), profile.allocations.tolist()
    asked = [s * n for s, n in zip(sizes, allocations, strict=True)]
    is_special = [max(s, 1) in special for s in sizes]  # a request of 0 is served as 1 byte
    counted = _panel(sizes, allocations, is_special, ("y", "allocations"))
    top = max([special_share, *(share for bars in counted for share in bars["y"])])
    return Chart(
        identity="chart-sizes",
        meaning="Share of each request size in the allocations and in the bytes requested"
        + ("; sizes too close to distinguish share a bar." if len(sizes) > MOST_BARS else "."),
        data=[
            *counted,
            *_panel(sizes, asked, is_special, ("y2", "bytes requested")),
            _threshold(_span(sizes), special_share),
        ],
        layout={
            "barmode": "overlay",
            "hovermode": "closest",
            "xaxis": _size_axis(sizes),
            "yaxis": _share_axis("of allocations", [0.54, 1.0]) | {"range": [0, top * 1.13]},
            "yaxis2": _share_axis("of bytes", [0.0, 0.44]) | {"rangemode": "tozero"},
        },
        height=520,
        caption="Every request size that occurs. Above: its share of the allocations. Below: its "
        f"share of the bytes requested. Sizes with at least {100 * special_share:g} % of the "
        "allocations are special, and listed below.",
    )


def _threshold(span: tuple[float, float], share: float) -> Trace:
    ends = [10**decade for decade in span]
    return level(f"special from {share:.0%}", ends, share, color="var(--ink)", dash="dot")


def _shares(amounts: Sequence[int]) -> list[float]:
    total = max(sum(amounts), 1)
    return [amount / total for amount in amounts]


def _panel(
    sizes: Sequence[int],
    amounts: Sequence[int],
    is_special: Sequence[bool],
    axis_and_unit: tuple[str, str],
) -> list[Trace]:
    """Bars of one panel: the special sizes and all others, each with their legend entry."""
    low, high = _span(sizes)
    width = 10 ** (BAR_WIDTH * (high - low)) - 1  # of its place, so equally wide on the log axis
    figures = list(zip(sizes, amounts, _shares(amounts), is_special, strict=True))
    traces = []
    for special, name, colour in (
        (False, "other sizes", "var(--quiet)"),
        (True, "special sizes", ACCENT),
    ):
        chosen = [(s, n, share, s) for s, n, share, named in figures if named is special]
        if len(chosen) > MOST_BARS:
            chosen = _merge_bars(chosen, low, BAR_WIDTH * (high - low))
        traces.append(_bars(chosen, width, name, axis_and_unit) | {"marker": _fill_style(colour)})
    return traces


_Bar: TypeAlias = tuple[int, int, float, int]  # first size, amount, share, last size


def _merge_bars(bars: Sequence[_Bar], low: float, width: float) -> list[_Bar]:
    """The bars merged by steps of `width` decades, the first of which begins at `low`."""
    steps: dict[int, list[_Bar]] = {}
    for one in bars:
        steps.setdefault(int((math.log10(one[0] or SIZE_ZERO) - low) / width), []).append(one)
    merged = []
    for together in steps.values():
        sizes, amounts, shares, last = zip(*together, strict=True)
        merged.append((sizes[0], sum(amounts), sum(shares), last[-1]))
    return merged


def _bars(bars: Sequence[_Bar], width: float, name: str, axis_and_unit: tuple[str, str]) -> Trace:
    """The bars of one panel."""
    axis, unit = axis_and_unit
    places = [first or SIZE_ZERO for first, *_ in bars]
    return {
        "type": "bar",
        "name": name,
        "legendgroup": name,
        "showlegend": axis == "y",
        "yaxis": axis,
        "x": places,
        "y": [share for _, _, share, _ in bars],
        "width": [place * width for place in places],
        "customdata": [
            [size(first) if first == last else f"{first:,} to {size(last)}", amount]
            for first, amount, _, last in bars
        ],
        "hovertemplate": "%{customdata[0]}: %{customdata[1]:,d} "
        f"{unit} (%{{y:.1%}})<extra></extra>",
    }


def _fill_style(colour: str | Sequence[str]) -> Layout:
    return {"color": colour, "line": {"width": 0}}


def _span(sizes: Sequence[int]) -> tuple[float, float]:
    """The decades of the size axis: all sizes, and at least one power of two on each side."""
    low = math.log10(sizes[0] or SIZE_ZERO) if sizes else 0.0
    high = math.log10(sizes[-1] or SIZE_ZERO) if sizes else 1.0
    air = max(0.05 * (high - low), math.log10(2))
    return low - air, high + air


def _size_axis(sizes: Sequence[int]) -> Layout:
    """The axis of sizes, with about eight ticks at powers of two."""
    low, high = _span(sizes)
    first = math.ceil(low / math.log10(2) - 1e-9)
    last = math.floor(high / math.log10(2) + 1e-9)
    step = max(1, round((last - first) / 8))
    powers = [2**k for k in range(max(first, 0), last + 1, step)]
    return {
        "type": "log",
        "range": [low, high],
        "title": {"text": "request, bytes"},
        "tickvals": powers,
        "ticktext": [count(power) for power in powers],
    }


def _share_axis(title: str, domain: list[float]) -> Layout:
    return {"title": {"text": title}, "tickformat": ".0%", "domain": domain}


def live_blocks_chart(pool: Pool, series: Extremes, *, number: int, events: int) -> Chart:
    """The live blocks P_i(t) of one pool, with its N_i as a dashed line."""
    peak = max(series.highest, default=0)
    highest = max(pool.count, peak)
    ticks = {"dtick": 1} if highest <= 3 else {"nticks": 4}
    return Chart(
        identity=f"chart-pool-{number}",
        meaning=f"Live blocks of the pool of {count(pool.size)} bytes over the events.",
        data=[
            *band("live blocks", series, ACCENT, "var(--accent-fill)"),
            level("reserved", series.events, pool.count, color="var(--other-1)", dash="dash"),
        ],
        layout={
            "showlegend": False,
            "xaxis": event_axis(events) | {"title": None, "nticks": 4},
            "yaxis": {"range": [0, highest * 1.12], "tickformat": "~s", **ticks},
        },
        height=150,
        caption=marked(
            "<b>{}</b> {}",
            size(pool.size) if pool.is_exact else f"up to {size(pool.size)}",
            f"{count(pool.count)} reserved, at most {count(peak)} live",
        ),
    )


def lifetime_chart(profile: Profile) -> Chart:
    """Objects by lifetime in events, in powers of two; those never freed in their own bar."""
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
                "title": {"text": "lived this many events, up to twice that"},
                "type": "category",
            },
            "yaxis": {"title": {"text": "of objects"}, "tickformat": ".0%", "rangemode": "tozero"},
        },
        height=340,
        caption="How many events objects live, in powers of two. Short lives make holes that the "
        "next request fills; what is never freed pins what lies around it.",
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
        "marker": _fill_style([ACCENT] * len(objects) + ["var(--other-1)"]),
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
