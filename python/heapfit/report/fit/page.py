# SPDX-License-Identifier: Apache-2.0
"""The report of a fit: what it shows, gathered from a Fit in the template's terms, and rendered."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit.compare.comparison import Row
from heapfit.design.pools.special_pools import SPECIAL_PERCENT, special_sizes
from heapfit.fit_result import Fit
from heapfit.front.preference import Preference
from heapfit.plan.plan_file import plan_text
from heapfit.report.drawing import rendering
from heapfit.report.drawing.figure import Chart
from heapfit.report.drawing.live_blocks import LiveBlocks, live_blocks
from heapfit.report.drawing.number_text import NO_BREAK, count, percent, size
from heapfit.report.fit.candidate_charts import fragmentation_chart, memory_chart
from heapfit.report.fit.choice_charts import added_chart, trade_chart
from heapfit.report.fit.peak import Holder, heaps_at_peak, holders, peak_chart
from heapfit.report.fit.plan_layers import Layer, plan_layers
from heapfit.report.fit.risk import risk_chart
from heapfit.report.fit.size_charts import (
    SMALL_CHART_POINTS,
    lifetime_chart,
    live_blocks_chart,
    size_chart,
)
from heapfit.report.heap_map.packed import packed_map
from heapfit.report.heap_map.replays import AtPeak, Subject, map_of, subjects_of
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.profile import Profile

MOST_POOL_CHARTS = 16
_TEMPLATE = Path(__file__).with_name("fit.html.j2")
_MAP_SCRIPT = Path(__file__).parents[1] / "heap_map" / "map.js"


@dataclass(frozen=True, slots=True)
class SpecialSize:
    """A size with at least the special share of the allocations."""

    size: int
    allocations: int
    share: float
    peak: int  # P_i,max


@dataclass(frozen=True, slots=True)
class PoolChart:
    """Live blocks of one pool, one of many small charts."""

    title: str
    remark: str
    chart: Chart


@dataclass(frozen=True, slots=True)
class Command:
    """A command to type, and what it does."""

    purpose: str
    text: str


@dataclass(frozen=True, slots=True)
class Content:
    """Everything on the page that is not a field of the Fit as it stands."""

    title: str
    kind: str
    source: str
    operations: str
    step: str
    warnings: tuple[str, ...]
    special_percent: int
    special: tuple[SpecialSize, ...]
    distinct: int
    rows: tuple[Row, ...]  # the chosen one, others, then those cut to this one recording
    saving: str  # against today's heap, one sentence; "" where none was replayed
    define: str  # to copy into the program
    margin: str
    pointers: str
    heaps: tuple[AtPeak, ...]
    peak_chart: Chart | None  # None where there are no heaps
    holders: tuple[Holder, ...]
    has_sites: bool
    risk: Chart | None
    regions: Chart
    trade: Chart | None
    memory: Chart
    fragmentation: Chart
    sizes: Chart
    lifetimes: Chart
    pool_charts: tuple[PoolChart, ...]
    pool_count: int
    layers: tuple[Layer, ...]
    plan_lines: tuple[str, ...]
    commands: tuple[Command, ...]

    @property
    def charts(self) -> list[Chart]:
        """Every chart, in reading order."""
        first = [self.peak_chart, self.risk, *(pool.chart for pool in self.pool_charts)]
        rest = [self.regions, self.trade, self.memory, self.fragmentation, self.sizes]
        return [one for one in (*first, *rest, self.lifetimes) if one is not None]


def gather(fit: Fit, shown: LoadedTrace, subjects: Sequence[Subject]) -> Content:
    """All content of the page; reads the plan file that the fit wrote."""
    info, profile, rows = fit.trace.info, fit.profile, fit.comparison.rows
    special = special_sizes(profile)
    winner = fit.winner
    heaps = heaps_at_peak(fit, shown, subjects)
    led = tuple(sorted(rows, key=lambda row: (row is not winner, row.is_cut_to_trace)))
    pools = live_blocks(shown.events, winner.plan, SMALL_CHART_POINTS)
    return Content(
        title=info.program or fit.name,
        kind="packet capture" if info.kind == "packets" else "heap trace",
        source=_source(fit),
        operations=_operations(profile),
        step=_step(winner),
        warnings=tuple(w for w in fit.warnings if w not in info.notes),
        special_percent=SPECIAL_PERCENT,
        special=_special_rows(profile, special),
        distinct=len(profile.sizes),
        rows=led,
        saving=_saving(subjects),
        define=_define(fit),
        margin=f"{fit.answer.size.margin:g}{NO_BREAK}%",
        pointers=f"{info.pointer_bits} bit" if info.pointer_bits else "not told",
        heaps=heaps,
        peak_chart=peak_chart(heaps) if heaps else None,
        holders=holders(shown, profile.u_max_event),
        has_sites=len(shown.sites) > 0,
        risk=risk_chart(fit),
        regions=added_chart(led),
        trade=trade_chart(fit, shown),
        memory=memory_chart(profile, led),
        fragmentation=fragmentation_chart(profile, led),
        sizes=size_chart(profile, special, SPECIAL_PERCENT / 100),
        lifetimes=lifetime_chart(profile),
        pool_charts=_pool_charts(pools, profile.events),
        pool_count=len(pools),
        layers=plan_layers(winner),
        plan_lines=tuple(plan_text(fit.plan_file).splitlines()),
        commands=_commands(fit),
    )


def _saving(subjects: Sequence[Subject]) -> str:
    """Today's heap beside the chosen one on the recording that is shown."""
    if len(subjects) < 2:
        return ""
    todays, ours = (one.region + one.shift for one in subjects)
    change = f"{size(abs(todays - ours))} ({percent(abs(1 - ours / todays))})"
    return (
        f"{subjects[0].name} needs {size(todays)} for this recording, the chosen heap "
        f"{size(ours)}: {change} {'less' if ours <= todays else 'more'}, both without margin."
    )


def _define(fit: Fit) -> str:
    """The line that sets the heap's size in the program."""
    region, kept = fit.answer.size.region, fit.answer.kept
    if kept is None:
        return f"#define APP_HEAP_BYTES {region}u"
    setting = kept.setting if kept.setting.isidentifier() else "HEAP_BYTES"
    return f"#define {setting} {kept.set_to(region)}u"


def _source(fit: Fit) -> str:
    """Where the requests come from; for packets also how long each one stays."""
    info = fit.trace.info
    source = info.source or str(fit.source)
    return f"{source}, queue {info.queue}" if info.kind == "packets" and info.queue else source


def _operations(profile: Profile) -> str:
    alloc, zeroed, aligned, resizes, frees = profile.operations.tolist()
    allocations = alloc + zeroed + aligned
    return f"alloc {count(allocations)} · free {count(frees)} · resize {count(resizes)}"


def _step(winner: Row) -> str:
    if winner.step == 0:
        return "follows from the plan, not searched"
    return (
        "every region tried"
        if winner.is_exhaustive
        else f"smallest found, step {size(winner.step)}"
    )


def _special_rows(profile: Profile, special: Sequence[int]) -> tuple[SpecialSize, ...]:
    total = max(int(profile.allocations.sum()), 1)
    figures = zip(
        profile.sizes.tolist(), profile.allocations.tolist(), profile.peaks.tolist(), strict=True
    )
    return tuple(
        SpecialSize(request, allocations, allocations / total, peak)
        for request, allocations, peak in figures
        if max(request, 1) in special
    )


def _pool_charts(pools: Sequence[LiveBlocks], events: int) -> tuple[PoolChart, ...]:
    """The pools with the most bytes, in order of size."""
    largest = sorted(pools, key=lambda live: -live.pool.size * live.pool.count)[:MOST_POOL_CHARTS]
    shown = sorted(largest, key=lambda live: live.pool.size)
    return tuple(
        PoolChart(
            title=size(live.pool.size) if live.pool.is_exact else f"up to {size(live.pool.size)}",
            remark=f"{count(live.pool.count)} set aside, at most {count(live.peak)} live",
            chart=live_blocks_chart(live, number, events),
        )
        for number, live in enumerate(shown)
    )


def _commands(fit: Fit) -> tuple[Command, ...]:
    again = Command("This fit, from the recording on:", _fit_command(fit))
    if fit.paths.plan is None:
        return (again,)
    plan = _argument(fit.paths.plan)
    return (
        again,
        Command("The plan on another recording:", f"heapfit check OTHER --plan {plan}"),
        Command("The C code of the plan:", f"heapfit generate {plan}"),
    )


def _fit_command(fit: Fit) -> str:
    """With the options that decide the result; what has its standard value is said as well."""
    info, options = fit.trace.info, fit.options
    sources = " ".join(_argument(run.source) for run in fit.runs)
    given = {
        "--queue": _argument(info.queue) if info.kind == "packets" else None,
        "--prefer": None if options.prefer is Preference.MEMORY else options.prefer,
        "--peak": options.peak,
        "--margin": None if options.margin is None else f"{options.margin:g}",
        "--now": options.now,
    }
    flags = {
        "--pools": options.pools,
        "--call-sites": options.call_sites,
        "--sized": options.sized,
    }
    words = [f"heapfit fit {sources} --alignment {options.alignment}"]
    words += [f"{name} {value}" for name, value in given.items() if value is not None]
    return " ".join([*words, *(name for name, is_given in flags.items() if is_given)])


def _argument(path: object) -> str:
    return shlex.quote(str(path))


def write_report(path: Path, fit: Fit, shown: LoadedTrace) -> None:
    """Writes the report of `fit` to `path`; the file appears whole or not at all."""
    rendering.write_page(path, render(fit, shown))


def render(fit: Fit, shown: LoadedTrace) -> str:
    """The page as text, the same for the same fit; `shown` is the trace of fit.trace."""
    subjects = subjects_of(fit, shown)
    content = gather(fit, shown, subjects)
    record = packed_map(map_of(fit, shown, subjects), shown) if subjects else None
    return rendering.render(
        _TEMPLATE,
        content.title,
        content.charts,
        own_scripts={_MAP_SCRIPT: record} if record else {},
        content=content,
        fit=fit,
        heap_map_record=record,
    )
