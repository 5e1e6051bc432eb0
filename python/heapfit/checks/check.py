# SPDX-License-Identifier: Apache-2.0
"""Recordings checked against a plan: does each run in its region, and what of it grew?

    new recording --> one replay in the region --> runs? -----> its peak beside the base's
                                                   no: R, and what sizes and call sites hold

The base is the recording of `CheckOptions.base` with the highest peak, since a plan serves all of
them; without any, the peak that the plan has of its own recordings.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from heapfit.checks.growth import Changes, Holdings, changes, holdings_of
from heapfit.checks.margin import margin_eaten
from heapfit.checks.prospect import Prospect, estimate_need, find_prospect
from heapfit.checks.refusals import Refusals, count_refusals
from heapfit.checks.run import PlanRun, reject_unlike, run_recording, subject_of_plan
from heapfit.checks.system_run import place_in_region
from heapfit.comparison.heap_map import Hole
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.incumbents.heap_names import TLSF
from heapfit.comparison.incumbents.heap_plans import heap_of_plan, make_heap_plan
from heapfit.comparison.incumbents.needs import Needs, measure
from heapfit.comparison.margin import MarginBasis, margin_kind
from heapfit.comparison.trial import Refusal
from heapfit.errors import HeapfitError
from heapfit.forecast.filling import (
    describe_filling,
    describe_growth,
    name_growing_sites,
)
from heapfit.forecast.kind import RecordingKind, find_kind
from heapfit.forecast.load import Load
from heapfit.importers import ImportOptions, open_any, open_trace, open_traces
from heapfit.importers.many import estimate_events
from heapfit.outputs.scratch import scratch_folder
from heapfit.plan.plan_file import PlanFile, TrainingRecord
from heapfit.programs.source_lines import places_in
from heapfit.progress import Progress, WeightedProgress, ignore_progress
from heapfit.store_file import StoreFile
from heapfit.sweep import Job, Sweep
from heapfit.trace.content import content_hash
from heapfit.trace.loaded import STANDARD_ALIGNMENT, LoadedTrace, load_trace
from heapfit.trace.names import distinct_source_names, source_name
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import Trace
from heapfit.trace.tabular import Tabular, arrow_table

Source: TypeAlias = Trace | Path
_Stages: TypeAlias = Callable[[str], Progress]  # the callback of each stage, by its name


class CheckFinding(StrEnum):
    """What may be wrong with a recording."""

    RAN_OUT = "ran_out"  # a request was refused in the plan's region
    MISALIGNED = "misaligned"  # it asks for more alignment than the region's start has
    GREW = "grew"  # its peak is higher above the base's than is allowed
    NOT_WHOLE = "not_whole"  # calls of it are missing: it may need more than it shows, or less
    LEAKS = "leaks"  # blocks are kept at a pace that lasts: no size of the heap does
    MARGIN = "margin_eaten"  # it runs, on bytes set aside for what no recording has shown


# Failures of a strict check only.
WARNINGS = {CheckFinding.NOT_WHOLE, CheckFinding.LEAKS, CheckFinding.MARGIN}


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What a check compares with, and what it requires besides running."""

    base: tuple[Source, ...] = ()  # earlier recordings
    growth: float | None = None  # percent by which a peak may be above the base's; None: any
    is_strict: bool = False  # a warning is a failure
    measure: bool = False  # search R of recordings that run, too
    programs: tuple[Path, ...] = ()  # recorded ones and their libraries: call sites by function
    base_programs: tuple[Path, ...] = ()  # those of the base; none: the same
    importing: ImportOptions = field(default_factory=ImportOptions)


@dataclass(frozen=True, slots=True)
class Base:
    """What new recordings are compared with."""

    name: str  # the recording's; "" where the plan alone tells the peak
    peak: int  # most live bytes
    needed: int | None = None  # bytes of the plan's heap; None: not searched


@dataclass(frozen=True, slots=True)
class RecordingNeeds:
    """The smallest regions found in which a recording runs on the plan, in bytes."""

    r_min: int | None  # None: none below 4 GiB that was tried
    r_safe: int | None  # smallest from which every larger one tried works
    events: int  # that the search replayed


@dataclass(frozen=True, slots=True)
class CheckedRecording:
    """One recording, and the findings about it."""

    run: PlanRun
    growth: float | None  # percent of its peak above the base's; None: no peak to compare with
    findings: tuple[CheckFinding, ...]
    needed: RecordingNeeds | None = None  # None: not searched
    margin_eaten: float | None = None  # percent of the margin; None: the plan does not say enough
    changes: Changes | None = None  # None: nothing has failed
    notes: tuple[str, ...] = ()  # of the recording: what was left out or is doubtful
    refusals: Refusals | None = None  # where it runs on; None: it runs, or is not replayed again
    content: str = ""  # the hash of its requests; "" beside a base alone
    holes: tuple[Hole, ...] | None = None  # at the peak; None: not measured, or not known
    largest: int | None = None  # bytes of a request served at any moment; None: not measured
    refused_after: float | None = None  # seconds from the first event to the request that failed
    grows: str = ""  # a sentence on live bytes that grow while it runs; "": they do not
    is_filled: bool = False  # by that growth: it has what the request that failed lacked

    @property
    def verdict(self) -> str:
        """The findings in words; `compared`: with the base alone, on no plan."""
        words = ", ".join(self.findings) or ("fits" if self.run.replayed else "compared")
        return words.replace("_", " ").replace("margin eaten", "uses the reserve")


@dataclass(frozen=True, slots=True, repr=False)
class Check(Tabular):
    """The checks of all recordings against one plan."""

    plan: PlanFile  # of a comparison: a heap as large as all recordings need
    base: Base | None
    recordings: tuple[CheckedRecording, ...]
    options: CheckOptions
    is_comparison: bool = False  # with the base alone, on no plan

    def __str__(self) -> str:
        failed = [one.run.name for one in self.recordings if not self.allows(one)]
        told = f"recordings fail, first {failed[0]}" if failed else "recordings pass"
        return f"check: {len(failed) or len(self.recordings)} of {len(self.recordings)} {told}"

    def to_arrow(self) -> pa.Table:
        """A row for each recording; the `refused` columns are of its first failed request."""
        return arrow_table(
            self.recordings,
            {
                "name": lambda one: one.run.name,
                "holds": self.allows,
                "peak": lambda one: one.run.peak,
                "growth": lambda one: one.growth,
                "refused_event": lambda one: one.run.refusal and one.run.refusal.event,
                "refused_size": lambda one: one.run.refusal and one.run.refusal.size,
                "needed": lambda one: one.needed and one.needed.r_safe,
                "findings": lambda one: [str(finding) for finding in one.findings],
            },
        )

    @property
    def holds(self) -> bool:
        """True if no recording has a finding that fails the check."""
        return all(map(self.allows, self.recordings))

    @property
    def failed(self) -> list[CheckedRecording]:
        """The recordings that fail the check, the one first that needs most."""
        wrong = (one for one in self.recordings if not self.allows(one))
        return sorted(wrong, key=lambda one: -((one.needed and one.needed.r_safe) or one.run.peak))

    def allows(self, one: CheckedRecording) -> bool:
        """True if no finding of a recording fails the check."""
        return set(one.findings) <= (set() if self.options.is_strict else WARNINGS)

    @property
    def prospect(self) -> Prospect:
        """What these recordings say of the next one; those that ask for the same count once."""
        distinct = {one.content: one for one in reversed(self.recordings)}
        apart = [one for one in self.recordings if distinct[one.content] is one]
        searched = [one.needed.r_safe if one.needed else None for one in apart]
        needs = [
            estimate_need(self.plan, one.run.peak, need)
            for one, need in zip(apart, searched, strict=True)
        ]
        load = Load(tuple(one.run.peak for one in apart))
        known = MarginBasis(load, margin_kind(self.plan.plan, False))
        return find_prospect(
            needs,
            sum(one.run.refusal is not None for one in apart),
            self.plan.region or 0,
            None if None in searched else known,
        )

    @property
    def events_replayed(self) -> int:
        """Events replayed in the plan's region, without the searches of R."""
        return sum(one.run.replayed for one in self.recordings)

    @property
    def events_of_searches(self) -> int:
        """Events replayed to find R, of recordings that failed or were to be measured."""
        return sum(one.needed.events for one in self.recordings if one.needed)


def check_recordings(
    sources: Sequence[Source],
    plan: PlanFile | None,
    options: CheckOptions | None = None,
    progress: Progress = ignore_progress,
    sweep: Sweep | None = None,
) -> Check:
    """Replays each recording once in the plan's region, and finds what fails and what grew.

    None for the plan: recordings are compared with the base alone, in a heap that serves them all.

    A recording that fails is gone over again: for R, some 150 replays, and for what it holds.
    `sweep`: where several recordings are replayed; None: one after the other here. HeapfitError if
    the plan sets no region or was made for recordings of another kind.
    """
    options = options or CheckOptions()
    for program in (*options.programs, *options.base_programs):
        places_in([program], ())  # raises now, not after a recording has failed
    estimated = [
        sum(estimate_events(path_of(one)) for one in some) for some in (options.base, sources)
    ]
    whole = WeightedProgress(progress, dict(zip(("base", "check"), estimated, strict=True)))
    importing, checking = whole.part("base", steps=len(options.base)), whole.part("check")
    with open_traces(options.base, options.importing, importing) as bases:
        peaks = [(one, profile_trace(one).u_max) for one in bases]
        highest = max(peaks, key=lambda one: one[1], default=None)
        if plan is None:
            return _compare_with_base(sources, highest, options, checking)
        request = _CheckRequest(plan, options, highest)
        jobs = [_job(*one, request) for one in zip(sources, _names(sources), strict=True)]
        if len(jobs) > 1:
            checked = (sweep or Sweep(workers=1)).run("check", jobs, checking)
        else:
            checked = [one.work(one.argument, *one.files, progress=checking) for one in jobs]
        return Check(plan, request.base, tuple(checked), options)


def _compare_with_base(
    sources: Sequence[Source],
    highest: tuple[Trace, int] | None,
    options: CheckOptions,
    progress: Progress,
) -> Check:
    """Recordings beside the base's highest: peaks, what grew, and needs in a heap many have."""
    if highest is None:
        raise HeapfitError("nothing to compare with: give a plan, or an earlier recording as base")
    with open_traces(sources, options.importing) as traces:
        loaded = [load_trace(one) for one in (highest[0], *traces)]
        found = _measure_common_heap(loaded, progress)
        needs = [found.heap.set_to(one or 0) for one in found.memories]
        plan = make_heap_plan(found.heap, max(needs))
        base = Base(source_name(highest[0].path), highest[1], needs[0])
        request = _CheckRequest(plan, options, highest)
        checked = []
        for one, name, need in zip(loaded[1:], _names(sources), needs[1:], strict=True):
            info = highest[0].info
            reject_unlike(one.trace.info, name, "the base", info.kind, info.pointer_bits)
            run = PlanRun(name, one.trace.info, one.profile.u_max, 0, None)
            needed = RecordingNeeds(need, need, found.events)
            changed = replace(request.judge(run), needed=needed, changes=_changes(one, request))
            checked.append(_judge_growth(changed, one, request, 0))
        return Check(plan, base, tuple(checked), options, is_comparison=True)


def _measure_common_heap(loaded: Sequence[LoadedTrace], progress: Progress) -> Needs:
    """The needs of all in heap_4, or in TLSF for larger alignments."""
    largest = max(one.largest_alignment for one in loaded)
    name = "heap_4" if largest <= STANDARD_ALIGNMENT else TLSF
    needs = measure(find_heap(name, STANDARD_ALIGNMENT), loaded, progress=progress)
    needs.require_most()
    return needs


def _job(source: Source, name: str, request: _CheckRequest) -> Job:
    """The job of one recording, with its file and that of the base's highest recording, if any."""
    files = (path_of(source), *(() if request.highest is None else (request.highest[0].path,)))
    return Job(name, _check_in_job, (name, request), files, estimate_events(files[0]), tells=True)


# Seconds of an event in each stage of a recording that fails; of others some do not come.
_STAGES = {
    "import": 2e-7, "replay": 2e-7, "read events": 2e-7, "search R": 6e-7,
    "count refusals": 3e-7, "find what grew": 5e-7,
}  # fmt: skip


def _check_in_job(
    argument: tuple[str, _CheckRequest],
    path: Path,
    *base: Path,
    progress: Progress = ignore_progress,
) -> CheckedRecording:
    name, request = argument[0], replace(argument[1], folder=path.parent)
    if request.highest is not None:
        request = replace(request, highest=(Trace.open(base[0]), request.highest[1]))
    stages = WeightedProgress(progress, _STAGES)
    with open_trace(path, request.options.importing, stages.part("import")) as trace:
        checked = _check_recording(trace, name, request, stages.part)
    stages.part([*_STAGES][-1])("check", 1.0)
    return checked


def path_of(source: Source) -> Path:
    """The file of a recording."""
    return source.path if isinstance(source, Trace) else source


def _names(sources: Sequence[Source]) -> list[str]:
    return distinct_source_names(list(map(path_of, sources)))


@dataclass(frozen=True)
class _CheckRequest:
    """What a check of several recordings needs for each of them."""

    plan: PlanFile
    options: CheckOptions
    highest: tuple[Trace, int] | None  # of the base, and its peak
    folder: Path = Path()  # of the recording that is checked

    @cached_property
    def base(self) -> Base | None:
        """The base that peaks are compared with."""
        if self.highest is None:
            return Base("", self.plan.u_max) if self.plan.u_max else None
        trace, peak = self.highest
        return Base(source_name(trace.path), peak)

    @cached_property
    def holdings(self) -> Holdings | None:
        """The base's holdings, or those of the plan's highest recording beside the new one.

        None if there is none that memory holds.
        """
        programs = self.options.base_programs or self.options.programs
        with scratch_folder() as place:
            known = (self.highest[:1] if self.highest else None) or find_training(
                self.plan.trained_on, self.folder, place
            )
            loaded = [load_trace(one) for one in known if one.fits_in_memory]
            if not loaded:
                return None
            highest = max(loaded, key=lambda one: one.profile.u_max)
            return holdings_of(highest, programs, by_function=bool(self.options.base_programs))

    def judge(self, run: PlanRun) -> CheckedRecording:
        """The recording with what is wrong by its run and its peak alone."""
        base, limit = self.base, self.options.growth
        growth = 100 * (run.peak - base.peak) / base.peak if base and base.peak else None
        wrong = {
            CheckFinding.RAN_OUT: run.refusal is not None,
            CheckFinding.MISALIGNED: not self.plan.heap
            and run.trace.largest_alignment > self.plan.base_alignment,
            CheckFinding.GREW: limit is not None and growth is not None and growth > limit,
            CheckFinding.NOT_WHOLE: any(
                words in note  # as notes of any format have it
                for note in run.trace.notes
                for words in ("The rest is left out", "missing", "taken as freed, in whose place")
            ),
        }
        return CheckedRecording(
            run,
            growth,
            tuple(finding for finding, is_found in wrong.items() if is_found),
            notes=run.trace.notes,
        )


def _check_recording(
    trace: Trace, name: str, request: _CheckRequest, stage: _Stages
) -> CheckedRecording:
    plan, options = request.plan, request.options
    kind = plan.trained_on.kind if plan.trained_on.events else trace.info.kind  # else by hand
    reject_unlike(trace.info, name, f"the plan {plan.name}", kind, plan.pointer_bits)
    checked = request.judge(run_recording(trace, plan, name, stage("replay")))
    run, failures = checked.run, {*checked.findings} - WARNINGS
    loaded = needed = None
    if options.measure or trace.fits_in_memory:
        loaded = load_trace(trace, progress=stage("read events"))
        if options.measure or failures:
            needed = _search_needs(loaded, plan, run, stage("search R"))
    eaten = margin_eaten(plan, run.peak, needed.r_safe if needed else None)
    checked = replace(
        checked,
        needed=needed,
        margin_eaten=eaten,
        findings=checked.findings
        + ((CheckFinding.MARGIN,) if not failures and (eaten or 0) > 0 else ()),
        content=loaded.content if loaded else content_hash(trace),
    )
    if loaded is None:
        return checked
    if options.measure and run.refusal is None:
        subject = subject_of_plan(plan.name, loaded, plan)
        base = trace.base_alignment_for(plan.base_alignment)
        checked = replace(
            checked,
            holes=subject.find_holes(loaded, loaded.profile.u_max_event),
            largest=None
            if plan.plan.sites
            else place_in_region(loaded, plan, base).find_largest_request(),
        )
    if run.refusal is not None:
        checked = replace(
            checked,
            refusals=None
            if plan.plan.sites
            else count_refusals(loaded, plan, options.programs, stage("count refusals")),
            refused_after=int(np.ptp(loaded.trace.whole("time")[0][: run.refusal.event + 1])) / 1e6,
        )
    if failures:
        checked = replace(checked, changes=_changes(loaded, request))
    stage("find what grew")("find what grew", 0.5)
    return _judge_growth(checked, loaded, request, plan.region or 0)


def _judge_growth(
    checked: CheckedRecording, loaded: LoadedTrace, request: _CheckRequest, region: int
) -> CheckedRecording:
    """The recording with how fast live bytes grow, if they do, and if they are a leak.

    Also when a region of so many bytes is full, if it serves the recording.
    """
    kind, needed = find_kind(loaded.trace, loaded.profile), checked.needed
    if not kind.is_growing:
        return checked
    names = name_growing_sites(kind, loaded.trace, request.options.programs)
    grows, refusal = describe_growth(kind, names), checked.run.refusal
    if needed is None:
        grows += " --measure tells when the heap is full."
    elif needed.r_safe is not None and needed.r_safe <= region:
        peak, heap = kind.profile.u_max, request.plan.name
        grows += f" {describe_filling(kind, heap, region, peak=peak, need=needed.r_safe)}"
    return replace(
        checked,
        grows=grows,
        is_filled=refusal is None or _fills(kind, refusal),
        findings=checked.findings + (CheckFinding.LEAKS,) * kind.is_leak,
    )


def _fills(kind: RecordingKind, refusal: Refusal) -> bool:
    """True if what grew until a request failed is as much as this lacked.

    What may be a cache counts where the bytes that were free, together, were too few; of a leak,
    whose blocks lie between others, where the largest hole was.
    """
    lacking = refusal.size - (refusal.largest_hole if kind.is_leak else refusal.free)
    return 0 < lacking <= kind.rate.slope * refusal.event


def _search_needs(
    loaded: LoadedTrace, plan: PlanFile, run: PlanRun, progress: Progress
) -> RecordingNeeds:
    """Searches R, and tries the plan's region if it was too small."""
    heap = heap_of_plan(plan)
    also = heap.region(heap.memory_of(plan.region or 0)) if run.refusal is not None else 0
    base = plan.base_alignment
    needs = measure(heap, [loaded], progress=progress, base=base, also=also, is_safe_alone=False)
    (found,), heap = needs.found, needs.heap
    r_min, r_safe = (one and heap.set_to(one) for one in (found.r_min, found.r_safe))
    return RecordingNeeds(r_min, r_safe, needs.events)


def _changes(loaded: LoadedTrace, request: _CheckRequest) -> Changes:
    programs, is_by_function = request.options.programs, bool(request.options.base_programs)
    return changes(holdings_of(loaded, programs, by_function=is_by_function), request.holdings)


def find_training(record: TrainingRecord, folder: Path, place: Path) -> list[Trace]:
    """The recordings of a plan that lie in a folder, in any form, if their requests are the same.

    Those that are not stored are imported into `place`.
    """
    found, known = [], {one.trace: one.content for one in record.traces or (record,)}
    named = [
        (name, path)
        for name in known
        for path in (
            [folder / Path(f"{name}.parquet").name]  # a store is not looked through
            if isinstance(folder, StoreFile)
            else sorted(folder.glob(f"{glob.escape(Path(name).name)}.*"))
        )
    ]
    for name, path in named:
        with suppress(HeapfitError, OSError):  # another file of that name; a pipe is not read
            if (
                path.is_file()
                and content_hash(trace := open_any(path, ImportOptions(), place)) == known[name]
            ):
                found.append(trace)
    return found
