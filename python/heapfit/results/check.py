# SPDX-License-Identifier: Apache-2.0
"""Runs in a plan's region: what `check` prints, and `compare` with a plan."""

from __future__ import annotations

from collections.abc import Sequence

from heapfit.checks.check import Base, Check, CheckedRecording, CheckFinding, RecordingNeeds
from heapfit.checks.growth import MOST, Changes, GroupGrowth, Name
from heapfit.checks.margin import peak_of_plan
from heapfit.checks.prospect import Prospect, estimate_need
from heapfit.checks.refusals import Refusals, RefusedGroup
from heapfit.checks.run import PlanRun
from heapfit.checks.shards import shard_of
from heapfit.checks.system_run import SIZE_STEP
from heapfit.comparison.heap_map import LEAST_HOLE
from heapfit.comparison.incumbents.heap_plans import heap_of_plan
from heapfit.comparison.trial import Refusal
from heapfit.drawing.number_text import size
from heapfit.drawing.parts import (
    Column,
    Fields,
    Line,
    Note,
    Part,
    Table,
    hide_unless,
    object_of,
    which_hold,
)
from heapfit.forecast.load import OWN_RUNS
from heapfit.plan.plan import SITE
from heapfit.plan.plan_file import PlanFile
from heapfit.plan.quantities import format_count, format_event, format_share
from heapfit.results.image import HOLES
from heapfit.trace.names import program_word

_FEWEST_COUNTED = 3  # recordings, of which more is said than that all run


def check_parts(check: Check, *, is_whole: bool = False) -> list[Part]:
    """The answer, the recordings in a table, and the findings of each that is not green.

    One alone has a table where `is_whole`: the first lines say the same.
    """
    plan, base, options = check.plan, check.base, check.options
    needed = {} if base is None or base.needed is None else {"needed": base.needed}
    fields = {
        "plan": plan.name,
        "allocator": plan.plan.allocator,
        "region": plan.region,
        "peak": peak_of_plan(plan) or None,
        "margin": plan.margin,
        "runs": plan.runs,
        "base": base and {"name": base.name or None, "peak": base.peak, **needed},
        "growth_allowed": options.growth,
        "is_strict": options.is_strict,
        "is_passed": check.holds,
        "events_replayed": check.events_replayed,
        "events_of_searches": check.events_of_searches,
    }
    rows = check.recordings
    is_one = len(rows) == 1 and not check.is_comparison
    head: list[Part] = [
        *map(Line, [headline_of(check), *describe_largest_growth(check), *describe_doubts(check)]),
        Fields(fields),
        *(Note(f"{one.run.name}: {note}") for one in rows for note in one.notes),
        *hide_unless(is_whole or not is_one, [Table(_COLUMNS, rows, "recordings")]),
        *map(Line, [] if is_one and not is_whole else _explain_table(check)),
    ]
    if check.is_comparison:
        return [*head, *(part for one in rows for part in _growth_parts(one))]
    prospect = check.prospect
    told = [_describe_prospect(prospect), _describe_largest(check), _describe_holes(rows)]
    return [
        *head,
        Fields({"prospect": prospect, "shard": shard_of(check)}),
        *map(Line, filter(None, told)),
        *(part for one in rows for part in _finding_parts(one, check, is_alone=is_one)),
        *map(Note, _list_unchecked(check)),
    ]


def headline_of(check: Check) -> str:
    """The answer as a sentence."""
    base, rows, plan, failed = check.base, check.recordings, check.plan, check.failed
    verdict, first = "FAIL: " if failed else "PASS: ", (failed or rows)[0]
    if check.is_comparison and base is not None:
        is_judged = bool(failed) or check.options.growth is not None
        return f"{verdict * is_judged}{compare_with_base(first, base, plan)}"
    if len(rows) == 1 or failed:
        many = f"{len(failed)} of {len(rows)} recordings fail; " if len(rows) > 1 else ""
        most = ", the most of them" if first.run.refusal and len(failed) > 1 else ""
        return f"{verdict}{many}{_describe_finding(first, check)}{most}."
    least = min(rows, key=lambda one: _find_left(one.run, plan, one.needed) or 0)
    left = _describe_left(least.run, plan, least.needed)
    fewest = f", {least.run.name}{left}" if left.startswith(" ") else left
    return f"{verdict}all {len(rows)} recordings fit in {_name_region(plan)}{fewest}."


def compare_with_base(one: CheckedRecording, base: Base, plan: PlanFile) -> str:
    """A recording's peak and need beside the base's, as a sentence."""
    needed = one.needed.r_safe if one.needed else None
    need = f"; {plan.heap} needs {needed or 0:,} B, in the base {base.needed or 0:,} B"
    name = f"{one.run.name}{' leaks and' * (CheckFinding.LEAKS in one.findings)}"
    return (
        f"{name} has a peak of {one.run.peak:,} B, {base.name} had {base.peak:,} B "
        f"({_growth(one)}){'' if needed is None else need}."
    )


def describe_run(run: PlanRun, plan: PlanFile, needed: RecordingNeeds | None = None) -> str:
    """A clause that a run fits in the plan's region or not, and what is left of it."""
    where = _name_region(plan)
    if run.refusal is None:
        return f"{run.name} fits in {where}{_describe_left(run, plan, needed)}"
    at = f"{format_event(run.refusal.event)} of {run.trace.events:,}"
    needs = "" if needed is None else f"; it needs {_describe_need(needed)}"
    return f"{run.name} runs out of memory in {where} at {at}{needs}"


def _describe_need(needed: RecordingNeeds) -> str:
    """The smallest region from which every larger one runs, and the smallest that does."""
    if needed.r_safe is None:
        return "another heap: no region serves it, up to 4 GiB"
    is_lucky = needed.r_min is not None and needed.r_min < needed.r_safe
    least = f" to run in every larger one tried, too ({needed.r_min:,} B is the smallest that runs)"
    return f"{needed.r_safe:,} B{least if is_lucky else ''}"


def _name_region(plan: PlanFile) -> str:
    return f"{plan.region:,} B ({plan.name})"


def _find_left(run: PlanRun, plan: PlanFile, needed: RecordingNeeds | None) -> int | None:
    """The bytes of region that a run leaves, by its peak where R was not searched."""
    found = None if needed is None else needed.r_safe
    if plan.region is None or (found is None and not plan.r_safe):
        return None
    return plan.region - round(estimate_need(plan, run.peak, found))


def _describe_left(run: PlanRun, plan: PlanFile, needed: RecordingNeeds | None) -> str:
    left, region = _find_left(run, plan, needed), needed and needed.r_safe
    if needed is None and (left is None or left <= 0):
        return "; --measure tells what is left, and if larger heaps fit"
    if left is None or left <= -SIZE_STEP:
        return f" but not in every larger heap up to {region:,} B" if region else ""
    rough = f"some {float(f'{left:.2g}'):,.0f} B left by its peak (--measure is exact)"
    # Below 0: a setting between two that were tried.
    return f" with {rough if not region else f'{max(left, 0):,} B left: it needs {region:,} B'}"


def _describe_finding(one: CheckedRecording, check: Check) -> str:
    """What is wrong with a recording, or that it fits, as a clause."""
    run, plan, base = one.run, check.plan, check.base
    told = describe_run(run, plan, one.needed)
    used = format_share(min(one.margin_eaten or 0, 100) / 100)
    least = "" if one.needed else "at least "  # only the peak's growth is known
    reasons = which_hold(
        (run.refusal, told),
        (
            CheckFinding.MISALIGNED in one.findings,
            f"{run.name} asks for blocks aligned to {run.trace.largest_alignment:,} bytes; the "
            f"heap is aligned to {plan.base_alignment:,}",
        ),
        (
            CheckFinding.GREW in one.findings,
            f"{run.name} has a peak of {run.peak:,} B, {_growth(one)} beside "
            f"{(base and base.name) or 'the plan'}, and {check.options.growth or 0:g} % is allowed",
        ),
        (
            check.options.is_strict and CheckFinding.LEAKS in one.findings,
            f"{run.name} leaks, though it{told.removeprefix(run.name)}",
        ),
        (CheckFinding.MARGIN in one.findings, f"{told}; it uses {least}{used} of the reserve"),
    )
    return (reasons or [told])[0]


def describe_cause(one: CheckedRecording, check: Check) -> list[str]:
    """Why a recording fails: what grew, but beside a leak alone; the request that failed."""
    changes, refusal, planned = one.changes, one.run.refusal, peak_of_plan(check.plan)
    known = changes and ((not changes.are_builds_different and changes.sites) or changes.sizes)
    first, site = next(iter(known or ()), None), one.refusals.first if one.refusals else None
    # A heap that is broken up may be so by what grew, if that is as much as the request.
    least = refusal.size * (refusal.live + refusal.size <= planned) if refusal else 0
    causes = []
    if first and first.before and first.growth > least and {*one.findings} != {CheckFinding.LEAKS}:
        now, then, when = first.now.at_peak, first.before.at_peak, "at the peak"
        if now - then < first.growth:
            now, then, when = round(first.now.mean), round(first.before.mean), "on average"
        name = f"blocks up to {first.name:,} B" if isinstance(first.name, int) else first.name
        name = f"call site {name}" if SITE.fullmatch(name) else name
        causes.append(
            f"Cause: {name}: {now:,} B held {when} "
            f"({(check.base and check.base.name) or 'planned'}: {then:,} B)."
        )
    failed = (
        describe_refusal(
            refusal, check.plan, site, is_growing=one.is_filled, seconds=one.refused_after
        )
        if refusal
        else []
    )
    grown = which_hold((one.grows, one.grows))
    told = [*causes, *(grown + failed if one.is_filled else failed + grown)]
    is_said = causes or not told or check.allows(one)
    return told if is_said else [f"Cause: {told[0][0].lower()}{told[0][1:]}", *told[1:]]


def describe_largest_growth(check: Check) -> list[str]:
    """What grew most in the recording that grew most beside a base alone; else nothing."""
    most = max(check.recordings, key=lambda one: one.growth or 0.0)
    told = describe_cause(most, check)[: check.is_comparison and (most.growth or 0.0) > 0]
    return told if check.failed else [one.replace("Cause", "Grew most", 1) for one in told]


def _compare_peaks(one: CheckedRecording, check: Check) -> str:
    """A recording's peak beside the one that it is compared with."""
    base, planned = check.base, peak_of_plan(check.plan)
    if base is None or not base.peak:
        return f"Its peak is {one.run.peak:,} B."
    whose = base.name or "the plan's recordings"
    other = f"; the plan is for {planned:,} B" if planned not in (0, base.peak) else ""
    limit = f", above {check.options.growth or 0:g} %" * (CheckFinding.GREW in one.findings)
    return (
        f"Its peak is {one.run.peak:,} B; {whose} had {base.peak:,} B "
        f"({_growth(one)}{limit}){other}."
    )


def _growth(one: CheckedRecording) -> str | None:
    """The growth in percent; what rounds to zero is positive."""
    return None if one.growth is None else f"{round(one.growth, 1) + 0.0:+.1f} %"


def describe_doubts(check: Check) -> list[str]:
    """Sentences on recordings that are not whole, and on those of another program."""
    program = check.plan.trained_on.program
    cut = [
        f"{one.run.name} is not whole: what is missing may change its peak (--strict fails it)."
        for one in check.recordings
        if CheckFinding.NOT_WHOLE in one.findings
    ]
    others = [
        one.run
        for one in check.recordings
        if program_word(one.run.trace.program) not in {"", program_word(program)}
    ]
    more = "; others are of other programs, too" * (len(others) > 1)
    return cut + [
        f"{one.name} is a recording of {one.trace.program}, the plan of {program}{more}."
        for one in others[: bool(program)]
    ]


_COLUMNS: tuple[Column[CheckedRecording], ...] = (
    Column("name", "recording", lambda one: one.run.name),
    Column("verdict", "verdict"),
    Column("findings", value=lambda one: list(one.findings)),
    Column("events", "events", lambda one: one.run.trace.events),
    Column("replayed", value=lambda one: one.run.replayed),
    Column("peak", "peak", lambda one: one.run.peak),
    Column("growth", "growth", shown=_growth),
    Column("refusal", value=lambda one: one.run.refusal),
    Column("r_min", value=lambda one: one.needed and one.needed.r_min),
    Column("r_safe", "needs", lambda one: one.needed and one.needed.r_safe),
    Column("margin_eaten"),
    Column("sizes", value=lambda one: one.changes and one.changes.sizes),
    Column("sites", value=lambda one: one.changes and one.changes.sites),
    Column("tasks", value=lambda one: one.changes and one.changes.tasks),
    Column("refusals", value=lambda one: one.refusals),
    Column("holes", value=lambda one: one.holes and [object_of(HOLES, hole) for hole in one.holes]),
    Column("largest"),
    Column("grows", value=lambda one: one.grows or None),
)


def _explain_table(check: Check) -> list[str]:
    """What the growth of the table is of, and that no limit is set."""
    base, limit = check.base, check.options.growth
    if base is None:
        return []
    allowed = "" if limit is None else f" Limit: {limit:g} %."
    unset = "No limit is set, so no growth fails: --growth 10% sets one."
    several = f", the highest of {len(check.options.base)} bases" * (len(check.options.base) > 1)
    whose = f"{base.name or 'the plan'} ({base.peak:,} B){several}"
    return which_hold(
        (True, f"growth: of the peak, relative to {whose}.{allowed}"),
        (check.is_comparison and limit is None and check.holds, unset),
    )


def _describe_prospect(prospect: Prospect) -> str:
    """What the recordings say of the next one; nothing where they are few."""
    end = prospect.margin_end
    if end is not None:
        latest = "or later" if end.latest is None else f"to {end.latest:,.0f}"
        return (
            f"Needs grow by {end.growth:,.0f} B from one recording to the next: the heap is too "
            f"small after some {end.after:,.0f} more ({end.earliest:,.0f} {latest})."
        )
    if prospect.needed is not None:
        usual, rare = (f"{one:,} B" for one in prospect.needed)
        most = f"9 of 10 further ones run in {usual}, 99 of 100" * (usual != rare)
        told = most or "99 of 100 further ones run"
        return f"By the needs of these {prospect.runs} recordings {told} in {rare}."
    is_told = prospect.runs >= _FEWEST_COUNTED and not prospect.failed
    told = (
        f"It takes {OWN_RUNS} recordings and --measure to tell what further ones need; these are "
        f"{prospect.runs}."
        if prospect.runs < OWN_RUNS
        else "Their needs, with --measure, tell what further ones need."
    )
    return told if is_told else ""


def _describe_largest(check: Check) -> str:
    """The largest request that is served whenever it comes in any recording; "": not measured."""
    found = [one for one in check.recordings if one.largest is not None]
    if not found:
        return ""
    one = min(found, key=lambda each: each.largest or 0)
    least, left = one.largest or 0, _find_left(one.run, check.plan, one.needed)
    whose = f" of {one.run.name}, the tightest" if len(found) > 1 else ""
    is_more = left is not None and 0 <= left < least
    why = "; more than is left, as smaller heaps place blocks otherwise" if is_more else ""
    return f"A request for up to {least:,} B would be served at any moment{whose}{why}."


def _describe_holes(rows: Sequence[CheckedRecording]) -> str:
    """The holes at the peak of the recording that needs most, of those measured; "": none."""
    found = [(one.needed, one.run.name, one.holes) for one in rows if one.holes]
    if not found:
        return ""
    _, name, (most, *more) = max(found, key=lambda one: (one[0] and one[0].r_safe) or 0)
    return (
        f"At the peak of {name} the heap has {format_count(len(more) + 1, 'hole')} of "
        f"{LEAST_HOLE} B or more between blocks; the largest, {most.size:,} B, lies between "
        f"{most.below} and {most.above}."
    )


def _finding_parts(one: CheckedRecording, check: Check, *, is_alone: bool) -> list[Part]:
    """The findings of a recording that is not green, and what grew; the screen begins with one."""
    opening = [] if is_alone else ["", f"{_describe_finding(one, check)}."]
    if check.allows(one) and set(one.findings) <= {CheckFinding.LEAKS}:
        name, strict = "" if is_alone else f"{one.run.name}: ", " --strict fails on it."
        told = f"{name}{one.grows}{strict * bool(one.findings)}"
        return [*map(Line, [*opening[:1], told])] if one.grows else []
    return [
        *map(Line, [*opening, *describe_cause(one, check), _compare_peaks(one, check)]),
        *([] if one.refusals is None else _refusal_parts(one.refusals)),
        *([] if one.changes is None else _change_parts(one.changes)),
    ]


def _growth_parts(one: CheckedRecording) -> list[Part]:
    """What grew in a recording that is compared with the base alone."""
    changes, name = one.changes, one.run.name
    if changes is None or not (changes.sizes or changes.sites or changes.tasks):
        return [Line(f"{name}: no size, call site or task holds more than in the base.")]
    return [Line(""), Line(f"{name}: {one.grows}".rstrip()), *_change_parts(changes)]


def describe_refusal(
    refusal: Refusal,
    plan: PlanFile,
    site: Name | None,
    *,
    is_growing: bool = False,
    seconds: float | None = None,
) -> list[str]:
    """Why a request ran out of memory: more than was planned, or a fragmented heap.

    `seconds`: from the start of the recording; told from a millisecond on.
    """
    by, planned = "" if site is None else f" by {site}", peak_of_plan(plan)
    when = f" after {seconds:,.3f} s" if (seconds or 0) >= 1e-3 else ""
    within = ", within the planned peak" * bool(planned)
    reasons = which_hold(
        (planned and refusal.live + refusal.size > planned, ": above the planned peak"),
        (planned and plan.plan.filled_pools, f"{within}: the pools do not fit these sizes"),
        (is_growing or (not planned and refusal.free < refusal.size), within),
        (True, f"{within}: the heap is fragmented"),
    )
    return [
        f"A request for {refusal.size:,} B{by} came{when} with {refusal.live:,} B live"
        f"{reasons[0]}.",
        f"{refusal.free:,} B were free for requests, {refusal.largest_hole:,} B in one block.",
        *_describe_own(plan),
    ]


def _describe_own(plan: PlanFile) -> list[str]:
    """What an allocator that was named with a region takes of it before any request."""
    heap, region = heap_of_plan(plan), plan.region or 0
    own = heap.taken_by_itself(region) if plan.heap and heap.is_ours else 0
    return which_hold(
        (
            own,
            f"{own:,} of the {region:,} B are the heap's own or blocks of its pools, before any "
            "request.",
        )
    )


def _refusal_parts(refusals: Refusals) -> list[Part]:
    """The share of requests that the heap refuses where the program runs on."""
    columns: list[Column[RefusedGroup]] = [
        Column(heading="refused", shown=lambda one: one.refused),
        Column(heading="of", shown=lambda one: one.requests),
        Column(heading="share", shown=lambda one: format_share(one.refused / one.requests)),
    ]
    return [
        Line(
            f"Run on past it, the heap refuses {refusals.refused:,} of {refusals.requests:,} "
            f"requests ({format_share(refusals.refused / refusals.requests)}):"
        ),
        *(
            Table([Column(heading=heading, shown=lambda one: one.name), *columns], groups)
            for heading, groups in (("size up to", refusals.sizes), ("call site", refusals.sites))
            if groups
        ),
    ]


def _order(changed: Sequence[GroupGrowth]) -> str:
    return (
        f"{'largest growth' if changed[0].before else 'largest'} first"
        f"{'; others are left out' * (len(changed) == MOST)}"
    )


DIFFERENT = "The builds differ, and with them the call sites: give --program and --base-program."


def _change_parts(changes: Changes) -> list[Part]:
    """What grew most; without a base what holds most."""
    no_base = any(one.before is None for one in changes.sites)
    kept = no_base, "What each keeps to the end: `heapfit sites RECORDING --view later`."
    return [
        *(
            part
            for what, changed in changes.by_kind()
            for part in (
                Line(f"Bytes held by {what}, {_order(changed)}:"),
                change_table(what, changed),
            )
        ),
        *map(Line, which_hold((changes.are_builds_different, DIFFERENT), kept)),
    ]


def change_table(what: str, changed: Sequence[GroupGrowth]) -> Table[GroupGrowth]:
    """The bytes that each holds, and held in the base if there is one."""
    base = "of base" if changed[0].before is not None else ""
    columns: list[Column[GroupGrowth]] = [
        Column(
            heading="size up to" if what == "size" else what,
            page=what,
            shown=lambda one: one.name,
            told=lambda name: f"up to {size(int(name))}" if what == "size" else str(name),
        ),
        Column(heading="at the peak", shown=lambda one: one.now.at_peak, told=size),
        Column(
            heading=base,
            page=base and "at the base's peak",
            shown=lambda one: one.before and one.before.at_peak,
            told=size,
        ),
        Column(heading="on average", shown=lambda one: round(one.now.mean), told=size),
        Column(
            heading=base,
            page=base and "on its average",
            shown=lambda one: one.before and round(one.before.mean),
            told=size,
        ),
    ]
    return Table(columns, changed, caption=f"Live bytes by {what}, {_order(changed)}.")


def _list_unchecked(check: Check) -> list[str]:
    """What was not checked, as the plan or a recording does not have it."""
    plan, runs = check.plan, [one.run for one in check.recordings]
    unknown = [one.name for one in runs if not one.trace.pointer_bits]
    is_unknown = plan.trained_on.kind == "heap" and unknown and plan.pointer_bits
    return which_hold(
        (
            plan.margin is None and not plan.heap,
            f"{plan.name}: states no margin, so its use is not judged (heapfit fit writes one).",
        ),
        (
            check.options.growth is not None and check.base is None,
            f"{plan.name}: states no peak, so growth is not judged (give --base).",
        ),
        (
            is_unknown,
            f"{', '.join(unknown)}: pointer size unknown; the plan is for "
            f"{plan.pointer_bits} bit (sizes may differ; give import --pointer-bits).",
        ),
    )
