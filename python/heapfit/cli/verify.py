# SPDX-License-Identifier: Apache-2.0
"""`heapfit verify`: runs firmware on a fitted heap, and fits again until fresh runs pass.

Exit codes in addition to those of every command: 3 if a run is refused, or it does not settle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from heapfit.cli.commands.fitting import VerifyCommand
from heapfit.cli.parser import UsageError
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.comparison.incumbents.replacement import Pair
from heapfit.fitting.verify.firmware import Firmware
from heapfit.fitting.verify.loop import (
    MOST_ROUNDS,
    FreshRun,
    Round,
    Verification,
    VerifyOptions,
    verify,
)
from heapfit.fitting.verify.pairs import MeasuredPairs
from heapfit.importers.target_log import Emulation
from heapfit.plan.quantities import format_share
from heapfit.results.heap.fit import write_report
from heapfit.results.parts import Column, Fields, Group, Line, Note, Part, Table, paragraph
from heapfit.trace.names import source_name

_FAILED = 3


def run(command: VerifyCommand) -> None:
    if bool(command.now) != bool(command.build_now):
        raise UsageError("--now and --build-now go together: give both or none")
    if command.now and "{region}" not in command.build_now:
        raise UsageError("--build-now needs {region}, the bytes of the incumbent heap")
    folder = command.output or Path("out") / f"{source_name(command.plan.absolute().parent)}-verify"
    emulation = Emulation(
        command.qemu,
        tuple(command.arguments or ()),
        command.machine,
        command.seconds,
        command.icount,
        is_heard=False,
    )
    firmware = Firmware(command.build, emulation)
    known, forms = tuple(command.base or ()), tuple(command.platforms or ())
    options = VerifyOptions(
        command.times, known, command.prefix, forms, command.now, command.build_now, write_report
    )
    with progress_bar() as progress:
        result = verify(command.plan, firmware, folder, options, progress)
    print_result(_parts(result), command.as_json)
    if not result.is_settled:
        raise SystemExit(_FAILED)


def _parts(result: Verification) -> Iterator[Part]:
    yield from map(Line, _answer(result))
    if result.pairs is not None:
        yield Line("")
        yield Group("now", _pair_parts(result.pairs))
    yield Fields({"settled": result.is_settled, "plan": result.plan})
    yield Fields({"refused": result.refused, "times": result.times})
    yield Fields({"most_refused": result.most_refused, "looks": result.looks})
    yield Fields({"distinct": result.rounds[-1].distinct})
    columns: list[Column[tuple[int, Round, FreshRun]]] = [
        Column("round", "round", value=lambda one: one[0]),
        Column("region", "region", value=lambda one: one[1].plan.region),
        Column("run", "run", value=lambda one: one[2].run),
        Column("peak", "peak", value=lambda one: one[2].u_max),
        Column("passed", "passed", value=lambda one: one[2].is_passed),
        Column("elsewhere", "elsewhere", value=lambda one: one[2].elsewhere),
        Column("ending", "ending", value=lambda one: one[2].ending),
    ]
    numbered = enumerate(result.rounds, 1)
    rows = [(number, done, run) for number, done in numbered for run in done.runs]
    yield Table(columns, rows, "runs")
    for number, done in enumerate(result.rounds, 1):
        if done.distinct < len(done.runs):
            yield Note(
                f"{len(done.runs) - done.distinct} of the runs of round {number} repeat the "
                "requests of another, or of one that the plan was made from. An emulator repeats "
                "equal input; equal runs count once"
            )


def _pair_parts(pairs: MeasuredPairs) -> Iterator[Part]:
    """The verdict on the incumbent heap, and each run over both heaps."""
    today = pairs.today
    now, fitted = today.costs
    yield from paragraph(pairs.sentence())
    yield Fields({"is_kept": pairs.is_kept, "sentence": pairs.sentence(), "saved": today.saved})
    yield Fields({"survival": pairs.survival and asdict(pairs.survival)})
    columns: list[Column[tuple[Pair, int]]] = [
        Column("name", "run", value=lambda one: one[0].name),
        Column("u_max", "U_max", value=lambda one: one[0].u_max),
        Column("now", now.name, value=lambda one: one[0].now),
        Column("fitted_u_max", "U_max, fitted", value=lambda one: one[1]),
        Column("fitted", fitted.name, value=lambda one: one[0].fitted),
    ]
    yield Table(columns, list(zip(today.pairs, pairs.peaks, strict=True)), "pairs")
    yield Line("")


def _answer(result: Verification) -> Iterator[str]:
    last, rounds, times = result.rounds[-1], len(result.rounds), result.times
    size, share = f"{last.raised.region:,} bytes", format_share(result.most_refused or 0)
    if result.is_settled:
        what = last.plan.setting or "the heap"
        yield f"Set {what} to {size}: {times} fresh runs passed without the recorder."
        yield f"At most {share} of all runs run out of memory (95 % confidence)."
        yield from _describe_bound(result)
    elif result.refused is None:
        failed = sum(not run.is_passed for run in last.runs)
        yield f"No plan passed: {failed} of {times} fresh runs failed in round {rounds}."
        yield f"That heap had {size}."
    else:
        failed = len(result.refused)
        yield f"No plan passed: {failed} of {times} runs without the recorder failed."
        yield f"That heap had {size}; at most {share} of all runs run out of memory."
        yield from _describe_bound(result)
    yield from _describe_placements(last)
    yield f"plan  {result.plan}"


def _describe_bound(result: Verification) -> Iterator[str]:
    """What the share rests on: how many runs count, and how often they were looked at."""
    counted = result.rounds[-1].distinct
    yield f"It counts {counted} runs, as many as differ among {result.times} recorded ones; which"
    again = f" This was look {result.looks} of {MOST_ROUNDS}." if result.looks > 1 else ""
    yield f"of the last runs equal each other is unknown.{again}"


def _describe_placements(last: Round) -> Iterator[str]:
    times, run = len(last.runs), next((run for run in last.runs if run.elsewhere is not None), None)
    yield f"{last.matching_runs} of {times} recorded runs placed every block as the replay does."
    if run is not None:
        yield f"Run {run.run} differs from event {run.elsewhere:,} on (or events are missing)."
