# SPDX-License-Identifier: Apache-2.0
"""Recordings or captures become an answer, a ranked table, a plan, generated C and a report.

sources -> import -> profile -> candidates -> comparison -> plan.toml, code/, report.html
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from heapfit.comparison.incumbents.needs import Needs
from heapfit.comparison.incumbents.replacement import Today
from heapfit.comparison.verdict import pools_warning
from heapfit.comparison.work import Work
from heapfit.design.robust.objective import LARGEST
from heapfit.errors import HeapfitError
from heapfit.fit_result import Fit, FitOptions, FitPaths, Run
from heapfit.fitting.choice import Choice, choose_for_one, choose_for_several
from heapfit.fitting.folder import paths_in, results_aside
from heapfit.fitting.holdout import held_by
from heapfit.fitting.incumbent import beside_today, heap_of_today, kept, needed_today
from heapfit.fitting.long import LongChoice, choose_of_long, is_long, of_excerpt
from heapfit.fitting.reference_heaps import heaps_beside
from heapfit.fitting.suggestions import firmer
from heapfit.generate import GenerateOptions, generate
from heapfit.importers.many import open_all
from heapfit.outputs.ours import require_replaceable
from heapfit.plan.plan_file import PlanFile, pointer_size_warning, save_plan
from heapfit.progress import Progress, Whole, no_progress
from heapfit.report.heap.code_zip import zipped
from heapfit.report.heap.fit import write_report
from heapfit.sweep import Sweep, usable_cores
from heapfit.sweep.threads import meanwhile
from heapfit.trace.content import content_hash
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.names import different_names, source_name
from heapfit.trace.stored import Trace

# What takes how much of the time, between what was measured on lwip-echo, redis, lua, gcc and a
# million events, on one core and on two; on several recordings `choose` takes more.
WORK = {"import": 9, "now": 1, "choose": 42, "firmer": 1, "beside": 6, "hold": 10, "write": 31}
_WRITE = "write plan, code and report"


@dataclass(frozen=True, slots=True)
class _Recording:
    """A source under its name, as a trace."""

    name: str
    source: Path
    trace: Trace


def fit(
    sources: Sequence[Path],
    folder: Path,
    options: FitOptions | None = None,
    progress: Progress = no_progress,
    sweep: Sweep | None = None,
) -> Fit:
    """Fits one heap to all sources and writes everything into `folder`.

    `sweep`: where plans for several sources are made and measured; None: on all cores.
    HeapfitError if it cannot be done, at once if the folder's plan or code was edited; then, as on
    Ctrl-C, nothing is written. Recordings with equal requests count as one.
    """
    whole = Whole(progress, WORK)
    with results_aside(folder) as aside:
        asked = _Asked(Place(folder, aside), options or FitOptions(), sweep)
        decided = _decide(sources, asked, whole)
        paths, tell = decided.paths_in(aside), whole.part("write")
        with _code(decided.choice.plan_file, paths, asked.threads) as until_written:
            fitted, shown = _judge(decided, whole)
            tell(_WRITE, 0.0)
            write_report(paths.report, fitted, shown, until_written)
        tell(_WRITE, 1.0)
    return fitted


@dataclass(frozen=True, slots=True)
class Place:
    """Where results go."""

    folder: Path  # where they will lie
    aside: Path  # where imported traces lie until then


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a user may want different, and where work is done and results go."""

    place: Place
    options: FitOptions
    sweep: Sweep | None

    @property
    def threads(self) -> int:
        """How many threads a fit itself may use."""
        return usable_cores() if self.sweep is None else self.sweep.threads


@dataclass(frozen=True, slots=True)
class _Decided:
    """A plan for recordings that all differ; judging it and drawing it changes nothing of it."""

    name: str
    asked: _Asked
    recordings: Sequence[_Recording]
    repeats: Sequence[str]  # a sentence for each recording that is left out
    long: LongChoice | None  # where a recording is too long to be searched whole
    needs: Needs | None  # of the heap that there is, where it was named
    today: Today | None  # that heap beside the plan
    choice: Choice

    @property
    def traces(self) -> list[Trace]:
        """The recordings, whole."""
        return [one.trace for one in self.recordings]

    @property
    def searched(self) -> Sequence[Trace]:
        """The same, or excerpts of long ones."""
        return self.traces if self.long is None else self.long.searched

    def paths_in(self, folder: Path, traces: tuple[Path, ...] = ()) -> FitPaths:
        """Where the parts lie; there is no plan where the heap of today is kept."""
        has_plan = self.today is None or not self.today.is_kept
        return paths_in(folder, traces, has_plan=has_plan)


def find(
    sources: Sequence[Path], place: Place, options: FitOptions, whole: Whole
) -> tuple[Fit, LoadedTrace]:
    """A fit of which only the imported traces are written, aside, and what it shows.

    Its paths are those that all will have in the place's folder.
    """
    return _judge(_decide(sources, _Asked(place, options, None), whole), whole)


def _decide(sources: Sequence[Path], asked: _Asked, whole: Whole) -> _Decided:
    options, place = asked.options, asked.place
    heap = heap_of_today(options)  # a name that there is not is refused before any work
    if heap is not None and options.objective != LARGEST:
        raise HeapfitError(f"--now {options.now}: is replaced by what serves every recording alone")
    opened = _opened(sources, asked, whole.part("import"))
    _require_apart(opened, place.folder)
    recordings, repeats = _different(opened)
    long = _long_choice(recordings, asked, whole.part("choose"))
    searched = [one.trace for one in recordings] if long is None else long.searched
    needs = None if heap is None else needed_today(heap, searched, whole.part("now"))
    choice = _chosen(recordings, asked, whole.part("choose")) if long is None else long.choice
    today = None
    if needs is not None:
        today = beside_today(needs, {one.name: one.trace for one in recordings}, choice)
        choice = kept(choice, today, options)
    name = source_name(sources[0])
    return _Decided(name, asked, recordings, repeats, long, needs, today, choice)


def _judge(decided: _Decided, whole: Whole) -> tuple[Fit, LoadedTrace]:
    """The answer with what stands beside it, and the recording that is shown."""
    choice, long, asked = decided.choice, decided.long, decided.asked
    traces, searched, needs = decided.traces, decided.searched, decided.needs
    ways, events_for_ways = firmer(choice, asked.options, whole.part("firmer"))
    beside, events_beside = heaps_beside(choice, searched, needs, whole.part("beside", steps=2))
    held = held_by(choice, traces, searched, whole.part("hold"), asked.threads)
    events_beside += events_for_ways + (0 if needs is None else needs.events)
    placed = [_placed(one, asked.place) for one in (*traces, *searched)]
    shown = [one.path for one in searched].index(choice.shown.trace.path)
    fitted = Fit(
        name=decided.name,
        runs=_runs(decided.recordings, choice),
        trace=placed[shown],
        searched=placed[len(traces) + shown],
        profile=choice.shown.profile if long is None else long.profile,
        comparison=choice.comparison,
        winner=choice.winner,
        answer=choice.answer,
        plan_file=choice.plan_file,
        verdict=choice.verdict,
        firmer=ways,
        warnings=(*decided.repeats, *_warnings(decided.recordings, choice)),
        paths=decided.paths_in(
            asked.place.folder, tuple(dict.fromkeys(one.path for one in placed))
        ),
        options=asked.options,
        beside=beside if long is None else of_excerpt(beside, long.looked_at, choice.answer.size),
        held=held,
        today=decided.today,
        looked_at=None
        if long is None
        else replace(long.looked_at, is_kept=choice.answer.kept is not None),
        recalled=choice.recalled,
        designs=choice.designs,
        work=choice.comparison.work
        + Work(beside=events_beside, judged=held.events + _replayed(long)),
    )
    return fitted, choice.shown


def folder_for(sources: Sequence[Path], output: Path | None) -> Path:
    """Where one fit of all sources goes: the folder that is asked for, or out/NAME.

    >>> folder_for([Path("echo.pcap")], None).as_posix()
    'out/echo'
    >>> folder_for([Path("a.heap"), Path("b.heap")], None).as_posix()
    'out/a-and-1-more'
    """
    more = f"-and-{len(sources) - 1}-more" if len(sources) > 1 else ""
    return output or Path("out") / f"{source_name(sources[0])}{more}"


def folders_apart(sources: Sequence[Path], output: Path | None) -> list[Path]:
    """Where each source's own fit goes: a folder of its name.

    >>> [folder.as_posix() for folder in folders_apart([Path("a/x.heap"), Path("b/x.heap")], None)]
    ['out/x', 'out/x-2']
    """
    return [(output or Path("out")) / name for name in different_names(sources)]


def _opened(sources: Sequence[Path], asked: _Asked, progress: Progress) -> list[_Recording]:
    """Every source as a trace, imported aside where it is none yet."""
    named = list(zip(sources, different_names(sources), strict=True))
    traces = open_all(named, asked.options.importing, asked.place.aside, asked.sweep, progress)
    return [
        _Recording(name, source, trace) for (source, name), trace in zip(named, traces, strict=True)
    ]


def _require_apart(recordings: Sequence[_Recording], folder: Path) -> None:
    """Refuses a trace that would replace the file it was imported from."""
    for one in recordings:
        output = folder / one.trace.path.name
        if one.trace.path != one.source and output.exists() and output.samefile(one.source):
            raise HeapfitError(f"{output}: is the file to import (choose another output)")
        if one.trace.path != one.source:
            require_replaceable(output)


def _placed(trace: Trace, place: Place) -> Trace:
    """The trace as it will lie in the folder, if it was imported; else where it is."""
    is_imported = trace.path.parent == place.aside
    return replace(trace, path=place.folder / trace.path.name) if is_imported else trace


def _long_choice(
    recordings: Sequence[_Recording], asked: _Asked, progress: Progress
) -> LongChoice | None:
    """The choice where a recording is too long to be searched whole."""
    options = asked.options
    if not any(is_long(one.trace, options) for one in recordings):
        return None

    def search(traces: Sequence[Trace], progress: Progress) -> Choice:
        looked_at = zip(recordings, traces, strict=True)
        return _chosen([replace(one, trace=trace) for one, trace in looked_at], asked, progress)

    traces = {one.name: one.trace for one in recordings}
    return choose_of_long(traces, asked.place.aside, options, search, progress)


def _replayed(long: LongChoice | None) -> int:
    return 0 if long is None else long.looked_at.replayed


def _chosen(recordings: Sequence[_Recording], asked: _Asked, progress: Progress) -> Choice:
    options = asked.options
    traces, names = [one.trace for one in recordings], [one.name for one in recordings]
    with Sweep() if asked.sweep is None else nullcontext(asked.sweep) as sweep:
        if len(recordings) == 1:
            return choose_for_one(traces[0], names[0], options, progress, sweep)
        return choose_for_several(traces, names, options, progress, sweep)


def _different(recordings: Sequence[_Recording]) -> tuple[list[_Recording], list[str]]:
    """Those whose requests differ from all before, and a sentence for each of the others."""
    if len(recordings) == 1:
        return list(recordings), []
    first: dict[str, _Recording] = {}
    repeats = []
    for recording in recordings:
        earlier = first.setdefault(content_hash(recording.trace), recording)
        if earlier is not recording:
            repeats.append(f"{recording.name} asks for the same as {earlier.name}: one recording")
    return list(first.values()), repeats


def _runs(recordings: Sequence[_Recording], choice: Choice) -> tuple[Run, ...]:
    figures = zip(recordings, choice.u_max, choice.r_safe, choice.unseen, strict=True)
    return tuple(
        Run(one.name, one.source, u_max, r_safe, unseen if len(recordings) > 1 else None)
        for one, u_max, r_safe, unseen in figures
    )


def write(fitted: Fit, folder: Path, shown: LoadedTrace, progress: Progress = no_progress) -> None:
    """Writes plan, code and report into a folder that is there; `shown` is the run they show."""
    paths = paths_in(folder, (), has_plan=fitted.paths.plan is not None)
    progress(_WRITE, 0.0)
    with _code(fitted.plan_file, paths, usable_cores()) as until_written:
        write_report(paths.report, fitted, shown, until_written)
    progress(_WRITE, 1.0)


def _code(
    plan_file: PlanFile, paths: FitPaths, threads: int
) -> AbstractContextManager[Callable[[], str]]:
    """Plan and code are written beside what is done meanwhile, as compilers that weigh the code
    are processes of their own; gives what waits for a zip of it, which the report carries.
    """

    def write_code() -> str:
        if paths.plan is None or paths.code is None:
            return ""
        save_plan(paths.plan, plan_file)
        generate(plan_file, paths.code, options=GenerateOptions(threads=threads))
        return zipped(paths.code)

    return meanwhile(threads, write_code)


def _warnings(recordings: Sequence[_Recording], choice: Choice) -> list[str]:
    infos = [one.trace.info for one in recordings]
    warnings = [note for info in infos for note in info.notes]
    warnings += [
        warning
        for info in infos
        if (warning := pointer_size_warning(info.kind, info.pointer_bits)) is not None
    ]
    designs = choice.designs
    if designs is not None and designs.objective != LARGEST:
        warnings.append(f"the region serves {designs.objective.told}, other heaps' every one")
    warnings += [one for one in [pools_warning(choice.winner, choice.comparison)] if one]
    return list(dict.fromkeys(warnings))
