# SPDX-License-Identifier: Apache-2.0
"""Recordings or captures become an answer, a ranked table, a plan, generated C and a report.

sources -> import -> profile -> candidates -> comparison -> plan.toml, code/, report.html
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapfit.compare.verdict import pools_warning
from heapfit.compare.work import Work
from heapfit.errors import HeapfitError
from heapfit.fit_result import Fit, FitOptions, Run
from heapfit.fitting.beside import heaps_beside
from heapfit.fitting.choice import Choice, choose_for_one, choose_for_several
from heapfit.fitting.firmer import firmer
from heapfit.fitting.folder import paths_in, results_aside
from heapfit.fitting.held import held_by
from heapfit.fitting.long import LongChoice, choose_of_long, is_long, of_excerpt
from heapfit.fitting.now import beside_today, heap_of_today, kept, needed_today
from heapfit.generate import GenerateOptions, generate
from heapfit.importers.many import open_all
from heapfit.outputs.ours import require_replaceable
from heapfit.plan.plan_file import pointer_size_warning, save_plan
from heapfit.progress import Progress, Whole, no_progress
from heapfit.report.heap.code_zip import zipped
from heapfit.report.heap.fit import write_report
from heapfit.sweep import Sweep, usable_cores
from heapfit.sweep.threads import meanwhile
from heapfit.trace.content import content_hash
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.names import different_names, source_name
from heapfit.trace.stored import Trace

# What takes how much of the time, between what was measured on lwip-echo, redis, lua and gcc; on
# several recordings `choose` takes more. Most of `write` are compilers and the heap map's replays.
WORK = {"import": 9, "now": 1, "choose": 36, "firmer": 1, "beside": 4, "hold": 11, "write": 38}


@dataclass(frozen=True, slots=True)
class Failure:
    """A source that could not be fitted."""

    source: Path
    reason: str  # one line


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
        place = Place(folder, aside)
        fitted, shown = find(sources, place, options or FitOptions(), whole, sweep)
        write(fitted, aside, shown, whole.part("write"), threads_of(sweep))
    return fitted


@dataclass(frozen=True, slots=True)
class Place:
    """Where results go."""

    folder: Path  # where they will lie
    aside: Path  # where imported traces lie until then


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a user may want different, and where work is done."""

    options: FitOptions
    sweep: Sweep | None


def threads_of(sweep: Sweep | None) -> int:
    """How many threads a fit itself may use."""
    return usable_cores() if sweep is None else sweep.threads


def find(
    sources: Sequence[Path],
    place: Place,
    options: FitOptions,
    whole: Whole,
    sweep: Sweep | None = None,
) -> tuple[Fit, LoadedTrace]:
    """A fit of which only the imported traces are written, aside, and what it shows.

    Its paths are those that all will have in the place's folder.
    """
    heap_of_today(options)  # a name that there is not is refused before any work
    recordings = _opened(sources, place.aside, _Asked(options, sweep), whole.part("import"))
    _require_apart(recordings, place.folder)
    different, repeats = _different(recordings)
    fitted, shown = _fitted(different, place, _Asked(options, sweep), whole)
    warnings = (*repeats, *fitted.warnings)
    return replace(fitted, name=source_name(sources[0]), warnings=warnings), shown


def _fitted(
    recordings: Sequence[_Recording], place: Place, asked: _Asked, whole: Whole
) -> tuple[Fit, LoadedTrace]:
    """The answer to recordings that all differ, and the one that is shown."""
    options = asked.options
    traces, heap = [one.trace for one in recordings], heap_of_today(options)
    long = _long_choice(recordings, place, asked, whole.part("choose"))
    searched = traces if long is None else long.searched
    needs = None if heap is None else needed_today(heap, searched, whole.part("now"))
    choice = _chosen(recordings, asked, whole.part("choose")) if long is None else long.choice
    today = None
    if needs is not None:
        today = beside_today(needs, {one.name: one.trace for one in recordings}, choice)
        choice = kept(choice, today, options)
    ways, events_for_ways = firmer(choice, options, whole.part("firmer"))
    beside, events_beside = heaps_beside(choice, searched, needs, whole.part("beside", steps=2))
    held = held_by(choice, traces, searched, whole.part("hold"), threads_of(asked.sweep))
    events_beside += events_for_ways + (0 if needs is None else needs.events)
    placed = [_placed(one, place.aside, place.folder) for one in (*traces, *searched)]
    shown = [one.path for one in searched].index(choice.shown.trace.path)
    fitted = Fit(
        name=recordings[0].name,
        runs=_runs(recordings, choice),
        trace=placed[shown],
        searched=placed[len(traces) + shown],
        profile=choice.shown.profile if long is None else long.profile,
        comparison=choice.comparison,
        winner=choice.winner,
        answer=choice.answer,
        plan_file=choice.plan_file,
        verdict=choice.verdict,
        firmer=ways,
        warnings=tuple(_warnings(recordings, choice)),
        paths=paths_in(
            place.folder,
            tuple(dict.fromkeys(one.path for one in placed)),
            has_plan=today is None or not today.is_kept,
        ),
        options=options,
        beside=beside if long is None else of_excerpt(beside, long.looked_at, choice.answer.size),
        held=held,
        today=today,
        looked_at=None
        if long is None
        else replace(long.looked_at, is_kept=choice.answer.kept is not None),
        recalled=choice.recalled,
        work=choice.comparison.work
        + Work(beside=events_beside, judged=held.events + _replayed(long)),
    )
    return fitted, choice.shown


def try_fit(
    source: Path,
    folder: Path,
    options: FitOptions | None = None,
    progress: Progress = no_progress,
) -> Fit | Failure:
    """As `fit`, for one of many sources apart: a failure must not stop the others."""
    try:
        return fit([source], folder, options, progress)
    except HeapfitError as error:
        return Failure(source, str(error))


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


def _opened(
    sources: Sequence[Path], folder: Path, asked: _Asked, progress: Progress
) -> list[_Recording]:
    """Every source as a trace, imported into `folder` where it is none yet."""
    named = list(zip(sources, different_names(sources), strict=True))
    traces = open_all(named, asked.options.importing, folder, asked.sweep, progress)
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


def _placed(trace: Trace, aside: Path, folder: Path) -> Trace:
    """The trace as it will lie in `folder`, if it was imported; else where it is."""
    is_imported = trace.path.parent == aside
    return replace(trace, path=folder / trace.path.name) if is_imported else trace


def _long_choice(
    recordings: Sequence[_Recording], place: Place, asked: _Asked, progress: Progress
) -> LongChoice | None:
    """The choice where a recording is too long to be searched whole."""
    options = asked.options
    if not any(is_long(one.trace, options) for one in recordings):
        return None

    def search(traces: Sequence[Trace], progress: Progress) -> Choice:
        looked_at = zip(recordings, traces, strict=True)
        return _chosen([replace(one, trace=trace) for one, trace in looked_at], asked, progress)

    traces = {one.name: one.trace for one in recordings}
    return choose_of_long(traces, place.aside, options, search, progress)


def _replayed(long: LongChoice | None) -> int:
    return 0 if long is None else long.looked_at.replayed


def _chosen(recordings: Sequence[_Recording], asked: _Asked, progress: Progress) -> Choice:
    options = asked.options
    if len(recordings) == 1:
        return choose_for_one(recordings[0].trace, recordings[0].name, options, progress)
    traces, names = [one.trace for one in recordings], [one.name for one in recordings]
    return choose_for_several(traces, names, options, progress, asked.sweep)


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


def write(
    fitted: Fit,
    folder: Path,
    shown: LoadedTrace,
    progress: Progress = no_progress,
    threads: int = 1,
) -> None:
    """Writes plan, code and report into a folder that is there; `shown` is the run they show.

    The code, which compilers weigh, beside the report where there are two threads; the report
    carries a zip of it.
    """
    paths = paths_in(folder, (), has_plan=fitted.paths.plan is not None)

    def write_code() -> str:
        if paths.plan is None or paths.code is None:
            return ""
        save_plan(paths.plan, fitted.plan_file)
        generate(fitted.plan_file, paths.code, options=GenerateOptions(threads=threads))
        return zipped(paths.code)

    progress("write plan, code and report", 0.0)
    with meanwhile(threads, write_code) as until_written:
        write_report(paths.report, fitted, shown, until_written)
    progress("write plan, code and report", 1.0)


def _warnings(recordings: Sequence[_Recording], choice: Choice) -> list[str]:
    infos = [one.trace.info for one in recordings]
    warnings = [note for info in infos for note in info.notes]
    warnings += [
        warning
        for info in infos
        if (warning := pointer_size_warning(info.kind, info.pointer_bits)) is not None
    ]
    warnings += [one for one in [pools_warning(choice.winner, choice.comparison)] if one]
    return list(dict.fromkeys(warnings))
