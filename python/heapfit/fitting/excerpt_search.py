# SPDX-License-Identifier: Apache-2.0
"""Recordings too long to be searched: an excerpt of each is, and all of it replayed once.

survey --> windows --> excerpts --> search --> a replay of the whole in the region found
             ^                                                      |
             +------ around the event that was refused <------------+

After a few rounds the region is raised instead until the whole is served, and plans that needed
little more of the excerpt are replayed below it: the one that needs least of the whole is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from heapfit import _engine
from heapfit.comparison.candidate import Portfolio
from heapfit.comparison.changed_programs import ChangedPrograms
from heapfit.comparison.comparison import compare, with_series
from heapfit.comparison.margin import UNIT, largest_r_safe
from heapfit.comparison.row import Row, rank_rows
from heapfit.comparison.trial import plain_replay
from heapfit.comparison.verdict import verdict_rows
from heapfit.comparison.work import Work
from heapfit.errors import HeapfitError
from heapfit.fitting.choice import Choice, compute_size, make_choice
from heapfit.fitting.choosing import choose
from heapfit.fitting.options import FitOptions
from heapfit.fitting.workload import Recording, Request, Workload
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import TrainingTrace
from heapfit.plan.quantities import LARGEST_REGION, round_up
from heapfit.progress import Progress, WeightedProgress, ignore_progress
from heapfit.trace.excerpt import Window, save_excerpt, windows_of
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.profile import Profile

SEARCHES: Final = 3  # at most; each adds windows where the last one's heap ran out
_PART: Final = 10  # an excerpt has this part of the most that is searched whole
_RAISE_BY: Final = 32  # parts of a region at a time,
_HALVINGS: Final = 2  # and then so many replays between the last two


@dataclass(frozen=True, slots=True)
class ExcerptInfo:
    """What the search saw of long recordings, each of which was then replayed whole."""

    events: int  # of the long recordings
    searched: int  # of these, in excerpts
    refused: tuple[int, ...]  # events that ran out of memory, around which was searched, too
    replayed: int  # events, of whole recordings
    r_safe: int  # of the plan in the search, before it was raised; bytes
    is_raised: bool  # the region was at last set by the whole recording, not by the search
    is_kept: bool = False  # the incumbent heap is kept, whose region is known of the excerpts alone

    def sentence(self) -> str:
        """A sentence on what was searched, and how the region is known to serve the rest."""
        looked = f"The search used an excerpt of {self.searched:,} of {self.events:,} events"
        if self.is_kept:
            return f"{looked}; the region is known for the excerpt only."
        if self.is_raised:
            return (
                f"{looked}. Then all were replayed and the region was raised until all were served."
            )
        return f"{looked}. Then all were replayed in the region found: all served."


@dataclass(slots=True)
class _RecordingView:
    """A recording, and the excerpt of it that is searched."""

    recording: Recording
    request: Request
    progress: Progress  # of replays of the whole
    excerpt: LoadedTrace | None = None
    windows: list[Window] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)  # events around which to search, too
    replayed: int = 0  # events, of the whole

    @property
    def is_long(self) -> bool:
        """True if an excerpt of the recording is searched."""
        return self.recording.survey is not None

    @property
    def searched(self) -> LoadedTrace:
        """The excerpt, or the recording itself."""
        searched = self.recording.loaded or self.excerpt
        assert searched is not None, "a long recording has an excerpt before it is searched"
        return searched

    def write_excerpt(self, progress: Progress) -> bool:
        """Writes an excerpt of a long recording; False if it is the one before."""
        survey, options = self.recording.survey, self.request.options
        if survey is None:
            return False
        windows = windows_of(survey, options.most_events // _PART, self.refused)
        if windows == self.windows:
            return False
        path = self.request.place.staging / f"{self.recording.name}-excerpt.parquet"
        whole = self.recording.trace
        excerpt = save_excerpt(path, whole, windows, progress)
        if not excerpt.fits_in_memory:
            raise HeapfitError(
                f"{whole.path}: {survey.profile.live_blocks_max:,} blocks live at once: "
                f"an excerpt has {excerpt.info.events:,} events, more than a search holds"
            )
        self.windows, loaded = windows, load_trace(excerpt, options.alignment)
        self.excerpt = replace(loaded, threads=self.request.threads, whole=survey.profile)
        return True

    def replay(self, plan: Plan, region: int) -> tuple[int | None, int]:
        """Replays all of the recording: the event that is refused first, and the bytes used.

        None: all is served. No bytes of allocators that do not tell it.
        """
        replay = plain_replay(self.recording.trace, plan, region, self.progress)
        self.replayed += replay.result().events
        return replay.result().failed_event, replay.reach

    def find_region_for(self, plan: Plan, reach: int) -> int:
        """The region of a plan that uses so many bytes."""
        base = self.recording.trace.base_alignment_for(plan.alignment)
        return _engine.Trial(plan.engine(), _engine.EventArray(), base).region_for(reach)


def choose_by_excerpts(
    workload: Workload, request: Request, progress: Progress
) -> tuple[Choice, tuple[LoadedTrace, ...], Profile, ExcerptInfo]:
    """Searches excerpts, written into the staging folder, until their choice serves all recordings.

    One of these at least is long. Then what was searched (of others than long ones the whole), and
    the profile of the whole recording that is shown.
    """
    options, events = request.options, sum(one.trace.info.events for one in workload.recordings)
    seconds = {"look": 0.4, "search": 0.8, "replay": 0.3}  # for a million events
    whole = WeightedProgress(
        progress, {name: each * events / 1_000_000 for name, each in seconds.items()}
    )
    look, replaying = whole.part("look"), whole.part("replay")
    views = [_RecordingView(recording, request, replaying) for recording in workload.recordings]
    for view in views:
        view.write_excerpt(look)
    choice = _search(views, request, whole.part("search"))
    for _ in range(SEARCHES - 1):
        if not _note_refused(views, choice):
            return _make_result(views, choice, choice)
        looked_anew = [view.write_excerpt(look) for view in views]
        if not any(looked_anew):
            break
        choice = _search(views, request, whole.part("search"))
    pairs = zip(views, choice.r_safe, strict=True)
    needs = [find_need(one, least or 0, choice) for one, least in pairs]
    if max(needs) == _find_most(choice):
        return _make_result(views, choice, choice)
    if len(views) == 1 and options.is_by_memory:
        choice, needs[0] = find_least_of_whole(views[0], choice, needs[0], options)
    is_raised = max(needs) > _find_most(choice)
    served = _raise_region(choice, needs, options) if is_raised else choice
    return _make_result(views, choice, served)


def _search(views: Sequence[_RecordingView], request: Request, progress: Progress) -> Choice:
    """The choice on the excerpts, whose plan names the recordings that these are of."""
    choice = choose(
        [view.searched for view in views],
        [view.recording.name for view in views],
        options=request.options,
        progress=progress,
        sweep=request.sweep,
    )
    trained_on = choice.plan_file.trained_on
    contents = {view.searched.content: view.recording.read.content for view in views}
    seen = tuple(
        TrainingTrace(one.trace, contents.get(one.content, one.content))
        for one in trained_on.traces
    )
    content = contents.get(trained_on.content, trained_on.content)
    events = sum(view.recording.trace.info.events for view in views)
    of_whole = replace(trained_on, content=content, events=events, traces=seen)
    return replace(choice, plan_file=replace(choice.plan_file, trained_on=of_whole))


def _find_most(choice: Choice) -> int:
    return max(region or 0 for region in choice.r_safe)


def _note_refused(views: Sequence[_RecordingView], choice: Choice) -> bool:
    """True if the region fails on a long recording; notes where, to search there next."""
    plan, region = choice.winner.plan, _find_most(choice)
    failed = [(view, view.replay(plan, region)[0]) for view in views if view.is_long]
    for view, event in failed:
        view.refused += [] if event is None else [event]
    return any(event is not None for _, event in failed)


def find_need(view: _RecordingView, least: int, choice: Choice) -> int:
    """A region in which the plan serves the whole recording: `least`, if the choice's does."""
    plan, most = choice.winner.plan, _find_most(choice)
    refused, reach = view.replay(plan, most) if view.is_long else (None, 0)
    if refused is None:
        return least
    region = failing = most
    while refused is not None:
        failing, region = region, _enlarge(region)
        refused, reach = view.replay(plan, region)
    return max(most, _shrink(view, plan, failing, region, reach))


def find_least_of_whole(
    view: _RecordingView, choice: Choice, needed: int, options: FitOptions
) -> tuple[Choice, int]:
    """The plan whose region for the whole is least, and what it needs: the choice's, or a rival's.

    One replay rejects most rivals that need more of the excerpt: they run out of memory at once.
    """
    best, least = choice, needed
    for rival in _list_rivals(choice):
        region = compute_size(least, best.winner.known, options).region - UNIT
        limit = largest_r_safe(region, rival.known, options.peak, options.margin)
        is_larger = limit < (rival.r_safe or rival.r_safe_at_least or 0)
        if is_larger or view.replay(rival.plan, limit)[0] is not None:
            continue
        found = _take_rival(choice, rival, options, ignore_progress)
        searched, known = found.winner.r_safe, found.winner.known
        limit = largest_r_safe(region, known, options.peak, options.margin)
        if searched is not None and searched <= limit:
            best, least = found, find_least_within(view, rival.plan, searched, limit)
    return best, least


def find_least_within(view: _RecordingView, plan: Plan, searched: int, region: int) -> int:
    """What a plan needs of the whole, which it serves in `region`; `searched`: of the excerpt."""
    if view.replay(plan, searched)[0] is None:
        return searched
    _, reach = view.replay(plan, region)
    return _shrink(view, plan, searched, region, reach)


def _shrink(view: _RecordingView, plan: Plan, failing: int, region: int, reach: int) -> int:
    """The region for what a plan used of one that serves; unknown: one nearer to one that fails."""
    if reach:
        return view.find_region_for(plan, reach)
    for _ in range(_HALVINGS):
        middle = round_up(failing + region, 2 * UNIT) // 2
        is_refused = view.replay(plan, middle)[0] is not None
        failing, region = (middle, region) if is_refused else (failing, middle)
    return region


def _enlarge(region: int) -> int:
    larger = round_up(region + -(-region // _RAISE_BY), UNIT)
    if larger > LARGEST_REGION:
        raise HeapfitError(f"no region below 4 GiB serves all of it (tried up to {region:,} B)")
    return larger


def _make_result(
    views: Sequence[_RecordingView], choice: Choice, served: Choice
) -> tuple[Choice, tuple[LoadedTrace, ...], Profile, ExcerptInfo]:
    """The choice that serves the whole, with its excerpts; `choice`: as it was searched."""
    long = [view for view in views if view.is_long]
    info = ExcerptInfo(
        events=sum(view.recording.trace.info.events for view in long),
        searched=sum(view.searched.trace.info.events for view in long),
        refused=tuple(event for view in long for event in view.refused),
        replayed=sum(view.replayed for view in long),
        r_safe=_find_most(choice),
        is_raised=served is not choice,
    )
    shown = next(view for view in views if view.searched.trace.path == served.shown.trace.path)
    return served, tuple(view.searched for view in views), shown.recording.read.profile, info


def _raise_region(choice: Choice, needs: Sequence[int], options: FitOptions) -> Choice:
    """The same plan with a larger region, where recordings need more than was found.

    Less than these may do by chance; it is not known.
    """
    r_safe = max(needs)
    winner, row = (replace(one, r_min=r_safe, r_safe=r_safe) for one in (choice.winner, choice.row))
    comparison = choice.comparison.with_row(winner)
    return make_choice(
        winner if len(needs) == 1 else replace(row, needs=tuple(needs)),
        comparison if len(needs) == 1 else choice.table,
        shown=(choice.shown, comparison, winner),
        trained_on=choice.plan_file.trained_on,
        options=options,
        verdict=f"{choice.verdict} On the whole recording it needs {r_safe:,} B.",
    )


def _list_rivals(choice: Choice) -> list[Row]:
    """Other plans that the verdict of one recording may name, those that need least first.

    They are of the winner's kind: with blocks counted on the recording, or not.
    """
    winner = choice.winner
    rivals = [
        row
        for row in verdict_rows(choice.comparison)
        if row.is_cut_to_trace == winner.is_cut_to_trace and row.name != winner.name
    ]
    return sorted(rivals, key=lambda one: one.r_safe is None)


def _take_rival(choice: Choice, rival: Row, options: FitOptions, progress: Progress) -> Choice:
    """The choice of one recording with another of its rows taken, searched to the end."""
    (found,) = compare(
        choice.shown, Portfolio((rival,), ()), progress=progress, precision=options.precision
    ).rows
    if found.r_safe is not None:
        programs = ChangedPrograms.from_recordings([choice.shown])
        tested = programs.test(found.heap, found.r_safe, found.known)
        found = replace(found, changes=tested, work=found.work + Work(changed=tested.events))
    others = [row for row in choice.comparison.rows if row is not rival]
    rows, work = rank_rows([found, *others]), choice.comparison.work + found.work
    comparison = replace(choice.comparison, rows=rows, work=work)
    comparison, winner = with_series(comparison, found, choice.shown)
    return make_choice(
        winner,
        comparison,
        shown=(choice.shown, comparison, winner),
        trained_on=choice.plan_file.trained_on,
        options=options,
        verdict=f"{winner.name} is chosen: {choice.winner.name} needs less on the excerpt, more "
        "on the whole recording.",
    )
