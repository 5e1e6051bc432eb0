# SPDX-License-Identifier: Apache-2.0
"""`heapfit run`: a program of this machine on a plan's heap, and the drill of its refusals.

Exit codes in addition to those of every command: 3 if it ran out of memory, crashed or hung.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from heapfit.checks.drill import Drill, drill_program
from heapfit.checks.host_run import HostRun, run_program
from heapfit.cli.commands.fitting import RunCommand
from heapfit.cli.parser import UsageError
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import step_bar
from heapfit.importers.processes import describe_ending
from heapfit.plan.plan_file import PlanFile
from heapfit.results.check import describe_refusal
from heapfit.results.parts import Column, Fields, Line, Note, Part, Table, hide_unless

_FAILED = 3


def run(command: RunCommand) -> None:
    if command.drill and command.region is not None:
        raise UsageError("--drill finds its regions itself: leave out --region")
    done: Drill | HostRun
    if command.drill:
        with step_bar() as progress:
            done = drill_program(command.plan, command.program, progress)
        print_result(_drill_parts(done), command.as_json)
    else:
        done = run_program(command.plan, command.program, command.region)
        print_result(_run_parts(done), command.as_json)
    if not done.holds:
        raise SystemExit(_FAILED)


def _run_parts(done: HostRun) -> Iterator[Part]:
    plan = done.plan
    yield Fields({"plan": plan.name, "region": done.region, "program": done.program})
    yield Fields({"pointer_bits": done.pointer_bits, "status": done.status, "holds": done.holds})
    yield Fields({"events": done.events, "peak": done.peak, "refused": done.refused})
    yield Fields({"refusal": done.first, "caller": done.caller})
    yield from _note_pointers(plan, done.pointer_bits)
    yield Line(
        f"Plan {plan.name}, a heap of {done.region:,} bytes: {done.program} "
        f"{describe_ending(done.status)}, with {done.peak:,} B live at most."
    )
    if done.first is None:
        yield Line(f"Every request was served, {done.events:,} events in all.")
        return
    more = f" ({done.refused:,} requests did)" if done.refused > 1 else ""
    yield Line(f"It ran out of memory first at event {done.first.event:,}{more}.")
    yield from map(Line, describe_refusal(done.first, plan, done.caller))


def _drill_parts(drill: Drill) -> Iterator[Part]:
    known = drill.refusals
    bits = drill.runs[0].pointer_bits if drill.runs else 0
    yield Fields({"plan": known.plan.name, "pointer_bits": bits, "holds": drill.holds})
    yield Fields({"requests": known.asked, "need": known.need, "lowest": known.lowest})
    yield Fields({"refusable": len(known.requests)})
    yield from _note_pointers(known.plan, bits)
    yield Line(
        f"Of {known.asked:,} requests a heap of {known.lowest:,} to {known.need:,} bytes first "
        f"refuses one of {len(known.requests):,}; {len(drill.runs):,} were tried."
    )
    if not known.requests:
        yield Note("No smaller region exists: the plan's pools follow from their counts.")
    crashes = _group_failures(drill)
    columns: list[Column[_Failure]] = [
        Column("ending", "it", lambda one: describe_ending(one.run.status)),
        Column("caller", "refused", lambda one: one.caller),
        Column("size", "bytes", lambda one: one.run.last and one.run.last.size),
        Column("event", "at event", lambda one: one.run.last and one.run.last.event),
        Column("region", "in", lambda one: one.run.region),
        Column("runs", "runs"),
        Column("status", value=lambda one: one.run.status),
    ]
    yield from hide_unless(not drill.holds, [Table(columns, crashes, "failed")])
    handled = len(drill.runs) - len(drill.failed)
    yield Line(f"{handled:,} of {len(drill.runs):,} runs ended without a crash or a hang.")


@dataclass(frozen=True, slots=True)
class _Failure:
    """The runs that ended alike when one caller's request was the last refused."""

    run: HostRun  # the one in the largest region
    caller: str | None
    runs: int


def _group_failures(drill: Drill) -> list[_Failure]:
    groups: dict[tuple[int | None, str | None], list[HostRun]] = {}
    for one in drill.failed:
        groups.setdefault((one.status, drill.sites.get(one.last_site)), []).append(one)
    return [
        _Failure(max(alike, key=lambda one: one.region), caller, len(alike))
        for (_, caller), alike in groups.items()
    ]


def _note_pointers(plan: PlanFile, bits: int) -> Iterator[Part]:
    if bits and plan.pointer_bits and bits != plan.pointer_bits:
        advice = "build it with -m32" if plan.pointer_bits < bits else "build it for 64 bit"
        yield Note(
            f"The program has {bits}-bit pointers, the plan is for {plan.pointer_bits} bit: its "
            f"pointers, and structs with them, are of other sizes than the device's ({advice})."
        )
