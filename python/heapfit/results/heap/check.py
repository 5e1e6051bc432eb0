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
from heapfit.results.check import change_table
from heapfit.results.document import FAILED, HOLDS, UNSURE, Document, write
from heapfit.results.heap_map.packed import pack_map, share_sites
from heapfit.results.heap_map.replays import (
    ReplaySubject,
    map_of,
    map_recordings,
    subject_from_heap,
)
from heapfit.results.number_text import count, percent, size
from heapfit.results.parts import (
    Cell,
    Column,
    Heading,
    HeapMap,
    Line,
    NamedFigure,
    Part,
    Section,
    Table,
)
from heapfit.results.sections.page import (
    in_order,
    name_source,
    pointer_figure,
    recording_kind,
)
from heapfit.results.sections.peak import moment_of
from heapfit.results.sections.plan_layers import plan_file_section
from heapfit.results.sections.program import live_parts, pools_section, program_section
from heapfit.results.sections.risk import RunGroup, risk_section
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.names import source_name

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
    write(path, check_page(check, sources, command))


def check_page(check: Check, sources: Sequence[Source], command: str) -> Document:
    """The page, the same for the same check."""
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
            page, sections = _comparison_page(check, (base, shown))
        else:
            page, sections = _plan_page(check, shown, needed)
    sections += [_recordings_section(check, needed), _grown_section(check)]
    notes, commands = shown.trace.info.notes, _commands(sources, command)
    return replace(page, sections=in_order(sections, notes, commands))


def _recordings_section(check: Check, needed: Sequence[RegionNeed]) -> Section:
    plan, base = check.plan, check.base
    caption = f"Each in the plan's {size(plan.region)}"
    if check.is_comparison and base is not None:
        caption = f"Needs: bytes of {plan.heap} ({size(base.needed)} for {base.name})"
    if base is not None:
        caption += f"; growth: of the peak, relative to {size(base.peak)}"
    columns: list[Column[tuple[CheckedRecording, RegionNeed]]] = [
        Column(page="recording", shown=lambda one: _name_recording(*one, check)),
        Column(page="verdict", shown=lambda one: _mark_verdict(one[0])),
        Column(page="peak", shown=lambda one: one[0].run.peak, told=size),
        Column(
            page="growth",
            shown=lambda one: None if one[0].growth is None else percent(one[0].growth / 100),
        ),
        Column(page="needs", shown=lambda one: _describe_need(one[1])),
    ]
    if not check.is_comparison:
        columns.append(Column(page="out of memory at event", shown=lambda one: _refused_at(one[0])))
    rows = [*zip(check.recordings, needed, strict=True)]
    return Section("recordings", "The recordings", [Table(columns, rows, caption=f"{caption}.")])


def _name_recording(one: CheckedRecording, need: RegionNeed, check: Check) -> Cell:
    used = "used for the plan" if need.is_seen else "hold-out"
    return Cell(one.run.name, () if check.is_comparison else (used,))


def _mark_verdict(one: CheckedRecording) -> Cell:
    return Cell("", mark=one.verdict, tone="differs") if one.findings else Cell("passed")


def _describe_need(need: RegionNeed) -> str:
    if need.region is None:
        return "more than tried"
    return f"at most {size(need.region)}" if need.is_bound else size(need.region)


def _refused_at(one: CheckedRecording) -> str:
    return "none" if one.run.refusal is None else count(one.run.refusal.event)


def _grown_section(check: Check) -> Section | None:
    """What grew in the recording that is shown, or holds its memory; None if nothing is known."""
    changes, base = check.recordings[_select_shown(check)].changes, check.base
    if changes is None:
        return None
    parts: list[Part] = []
    kinds = (("size", changes.sizes), ("call site", changes.sites), ("task", changes.tasks))
    for what, changed in kinds:
        if changed:
            parts += [Heading(f"By {what}"), change_table(what, changed)]
    if changes.are_builds_different:
        parts.append(
            Line(
                "The builds differ, and with them the call sites: give --program and "
                "--base-program."
            )
        )
    title = "What grew" if base and base.name else "What holds memory"
    return Section("grew", title, parts, title if check.is_comparison else "")


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


def _plan_page(
    check: Check, shown: LoadedTrace, needed: Sequence[RegionNeed]
) -> tuple[Document, list[Section | HeapMap | None]]:
    plan, place = check.plan, _select_shown(check)
    region = plan.region or 0
    sites = site_names(shown, check.options.programs)
    (info,) = find_allocators([plan.plan.allocator])
    heap = _subject(shown, plan)
    heap_map = None
    if not info.in_pieces:
        also = [one for one in [needed[place].region] if one is not None]
        heap_map = HeapMap(pack_map(map_of(shown, [heap], also), sites))
    sections = [
        heap_map,
        _peak(shown, heap, check.recordings[place], sites),
        _risk(needed, plan),
        pools_section(shown, plan.plan),
        program_section(shown, live_parts(shown, region), ()),
        plan_file_section(plan, region),
    ]
    return _opening(check, shown, needed), sections


def _base_source(check: Check) -> Source:
    """The recording of the base that the others are compared with."""
    assert check.base is not None, "a comparison has a base"
    for source in check.options.base:
        if source_name(path_of(source)) == check.base.name:
            return source
    raise AssertionError("the base's name is of one of its recordings")


def _comparison_page(
    check: Check, pair: tuple[LoadedTrace, LoadedTrace]
) -> tuple[Document, list[Section | HeapMap | None]]:
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
    return _comparison_opening(check, shown), [
        HeapMap(pack_map(replace(both, sites=sites), {**old_names, **names})),
        _peak(shown, heap, recording, names),
        pools_section(shown, plan.plan),
        program_section(shown, live_parts(shown, plan.region or 0), ()),
    ]


def _make_subject(
    name: str, need: int | None, loaded: LoadedTrace, plan: PlanFile
) -> ReplaySubject:
    """A recording in the plan's heap, set to what it needs."""
    region = (region_of_plan(plan, need), _base(loaded, plan))
    return subject_from_heap(name, heap_of_plan(plan), loaded, region)


def _comparison_opening(check: Check, shown: LoadedTrace) -> Document:
    recording, base = check.recordings[_select_shown(check)], check.base
    assert base is not None and base.needed is not None, "it is compared with that"
    assert recording.needed is not None and recording.needed.r_safe is not None
    need, name = recording.needed.r_safe, recording.run.name
    growth = f"{recording.growth or 0:+.1f} %"
    many = len(check.recordings)
    return Document(
        command="check",
        title=f"{name} beside {base.name}",
        source=name_source(", ".join([base.name, *(one.run.name for one in check.recordings)])),
        kind=recording_kind(shown.trace.info),
        sections=(),
        sentences=(
            f"The peak went from {size(base.peak)} to {size(recording.run.peak)}; "
            f"{check.plan.heap} needs {size(need)} where {size(base.needed)} were enough.",
            *filter(None, [recording.grows]),
        ),
        lead=(
            NamedFigure("peak", growth),
            NamedFigure(check.plan.heap, f"{need - base.needed:+,} B"),
        ),
        remarks=(f"Below, the page shows {name}.",) if many > 1 else (),
        trust=(
            NamedFigure("earlier peak", size(base.peak), base.name),
            NamedFigure("peak", size(recording.run.peak), name),
            pointer_figure([one.run.trace for one in check.recordings]),
        ),
        badge="" if check.options.growth is None else "Within" if check.holds else "Grew",
        tone=FAILED if not check.holds else HOLDS if check.options.growth else "",
    )


def _opening(check: Check, shown: LoadedTrace, needed: Sequence[RegionNeed]) -> Document:
    plan, recordings = check.plan, check.recordings
    refused = sum(one.run.refusal is not None for one in recordings)
    seen = sum(one.is_seen for one in needed)
    name = recordings[_select_shown(check)].run.name
    infos = [one.run.trace for one in recordings]
    margin = "not stated" if plan.margin is None else f"{plan.margin:g} %"
    tone, badge = _judge(check)
    return Document(
        command="check",
        title=f"{plan.name} in {size(plan.region)}",
        source=name_source(", ".join(one.run.name for one in recordings)),
        kind=recording_kind(shown.trace.info),
        sections=(),
        sentences=(_sentence(check, needed),),
        lead=(
            NamedFigure("region", size(plan.region)),
            NamedFigure("out of memory", f"{refused} of {len(recordings)}"),
            NamedFigure("highest peak", size(max(one.run.peak for one in recordings))),
        ),
        remarks=(f"Below, the page shows {name}.",) if len(recordings) > 1 else (),
        trust=(
            NamedFigure("recordings", count(len(recordings)), "each replayed in this region"),
            NamedFigure("used for the plan", count(seen), "of these"),
            NamedFigure(
                "planned peak", size(peak_of_plan(plan) or None), "which the region is sized for"
            ),
            NamedFigure("margin", margin, "of the region, for other runs"),
            pointer_figure(infos),
        ),
        badge=badge,
        tone=tone,
    )


def _judge(check: Check) -> tuple[str, str]:
    """The tone of the answer, and the answer in a few words: what grows holds for now."""
    if not check.holds:
        return FAILED, "Does not hold"
    if any(one.grows for one in check.recordings):
        return UNSURE, "Growing"
    return HOLDS, "Holds"


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
) -> Section:
    """The moment at which the heap is out of memory; the peak if it never is."""
    refusal = checked.run.refusal
    if refusal is None or refusal.event == 0:
        moment = "The heap at the peak of live bytes."
        return moment_of(shown, [heap], sites, ("The peak", moment, shown.profile.u_max_event))
    moment = f"The heap when a request for {size(refusal.size)} fails."
    return moment_of(shown, [heap], sites, ("Out of memory", moment, refusal.event - 1))


def _risk(needed: Sequence[RegionNeed], plan: PlanFile) -> Section | None:
    groups = (
        RunGroup("recorded runs", tuple(one.region for one in needed if one.is_seen)),
        RunGroup("hold-out runs", tuple(one.region for one in needed if not one.is_seen)),
    )
    caption = (
        "Each dot is a recording, at the least bytes that were tried and serve it; left of the "
        "line, the plan's region, it is served. Recorded: the plan was made from them. Hold-out: "
        "it was not."
    )
    return risk_section(groups, plan.region, caption)


def _commands(sources: Sequence[Source], command: str) -> list[tuple[str, str]]:
    fit = shlex.join(["heapfit", "fit", *map(str, map(path_of, sources))])
    return [("This check:", command), ("One heap for these recordings:", fit)]
