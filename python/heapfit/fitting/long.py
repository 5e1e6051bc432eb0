# SPDX-License-Identifier: Apache-2.0
"""Recordings too long to be searched: an excerpt of each is, and all of it replayed once.

survey --> windows --> excerpts --> search --> a replay of the whole in the region found
             ^                                                      |
             +------ around the event that was refused <------------+

After a few rounds the region is raised instead until the whole is served, and plans that needed
little more of the excerpt are replayed below it: the one that needs least of the whole is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from heapfit import _engine
from heapfit.comparison.margin import UNIT, HeapSize, largest_r_safe
from heapfit.comparison.trial import plain_replay
from heapfit.design.front.preference import Preference
from heapfit.errors import HeapfitError
from heapfit.fit_result import BesideRow, FitOptions, LookedAt, Standing
from heapfit.fitting.choice import Choice, raised, rivals, size_of, with_rival
from heapfit.plan.plan import LARGEST_REGION, Plan
from heapfit.plan.plan_file import SeenTrace
from heapfit.progress import Progress, Whole, no_progress
from heapfit.trace.excerpt import Survey, Window, save_excerpt, survey, windows_of
from heapfit.trace.profile import Profile
from heapfit.trace.stored import Trace

SEARCHES: Final = 3  # at most; each adds windows where the last one's heap ran out
_PART: Final = 10  # an excerpt has this part of the most that is searched whole
_RAISE_BY: Final = 32  # parts of a region at a time,
_HALVINGS: Final = 2  # and then so many replays between the last two
_WORK: Final = {"look": 30, "search": 50, "replay": 20}

Search = Callable[[Sequence[Trace], Progress], Choice]


@dataclass(slots=True)
class _Recording:
    """A recording, and what of it is searched."""

    name: str
    whole: Trace
    found: Survey | None  # None: it is searched whole
    searched: Trace
    windows: list[Window] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)  # events around which to look, too
    replayed: int = 0  # events, of the whole

    def look(self, folder: Path, progress: Progress, events: int) -> bool:
        """Writes its excerpt of about so many events; False if that is the one before."""
        if self.found is None:
            return False
        windows = windows_of(self.found, events, self.refused)
        if windows == self.windows:
            return False
        path = folder / f"{self.name}-excerpt.parquet"
        self.windows, self.searched = windows, save_excerpt(path, self.whole, windows, progress)
        if not self.searched.fits_in_memory:
            raise HeapfitError(
                f"{self.whole.path}: {self.found.profile.live_blocks_max:,} blocks live at once: "
                f"an excerpt has {self.searched.info.events:,} events, more than a search holds"
            )
        return True

    def replay(self, plan: Plan, region: int, progress: Progress) -> _engine.Replay:
        """All of it, up to the first refusal."""
        replay = plain_replay(self.whole, plan, region, progress)
        self.replayed += replay.result().events
        return replay


@dataclass(frozen=True, slots=True)
class LongChoice:
    """A choice that was made of excerpts and serves the whole of each recording."""

    choice: Choice
    searched: tuple[Trace, ...]  # excerpts; a recording that is not long as it is
    profile: Profile  # of the whole recording that is shown
    looked_at: LookedAt


def is_long(trace: Trace, options: FitOptions) -> bool:
    """Whether an excerpt of it is searched instead."""
    return trace.info.events > options.most_events


def choose_of_long(
    traces: Mapping[str, Trace],
    folder: Path,
    options: FitOptions,
    search: Search,
    progress: Progress,
) -> LongChoice:
    """Searches excerpts, written into `folder`, until their choice serves the recordings.

    `traces` by name, one at least of them long.
    """
    whole, events = Whole(progress, _WORK), options.most_events // _PART
    look, replay = whole.part("look"), whole.part("replay")
    recordings = [
        _Recording(name, one, survey(one, look) if is_long(one, options) else None, one)
        for name, one in traces.items()
    ]
    for one in recordings:
        one.look(folder, look, events)
    choice = _searched(recordings, search, whole.part("search"))
    for _ in range(SEARCHES - 1):
        if not _note_refused(recordings, choice, replay):
            return _result(recordings, choice, _most(choice), is_raised=False)
        looked_anew = [one.look(folder, look, events) for one in recordings]
        if not any(looked_anew):
            break
        choice = _searched(recordings, search, whole.part("search"))
    needs = [
        _needed(one, least or 0, choice, replay)
        for one, least in zip(recordings, choice.r_safe, strict=True)
    ]
    if max(needs) == _most(choice):
        return _result(recordings, choice, max(needs), is_raised=False)
    if len(recordings) == 1 and options.prefer is Preference.RAM:
        choice, needs[0] = _least_of_whole(recordings[0], choice, needs[0], options, replay)
    is_raised = max(needs) > _most(choice)
    served = raised(choice, needs, options) if is_raised else choice
    return _result(recordings, served, _most(choice), is_raised=is_raised)


def _searched(recordings: Sequence[_Recording], search: Search, progress: Progress) -> Choice:
    """The choice on the excerpts, whose plan tells the recordings that these are of."""
    choice = search([one.searched for one in recordings], progress)
    trained_on = choice.plan_file.trained_on
    contents = {
        choice_content: one.found.content
        for one, choice_content in zip(recordings, _contents(choice), strict=True)
        if one.found is not None
    }
    seen = tuple(
        SeenTrace(one.trace, contents.get(one.content, one.content)) for one in trained_on.traces
    )
    content = contents.get(trained_on.content, trained_on.content)
    events = sum(one.whole.info.events for one in recordings)
    told = replace(trained_on, content=content, events=events, traces=seen)
    return replace(choice, plan_file=replace(choice.plan_file, trained_on=told))


def _contents(choice: Choice) -> list[str]:
    """Of what was searched, in order."""
    trained_on = choice.plan_file.trained_on
    return [one.content for one in trained_on.traces] or [trained_on.content]


def _most(choice: Choice) -> int:
    return max(region or 0 for region in choice.r_safe)


def _note_refused(recordings: Sequence[_Recording], choice: Choice, progress: Progress) -> bool:
    """Whether the choice's region fails on a long recording; there it is looked at next."""
    refused = False
    for one in recordings:
        if one.found is None:
            continue
        replay = one.replay(choice.winner.plan, _most(choice), progress)
        event = replay.result().failed_event
        if event is not None:
            one.refused.append(event)
            refused = True
    return refused


def _needed(one: _Recording, least: int, choice: Choice, progress: Progress) -> int:
    """A region in which the plan serves all of a recording: `least`, if the choice's does."""
    plan, region = choice.winner.plan, _most(choice)
    if one.found is None:
        return least
    replay = one.replay(plan, region, progress)
    if replay.result().refusals == 0:
        return least
    while replay.result().refusals:
        failing, region = region, _larger(region)
        replay = one.replay(plan, region, progress)
    if replay.reach:
        return max(_most(choice), _region_for(plan, replay.reach, one.whole))
    return _between(one, plan, failing, region, progress)


def _least_of_whole(
    one: _Recording, choice: Choice, needed: int, options: FitOptions, progress: Progress
) -> tuple[Choice, int]:
    """The plan whose region for the whole is least, and what it needs: the choice's, or a rival's.

    Of rivals that need more of the excerpt one replay tells most: they are refused at once.
    """
    best, least = choice, needed
    for rival in rivals(choice):
        region = size_of(least, best.winner.known, options).region - UNIT
        limit = largest_r_safe(region, rival.known, options.peak, options.margin)
        if limit < (rival.r_safe or rival.r_safe_at_least or 0):
            continue
        if one.replay(rival.plan, limit, progress).result().refusals:
            continue
        found = with_rival(choice, rival, options, no_progress)
        searched = found.winner.r_safe
        if searched is not None and searched <= limit:
            best, least = found, _least_within(one, rival.plan, searched, limit, progress)
    return best, least


def _least_within(
    one: _Recording, plan: Plan, searched: int, region: int, progress: Progress
) -> int:
    """What a plan needs of the whole, which it serves in `region`; `searched`: of the excerpt."""
    replay = one.replay(plan, searched, progress)
    if replay.result().refusals == 0:
        return searched
    reach = one.replay(plan, region, progress).reach
    return (
        _region_for(plan, reach, one.whole)
        if reach
        else _between(one, plan, searched, region, progress)
    )


def _between(one: _Recording, plan: Plan, failing: int, region: int, progress: Progress) -> int:
    """A region nearer to one that fails than `region`, in which the plan serves the whole."""
    for _ in range(_HALVINGS):
        middle = _units((failing + region) / 2)
        is_refused = bool(one.replay(plan, middle, progress).result().refusals)
        failing, region = (middle, region) if is_refused else (failing, middle)
    return region


def _units(region: float) -> int:
    """Rounded up to a region that is searched."""
    return -int(-region // _engine.REGION_UNIT) * _engine.REGION_UNIT


def _larger(region: int) -> int:
    larger = _units(region + region / _RAISE_BY)
    if larger > LARGEST_REGION:
        raise HeapfitError(f"no region below 4 GiB serves all of it (tried up to {region:,} B)")
    return larger


def _region_for(plan: Plan, reach: int, trace: Trace) -> int:
    base = max(trace.largest_alignment, plan.alignment)
    nothing = _engine.EventArray()
    return _engine.Trial(plan.engine(), nothing, base).region_for(reach)


def _result(
    recordings: Sequence[_Recording], choice: Choice, r_safe: int, *, is_raised: bool
) -> LongChoice:
    """`r_safe`: of the choice as it was searched."""
    long = [one for one in recordings if one.found is not None]
    looked_at = LookedAt(
        events=sum(one.whole.info.events for one in long),
        searched=sum(one.searched.info.events for one in long),
        refused=tuple(event for one in long for event in one.refused),
        replayed=sum(one.replayed for one in long),
        r_safe=r_safe,
        is_raised=is_raised,
    )
    shown = next(one for one in recordings if one.searched.path == choice.shown.trace.path)
    profile = choice.shown.profile if shown.found is None else shown.found.profile
    return LongChoice(choice, tuple(one.searched for one in recordings), profile, looked_at)


def of_excerpt(
    beside: Sequence[BesideRow], looked_at: LookedAt, size: HeapSize
) -> tuple[BesideRow, ...]:
    """Heaps beside the answer, which alone was replayed on the whole.

    Where that raised it, the answer's heap on the excerpt stands among them, to compare alike.
    """
    rows: list[BesideRow] = []
    for row in beside:
        is_fitted = row.standing is Standing.FITTED
        rows.append(replace(row, is_of_excerpt=not is_fitted))
        if is_fitted and looked_at.is_raised:
            region = replace(size, r_safe=looked_at.r_safe).region
            over = region / max(size.peak, 1)
            of_part = replace(row, standing=Standing.OTHER, region=region, over_peak=over)
            rows.append(replace(of_part, is_of_excerpt=True))
    return tuple(rows)
