# SPDX-License-Identifier: Apache-2.0
"""Runs in a plan's region: what `check` prints, and `compare` with a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from heapfit.checks.check import Base, Check, CheckedRecording, CheckFinding
from heapfit.checks.growth import Change, Changes, Name
from heapfit.checks.margin import peak_of_plan
from heapfit.checks.prospect import Prospect
from heapfit.checks.refusals import Refusals, RefusedGroup
from heapfit.checks.run import PlanRun, Refusal
from heapfit.forecast.horizon import FEWEST_RUNS
from heapfit.plan.plan_file import PlanFile
from heapfit.plan.quantities import format_share
from heapfit.results.number_text import size
from heapfit.results.parts import Column, Fields, Line, Note, Part, Table

_FEWEST_COUNTED = 3  # recordings, of which more is said than that all run


def check_parts(check: Check) -> Iterator[Part]:
    """The heap, the recordings in a table, and the findings of each that is not green."""
    plan, base, limit = check.plan, check.base, check.options.growth
    yield Fields({"plan": plan.name, "allocator": plan.plan.allocator, "region": plan.region})
    yield Fields({"peak": peak_of_plan(plan), "margin": plan.margin, "runs": plan.runs})
    needed = {} if base is None or base.needed is None else {"needed": base.needed}
    yield Fields({"base": base and {"name": base.name or None, "peak": base.peak} | needed})
    yield Fields({"growth_allowed": limit, "is_strict": check.options.is_strict})
    yield Fields({"is_passed": check.holds, "events_replayed": check.events_replayed})
    yield Fields({"events_of_searches": check.events_of_searches})
    yield from (Note(f"{one.run.name}: {note}") for one in check.recordings for note in one.notes)
    yield from _describe_heap(check)
    yield Table(_COLUMNS, check.recordings, "recordings")
    if check.is_comparison:
        yield from (part for one in check.recordings for part in _growth_parts(one))
        return
    prospect = check.prospect
    yield Fields({"prospect": prospect})
    yield from map(Line, _describe_prospect(prospect))
    for one in check.recordings:
        yield from _finding_parts(one, plan)
    yield from _note_unchecked(check)


def title_of(check: Check) -> str:
    """The title of a check in a pull request."""
    failed = sum(1 for one in check.recordings if one.findings)
    if check.is_comparison and check.base is not None:
        return f"What grew since {check.base.name}"
    if check.holds:
        return f"The heap of {check.plan.region:,} bytes serves every recording"
    recordings = "recording" if len(check.recordings) == 1 else "recordings"
    return (
        f"The heap of {check.plan.region:,} bytes fails on {failed} of "
        f"{len(check.recordings)} {recordings}"
    )


def describe_run(run: PlanRun, plan: PlanFile) -> Iterator[str]:
    """Sentences on a run: served or out of memory, and its peak against the planned one."""
    size = f"{plan.region:,} bytes"
    if run.refusal is None:
        yield f"{run.name}: the {size} of {plan.name} are enough."
    else:
        at = f"event {run.refusal.event:,} of {run.trace.events:,}"
        yield f"{run.name}: out of memory in the {size} of {plan.name}, at {at}."
    yield _compare_peaks(run.peak, peak_of_plan(plan), plan)


def _compare_peaks(peak: int, planned: int, plan: PlanFile) -> str:
    if not planned:
        none = "" if plan.heap else "; the plan states none"
        return f"Its peak is {peak:,} live bytes{none}."
    if peak == planned:
        return f"Its peak of {peak:,} live bytes equals the planned peak."
    more = peak / planned - 1
    side = f"{format_share(abs(more))} {'above' if more > 0 else 'below'}"
    return f"Its peak of {peak:,} live bytes is {side} the planned {planned:,}."


def _r_safe(one: CheckedRecording) -> int | None:
    return None if one.needed is None else one.needed.r_safe


def _percent(value: float | None) -> str | None:
    """A percentage with its sign; what rounds to zero is positive."""
    return None if value is None else f"{round(value, 1) + 0.0:+.1f} %"


_COLUMNS: tuple[Column[CheckedRecording], ...] = (
    Column("name", "recording", lambda one: one.run.name),
    Column("verdict", "verdict"),
    Column("findings", value=lambda one: list(one.findings)),
    Column("events", "events", lambda one: one.run.trace.events),
    Column("replayed", value=lambda one: one.run.replayed),
    Column("peak", "peak", lambda one: one.run.peak),
    Column("growth", "growth", shown=lambda one: _percent(one.growth)),
    Column("refusal", value=lambda one: one.run.refusal),
    Column("r_min", value=lambda one: one.needed and one.needed.r_min),
    Column("r_safe", "needs", _r_safe),
    Column("margin_eaten"),
    Column("sizes", value=lambda one: one.changes and one.changes.sizes),
    Column("sites", value=lambda one: one.changes and one.changes.sites),
    Column("tasks", value=lambda one: one.changes and one.changes.tasks),
    Column("refusals", value=lambda one: one.refusals),
    Column("grows", value=lambda one: one.grows or None),
)


def _describe_heap(check: Check) -> Iterator[Line]:
    plan, base = check.plan, check.base
    if base is not None and base.needed is not None:
        yield Line(f"In {plan.heap} ({plan.setting}) {base.name} needs {base.needed:,} bytes.")
        yield from _describe_growth(base, check.options.growth)
        if check.options.growth is None:
            yield Line("No limit is set, so nothing fails: --growth 10% sets one.")
        return
    margin = "" if plan.margin is None else f", with a margin of {plan.margin:g} %"
    peak = peak_of_plan(plan)
    planned = f" for a peak of {peak:,} bytes" if peak else ""
    heap = f"Plan {plan.name}: a heap of {plan.region:,} bytes"
    if plan.heap:
        heap = f"{plan.heap}, {plan.setting}: {plan.region:,} bytes"
    yield Line(f"{heap}{planned}{margin}.")
    if base is not None:
        yield from _describe_growth(base, check.options.growth)


def _describe_growth(base: Base, limit: float | None) -> Iterator[Line]:
    whose = base.name or "the plan"
    allowed = "" if limit is None else f" Limit: {limit:g} %."
    yield Line(f"growth: of the peak, relative to {whose} ({base.peak:,} bytes).{allowed}")


def _describe_prospect(prospect: Prospect) -> Iterator[str]:
    """What the recordings say of the next one; nothing where they are few."""
    end, chance = prospect.margin_end, prospect.chance
    if end is not None:
        latest = "or later" if end.latest is None else f"to {end.latest:,.0f}"
        yield (
            f"Needs grow by {end.growth:,.0f} B from one recording to the next: the margin is "
            f"eaten after some {end.after:,.0f} more ({end.earliest:,.0f} {latest})."
        )
    elif chance is not None:
        low, high = map(format_share, chance)
        yield (
            f"By the needs of these {prospect.runs} recordings the next one runs out with a chance "
            f"of {low} to {high} (that holds 9 times of 10)."
        )
    elif prospect.runs >= _FEWEST_COUNTED and prospect.highest_chance is not None:
        few = f"{FEWEST_RUNS} recordings" if prospect.runs < FEWEST_RUNS else "their needs"
        yield (
            f"All {prospect.runs} that differ run. Their number alone allows a chance of up to "
            f"{format_share(prospect.highest_chance)} that the next one, whatever it does, runs "
            f"out; {few} give an estimate with --measure. `fit` prints the chance of a run "
            "like these, by windows within them."
        )


def _finding_parts(one: CheckedRecording, plan: PlanFile) -> Iterator[Part]:
    """The findings of a recording that is not green, and what grew."""
    if not one.findings:
        if one.grows:
            yield Line("")
            yield Line(f"{one.run.name}: {one.grows}")
        return
    yield Line("")
    yield from map(Line, describe_run(one.run, plan))
    yield from map(Line, _describe_findings(one, plan))
    if one.refusals is not None:
        yield from _refusal_parts(one.refusals)
    if one.changes is not None:
        yield from _change_tables(one.changes)


def _growth_parts(one: CheckedRecording) -> Iterator[Part]:
    """What grew in a recording that is compared with the base alone."""
    changes = one.changes
    if changes is None or not (changes.sizes or changes.sites or changes.tasks):
        yield Line(f"{one.run.name}: no size, call site or task holds more than in the base.")
        return
    yield Line("")
    yield Line(" ".join(filter(None, [f"{one.run.name}:", one.grows])))
    yield from _change_tables(changes)


def _change_tables(changes: Changes) -> Iterator[Part]:
    yield from _change_parts("size", "size up to", changes.sizes)
    yield from _change_parts("call site", "call site", changes.sites)
    yield from _change_parts("task", "task", changes.tasks)
    if changes.are_builds_different:
        yield Line(
            "The builds differ, and with them the call sites: give --program, --base-program."
        )


def _describe_findings(one: CheckedRecording, plan: PlanFile) -> Iterator[str]:
    """Sentences on the findings of a recording."""
    if one.grows:
        yield one.grows
    if one.run.refusal is not None:
        site = None if one.refusals is None else one.refusals.first
        yield from describe_refusal(one.run.refusal, plan, site, is_growing=bool(one.grows))
    if CheckFinding.MISALIGNED in one.findings:
        yield (
            f"It asks for blocks aligned to {one.run.trace.largest_alignment:,} bytes; "
            f"the heap is aligned to {plan.base_alignment:,}."
        )
    if CheckFinding.MARGIN in one.findings:
        least = "at least " if one.needed is None else ""  # only the peak's growth is known
        yield f"It uses {least}{format_share(min(one.margin_eaten or 0, 100) / 100)} of the margin."
    if one.needed is not None:
        yield _describe_need(one.needed.r_safe, plan)


def describe_refusal(
    refusal: Refusal, plan: PlanFile, site: Name | None, *, is_growing: bool = False
) -> Iterator[str]:
    """Why a request ran out of memory: more than was planned, or a fragmented heap."""
    by = "" if site is None else f" by {site}"
    asked = f"A request for {refusal.size:,} B{by} came with {refusal.live:,} B live"
    planned = peak_of_plan(plan)
    if not planned:
        yield f"{asked}."
    elif refusal.live + refusal.size > planned:
        yield f"{asked}: above the planned peak."
    elif plan.plan.filled_pools:
        yield f"{asked}, within the planned peak: the pools do not fit these sizes."
    elif is_growing:
        yield f"{asked}, within the planned peak."
    else:
        yield f"{asked}, within the planned peak: the heap is fragmented."
    yield f"{refusal.free:,} B were free, the largest free block had {refusal.largest_hole:,} B."


def _describe_need(r_safe: int | None, plan: PlanFile) -> str:
    if r_safe is None:
        return "It needs more than the largest region tried (just below 4 GiB)."
    region, whose = plan.region or 0, plan.heap or "this plan"
    more = f", {r_safe - region:,} bytes more" if r_safe > region else ""
    return f"With {whose} it needs {r_safe:,} bytes{more}."


def _refusal_parts(refusals: Refusals) -> Iterator[Part]:
    """The share of requests that the heap refuses where the program runs on."""
    yield Line(
        f"Run on past it, the heap refuses {refusals.refused:,} of {refusals.requests:,} requests "
        f"({format_share(refusals.share)}):"
    )
    for heading, groups in (("size up to", refusals.sizes), ("call site", refusals.sites)):
        columns: list[Column[RefusedGroup]] = [
            Column(heading=heading, shown=lambda one: one.name),
            Column(heading="refused", shown=lambda one: one.refused),
            Column(heading="of", shown=lambda one: one.requests),
            Column(heading="share", shown=lambda one: format_share(one.share)),
        ]
        if groups:
            yield Table(columns, groups)


def _change_parts(what: str, heading: str, changed: Sequence[Change]) -> Iterator[Part]:
    """The sizes or call sites that grew most; without a base those that hold most."""
    if changed:
        order = "largest growth first" if changed[0].before else "largest first"
        yield Line(f"Bytes held by {what}, {order}:")
        yield change_table(what, changed, heading)


def change_table(what: str, changed: Sequence[Change], heading: str = "") -> Table[Change]:
    """The bytes that each holds, and held in the base if there is one; `heading` is the text's."""
    is_compared = changed[0].before is not None
    base = "of base" if is_compared else ""
    columns: list[Column[Change]] = [
        Column(heading=heading, page=what, shown=lambda one: one.name, told=_name_change(what)),
        Column(heading="at the peak", shown=lambda one: one.now.at_peak, told=size),
        Column(
            heading=base,
            page="at the base's peak" if is_compared else "",
            shown=lambda one: _base_bytes(one)[0],
            told=size,
        ),
        Column(heading="on average", shown=lambda one: round(one.now.mean), told=size),
        Column(
            heading=base,
            page="on its average" if is_compared else "",
            shown=lambda one: _base_bytes(one)[1],
            told=size,
        ),
    ]
    order = "largest growth first" if is_compared else "largest first"
    return Table(columns, changed, caption=f"Live bytes by {what}, {order}.")


def _name_change(what: str) -> Callable[[Name], str]:
    return lambda name: f"up to {size(int(name))}" if what == "size" else str(name)


def _base_bytes(change: Change) -> tuple[int, int]:
    return (0, 0) if change.before is None else (change.before.at_peak, round(change.before.mean))


def _note_unchecked(check: Check) -> Iterator[Part]:
    """Notes on what was not checked, as the plan or a recording does not have it."""
    plan = check.plan
    if plan.margin is None and not plan.heap:
        yield Note(
            f"{plan.name}: states no margin, so its use is not judged (heapfit fit writes one)."
        )
    if check.options.growth is not None and check.base is None:
        yield Note(f"{plan.name}: states no peak, so growth is not judged (give --base).")
    if plan.trained_on.kind == "heap":
        unknown = [one.run.name for one in check.recordings if not one.run.trace.pointer_bits]
        if unknown and plan.pointer_bits:
            yield Note(
                f"{', '.join(unknown)}: pointer size unknown; the plan is for "
                f"{plan.pointer_bits} bit (sizes may differ; give import --pointer-bits)."
            )
