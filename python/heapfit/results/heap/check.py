# SPDX-License-Identifier: Apache-2.0
"""The page of a check: whether recordings run in a plan's region, and what fills it if not."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from heapfit import _engine
from heapfit.checks.check import Check, CheckedRecording, Source, path_of
from heapfit.checks.margin import peak_of_plan
from heapfit.comparison.incumbents.heap_plans import heap_of_plan, region_of_plan
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.trial import least_region
from heapfit.importers import open_trace
from heapfit.importers.site_names import site_names
from heapfit.plan.allocators import find_allocators
from heapfit.plan.plan_file import PlanFile
from heapfit.results import html
from heapfit.results.heap_map.packed import pack_map, share_sites
from heapfit.results.heap_map.replays import (
    ReplaySubject,
    map_of,
    map_recordings,
    subject_from_heap,
)
from heapfit.results.number_text import count, size
from heapfit.results.sections import content
from heapfit.results.sections.content import PageCommand, PageContent, PageFigure, PageOpening
from heapfit.results.sections.peak import Peak, moment_of
from heapfit.results.sections.plan_layers import plan_part
from heapfit.results.sections.program import program_of
from heapfit.results.sections.risk import Risk, RunGroup, risk_of
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.names import source_name

_TEMPLATE = Path(__file__).with_name("check.html.j2")
_SIZES = 32  # up to the plan's region: the least is found in which a recording runs


@dataclass(frozen=True, slots=True)
class RegionNeed:
    """The region that a recording needs on the plan."""

    region: int | None  # bytes; None: more than was tried
    is_seen: bool  # the plan was made from it
    is_bound: bool = False  # it was not searched: the least of some sizes up to the plan's


def write_check_page(path: Path, check: Check, sources: Sequence[Source], command: str) -> None:
    """Writes the page; reads each recording once more and replays it some six times.

    `command` is what was typed.
    """
    html.write_page(path, render(check, sources, command))


def render(check: Check, sources: Sequence[Source], command: str) -> str:
    """The page as text, the same for the same check."""
    place, importing = _select_shown(check), check.options.importing
    shown, needed = None, []
    with ExitStack() as opened:
        for number, (source, one) in enumerate(zip(sources, check.recordings, strict=True)):
            trace = opened.enter_context(open_trace(source, importing))
            loaded = load_trace(trace, check.plan.plan.alignment)
            needed.append(_measure_need(loaded, check.plan, one))
            shown = loaded if number == place else shown
        assert shown is not None, "a check has one recording at least"
        if check.is_comparison:
            base = load_trace(opened.enter_context(open_trace(_base_source(check), importing)))
            gathered = _comparison_content(check, (base, shown), _commands(sources, command))
        else:
            gathered = _content(check, shown, needed, _commands(sources, command))
    recording = check.recordings[place]
    return content.render(_TEMPLATE, gathered, check=check, shown=recording, needed=needed)


def _select_shown(check: Check) -> int:
    """The index of the first recording that is out of memory, else of the highest peak."""
    refused = [i for i, one in enumerate(check.recordings) if one.run.refusal]
    peaks = range(len(check.recordings))
    return refused[0] if refused else max(peaks, key=lambda i: check.recordings[i].run.peak)


def _measure_need(loaded: LoadedTrace, plan: PlanFile, checked: CheckedRecording) -> RegionNeed:
    is_seen = plan.trained_on.has_seen(loaded.content)
    if checked.needed is not None:
        return RegionNeed(checked.needed.r_safe, is_seen)
    heap, region = heap_of_plan(plan), plan.region or 0
    if not heap.is_ours:
        needs = measure(heap, [loaded])
        memory = None if needs.most is None else needs.heap.set_to(needs.most)
        return RegionNeed(memory, is_seen)
    trial = heap.trial(loaded, plan.base_alignment)
    low = min(checked.run.peak, region)
    unit = _engine.REGION_UNIT
    sizes = sorted({(low + (region - low) * i // _SIZES) // unit * unit for i in range(_SIZES)})
    least = least_region(trial, trial.run(region), [*sizes, region])
    return RegionNeed(least, is_seen, is_bound=True)


def _subject(shown: LoadedTrace, plan: PlanFile) -> ReplaySubject:
    """The heap of the plan in its region."""
    region = max(region_of_plan(plan), plan.plan.engine().smallest_region)
    return subject_from_heap(plan.name, heap_of_plan(plan), shown, (region, _base(shown, plan)))


def _base(loaded: LoadedTrace, plan: PlanFile) -> int:
    return loaded.trace.base_alignment_for(plan.base_alignment)


def _content(
    check: Check,
    shown: LoadedTrace,
    needed: Sequence[RegionNeed],
    commands: tuple[PageCommand, ...],
) -> PageContent:
    plan, place = check.plan, _select_shown(check)
    region = plan.region or 0
    sites = site_names(shown, check.options.programs)
    (info,) = find_allocators([plan.plan.allocator])
    heap = _subject(shown, plan)
    heap_map = None
    if not info.in_pieces:
        also = [one for one in [needed[place].region] if one is not None]
        heap_map = pack_map(map_of(shown, [heap], also), sites)
    return PageContent(
        opening=_opening(check, shown, needed),
        heap_map=heap_map,
        peak=_peak(shown, heap, check.recordings[place], sites),
        risk=_risk(needed, plan),
        program=program_of(shown, plan.plan, region),
        notes=shown.trace.info.notes,
        plan=plan_part(plan, region),
        commands=commands,
        own_links=(("recordings", "The recordings"),),
    )


def _base_source(check: Check) -> Source:
    """The recording of the base that the others are compared with."""
    assert check.base is not None, "a comparison has a base"
    for source in check.options.base:
        if source_name(path_of(source)) == check.base.name:
            return source
    raise AssertionError("the base's name is of one of its recordings")


def _comparison_content(
    check: Check, pair: tuple[LoadedTrace, LoadedTrace], commands: tuple[PageCommand, ...]
) -> PageContent:
    """The page of two recordings, the earlier first: what grew, and both maps at one scale."""
    (base, shown), place, options = pair, _select_shown(check), check.options
    recording, plan = check.recordings[place], check.plan
    names = site_names(shown, options.programs)
    old_names = site_names(base, options.base_programs or options.programs)
    assert check.base is not None and recording.needed is not None, "both were measured"
    sized = [
        (loaded, _make_subject(name, need, loaded, plan))
        for loaded, name, need in (
            (base, check.base.name, check.base.needed),
            (shown, recording.run.name, recording.needed.r_safe),
        )
    ]
    (_, heap), both = sized[1], map_recordings(sized)
    sites = share_sites(both.sites, old_names, names)
    return PageContent(
        opening=_comparison_opening(check, shown),
        heap_map=pack_map(replace(both, sites=sites), {**old_names, **names}),
        peak=_peak(shown, heap, recording, names),
        program=program_of(shown, plan.plan, plan.region or 0),
        notes=shown.trace.info.notes,
        commands=commands,
        own_links=(("recordings", "The recordings"), ("grew", "What grew")),
    )


def _make_subject(
    name: str, need: int | None, loaded: LoadedTrace, plan: PlanFile
) -> ReplaySubject:
    """A recording in the plan's heap, set to what it needs."""
    region = (region_of_plan(plan, need), _base(loaded, plan))
    return subject_from_heap(name, heap_of_plan(plan), loaded, region)


def _comparison_opening(check: Check, shown: LoadedTrace) -> PageOpening:
    recording, base = check.recordings[_select_shown(check)], check.base
    assert base is not None and base.needed is not None, "it is compared with that"
    assert recording.needed is not None and recording.needed.r_safe is not None
    need, name = recording.needed.r_safe, recording.run.name
    growth = f"{recording.growth or 0:+.1f} %"
    many = len(check.recordings)
    return PageOpening(
        command="check",
        title=f"{name} beside {base.name}",
        source=", ".join([base.name, *(one.run.name for one in check.recordings)]),
        kind=content.recording_kind(shown.trace.info),
        sentences=(
            f"The peak went from {size(base.peak)} to {size(recording.run.peak)}; "
            f"{check.plan.heap} needs {size(need)} where {size(base.needed)} were enough.",
            *filter(None, [recording.grows]),
        ),
        lead=(
            PageFigure("peak", growth),
            PageFigure(check.plan.heap, f"{need - base.needed:+,} B"),
        ),
        remarks=(f"Below, the page shows {name}.",) if many > 1 else (),
        trust=(
            PageFigure("earlier peak", size(base.peak), base.name),
            PageFigure("peak", size(recording.run.peak), name),
            content.pointer_figure([one.run.trace for one in check.recordings]),
        ),
        badge="" if check.options.growth is None else "Within" if check.holds else "Grew",
        tone=content.FAILED if not check.holds else content.HOLDS if check.options.growth else "",
    )


def _opening(check: Check, shown: LoadedTrace, needed: Sequence[RegionNeed]) -> PageOpening:
    plan, recordings = check.plan, check.recordings
    refused = sum(one.run.refusal is not None for one in recordings)
    seen = sum(one.is_seen for one in needed)
    name = recordings[_select_shown(check)].run.name
    infos = [one.run.trace for one in recordings]
    margin = "not stated" if plan.margin is None else f"{plan.margin:g} %"
    tone, badge = _judge(check)
    return PageOpening(
        command="check",
        title=f"{plan.name} in {size(plan.region)}",
        source=", ".join(one.run.name for one in recordings),
        kind=content.recording_kind(shown.trace.info),
        sentences=(_sentence(check, needed),),
        lead=(
            PageFigure("region", size(plan.region)),
            PageFigure("out of memory", f"{refused} of {len(recordings)}"),
            PageFigure("highest peak", size(max(one.run.peak for one in recordings))),
        ),
        remarks=(f"Below, the page shows {name}.",) if len(recordings) > 1 else (),
        trust=(
            PageFigure("recordings", count(len(recordings)), "each replayed in this region"),
            PageFigure("used for the plan", count(seen), "of these"),
            PageFigure(
                "planned peak", size(peak_of_plan(plan) or None), "which the region is sized for"
            ),
            PageFigure("margin", margin, "of the region, for other runs"),
            content.pointer_figure(infos),
        ),
        badge=badge,
        tone=tone,
    )


def _judge(check: Check) -> tuple[str, str]:
    """The tone of the answer, and the answer in a few words: what grows holds for now."""
    if not check.holds:
        return content.FAILED, "Does not hold"
    if any(one.grows for one in check.recordings):
        return content.UNSURE, "Growing"
    return content.HOLDS, "Holds"


def _sentence(check: Check, needed: Sequence[RegionNeed]) -> str:
    runs, region = len(check.recordings), size(check.plan.region)
    if check.holds:
        opening = "The recording passes" if runs == 1 else f"All {runs} recordings pass"
        grows = next((f" {one.grows}" for one in check.recordings if one.grows), "")
        return f"{opening} in the plan's {region}.{grows}"
    refused = [i for i, one in enumerate(check.recordings) if one.run.refusal]
    if not refused:
        failed = next(one for one in check.recordings if one.findings)
        return f"{failed.run.name} fails: {failed.verdict}."
    first = refused[0]
    refusal, need = check.recordings[first].run.refusal, needed[first].region
    assert refusal is not None, "it is among those that were refused"
    many = f"{len(refused)} of {runs} recordings run out of memory in the plan's {region}: "
    more = "" if need is None else f"; it needs {size(need)}"
    name = check.recordings[first].run.name
    one = f"{name} runs out of memory in the plan's {region}, "
    opening = one if runs == 1 else f"{many}{name} "
    grows = f" {check.recordings[first].grows}".rstrip()
    return f"{opening}first at event {count(refusal.event)}{more}.{grows}"


def _peak(
    shown: LoadedTrace, heap: ReplaySubject, checked: CheckedRecording, sites: dict[int, str]
) -> Peak:
    """The moment at which the heap is out of memory; the peak if it never is."""
    refusal = checked.run.refusal
    if refusal is None or refusal.event == 0:
        moment = "The heap at the peak of live bytes."
        return moment_of(shown, [heap], sites, ("The peak", moment, shown.profile.u_max_event))
    moment = f"The heap when a request for {size(refusal.size)} fails."
    return moment_of(shown, [heap], sites, ("Out of memory", moment, refusal.event - 1))


def _risk(needed: Sequence[RegionNeed], plan: PlanFile) -> Risk | None:
    groups = (
        RunGroup("recorded runs", tuple(one.region for one in needed if one.is_seen)),
        RunGroup("hold-out runs", tuple(one.region for one in needed if not one.is_seen)),
    )
    caption = (
        "Each dot is a recording, at the least bytes that were tried and serve it; left of the "
        "line, the plan's region, it is served. Recorded: the plan was made from them. Hold-out: "
        "it was not."
    )
    return risk_of(groups, plan.region, caption)


def _commands(sources: Sequence[Source], command: str) -> tuple[PageCommand, ...]:
    files = map(path_of, sources)
    fit = shlex.join(["heapfit", "fit", *map(str, files)])
    return (PageCommand("This check:", command), PageCommand("One heap for these recordings:", fit))
