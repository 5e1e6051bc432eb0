# SPDX-License-Identifier: Apache-2.0
"""What `import heapfit` offers beside the records and the files: a function for each question.

A source is a `Trace` or the `Path` of a file. A file that is no stored trace is imported for the
time of the call, as `importing` says. Sizes are in bytes. Bad input raises `HeapfitError` with one
line that says what, where and what to do. `progress` is called with a step and the share of it that
is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from heapfit.bounds import trace_bounds
from heapfit.bounds.trace_bounds import Bounds
from heapfit.compare.comparison import Comparison, compare
from heapfit.compare.jobs import Contestants
from heapfit.design.plan_files import Designs, design
from heapfit.design.plan_options import PlanOptions
from heapfit.design.portfolio import contested_portfolio
from heapfit.fit_result import Fit, FitOptions
from heapfit.fitting import fit as fitting
from heapfit.front.design_front import Front, compare_all, front_of
from heapfit.front.space import named_configurations
from heapfit.generate import generate
from heapfit.importers import ImportOptions, open_any, opened_trace
from heapfit.plan.plan_file import PlanFile, load_plan
from heapfit.progress import Progress, no_progress
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
from heapfit.trace import profile
from heapfit.trace.loaded import STANDARD_ALIGNMENT, load_trace
from heapfit.trace.names import source_name
from heapfit.trace.profile import Profile
from heapfit.trace.stored import Trace
from heapfit.workloads import synthetic

Source: TypeAlias = Trace | Path


def open_trace(
    source: Path,
    folder: Path = Path(),
    importing: ImportOptions | None = None,
    progress: Progress = no_progress,
) -> Trace:
    """A stored trace where it lies; a recording or capture as a trace imported into `folder`."""
    return open_any(source, importing or ImportOptions(), folder, progress)


def generate_workload(
    name: str, path: Path, seed: int = 1, progress: Progress = no_progress
) -> Trace:
    """A synthetic workload, NAME or NAME:PARAMETER=VALUE,..., stored as a trace at `path`.

    docs/workloads.md lists the names and their parameters. The same seed gives the same events on
    every machine.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     trace = generate_workload("t2_w1:events=500", Path(folder) / "walk.parquet")
    ...     (trace.info.events, profile_trace(trace).live_blocks_max <= 10 * 4)
    (500, True)
    """
    return synthetic.generate_workload(synthetic.parse_workload(name, seed), path, progress)


def profile_trace(
    source: Source, importing: ImportOptions | None = None, progress: Progress = no_progress
) -> Profile:
    """What a trace asks of any heap: sizes, live bytes over time, lifetimes; no allocator yet.

    Its arrays are numpy's, of one dimension: one value for each size, octave of lifetimes, or
    bucket of `bucket_width` events.
    """
    with opened_trace(source, importing, progress) as trace:
        return profile.profile_trace(trace, progress)


def find_bounds(
    source: Source,
    alignment: int = STANDARD_ALIGNMENT,
    importing: ImportOptions | None = None,
    progress: Progress = no_progress,
) -> Bounds:
    """What any heap needs for the trace at least, and what some allocators need at most.

    `alignment`, of every block, is 4, 8 or 16.
    """
    with opened_trace(source, importing, progress) as trace:
        loaded = load_trace(trace, alignment, progress)
        return trace_bounds.find_bounds(loaded, progress=progress)


def fit(
    source: Source | Sequence[Source],
    folder: Path | None = None,
    options: FitOptions | None = None,
    progress: Progress = no_progress,
) -> Fit:
    """The main job: what to set a heap to, with the best plan, its C and a report.

    Of several recordings one heap is made for all. All goes into `folder`, out/NAME if none is
    given. The result has the answer, the ranked rows, the winner and the paths. HeapfitError if
    nothing is ever allocated, or no plan serves the recordings below 4 GiB.
    """
    sources = [source] if isinstance(source, Trace | Path) else list(source)
    paths = [one.path if isinstance(one, Trace) else one for one in sources]
    return fitting.fit(paths, folder or fitting.folder_for(paths, None), options, progress)


def compare_plans(
    source: Source,
    plans: Sequence[str | Path | PlanFile] = (),
    alignment: int = STANDARD_ALIGNMENT,
    importing: ImportOptions | None = None,
    progress: Progress = no_progress,
) -> Comparison:
    """Plans ranked by R_safe: the smallest region from which every larger one tried is enough.

    A plan is an allocator, NAME or NAME:TUNABLE=VALUE,..., or a plan file, loaded or as its path;
    none: all that `fit` tries. An allocator of pools gets pools made from this trace.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     walk = generate_workload("t2_w1:events=500", Path(folder) / "walk.parquet")
    ...     [row.name for row in compare_plans(walk, ["tlsf", "fixed_pool"]).rows]
    ['tlsf', 'fixed_pool']
    """
    contestants = Contestants(
        tuple(one for one in plans if isinstance(one, str)),
        tuple(_plan_file(one) for one in plans if not isinstance(one, str)),
        alignment,
    )
    with opened_trace(source, importing, progress) as trace:
        loaded = load_trace(trace, alignment, progress)
        return compare(loaded, contested_portfolio(loaded, contestants), progress)


def design_plans(
    source: Source,
    folder: Path,
    options: PlanOptions | None = None,
    importing: ImportOptions | None = None,
    progress: Progress = no_progress,
) -> Designs:
    """Every candidate plan for the trace, measured and written to `folder` as NAME.toml."""
    with opened_trace(source, importing, progress) as trace:
        return design(trace, source_name(trace.path), folder, options, progress)


def find_front(
    source: Source,
    allocators: Sequence[str] = (),
    alignment: int = STANDARD_ALIGNMENT,
    importing: ImportOptions | None = None,
    progress: Progress = no_progress,
) -> Front:
    """The configurations of the allocators named, else of all that ship, and their Pareto front.

    Each is measured in memory, accesses, energy, instructions, longest call and code size
    (docs/front.md); `members` are those that no other beats in all of them.
    """
    with opened_trace(source, importing, progress) as trace:
        loaded = load_trace(trace, alignment, progress)
        space = named_configurations(loaded, allocators, progress)
        comparison = compare_all(loaded, space, progress=progress)
        return front_of(comparison, loaded, progress=progress)


def generate_code(
    plan: PlanFile | Path, folder: Path, prefix: str = "app", language: str = "c"
) -> list[Path]:
    """Writes a plan's C to `folder`, for callers in c, c++ or rust; returns its files, sorted.

    Every external name begins with `prefix`, or with hfit. HeapfitError, and nothing changed, if
    the plan has no region or the folder holds anything that was not written by this.
    """
    return generate(_plan_file(plan), folder, prefix, language)


def size_pools(
    source: Source,
    admission: float = 0.999,
    options: PoolOptions | None = None,
    importing: ImportOptions | None = None,
    progress: Progress = no_progress,
) -> PoolSizing:
    """The counts of pools of least memory that admit a share, and how often they run out.

    Chosen by replaying pools that help each other out, judged on draws they were not chosen on. A
    capture needs `importing` with a queue: it tells when packets come, not how long they stay.
    """
    with _opened_for_sizing(source, importing, progress) as trace:
        return pools.size_pools(trace, admission, options, progress)


def size_settings(
    system: str,
    source: Source,
    options: SettingsOptions | None = None,
    importing: ImportOptions | None = None,
    progress: Progress = no_progress,
) -> Settings:
    """What users of lwip, zephyr, openthread or freertos set by hand, with the chance to run out.

    A capture needs `importing` with a queue, as for `size_pools`.
    """
    with _opened_for_sizing(source, importing, progress) as trace:
        return systems.settings_for(system, trace, options or SettingsOptions(), progress)


def size_traffic(
    traffic: Path,
    aim: Aim | None = None,
    workers: int = 1,
    progress: Progress = no_progress,
) -> TrafficSizing:
    """The least memory of each scheme that admits a share of the [traffic] in a file.

    `workers` threads share the simulations and change nothing but the time.
    """
    return from_traffic.size_for(load_traffic(traffic), aim or Aim(), workers, progress)


def simulate(
    scenario: Scenario | Path,
    is_exact: bool = False,
    workers: int = 1,
    progress: Progress = no_progress,
) -> SimulationResult:
    """A scenario's traffic on its schemes: what of it they admit, with confidence intervals.

    Closed forms stand beside where there are any; with `is_exact` they alone, at once.
    """
    loaded = load_scenario(scenario) if isinstance(scenario, Path) else scenario
    if is_exact:
        return simulation.solve(loaded)
    with Sweep(workers) as sweep:
        return simulation.simulate(loaded, sweep, progress)


def _plan_file(plan: PlanFile | Path) -> PlanFile:
    return load_plan(plan) if isinstance(plan, Path) else plan


@contextmanager
def _opened_for_sizing(
    source: Source, importing: ImportOptions | None, progress: Progress
) -> Iterator[Trace]:
    with opened_trace(source, importing, progress) as trace:
        if isinstance(source, Path):
            require_queue(source, trace, None if importing is None else importing.queue)
        yield trace
