# SPDX-License-Identifier: Apache-2.0
"""The page of a check: whether recordings run in a plan's region, and what fills it if not."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

from heapfit.checks.check import WARNINGS, Check, CheckedRecording, CheckFinding, Source, path_of
from heapfit.checks.shown import ShownCheck
from heapfit.drawing.document import FAILED, HOLDS, UNSURE, Document
from heapfit.drawing.number_text import NOT_MEASURED, percent, size
from heapfit.drawing.parts import (
    Cell,
    Column,
    Heading,
    HeapMapView,
    Line,
    Part,
    Section,
    Table,
    which_hold,
)
from heapfit.plan.quantities import format_event
from heapfit.results.check import (
    DIFFERENT,
    change_table,
    describe_cause,
    describe_doubts,
    describe_largest_growth,
    headline_of,
)
from heapfit.results.packed_map import pack_map
from heapfit.results.sections.page import name_source, order_sections, recording_kind
from heapfit.results.sections.peak import peak_sections
from heapfit.results.sections.plan_layers import plan_file_section
from heapfit.results.sections.program import live_parts, pools_section, program_section


def check_page(found: ShownCheck, sources: Sequence[Source], command: str) -> Document:
    """The page of a check of `sources`; `command` is what was typed."""
    check, shown, region = found.check, found.shown, found.check.plan.region or 0
    sections = [
        None if found.heap_map is None else HeapMapView(pack_map(found.heap_map, found.sites)),
        *peak_sections(shown, [found.use], found.sites, _name_moment(found)),
        pools_section(shown, check.plan.plan),
        program_section(shown, live_parts(shown, region)),
        _recordings_section(check),
        _make_grown_section(found),
    ]
    if not check.is_comparison:
        sections.append(plan_file_section(check.plan, region))
    fit = shlex.join(["heapfit", "fit", *map(str, map(path_of, sources))])
    commands = [("This check:", command), ("One heap for these recordings:", fit)]
    base = [check.base.name] if check.is_comparison and check.base else []
    names, many = [one.run.name for one in check.recordings], len(check.recordings) > 1
    opened = _open_comparison(found) if check.is_comparison else _open(found)
    return replace(
        opened,
        source=name_source(", ".join([*base, *names])),
        kind=recording_kind(shown.trace.info),
        remarks=[
            *opened.remarks,
            *which_hold((many, f"Below, the page shows {found.recording.run.name}.")),
        ],
        sections=order_sections(sections, shown.trace.info.notes, commands),
    )


def _name_moment(found: ShownCheck) -> tuple[str, str, int]:
    """The moment at which the heap is out of memory; the peak if it never is."""
    refusal = found.recording.run.refusal
    if refusal is None or refusal.event == 0:
        return "The peak", "The heap at the peak of live bytes.", found.event
    fails = f"The heap when a request for {size(refusal.size)} fails."
    return "Out of memory", fails, found.event


def _recordings_section(check: Check) -> Section:
    plan, base = check.plan, check.base
    caption = f"Each in the plan's {size(plan.region)}"
    if check.is_comparison and base is not None:
        caption = f"Needs: bytes of {plan.heap} ({size(base.needed)} for {base.name})"
    if base is not None:
        caption += f"; growth: of the peak, relative to {size(base.peak)}"
    columns: list[Column[CheckedRecording]] = [
        Column(page="recording", shown=lambda one: _name_recording(one, check)),
        Column(page="verdict", shown=_mark_verdict),
        Column(page="peak", shown=lambda one: one.run.peak, told=size),
        Column(
            page="growth",
            shown=lambda one: None if one.growth is None else percent(one.growth / 100),
        ),
        Column(
            page="needs",
            shown=lambda one: one.needed and (one.needed.r_safe or "more than tried"),
            told=lambda need: size(need) if isinstance(need, int) else need or NOT_MEASURED,
        ),
        Column(
            page="" if check.is_comparison else "out of memory",
            shown=lambda one: (
                f"at {format_event(one.run.refusal.event)}" if one.run.refusal else "none"
            ),
        ),
    ]
    return Section(
        "recordings", "The recordings", [Table(columns, check.recordings, caption=f"{caption}.")]
    )


def _name_recording(one: CheckedRecording, check: Check) -> Cell:
    used = ("used for the plan" if check.plan.trained_on.has_seen(one.content) else "hold-out",)
    return Cell(one.run.name, used if len(check.recordings) > 1 and not check.is_comparison else ())


def _mark_verdict(one: CheckedRecording) -> Cell:
    tone = FAILED if {*one.findings} - WARNINGS else UNSURE if one.findings else HOLDS
    return Cell("", mark=one.verdict, tone=tone)


def _make_grown_section(found: ShownCheck) -> Section | None:
    """What grew in the recording that is shown, or holds its memory; None if nothing is known."""
    check, changes, base = found.check, found.recording.changes, found.check.base
    if changes is None:
        return None
    parts: list[Part] = []
    for what, changed in changes.by_kind():
        parts += [Heading(f"By {what}"), change_table(what, changed)]
    parts += map(Line, which_hold((changes.are_builds_different, DIFFERENT)))
    title = "What grew" if base and base.name else "What holds memory"
    return Section("grew", title, parts, title if check.is_comparison else "")


def _open_comparison(found: ShownCheck) -> Document:
    check, recording, base = found.check, found.recording, found.check.base
    assert base is not None, "it is compared with that"
    return Document(
        command="check",
        title=f"{recording.run.name} beside {base.name}",
        sections=(),
        sentences=(headline_of(check), *filter(None, [recording.grows])),
        remarks=describe_largest_growth(check),
        badge="" if check.options.growth is None else "Within" if check.holds else "Grew",
        tone=FAILED if not check.holds else HOLDS if check.options.growth else "",
    )


def _open(found: ShownCheck) -> Document:
    check, plan, recordings = found.check, found.check.plan, found.check.recordings
    findings = {finding for one in recordings for finding in one.findings}
    badge, *_ = which_hold(
        (CheckFinding.RAN_OUT in findings, "Ran out"),
        (findings - WARNINGS, "Does not fit"),
        (any(one.grows for one in recordings), "Growing"),  # it fits for now
        (CheckFinding.MARGIN in findings, "Uses the reserve"),
        (True, "Fits"),
    )
    return Document(
        command="check",
        title=f"{plan.name} in {size(plan.region)}",
        sections=(),
        sentences=(headline_of(check), *describe_doubts(check)),
        remarks=describe_cause(found.recording, check),
        badge=badge,
        tone=FAILED if not check.holds else HOLDS if badge == "Fits" else UNSURE,
    )
