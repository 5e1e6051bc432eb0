# SPDX-License-Identifier: Apache-2.0
"""The recordings that one heap is fitted to: each imported where it must be, and read once.

source --import--> trace --one read--> events, call sites, content hash, profile
                         too long ---> content hash, profile, peaks: its excerpt is searched
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.fitting.options import FitOptions
from heapfit.importers.boots import cut_boots
from heapfit.importers.formats import find_format
from heapfit.importers.many import open_all
from heapfit.outputs.ours import require_not_source, require_replaceable
from heapfit.outputs.scratch import scratch_folder
from heapfit.plan.plan_file import pointer_size_warning
from heapfit.progress import Progress, WeightedProgress, ignore_progress
from heapfit.sweep import Sweep, usable_cores
from heapfit.trace.boots import find_starts, split_starts
from heapfit.trace.excerpt import Survey, survey
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.names import distinct_source_names, program_word, source_name
from heapfit.trace.oversized import leave_out_oversized
from heapfit.trace.stored import Trace

LISTED = "A list tells what was live then"  # how the note of such a source begins


@dataclass(frozen=True, slots=True)
class Place:
    """The folder of the results, and the one where they are staged."""

    folder: Path  # where they will lie
    staging: Path  # where imported traces lie until then

    def final(self, trace: Trace) -> Trace:
        """The trace as it will lie in the folder, if it was imported; else where it is."""
        is_imported = trace.path.parent == self.staging
        return replace(trace, path=self.folder / trace.path.name) if is_imported else trace


@dataclass(frozen=True, slots=True)
class Request:
    """The request for a fit: where its results go, the options, who does the work, who watches."""

    place: Place
    options: FitOptions
    sweep: Sweep | None = None  # None: all cores
    stages: WeightedProgress = field(default_factory=lambda: WeightedProgress(ignore_progress, {}))

    @property
    def threads(self) -> int:
        """How many threads a fit itself may use."""
        return usable_cores() if self.sweep is None else self.sweep.threads


@dataclass(frozen=True, slots=True)
class Recording:
    """A source under its name, and what one read of it gave."""

    name: str
    source: Path
    trace: Trace
    read: LoadedTrace | Survey  # Survey: it is too long to be searched whole

    @property
    def survey(self) -> Survey | None:
        """The survey of a recording too long to be searched whole; else None."""
        return self.read if isinstance(self.read, Survey) else None

    @property
    def loaded(self) -> LoadedTrace | None:
        """The events of a recording that is searched whole; else None."""
        return self.read if isinstance(self.read, LoadedTrace) else None


@dataclass(frozen=True, slots=True)
class Workload:
    """The recordings that a heap is fitted to; all differ."""

    recordings: tuple[Recording, ...]  # at least one
    repeats: tuple[str, ...]  # a sentence for each recording that is skipped

    @property
    def loaded(self) -> tuple[LoadedTrace, ...]:
        """The recordings that are searched whole."""
        return tuple(one.loaded for one in self.recordings if one.loaded is not None)

    @property
    def names(self) -> list[str]:
        """The names of the recordings."""
        return [one.name for one in self.recordings]

    @property
    def name(self) -> str:
        """The name of the workload, from the first source's file."""
        return source_name(self.recordings[0].source)

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the imports; one that not all recordings have names the first that does."""
        pairs = [(note, one.name) for one in self.recordings for note in one.trace.info.notes]
        named = {note: [name for own, name in pairs if own == note] for note, _ in pairs}
        return tuple(
            note
            if len(names) == len(self.recordings)
            else f"{names[0]}{f' and {len(names) - 1} more' * (len(names) > 1)}: {note}"
            for note, names in named.items()
        )

    def warnings(self) -> Iterator[str]:
        """What limits the recordings, each one sentence."""
        yield from self.repeats
        infos = [one.trace.info for one in self.recordings]
        programs = (one.program if one.kind == "heap" else "packets" for one in infos)
        named = [*{program_word(one): one for one in programs if one}.values()]
        if len(named) > 1:
            yield (
                f"these are recordings of {' and '.join(named[:2])}: one heap serves all (heapfit "
                "place says whether two need less)"
            )
        yield from self.notes
        pointers = (pointer_size_warning(info.kind, info.pointer_bits) for info in infos)
        yield from dict.fromkeys(filter(None, pointers))


def read_workload(sources: Sequence[Path], request: Request) -> Workload:
    """Every source as a recording; those with equal requests count as one."""
    place, importing = request.place, request.stages.part("import")
    options, own = request.options.importing, request.options.importing.own_lines
    with scratch_folder() as folder:
        sources = [
            boot
            for one in sources
            for boot in cut_boots(one, find_format(one, own), Path(folder), own)
        ]
        names = distinct_source_names(sources)
        named = list(zip(sources, names, strict=True))
        traces = open_all(named, options, place.staging, request.sweep, importing)
    for source, trace in zip(sources, traces, strict=True):
        if trace.path != source and source.exists():  # no boot of it
            require_not_source(place.final(trace).path, source)
            require_replaceable(place.final(trace).path)
    for source, trace in zip(sources, traces, strict=True):
        if any(note.startswith(LISTED) for note in trace.info.notes):
            raise HeapfitError(
                f"{source}: is a list of what was live then, from which no size follows (heapfit "
                f"sites {source} says who holds it)"
            )
    traces = [leave_out_oversized(trace, place.staging) for trace in traces]
    reading = request.stages.part("read", steps=2 * len(sources))
    recordings = (
        recording
        for name, source, trace in zip(names, sources, traces, strict=True)
        for recording in _read_starts(name, source, trace, request, _name_steps(name, reading))
    )
    return Workload(*_drop_repeats(recordings))


def _read_starts(
    name: str, source: Path, trace: Trace, request: Request, progress: Progress
) -> Iterator[Recording]:
    """A recording, or one of each start of its program, where it started several times."""
    read = _read(trace, request, progress)
    starts = find_starts(read) if isinstance(read, LoadedTrace) else ()
    if not starts:
        yield Recording(name, source, trace, read)
        return
    for number, part in enumerate(split_starts(trace, starts, request.place.staging), 1):
        yield Recording(f"{name}, start {number}", source, part, _read(part, request, progress))


def _name_steps(name: str, progress: Progress) -> Progress:
    return lambda step, done: progress(f"{step} of {name}", done)


def _read(trace: Trace, request: Request, progress: Progress) -> LoadedTrace | Survey:
    options = request.options
    if trace.info.events > options.most_events:
        return survey(trace, progress)
    return replace(load_trace(trace, options.alignment, progress), threads=request.threads)


def _drop_repeats(recordings: Iterable[Recording]) -> tuple[tuple[Recording, ...], tuple[str, ...]]:
    """The recordings that differ, and a sentence for each that equals an earlier one."""
    first: dict[str, Recording] = {}
    repeats = []
    for recording in recordings:
        earlier = first.setdefault(recording.read.content, recording)
        if earlier is not recording:
            repeats.append(
                f"{recording.name} repeats the requests of {earlier.name}: they count once"
            )
    return tuple(first.values()), tuple(repeats)
