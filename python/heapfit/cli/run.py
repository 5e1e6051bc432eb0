# SPDX-License-Identifier: Apache-2.0
"""`heapfit run`: a program of this machine on a plan's heap, and the drill of its refusals.

Exit codes in addition to those of every command: 3 if it ran out of memory, crashed or hung.
"""

from __future__ import annotations

from heapfit.checks.drill import Drill, drill_program
from heapfit.checks.host_run import HostRun, run_program
from heapfit.cli.commands.fitting import RunCommand
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import step_bar
from heapfit.cli.running import exit_unless
from heapfit.drawing.parts import Column, Fields, Line, Note, Part, Table, hide_unless, which_hold
from heapfit.grouping import group
from heapfit.importers.processes import describe_ending
from heapfit.plan.plan_file import PlanFile
from heapfit.plan.quantities import format_event
from heapfit.results.check import describe_refusal


def run(command: RunCommand) -> None:
    done: Drill | HostRun
    if command.drill:
        with step_bar() as progress:
            done = drill_program(command.plan, command.program, progress, command.region)
        print_result(_drill_parts(done), command.as_json)
    else:
        done = run_program(command.plan, command.program, command.region)
        print_result(_run_parts(done), command.as_json)
    exit_unless(done.holds)


def _run_parts(done: HostRun) -> list[Part]:
    plan, first = done.plan, done.first
    fields = {
        "plan": plan.name,
        "region": done.region,
        "program": done.program,
        "pointer_bits": done.pointer_bits,
        "status": done.status,
        "holds": done.holds,
        "events": done.events,
        "peak": done.peak,
        "refused": done.refused,
        "refusal": first,
        "caller": done.caller,
    }
    more = f" ({done.refused:,} requests did)" if done.refused > 1 else ""
    served = [f"Every request was served, {done.events:,} events in all."]
    if first is not None:
        served = [
            f"It ran out of memory first at {format_event(first.event)}{more}.",
            *describe_refusal(first, plan, done.caller),
        ]
    return [
        Fields(fields),
        *_note_pointers(plan, done.pointer_bits),
        Line(
            f"Plan {plan.name}, a heap of {done.region:,} bytes: {done.program} "
            f"{describe_ending(done.status)}, with {done.peak:,} B live at most."
        ),
        *map(Line, served),
    ]


def _drill_parts(drill: Drill) -> list[Part]:
    runs, refusable = drill.runs, drill.refusable
    bits = runs[0].pointer_bits if runs else 0
    fields = {
        "plan": drill.plan.name,
        "pointer_bits": bits,
        "holds": drill.holds,
        "requests": drill.asked,
        "need": drill.need,
        "lowest": drill.lowest,
        "refusable": len(refusable),
    }
    alike = group(((one.status, drill.sites.get(one.last_site)), one) for one in drill.failed)
    # Of each the run in the largest region, the caller that was refused last, and how many runs.
    failures = [
        (max(some, key=lambda one: one.region), caller, len(some))
        for (_, caller), some in alike.items()
    ]
    none = "No smaller region exists: the plan's pools follow from their counts."
    return [
        Fields(fields),
        *_note_pointers(drill.plan, bits),
        Line(
            f"Of {drill.asked:,} requests a heap of {drill.lowest:,} to {drill.need:,} bytes first "
            f"refuses one of {len(refusable):,}; {len(runs):,} were tried."
        ),
        *map(Note, which_hold((not refusable, none))),
        *hide_unless(not drill.holds, [Table(_FAILURES, failures, "failed")]),
        Line(
            f"{len(runs) - len(drill.failed):,} of {len(runs):,} runs ended without a crash or a "
            f"hang, down to {100 - 100 * drill.lowest / drill.need:.0f} % below the need "
            "(--region sets how deep)."
        ),
    ]


_FAILURES: tuple[Column[tuple[HostRun, str | None, int]], ...] = (
    Column("ending", "it", lambda one: describe_ending(one[0].status)),
    Column("caller", "refused", lambda one: one[1]),
    Column("size", "bytes", lambda one: one[0].last and one[0].last.size),
    Column(
        "event",
        "at event",
        lambda one: one[0].last and one[0].last.event,
        shown=lambda one: one[0].last and one[0].last.event + 1,
    ),
    Column("region", "in", lambda one: one[0].region),
    Column("runs", "runs", lambda one: one[2]),
    Column("status", value=lambda one: one[0].status),
)


def _note_pointers(plan: PlanFile, bits: int) -> list[Note]:
    if not bits or plan.pointer_bits in (0, None, bits):
        return []
    advice = "build it with -m32" if plan.pointer_bits < bits else "build it for 64 bit"
    return [
        Note(
            f"The program has {bits}-bit pointers, the plan is for {plan.pointer_bits} bit: its "
            f"pointers, and structs with them, are of other sizes than the device's ({advice})."
        )
    ]
