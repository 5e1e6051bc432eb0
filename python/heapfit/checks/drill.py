# SPDX-License-Identifier: Apache-2.0
"""A drill: a program run again and again, each time out of memory at another request.

    recording --> first refusal in each region from need to 5 % below --> a run in each such region

So only requests are refused that this heap could refuse, if the program needed a little more than
it was given: some in a thousand. Of those that one chain of callers makes, one runs first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from heapfit import _engine
from heapfit.checks.host_run import HostRun, prepare_program
from heapfit.comparison.incumbents.heap_plans import heap_of_plan, region_of_plan
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.incumbents.served import ServedRequests
from heapfit.errors import HeapfitError
from heapfit.importers.record import record
from heapfit.outputs.scratch import scratch_folder
from heapfit.plan.plan_file import PlanFile
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.chains import DEPTH
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.operations import FREE

_BELOW = 0.05  # share of the need by which the smallest region is below it
_UNIT = 8  # bytes between regions
_MOST_REGIONS = 600
_MOST_EVENTS = 200_000_000  # replayed in all regions together
_FEWEST_RUNS = 16
_REQUESTS_A_RUN = 1000
_HIDDEN = 3600.0  # seconds; any limit drops what a run prints
_TIMES = 10  # the time of a run that is served, after which another is taken to hang
_LEAST_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class FirstRefusal:
    """A request that a region refuses first."""

    event: int
    size: int
    site: int  # the hash of its chain of callers
    region: int  # the largest tried that refuses it


@dataclass(frozen=True, slots=True)
class Drill:
    """The requests that a plan's heap could refuse, and runs that ran out of memory at them."""

    plan: PlanFile
    asked: int  # requests of the whole recording
    need: int  # bytes of the region that serves them all
    lowest: int  # bytes of the smallest region tried
    refusable: tuple[FirstRefusal, ...]
    runs: tuple[HostRun, ...] = ()  # each out of memory at another of these
    sites: Mapping[int, str] = field(default_factory=dict)  # the names of call sites

    @property
    def failed(self) -> tuple[HostRun, ...]:
        """The runs that crashed or hung."""
        return tuple(one for one in self.runs if one.status is None or one.status < 0)

    @property
    def holds(self) -> bool:
        """True if no run crashed or hung."""
        return not self.failed


def drill_program(
    plan: PlanFile | Path | str,
    command: Sequence[str],
    progress: Progress = ignore_progress,
    region: int | None = None,
) -> Drill:
    """Runs a program out of memory at each kind of request that the plan's heap could refuse.

    `region`: the smallest that is tried, in bytes; None: 5 % below the need, or the plan's. The
    program is recorded first, with its output; later runs print nothing. HeapfitError if it
    crashes by itself.
    """
    with prepare_program(plan, command, DEPTH) as program, scratch_folder() as folder:
        recording = record(command, folder / "run.parquet", depth=DEPTH)
        if recording.trace is None:
            raise HeapfitError(f"{program.program}: asked for no memory itself")
        if recording.status < 0:
            raise HeapfitError(
                f"{program.program}: is ended by signal {-recording.status} with all the memory "
                "there is (mend that first)"
            )
        loaded = load_trace(recording.trace, program.plan.plan.alignment)
        drill = _find_refusals(loaded, program.plan, region)
        chosen = choose_refused(drill.refusable, max(_FEWEST_RUNS, drill.asked // _REQUESTS_A_RUN))
        limit = max(_LEAST_SECONDS, _TIMES * program.run(drill.need, _HIDDEN).seconds)
        runs = []
        for i, one in enumerate(chosen):
            progress("run", i / len(chosen))
            runs.append(program.run(one.region, limit))
        sites = [site for one in runs for site in (one.site, one.last_site)]
        names = program.name_sites(sites, recording.trace.chains)
        return replace(drill, runs=tuple(runs), sites=names)


def _find_refusals(loaded: LoadedTrace, plan: PlanFile, given: int | None) -> Drill:
    """Replays the recording in regions below its need, each to the first request it refuses."""
    heap, base = heap_of_plan(plan), loaded.trace.base_alignment_for(plan.base_alignment)
    asked, needs = ServedRequests.of(heap, loaded), measure(heap, [loaded], base=base)
    if needs.most is None:
        raise HeapfitError(f"{plan.name}: no region below 4 GiB serves the program")
    events, engine_plan = heap.events(loaded), plan.plan.engine()
    need, least = (
        needs.heap.set_to(needs.most),
        heap.set_to(heap.memory(engine_plan.smallest_region)),
    )
    lowest = max(min(given or round(need * (1 - _BELOW)), plan.region or need), least)
    found: dict[int, FirstRefusal] = {}
    for region in _regions(lowest, need, len(events)):
        size = max(region_of_plan(plan, region), engine_plan.smallest_region)
        replay = _engine.Replay(engine_plan, size, base, metered=False)
        replay.feed(events)
        failed = replay.result().failed_event
        if failed is not None:
            event = asked.event_of(failed)
            site = int(loaded.sites[event]) if len(loaded.sites) else 0
            asked_for = int(asked.requests.size[event])
            found.setdefault(event, FirstRefusal(event, asked_for, site, region))
    return Drill(plan, int((asked.requests.op != FREE).sum()), need, lowest, tuple(found.values()))


def _regions(lowest: int, need: int, events: int) -> list[int]:
    """The regions to try, the largest first: each multiple of 8 B, or as many as take not long."""
    step = -(-(need - lowest) // max(1, min(_MOST_REGIONS, _MOST_EVENTS // events)))
    return list(range(need - _UNIT, lowest - 1, -(-(-step // _UNIT) * _UNIT or _UNIT)))


def choose_refused(requests: Sequence[FirstRefusal], most: int) -> list[FirstRefusal]:
    """The requests to refuse: one of each chain of callers, then of each size, then the others.

    >>> made = [FirstRefusal(event, 8, event // 2, 0) for event in (1, 2, 3, 4)]
    >>> [one.event for one in choose_refused(made, 3)]
    [1, 2, 4]
    """
    seen: set[object] = set()
    ranked = []
    for order, one in enumerate(requests):
        keys = (one.site, (one.site, one.size))
        rank = next((i for i, key in enumerate(keys) if key not in seen), len(keys))
        seen.update(keys)
        ranked.append((rank, order, one))
    return [one for _, _, one in sorted(ranked, key=lambda each: each[:2])][:most]
