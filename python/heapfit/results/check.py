# SPDX-License-Identifier: Apache-2.0
"""Runs in a plan's region: what `check` prints, and `compare` with a plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from heapfit.checks.check import Check, CheckedRecording, CheckFinding
from heapfit.checks.growth import Change, Changes, Name
from heapfit.checks.margin import peak_of_plan
from heapfit.checks.prospect import Prospect
from heapfit.checks.refusals import Refusals, RefusedGroup
from heapfit.checks.run import PlanRun, Refusal
from heapfit.checks.shards import shard_of
from heapfit.forecast.load import OWN_RUNS
from heapfit.plan.plan_file import PlanFile
from heapfit.plan.quantities import format_share
from heapfit.results.number_text import size
from heapfit.results.parts import Column, Fields, Line, Note, Part, Table, which_hold

_FEWEST_COUNTED = 3  # recordings, of which more is said than that all run


def check_parts(check: Check) -> list[Part]:
    """The heap, the recordings in a table, and the findings of each that is not green."""
    plan, base, options = check.plan, check.base, check.options
    needed = {} if base is None or base.needed is None else {"needed": base.needed}
    fields = {
        "plan": plan.name,
        "allocator": plan.plan.allocator,
        "region": plan.region,
        "peak": peak_of_plan(plan),
        "margin": plan.margin,
        "runs": plan.runs,
        "base": base and {"name": base.name or None, "peak": base.peak, **needed},
        "growth_allowed": options.growth,
        "is_strict": options.is_strict,
        "is_passed": check.holds,
        "events_replayed": check.events_replayed,
        "events_of_searches": check.events_of_searches,
    }
    head: list[Part] = [
        Fields(fields),
        *(Note(f"{one.run.name}: {note}") for one in check.recordings for note in one.notes),
        *map(Line, _describe_heap(check)),
        Table(_COLUMNS, check.recordings, "recordings"),
    ]
    if check.is_comparison:
        return [*head, *(part for one in check.recordings for part in _growth_parts(one))]
    prospect = check.prospect
    return [
        *head,
        Fields({"prospect": prospect, "shard": shard_of(check)}),
        *map(Line, filter(None, [_describe_prospect(prospect)])),
        *(part for one in check.recordings for part in _finding_parts(one, plan)),
        *map(Note, _list_unchecked(check)),
    ]


def title_of(check: Check) -> str:
    """The title of a check in a pull request."""
    if check.is_comparison and check.base is not None:
        return f"What grew since {check.base.name}"
    heap, runs = f"The heap of {check.plan.region:,} bytes", len(check.recordings)
    if check.holds:
        return f"{heap} serves every recording"
    failed = sum(1 for one in check.recordings if one.findings)
    return f"{heap} fails on {failed} of {runs} {'recording' if runs == 1 else 'recordings'}"


def describe_run(run: PlanRun, plan: PlanFile) -> list[str]:
    """Sentences on a run: served or out of memory, and its peak against the planned one."""
    region = f"{plan.region:,} bytes"
    served = f"{run.name}: the {region} of {plan.name} are enough."
    if run.refusal is not None:
        at = f"event {run.refusal.event:,} of {run.trace.events:,}"
        served = f"{run.name}: out of memory in the {region} of {plan.name}, at {at}."
    return [served, _compare_peaks(run.peak, peak_of_plan(plan), plan)]


def _compare_peaks(peak: int, planned: int, plan: PlanFile) -> str:
    if not planned:
        none = "" if plan.heap else "; the plan states none"
        return f"Its peak is {peak:,} live bytes{none}."
    if peak == planned:
        return f"Its peak of {peak:,} live bytes equals the planned peak."
    more = peak / planned - 1
    side = f"{format_share(abs(more))} {'above' if more > 0 else 'below'}"
    return f"Its peak of {peak:,} live bytes is {side} the planned {planned:,}."


_COLUMNS: tuple[Column[CheckedRecording], ...] = (
    Column("name", "recording", lambda one: one.run.name),
    Column("verdict", "verdict"),
    Column("findings", value=lambda one: list(one.findings)),
    Column("events", "events", lambda one: one.run.trace.events),
    Column("replayed", value=lambda one: one.run.replayed),
    Column("peak", "peak", lambda one: one.run.peak),
    Column(
        "growth",
        "growth",
        # What rounds to zero is positive.
        shown=lambda one: None if one.growth is None else f"{round(one.growth, 1) + 0.0:+.1f} %",
    ),
    Column("refusal", value=lambda one: one.run.refusal),
    Column("r_min", value=lambda one: one.needed and one.needed.r_min),
    Column("r_safe", "needs", lambda one: one.needed and one.needed.r_safe),
    Column("margin_eaten"),
    Column("sizes", value=lambda one: one.changes and one.changes.sizes),
    Column("sites", value=lambda one: one.changes and one.changes.sites),
    Column("tasks", value=lambda one: one.changes and one.changes.tasks),
    Column("refusals", value=lambda one: one.refusals),
    Column("grows", value=lambda one: one.grows or None),
)


def _describe_heap(check: Check) -> list[str]:
    plan, base, limit = check.plan, check.base, check.options.growth
    grown, allowed = [], "" if limit is None else f" Limit: {limit:g} %."
    if base is not None:
        whose = f"{base.name or 'the plan'} ({base.peak:,} bytes)"
        grown = [f"growth: of the peak, relative to {whose}.{allowed}"]
    if base is not None and base.needed is not None:
        unset = "No limit is set, so nothing fails: --growth 10% sets one."
        needs = f"In {plan.heap} ({plan.setting}) {base.name} needs {base.needed:,} bytes."
        return [needs, *grown, *which_hold((limit is None, unset))]
    margin = "" if plan.margin is None else f", with a margin of {plan.margin:g} %"
    peak = peak_of_plan(plan)
    planned = f" for a peak of {peak:,} bytes" if peak else ""
    heap = f"{plan.heap}, {plan.setting}:" if plan.heap else f"Plan {plan.name}: a heap of"
    return [f"{heap} {plan.region:,} bytes{planned}{margin}.", *grown]


def _describe_prospect(prospect: Prospect) -> str:
    """What the recordings say of the next one; nothing where they are few."""
    end = prospect.margin_end
    if end is not None:
        latest = "or later" if end.latest is None else f"to {end.latest:,.0f}"
        return (
            f"Needs grow by {end.growth:,.0f} B from one recording to the next: the margin is "
            f"eaten after some {end.after:,.0f} more ({end.earliest:,.0f} {latest})."
        )
    if prospect.needed is not None:
        usual, rare = prospect.needed
        return (
            f"By the needs of these {prospect.runs} recordings 9 of 10 further ones run in "
            f"{usual:,} B, 99 of 100 in {rare:,} B."
        )
    if prospect.runs < _FEWEST_COUNTED or prospect.highest_chance is None:
        return ""
    few = f"{OWN_RUNS} recordings" if prospect.runs < OWN_RUNS else "their needs"
    return (
        f"All {prospect.runs} that differ run. Their number alone allows a chance of up to "
        f"{format_share(prospect.highest_chance)} that the next one, whatever it does, runs "
        f"out; {few} tell what further ones need, with --measure."
    )


def _finding_parts(one: CheckedRecording, plan: PlanFile) -> list[Part]:
    """The findings of a recording that is not green, and what grew."""
    if not one.findings:
        return [*map(Line, ["", f"{one.run.name}: {one.grows}"])] if one.grows else []
    return [
        *map(Line, ["", *describe_run(one.run, plan), *_describe_findings(one, plan)]),
        *([] if one.refusals is None else _refusal_parts(one.refusals)),
        *([] if one.changes is None else _change_parts(one.changes)),
    ]


def _growth_parts(one: CheckedRecording) -> list[Part]:
    """What grew in a recording that is compared with the base alone."""
    changes, name = one.changes, one.run.name
    if changes is None or not (changes.sizes or changes.sites or changes.tasks):
        return [Line(f"{name}: no size, call site or task holds more than in the base.")]
    return [Line(""), Line(f"{name}: {one.grows}".rstrip()), *_change_parts(changes)]


def _describe_findings(one: CheckedRecording, plan: PlanFile) -> list[str]:
    """Sentences on the findings of a recording."""
    refusal, need = one.run.refusal, one.needed
    site = None if one.refusals is None else one.refusals.first
    refused = []
    if refusal is not None:
        refused = describe_refusal(refusal, plan, site, is_growing=bool(one.grows))
    least = "at least " if need is None else ""  # only the peak's growth is known
    used = format_share(min(one.margin_eaten or 0, 100) / 100)
    return [
        *filter(None, [one.grows]),
        *refused,
        *which_hold(
            (
                CheckFinding.MISALIGNED in one.findings,
                f"It asks for blocks aligned to {one.run.trace.largest_alignment:,} bytes; "
                f"the heap is aligned to {plan.base_alignment:,}.",
            ),
            (CheckFinding.MARGIN in one.findings, f"It uses {least}{used} of the margin."),
        ),
        *([] if need is None else [_describe_need(need.r_safe, plan)]),
    ]


def describe_refusal(
    refusal: Refusal, plan: PlanFile, site: Name | None, *, is_growing: bool = False
) -> list[str]:
    """Why a request ran out of memory: more than was planned, or a fragmented heap."""
    by, planned, within = "" if site is None else f" by {site}", peak_of_plan(plan), ", within the"
    reasons = which_hold(
        (not planned, ""),
        (refusal.live + refusal.size > planned, ": above the planned peak"),
        (plan.plan.filled_pools, f"{within} planned peak: the pools do not fit these sizes"),
        (is_growing, f"{within} planned peak"),
        (True, f"{within} planned peak: the heap is fragmented"),
    )
    return [
        f"A request for {refusal.size:,} B{by} came with {refusal.live:,} B live{reasons[0]}.",
        f"{refusal.free:,} B were free, the largest free block had {refusal.largest_hole:,} B.",
    ]


def _describe_need(r_safe: int | None, plan: PlanFile) -> str:
    if r_safe is None:
        return "It needs more than the largest region tried (just below 4 GiB)."
    region, whose = plan.region or 0, plan.heap or "this plan"
    more = f", {r_safe - region:,} bytes more" if r_safe > region else ""
    return f"With {whose} it needs {r_safe:,} bytes{more}."


def _refusal_parts(refusals: Refusals) -> list[Part]:
    """The share of requests that the heap refuses where the program runs on."""
    columns: list[Column[RefusedGroup]] = [
        Column(heading="refused", shown=lambda one: one.refused),
        Column(heading="of", shown=lambda one: one.requests),
        Column(heading="share", shown=lambda one: format_share(one.share)),
    ]
    kinds = (("size up to", refusals.sizes), ("call site", refusals.sites))
    return [
        Line(
            f"Run on past it, the heap refuses {refusals.refused:,} of {refusals.requests:,} "
            f"requests ({format_share(refusals.share)}):"
        ),
        *(
            Table([Column(heading=heading, shown=lambda one: one.name), *columns], groups)
            for heading, groups in kinds
            if groups
        ),
    ]


def list_changes(changes: Changes) -> list[tuple[str, Sequence[Change]]]:
    """The sizes, call sites and tasks that grew, or hold most; what is unknown is left out."""
    kinds = (("size", changes.sizes), ("call site", changes.sites), ("task", changes.tasks))
    return [(what, changed) for what, changed in kinds if changed]


def _order(changed: Sequence[Change]) -> str:
    return "largest growth first" if changed[0].before else "largest first"


DIFFERENT = "The builds differ, and with them the call sites: give --program"


def _change_parts(changes: Changes) -> list[Part]:
    """What grew most; without a base what holds most."""
    parts: list[Part] = []
    for what, changed in list_changes(changes):
        parts += [Line(f"Bytes held by {what}, {_order(changed)}:"), change_table(what, changed)]
    different = f"{DIFFERENT}, --base-program."
    return [*parts, *map(Line, which_hold((changes.are_builds_different, different)))]


def change_table(what: str, changed: Sequence[Change]) -> Table[Change]:
    """The bytes that each holds, and held in the base if there is one."""
    base = "of base" if changed[0].before is not None else ""
    heading = "size up to" if what == "size" else what
    columns: list[Column[Change]] = [
        Column(heading=heading, page=what, shown=lambda one: one.name, told=_name_change(what)),
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


def _name_change(what: str) -> Callable[[Name], str]:
    return lambda name: f"up to {size(int(name))}" if what == "size" else str(name)


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
