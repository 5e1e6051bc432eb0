# SPDX-License-Identifier: Apache-2.0
"""The page of a check: whether recordings run in a plan's region, and what fills it if not."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from heapfit import _engine
from heapfit.checks.check import Check, Checked, Source
from heapfit.checks.margin import planned_peak
from heapfit.comparison.trial import need_of
from heapfit.importers import opened_trace
from heapfit.importers.site_names import site_names
from heapfit.plan.allocators import find_allocators
from heapfit.plan.plan_file import PlanFile
from heapfit.report.drawing import rendering
from heapfit.report.drawing.number_text import NO_BREAK, count, size
from heapfit.report.heap_map.packed import packed_map
from heapfit.report.heap_map.replays import Subject, map_of, planned
from heapfit.report.sections import content
from heapfit.report.sections.content import Command, Content, Figure, Opening
from heapfit.report.sections.peak import Peak, moment_of
from heapfit.report.sections.plan_layers import plan_part
from heapfit.report.sections.program import program_of
from heapfit.report.sections.risk import Group, Risk, risk_of
from heapfit.trace.loaded import LoadedTrace, load_trace

_TEMPLATE = Path(__file__).with_name("check.html.j2")
_SIZES = 32  # up to the plan's region: the least is found in which a recording runs


@dataclass(frozen=True, slots=True)
class Needed:
    """What a recording needs on the plan."""

    region: int | None  # bytes; None: more than was tried
    is_seen: bool  # the plan was made from it


def write_check_page(path: Path, check: Check, sources: Sequence[Source], command: str) -> None:
    """Writes the page; each of the recordings is read once more, and replayed some six times.

    `command` is what was typed.
    """
    rendering.write_page(path, render(check, sources, command))


def render(check: Check, sources: Sequence[Source], command: str) -> str:
    """The page as text, the same for the same check."""
    place = _shown(check)
    shown, needed = None, []
    with ExitStack() as opened:
        for number, (source, one) in enumerate(zip(sources, check.recordings, strict=True)):
            trace = opened.enter_context(opened_trace(source, check.options.importing))
            loaded = load_trace(trace, check.plan.plan.alignment)
            needed.append(_needed(loaded, check.plan, one))
            shown = loaded if number == place else shown
        assert shown is not None, "a check has one recording at least"
        gathered = _content(check, shown, needed, _commands(sources, command))
    told = check.recordings[place]
    return content.render(_TEMPLATE, gathered, check=check, shown=told, needed=needed)


def _shown(check: Check) -> int:
    """The first recording that is refused, else the one with the highest peak."""
    refused = [i for i, one in enumerate(check.recordings) if one.run.refusal]
    peaks = range(len(check.recordings))
    return refused[0] if refused else max(peaks, key=lambda i: check.recordings[i].run.peak)


def _needed(loaded: LoadedTrace, plan: PlanFile, checked: Checked) -> Needed:
    is_seen = plan.trained_on.has_seen(loaded.content)
    if checked.needed is not None:
        return Needed(checked.needed.r_safe, is_seen)
    events, region = loaded.events_for(plan.plan), plan.region or 0
    trial = _engine.Trial(plan.plan.engine(), events, _base(loaded, plan))
    low = min(checked.run.peak, region)
    unit = _engine.REGION_UNIT
    sizes = sorted({(low + (region - low) * i // _SIZES) // unit * unit for i in range(_SIZES)})
    return Needed(need_of(trial, trial.run(region), [*sizes, region]), is_seen)


def _base(loaded: LoadedTrace, plan: PlanFile) -> int:
    return loaded.trace.base_alignment_for(plan.base_alignment)


def _content(
    check: Check, shown: LoadedTrace, needed: Sequence[Needed], commands: tuple[Command, ...]
) -> Content:
    plan, place = check.plan, _shown(check)
    region = plan.region or 0
    sites = site_names(shown, check.options.programs)
    (info,) = find_allocators([plan.plan.allocator])
    heap = planned(plan.name, plan.plan, shown, (region, _base(shown, plan)))
    heap_map = None
    if not info.in_pieces:
        also = [one for one in [needed[place].region] if one is not None]
        heap_map = packed_map(map_of(shown, [heap], also), shown, sites)
    return Content(
        opening=_opening(check, shown, needed),
        heap_map=heap_map,
        peak=_peak(shown, heap, check.recordings[place], sites),
        risk=_risk(needed, plan),
        program=program_of(shown, plan.plan, region),
        candidates=None,
        notes=shown.trace.info.notes,
        plan=plan_part(plan, region),
        commands=commands,
        own_links=(("recordings", "The recordings"),),
    )


def _opening(check: Check, shown: LoadedTrace, needed: Sequence[Needed]) -> Opening:
    plan, recordings = check.plan, check.recordings
    refused = sum(one.run.refusal is not None for one in recordings)
    seen = sum(one.is_seen for one in needed)
    name = recordings[_shown(check)].run.name
    infos = [one.run.trace for one in recordings]
    margin = "not stated" if plan.margin is None else f"{plan.margin:g}{NO_BREAK}%"
    return Opening(
        command="check",
        title=f"{plan.name} in {size(plan.region)}",
        source=", ".join(one.run.name for one in recordings),
        kind=content.kind_of(shown.trace.info),
        sentences=(_sentence(check, needed),),
        lead=(
            Figure("region", size(plan.region)),
            Figure("out of memory", f"{refused} of {len(recordings)}"),
            Figure("highest peak", size(max(one.run.peak for one in recordings))),
        ),
        remarks=(f"Below, the page shows {name}.",) if len(recordings) > 1 else (),
        trust=(
            Figure("recordings", count(len(recordings)), "each replayed in this region"),
            Figure("used for the plan", count(seen), "of these"),
            Figure(
                "planned peak", size(planned_peak(plan) or None), "which the region is sized for"
            ),
            Figure("margin", margin, "of the region, above that peak"),
            content.pointers_told(infos),
        ),
    )


def _sentence(check: Check, needed: Sequence[Needed]) -> str:
    runs, region = len(check.recordings), size(check.plan.region)
    if check.holds:
        opening = "The recording passes" if runs == 1 else f"All {runs} recordings pass"
        return f"{opening} in the plan's {region}."
    refused = [i for i, one in enumerate(check.recordings) if one.run.refusal]
    if not refused:
        failed = [one for one in check.recordings if one.findings]
        found = ", ".join(failed[0].findings).replace("_", " ")
        return f"{failed[0].run.name} fails: {found}."
    first = refused[0]
    refusal, need = check.recordings[first].run.refusal, needed[first].region
    assert refusal is not None, "it is among those that were refused"
    many = f"{len(refused)} of {runs} recordings run out of memory in the plan's {region}: "
    more = "" if need is None else f"; it needs {size(need)}"
    name = check.recordings[first].run.name
    one = f"{name} runs out of memory in the plan's {region}, "
    opening = one if runs == 1 else f"{many}{name} "
    return f"{opening}first at event {count(refusal.event)}{more}."


def _peak(shown: LoadedTrace, heap: Subject, checked: Checked, sites: dict[int, str]) -> Peak:
    """The moment of the refusal, if there is one."""
    refusal = checked.run.refusal
    if refusal is None or refusal.event == 0:
        told = "The heap in the plan's region at the peak of live bytes."
        return moment_of(shown, [heap], sites, ("The peak", told, shown.profile.u_max_event))
    told = f"The heap in the plan's region when a request for {size(refusal.size)} fails."
    return moment_of(shown, [heap], sites, ("Out of memory", told, refusal.event - 1))


def _risk(needed: Sequence[Needed], plan: PlanFile) -> Risk | None:
    groups = (
        Group("recorded runs", tuple(one.region for one in needed if one.is_seen)),
        Group("hold-out runs", tuple(one.region for one in needed if not one.is_seen)),
    )
    caption = (
        "The share of recordings that run out of memory in each region. Recorded: the plan was "
        "made from them. Hold-out: it was not. Dashed: the plan's region."
    )
    return risk_of(groups, plan.region, caption)


def _commands(sources: Sequence[Source], command: str) -> tuple[Command, ...]:
    files = [one if isinstance(one, Path) else one.path for one in sources]
    fit = shlex.join(["heapfit", "fit", *map(str, files)])
    return (Command("This check:", command), Command("One heap for these recordings:", fit))
