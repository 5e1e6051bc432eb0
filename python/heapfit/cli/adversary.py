# SPDX-License-Identifier: Apache-2.0
"""`heapfit adversary`: the worst that a program within a trace's limits can do to a plan."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import typer

from heapfit.cli.commands.comparisons import AdversaryCommand
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.printing.ranking import inapplicable_parts
from heapfit.cli.running import import_options, note_parts, start_sweep
from heapfit.comparison.jobs import ComparisonRequest
from heapfit.design.robust.adversary import AdversaryOptions, Attack, Attacks, attack_plans
from heapfit.importers import open_trace
from heapfit.plan.plan_file import load_plan
from heapfit.results.parts import Column, Fields, Line, Part, Table
from heapfit.trace.names import source_name

_MILLION = 1_000_000
_WORK = {"import": 4, "profile": 25, "compare": 25, "attack": 46}  # shares of processor time


def run(command: AdversaryCommand) -> None:
    if not command.allocators and not command.plans:
        raise typer.BadParameter("give an allocator, or --plan")
    plan_files = tuple(load_plan(path) for path in command.plans or [])
    attacked = ComparisonRequest(
        tuple(command.allocators or []), plan_files, int(command.alignment)
    )
    name = source_name(command.source)
    folder = command.output or Path("out") / name / "adversary"
    options = AdversaryOptions(
        folder, command.region, command.search * _MILLION, command.seed, name
    )
    with (
        progress_bar(_WORK) as progress,
        start_sweep(command.workers) as sweep,
        open_trace(command.source, import_options(command.queue), progress) as trace,
    ):
        attacks = attack_plans(trace, attacked, options, progress, sweep)
    print_result([*_parts(attacks, command.seed), *note_parts(trace.info)], command.as_json)
    if attacks.is_stopped:
        raise KeyboardInterrupt  # what was found until then is printed and stored


def _largest_failing(attack: Attack) -> int | str | None:
    """The largest region that is known to fail."""
    if attack.worst is None:
        return None
    return "any" if attack.worst.is_refused_in_any else attack.worst.refused_in


_COLUMNS: tuple[Column[Attack], ...] = (
    Column("name", "plan"),
    Column(
        "on_trace",
        "on the trace",
        lambda attack: {"r_min": attack.on_trace.r_min, "r_safe": attack.on_trace.r_safe},
        lambda attack: attack.on_trace.r_safe,
    ),
    Column("region", "attacked in"),
    Column("worst", "largest broken", shown=_largest_failing),
    Column(
        "proven",
        "proven at most",
        shown=lambda attack: None if attack.proven is None else attack.proven.size,
    ),
)
_EFFORT: tuple[Column[Attack], ...] = (Column("plays"), Column("events"), Column("is_stopped"))


def _parts(attacks: Attacks, seed: int) -> Iterator[Part]:
    yield Fields({"u_max": attacks.u_max, "least_of_any": attacks.least_of_any})
    yield Table((*_COLUMNS, _ratio_column(attacks.u_max), *_EFFORT), attacks.attacks, "attacks")
    yield Line(
        f"Regions in bytes; U_max {attacks.u_max:,}. Limits: the trace's sizes, its live "
        "blocks of each size and its live bytes."
    )
    yield Line(
        f"Any allocator: {attacks.least_of_any:,} at least, if each size may come in any number "
        "(Robson 1974)."
    )
    for attack in attacks.attacks:
        yield Line(_describe_attack(attack))
        if attack.worst is not None:
            worst = attack.worst
            command = f"  heapfit compare {worst.trace} --plan {worst.plan}"
            yield Line(command, is_copied=True)
    yield from inapplicable_parts(attacks.not_applicable)
    yield Fields({"seed": seed})


def _ratio_column(u_max: int) -> Column[Attack]:
    def show_ratio(attack: Attack) -> float | None:
        size = _largest_failing(attack)
        return size / max(u_max, 1) if isinstance(size, int) else None

    return Column(heading="over U_max", shown=show_ratio)


def _describe_attack(attack: Attack) -> str:
    worst = attack.worst
    stopped = " (interrupted: the worst so far)" if attack.is_stopped else ""
    if worst is None and attack.plays == 0 and attack.proven is not None:
        return f"{attack.name}: nothing within the limits exhausts it: {attack.proven.why}."
    if worst is None:
        return f"{attack.name}: none of {attack.plays:,} sequences exhausts it{stopped}."
    in_any = "any region" if worst.is_refused_in_any else f"{worst.refused_in:,} B"
    return f"{attack.name}: {worst.events:,} events, the last out of memory in {in_any}{stopped}:"
