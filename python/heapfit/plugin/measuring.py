# SPDX-License-Identifier: Apache-2.0
"""Measures a plug-in on a recording: the regions that it needs, its accesses, and its faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np

from heapfit import _engine
from heapfit.comparison.incumbents.needs import step_of
from heapfit.comparison.incumbents.requests import describe_zero_requests, requests_of
from heapfit.comparison.margin import divide_by_peak
from heapfit.comparison.work import limit_to_try_all
from heapfit.outputs.scratch import scratch_folder
from heapfit.plugin.building import Built, build
from heapfit.plugin.faults import (
    ATTACKS,
    ENDLESS_LOOP,
    EXTREMES,
    MISUSES,
    NO_HARM,
    NOT_RUN,
    PROBES,
    Fault,
)
from heapfit.plugin.running import Process, start_process
from heapfit.plugin.sources import Plugin
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import Trace

# host/trace.h draws the form.
_EVENT = np.dtype([("size", "=u4"), ("object", "=u4"), ("what", "=u4")])
_LARGEST = 2**32 - 1  # bytes; a request that no 32-bit target can serve stays one
_ROUGHLY = 64 << 10  # bytes of the region for attacks, and of the first beyond twice the live bytes
_EVENTS_TO_TRY_ALL = 30_000_000  # replayed for the one heap that is asked about: three seconds


@dataclass(frozen=True, slots=True)
class PluginRow:
    """One plug-in on one recording. Sizes in bytes; regions include the plug-in's statics."""

    name: str
    bits: int
    is_sized: bool  # it is handed sizes back
    alignment: int
    u_max: int  # most live bytes of the trace
    r_min: int | None  # smallest region that succeeds
    r_safe: int | None  # smallest that succeeds above all that failed
    step: int  # between scanned regions; 0 where nothing was scanned
    statics_bytes: int
    statics: tuple[tuple[str, int], ...]  # names and bytes
    faults: tuple[Fault, ...]  # the first of each name; nothing was measured after a replay's
    attacks: Mapping[str, str]  # what each of ATTACKS led to: a fault's name, NO_HARM, NOT_RUN
    misuse: Mapping[str, str]  # and each of MISUSES
    extremes: Mapping[str, str]  # and each of EXTREMES; neither these nor misuse are faults
    accesses_per_operation: float | None  # loads and stores of metadata per event
    longest_accesses: int | None  # likewise, of the call that has most
    loads: int | None  # of metadata, in R_safe; None for what comes compiled
    stores: int | None
    payload_bytes: int | None  # copied by resizes
    footprint: int | None  # highest byte of a block, in R_safe
    placements: int | None  # hash of all offsets, in R_safe, as a ReplayResult has it
    events_replayed: int  # of all replays: what it cost
    notes: tuple[str, ...] = ()  # sentences without a full stop
    # What a table of heaps asks of each row.
    reason: ClassVar = "your plug-in"
    r_safe_at_least: ClassVar = None
    trained_on_this_trace: ClassVar = False
    is_cut_to_trace: ClassVar = False

    @property
    def replay(self) -> PluginRow | None:
        """What its metered replay counted: loads and stores; None where there was none."""
        return None if self.loads is None else self

    @property
    def replay_region(self) -> int | None:
        """Where that ran: R_safe, else R_min."""
        return self.r_min if self.r_safe is None else self.r_safe

    @property
    def is_monotone(self) -> bool:
        """True if every scanned region above one that works works, too."""
        return self.r_min == self.r_safe

    @property
    def over_u_max(self) -> float | None:
        """R_safe over U_max; None without R_safe."""
        return divide_by_peak(self.r_safe, self.u_max)


@dataclass(slots=True)
class _Findings:
    """The findings of replays and their events; of each fault the first."""

    statics: int
    faults: dict[str, Fault] = field(default_factory=dict)
    events: int = 0
    is_over: bool = False  # after a fault no region is searched

    def add(self, fault: Fault | None) -> None:
        if fault is not None:
            self.faults.setdefault(fault.name, fault)

    def replay(self, process: Process, what: str, size: int) -> dict[str, int]:
        """Replays in `size` bytes, statics included; empty without room, or after a fault."""
        if self.is_over or size <= self.statics:
            return {}
        answer, fault = process.ask(what, size - self.statics)
        self.events += answer["events"]
        self.add(fault)
        # Later answers cannot be trusted, but after an init that crashes in a tiny region.
        self.is_over = fault is not None and (
            answer["is_region"] == 1 or fault.name == ENDLESS_LOOP
        )
        return answer


def measure_all(
    plugins: Sequence[Plugin],
    traces: Sequence[Trace],
    alignment: int = 8,
    progress: Progress = ignore_progress,
    *,
    every_size: bool = False,
) -> list[tuple[PluginRow, ...]]:
    """The rows of plug-ins on each trace; they are built in a temporary folder."""
    with scratch_folder() as folder:
        built = [build(plugin, Path(folder) / str(i)) for i, plugin in enumerate(plugins)]
        return [
            tuple(measure(one, trace, alignment, progress, every_size=every_size) for one in built)
            for trace in traces
        ]


def measure(
    built: Built,
    trace: Trace | Path,
    alignment: int = 8,
    progress: Progress = ignore_progress,
    *,
    every_size: bool = False,
) -> PluginRow:
    """R_min and R_safe by the rules of every other allocator, then checked and metered replays.

    A trace, or the path of a stored one. `every_size`: each multiple of 8 B is tried, however long
    it takes. HeapfitError if the adapter lacks a function.
    """
    stored = Trace.open(trace) if isinstance(trace, Path) else trace
    with scratch_folder() as folder:
        events = Path(folder) / "events"
        save_events(stored, events)
        return _measure_plugin(
            built,
            stored,
            events=events,
            alignment=alignment,
            progress=progress,
            most_events=(
                None if every_size else limit_to_try_all(stored.info.events, _EVENTS_TO_TRY_ALL)
            ),
        )


def _measure_plugin(
    built: Built,
    trace: Trace,
    *,
    events: Path,
    alignment: int,
    progress: Progress,
    most_events: int | None,
) -> PluginRow:
    """Measures a plug-in on the trace's `events`, as the host reads them."""
    found, u_max = _Findings(built.statics_bytes), profile_trace(trace).u_max
    with start_process(built.program, events, alignment) as process:
        _check(process, found, (2 * u_max + _ROUGHLY,))
        reported = partial(progress, f"compare {built.plugin.name}")
        search = _search_region(process, found, u_max, reported, most_events)
        region = search.r_safe or search.r_min
        placed = {} if region is None else found.replay(process, "places", region)
        _check(process, found, (region, search.r_min or region, region * 9 // 10) if region else ())
        outcomes = _try_probes(process, found)
    metered: dict[str, int] = {}
    if region is not None and built.metered is not None:
        with start_process(built.metered, events, alignment) as process:
            metered = found.replay(process, "apart", region)
    return PluginRow(
        name=built.plugin.name,
        bits=built.plugin.bits,
        is_sized=process.is_sized,
        alignment=alignment,
        u_max=u_max,
        r_min=search.r_min,
        r_safe=search.r_safe,
        step=step_of(search),
        statics_bytes=found.statics,
        statics=built.statics,
        faults=tuple(found.faults.values()),
        attacks={name: outcomes[name] for name in ATTACKS},
        misuse={name: outcomes[name] for name in MISUSES},
        extremes={name: outcomes[name] for name in EXTREMES},
        accesses_per_operation=(
            (metered["loads"] + metered["stores"]) / max(trace.info.events, 1) if metered else None
        ),
        longest_accesses=metered.get("longest"),
        loads=metered.get("loads"),
        stores=metered.get("stores"),
        payload_bytes=metered.get("payload"),
        footprint=placed.get("footprint"),
        placements=placed.get("placements"),
        events_replayed=found.events,
        notes=tuple(describe_zero_requests(requests_of(trace), "which are passed to it as 1 B")),
    )


def _search_region(
    process: Process,
    found: _Findings,
    u_max: int,
    report: Callable[[float], None],
    most_events: int | None,
) -> _engine.RegionSearch:
    """R_min and R_safe, as the engine searches for its own heaps; a fault ends it.

    As many multiples of 8 B are tried as replay `most_events`; None: all of the window.
    """

    def try_size(size: int) -> tuple[bool, int, int, int]:
        answer = found.replay(process, "places", size)
        footprint, height, events = (
            answer.get(one, 0) for one in ("footprint", "height", "events")
        )
        return answer.get("runs") == 1, footprint, height, events

    return _engine.search_regions(
        try_size,
        smallest_region=(found.statics // _engine.REGION_UNIT + 1) * _engine.REGION_UNIT,
        u_max=u_max,
        progress=lambda done, total: report(done / max(total, 1)),
        every_size=most_events is None,
        most_events=most_events or 0,
    )


def _try_probes(process: Process, found: _Findings) -> dict[str, str]:
    """What each probe led to, in a region of its own; what attacks find are faults."""
    outcomes = dict.fromkeys(PROBES, NOT_RUN)
    for name in () if found.is_over else PROBES:
        answer, fault = process.ask("attack", _ROUGHLY, name)
        if fault is not None or answer["runs"] == 1:
            outcomes[name] = NO_HARM if fault is None else fault.name
        if name in ATTACKS:
            found.add(fault)
    return outcomes


def _check(process: Process, found: _Findings, sizes: Sequence[int]) -> None:
    """Checks that blocks lie apart, then that they keep what is written into them.

    In this order: what is written into a block that is too small damages the heap itself.
    """
    for effort in ("apart", "content"):
        for size in sorted(set(sizes)):
            found.replay(process, effort, size)


def save_events(trace: Trace, path: Path) -> None:
    """Writes all events of a trace to `path` as the host program reads them, 12 bytes each."""
    with path.open("wb") as file:
        for batch in trace.batches(("op", "object", "size", "alignment")):
            rows = np.zeros(len(batch["op"]), _EVENT)
            rows["size"] = np.minimum(batch["size"], _LARGEST)
            rows["object"] = batch["object"]
            alignments = np.maximum(batch["alignment"], 1).astype(np.float64)
            rows["what"] = batch["op"] | np.log2(alignments).astype(np.uint32) << 8
            rows.tofile(file)
