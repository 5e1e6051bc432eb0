# SPDX-License-Identifier: Apache-2.0
"""The functions that `import heapfit` offers, one for each question.

A source is a `Trace` or a file, by its path or its name. A file that is no stored trace is imported
for the time of the call, as `importing` says. Sizes are in bytes. Bad input raises `HeapfitError`
with one line that says what, where and what to do. `progress` is called with a step and the share
of it that is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import pyarrow as pa

from heapfit import _engine
from heapfit.bounds import trace_bounds
from heapfit.bounds.trace_bounds import Bounds
from heapfit.checks.check import Check, CheckOptions, check_recordings
from heapfit.checks.run import Replays, replay_sizes
from heapfit.comparison import comparison
from heapfit.comparison.comparison import Comparison
from heapfit.comparison.incumbents.heap_plans import parse_heap_size
from heapfit.comparison.matrix import ComparisonRequest
from heapfit.design.portfolio import comparison_portfolio
from heapfit.errors import HeapfitError, did_you_mean
from heapfit.fitting.fitted_heap import FittedHeap, fit_heap, sources_of
from heapfit.fitting.options import FitOptions
from heapfit.forecast import kind
from heapfit.forecast.horizon import parse_horizon
from heapfit.forecast.kind import RecordingKind
from heapfit.forecast.log.heaps import judge_heaps
from heapfit.forecast.log.outlook import Outlook
from heapfit.forecast.log.reading import read_log
from heapfit.generate import GenerateOptions, generate
from heapfit.importers import ImportOptions, open_any, open_trace
from heapfit.memories.joint import Joint, check_jointly
from heapfit.memories.placing import Placing, PlacingOptions, place_recordings
from heapfit.plan import allocators
from heapfit.plan.plan_file import PlanFile, load_plan
from heapfit.plan.quantities import parse_percent, parse_share, parse_size, require_alignment
from heapfit.plugin import measure_all, plugins_of
from heapfit.progress import Progress, ignore_progress
from heapfit.results.fit_page import write_report
from heapfit.simulation import simulate as simulation
from heapfit.simulation.scenario import Scenario, load_scenario
from heapfit.simulation.simulate import SimulationResult
from heapfit.simulation.traffic import load_traffic
from heapfit.sizing import from_traffic, pools, systems
from heapfit.sizing.demand import require_queue
from heapfit.sizing.from_traffic import Aim, TrafficSizing
from heapfit.sizing.pools import PoolOptions, PoolSizing
from heapfit.sizing.settings import Settings
from heapfit.sizing.systems import SettingsOptions
from heapfit.sweep import Sweep
from heapfit.trace import profile, series
from heapfit.trace.kinds import View
from heapfit.trace.loaded import STANDARD_ALIGNMENT, load_trace
from heapfit.trace.profile import Profile
from heapfit.trace.stored import Trace
from heapfit.trace.views import view_blocks
from heapfit.workloads import synthetic

Source: TypeAlias = Trace | Path | str
Options = TypeVar("Options", FitOptions, PlacingOptions)
# Choices that may be text, as on the command line.
_PARSERS: Final[Mapping[str, Callable[[str], object]]] = {
    "horizon": parse_horizon,
    "margin": parse_percent,
    "peak": parse_size,
    "share": parse_share,
}


def open(
    source: Path | str,
    folder: Path | str = Path(),
    importing: ImportOptions | None = None,
    progress: Progress = ignore_progress,
) -> Trace:
    """Opens a stored trace in place; imports a recording or capture as a trace into `folder`."""
    return open_any(Path(source), importing or ImportOptions(), Path(folder), progress)


class Allocators(list[_engine.AllocatorInfo]):
    """Descriptors of allocators, in a list that prints as a line."""

    def __repr__(self) -> str:
        return f"{len(self)} allocators: {', '.join(one.name for one in self)}"


def find_allocators(names: Sequence[str] = ()) -> Allocators:
    """The allocators of these names, in this order; without names all, core's first.

    >>> find_allocators(["tlsf", "dlmalloc"])
    2 allocators: tlsf, lea
    """
    return Allocators(allocators.find_allocators(names))


def generate_workload(
    name: str, path: Path | str, seed: int = 1, progress: Progress = ignore_progress
) -> Trace:
    """A synthetic workload, NAME or NAME:PARAMETER=VALUE,..., stored as a trace at `path`.

    docs/evidence/workloads.md lists the names and their parameters. The same seed gives the same
    events on every machine.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     trace = generate_workload("t2_w1:events=500", f"{folder}/walk.parquet")
    ...     (trace.info.events, profile_trace(trace).live_blocks_max <= 10 * 4)
    (500, True)
    """
    return synthetic.generate_workload(synthetic.parse_workload(name, seed), Path(path), progress)


def profile_trace(
    source: Source, importing: ImportOptions | None = None, progress: Progress = ignore_progress
) -> Profile:
    """The profile of a trace: request sizes, live bytes over time and lifetimes.

    Its arrays are numpy's, of one dimension: one value for each size, octave of lifetimes, or
    bucket of `bucket_width` events.
    """
    with _open_source(source, importing, progress) as trace:
        return profile.profile_trace(trace, progress)


def live_bytes(
    source: Source, importing: ImportOptions | None = None, progress: Progress = ignore_progress
) -> pa.Table:
    """The live bytes and blocks after each event, those of its size, and how long until the next.

    A resize to another size has two rows: the old block's end, and the new one's begin.
    `lasts`, in microseconds, weighs a mean over time.
    """
    with _open_source(source, importing, progress) as trace:
        return series.live_bytes(trace, progress)


def find_holders(
    source: Source,
    by: str = "site",
    importing: ImportOptions | None = None,
    progress: Progress = ignore_progress,
) -> pa.Table:
    """Who holds the bytes live at the peak, by "site", "task", "size" or "object", the most first.

    The columns are those that `heapfit sites` prints; a site or task without a name is its number.
    An object is a block from its request to its free, by the trace's own number; those that are
    not live at the peak have 0 bytes.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     trace = generate_workload("t2_w1:events=500", f"{folder}/walk.parquet")
    ...     held = [find_holders(trace, by)["bytes"] for by in ("size", "object")]
    ...     [sum(one.to_pylist()) == profile_trace(trace).u_max for one in held]
    [True, True]
    """
    with _open_source(source, importing, progress) as trace:
        viewed, names = view_blocks(load_trace(trace), View.PEAK), trace.info.names
        keys = dict[str, Any](site=viewed.sites, task=viewed.tasks, size=viewed.blocks.sizes)
        keys["object"] = trace.whole("object")[0][viewed.blocks.starts]
        if by not in keys:
            raise HeapfitError(f"find_holders: by {by!r} (give one of {', '.join(keys)})")
        return pa.Table.from_pylist(
            [
                {
                    by: one.key
                    if by in ("size", "object")
                    else names.get(one.key, f"{one.key:08x}" if by == "site" else str(one.key))
                }
                | {"bytes": one.size, "blocks": one.blocks, "least": one.least, "most": one.most}
                | {"requests": one.requests, "mean_life": one.mean_life}
                for one in viewed.find_holders(keys[by])
            ]
        )


def find_kind(
    source: Source, importing: ImportOptions | None = None, progress: Progress = ignore_progress
) -> RecordingKind:
    """The kind of a recording: service, job, growing, cycle, or too short to say; what grows.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     trace = generate_workload("slotbuf:events=20000", f"{folder}/slots.parquet")
    ...     print(find_kind(trace).kind)
    service
    """
    with _open_source(source, importing, progress) as trace:
        return kind.find_kind(trace, profile.profile_trace(trace, progress))


def find_bounds(
    source: Source,
    alignment: int = STANDARD_ALIGNMENT,
    importing: ImportOptions | None = None,
    progress: Progress = ignore_progress,
) -> Bounds:
    """The least memory any heap needs for a trace, and the most that some allocators need.

    `alignment`, of every block, is 4, 8 or 16.
    """
    require_alignment(alignment)
    with _open_source(source, importing, progress) as trace:
        return trace_bounds.find_bounds(load_trace(trace, alignment, progress), progress=progress)


def forecast_log(
    log: Path | str, line: str | Sequence[str] | None = None, *, sizes: Sequence[int] = ()
) -> Outlook:
    """Forecasts from a telemetry log whether a device's memory falls, and how long it lasts.

    `line`: what a line looks like, such as "free {free} largest {largest}", or several; None:
    found. `sizes`: bytes of requests that are to be dated; without them as large a one as failed,
    or 1,024 and 4,096 B. Of several heaps the one counts that ends first.
    """
    return judge_heaps(read_log(Path(log), line), sizes)[0]


def fit(
    source: Source | Sequence[Source],
    options: FitOptions | None = None,
    progress: Progress = ignore_progress,
    **choices: object,
) -> FittedHeap:
    """Fits a heap to recordings: the size to set, and the plan that serves them in least memory.

    Of several recordings one heap is made for all. `choices` are fields of `FitOptions` by name, as
    in fit(trace, alignment=8). Nothing is written: `write` of the result does that. HeapfitError if
    nothing is ever allocated, or no plan serves the recordings below 4 GiB.
    """
    chosen = _with_choices("fit", options or FitOptions(), choices)
    return fit_heap(source, chosen, progress, write_report)


def _with_choices(function: str, options: Options, choices: dict[str, Any]) -> Options:
    """The options with these choices, texts as on the command line; TypeError of the function."""
    for name, value in choices.items():
        if not hasattr(options, name):
            known = did_you_mean(name, [*options.__dataclass_fields__])
            raise TypeError(f"{function}() takes no {name!r} ({known})")
        if isinstance(value, str) and name in _PARSERS:
            choices = choices | {name: _PARSERS[name](value)}
    return replace(options, **choices)


def check(
    source: Source | Sequence[Source],
    plan: PlanFile | Path | str | None = None,
    options: CheckOptions | None = None,
    progress: Progress = ignore_progress,
    heap: str | None = None,
) -> Check:
    """Replays recordings in the region of a plan: which of them run, and what of them grew.

    `heap` stands for a plan: a heap and its size, "tlsf:40K". Without either the recordings are
    compared with the base that `options` gives. HeapfitError if the plan sets no region or was made
    for recordings of another kind.
    """
    if plan is not None and heap is not None:
        raise HeapfitError("check: give a plan or a heap, one of the two")
    known = None if plan is None else _plan_file(plan)
    return check_recordings(
        sources_of(source), parse_heap_size(heap) if heap else known, options, progress
    )


def replay(
    source: Source,
    heap: str,
    sizes: int | str | Sequence[int | str],
    importing: ImportOptions | None = None,
    progress: Progress = ignore_progress,
) -> Replays:
    """Replays a trace on a heap, ours or a system's, of one size or of several, as a sweep.

    A size is what the heap's user sets, in bytes or as "40K". The result says where the first
    request is out of memory and what was free, and how many are if the program goes on without.
    """
    asked = [sizes] if isinstance(sizes, int | str) else sizes
    with _open_source(source, importing, progress) as trace:
        return replay_sizes(trace, [parse_heap_size(f"{heap}:{one}") for one in asked], progress)


def compare(
    source: Source,
    plans: str | Sequence[str | Path | PlanFile] = (),
    *,
    alignment: int = STANDARD_ALIGNMENT,
    importing: ImportOptions | None = None,
    progress: Progress = ignore_progress,
    plugins: Sequence[Path | str] = (),
) -> Comparison:
    """Plans ranked by R_safe: the smallest region from which every larger one tried is enough.

    A plan is an allocator, NAME or NAME:TUNABLE=VALUE,..., or a plan file, loaded or as its path;
    none: all that `fit` tries. An allocator of pools gets pools made from this trace. `row` of the
    result finds one by its name. `plugins` are allocators of your own, sources or folders with the
    adapter of docs/plugins.md, built for the recording's width; the table has them, too.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     walk = generate_workload("t2_w1:events=500", f"{folder}/walk.parquet")
    ...     [row.name for row in compare(walk, ["tlsf", "fixed_pool"]).rows]
    ['tlsf', 'fixed_pool']
    """
    require_alignment(alignment)
    plans = [plans] if isinstance(plans, str) else plans
    contestants = ComparisonRequest(
        tuple(one for one in plans if isinstance(one, str)),
        tuple(_plan_file(one) for one in plans if not isinstance(one, str)),
        alignment,
    )
    with _open_source(source, importing, progress) as trace:
        loaded = load_trace(trace, alignment, progress)
        found = comparison.compare(
            loaded, comparison_portfolio(loaded, contestants), progress=progress
        )
        others = plugins_of([Path(one) for one in plugins], trace.info.pointer_bits or 64, ())
        (rows,) = measure_all(others, [trace], alignment, progress)
        return replace(found, plugins=rows)


def place(
    source: Source | Sequence[Source],
    memories: Sequence[str],
    options: PlacingOptions | None = None,
    progress: Progress = ignore_progress,
    **choices: object,
) -> Placing:
    """Divides requests among several memories, each NAME=SIZE[:OFFERED,...], the scarce one first.

    The result has the least first memory, its curve over the share of requests inside, and a plan.
    `choices` are fields of `PlacingOptions` by name, as in needs=("dma=1500",). HeapfitError if
    even what needs a memory does not fit.
    """
    chosen = _with_choices("place", options or PlacingOptions(), choices)
    return place_recordings(sources_of(source), memories, chosen, progress)


def check_memories(
    source: Source | Sequence[Source],
    plan: PlanFile | Path | str,
    importing: ImportOptions | None = None,
) -> Joint:
    """Replays recordings on the memories of a plan: what each served, and the first refusal.

    HeapfitError if the plan is of one heap.
    """
    memories = _plan_file(plan, takes_memories=True).memories
    if memories is None:
        raise HeapfitError("the plan is of one heap (check takes it)")
    return check_jointly(memories, sources_of(source), importing)


def generate_code(
    plan: PlanFile | Path | str, folder: Path | str, prefix: str = "app", language: str = "c"
) -> list[Path]:
    """Writes a plan's C to `folder`, for callers in c, c++ or rust; returns its files, sorted.

    Every external name begins with `prefix`, or with hfit. HeapfitError, and nothing changed, if
    the plan has no region or the folder holds anything that was not written by this.
    """
    options = GenerateOptions(() if language == "c" else (language,))
    return generate(_plan_file(plan, takes_memories=True), Path(folder), prefix, options)


def size_pools(
    source: Source,
    admission: float | str = 0.999,
    options: PoolOptions | None = None,
    importing: ImportOptions | None = None,
    progress: Progress = ignore_progress,
) -> PoolSizing:
    """The pool counts of least memory that admit a share, and how often the pools run out.

    Chosen by replaying pools that help each other out, judged on draws they were not chosen on. A
    capture needs `importing` with a queue: it has the times of packets, not how long they stay.
    """
    with _open_source(source, importing, progress) as trace:
        if not isinstance(source, Trace):
            require_queue(Path(source), trace, None if importing is None else importing.queue)
        return pools.size_pools(trace, parse_share(str(admission)), options, progress)


def size_settings(
    system: str,
    source: Source | Sequence[Source],
    options: SettingsOptions | None = None,
    importing: ImportOptions | None = None,
    progress: Progress = ignore_progress,
) -> Settings:
    """The settings that a system, such as "lwip" or "freertos", needs for all recordings.

    Pools come with the chance to run out, a heap with the margin of a fit. A capture needs
    `importing` with a queue, as for `size_pools`.
    """
    paths = [one.path if isinstance(one, Trace) else one for one in sources_of(source)]
    return systems.settings_for(system, paths, options or SettingsOptions(), importing, progress)


def size_traffic(
    traffic: Path | str,
    aim: Aim | None = None,
    workers: int = 1,
    progress: Progress = ignore_progress,
) -> TrafficSizing:
    """The least memory of each scheme that admits a share of the [traffic] in a file.

    `workers` threads share the simulations and change nothing but the time.
    """
    return from_traffic.size_for(load_traffic(Path(traffic)), aim or Aim(), workers, progress)


def simulate(
    scenario: Scenario | Path | str,
    is_exact: bool = False,
    workers: int = 1,
    progress: Progress = ignore_progress,
) -> SimulationResult:
    """Simulates a scenario: what its schemes admit of the traffic, with confidence intervals.

    The result has closed forms where there are any; with `is_exact` only these, at once.
    """
    loaded = scenario if isinstance(scenario, Scenario) else load_scenario(Path(scenario))
    if is_exact:
        return simulation.solve(loaded)
    with Sweep(workers) as sweep:
        return simulation.simulate(loaded, sweep, progress)


def _plan_file(plan: PlanFile | Path | str, *, takes_memories: bool = False) -> PlanFile:
    if not isinstance(plan, PlanFile):
        return load_plan(Path(plan), takes_memories=takes_memories)
    if plan.memories is not None and not takes_memories:
        raise HeapfitError(
            "the plan is of several memories (check_memories and generate_code take those)"
        )
    return plan


def _open_source(
    source: Source, importing: ImportOptions | None, progress: Progress
) -> AbstractContextManager[Trace]:
    one, *others = sources_of(source)
    if others:
        raise HeapfitError(f"{1 + len(others)} recordings are given (give one)")
    return open_trace(one, importing, progress)
