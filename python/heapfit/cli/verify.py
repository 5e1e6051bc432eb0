# SPDX-License-Identifier: Apache-2.0
"""`heapfit verify`: runs firmware on a fitted heap, and fits again until fresh runs pass.

Exit codes in addition to those of every command: 3 if a run is refused, or it does not settle.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from heapfit.cli.commands.fitting import VerifyCommand
from heapfit.cli.parser import UsageError
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.lines import note
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.running import exit_unless
from heapfit.comparison.incumbents.replacement import Pair
from heapfit.drawing.parts import Column, Fields, Group, Line, Note, Part, Table, paragraph
from heapfit.fitting.verify.firmware import Firmware
from heapfit.fitting.verify.loop import (
    MOST_LOOKS,
    FreshRun,
    Round,
    Verification,
    VerifyOptions,
    verify,
)
from heapfit.fitting.verify.pairs import MeasuredPairs
from heapfit.importers.target_log import Emulation
from heapfit.plan.quantities import format_event, format_share
from heapfit.results.fit_page import write_report
from heapfit.trace.names import source_name


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
        is_heard=False,
    )
    firmware = Firmware(command.build, emulation)
    known, forms = tuple(command.base or ()), tuple(command.platforms or ())
    options = VerifyOptions(
        command.times, known, command.prefix, forms, command.now, command.build_now, write_report
    )
    with progress_bar() as progress:

        def tell(run: str, done: float) -> None:
            note(run)
            progress(run, done)

        result = verify(command.plan, firmware, folder, options, tell)
    print_result(_parts(result), command.as_json)
    exit_unless(result.is_settled)


def _parts(result: Verification) -> list[Part]:
    columns: list[Column[tuple[int, Round, FreshRun]]] = [
        Column("round", "round", value=lambda one: one[0]),
        Column("region", "region", value=lambda one: one[1].plan.region),
        Column("run", "run", value=lambda one: one[2].run),
        Column("peak", "peak", value=lambda one: one[2].u_max),
        Column("passed", "passed", value=lambda one: one[2].is_passed),
        Column(
            "elsewhere",
            "elsewhere from",
            value=lambda one: one[2].elsewhere,
            shown=lambda one: None if one[2].elsewhere is None else format_event(one[2].elsewhere),
        ),
        Column("ending", "ending", value=lambda one: one[2].ending),
    ]
    rounds, last = [*enumerate(result.rounds, 1)], result.rounds[-1]
    pairs: list[Part] = (
        [] if result.pairs is None else [Line(""), Group("now", _pair_parts(result.pairs))]
    )
    fields = {
        "settled": result.is_settled,
        "region": result.told.region,
        "plan": result.plan,
        "refused": result.refused,
        "times": result.times,
        "most_refused": result.most_refused,
        "looks": result.looks,
        "distinct": last.distinct,
        "deaths": result.deaths,
        "misuse": result.misuse,
    }
    return [
        *map(Line, [*_answer(result), *_describe_placements(last), f"plan  {result.plan}"]),
        *map(Line, result.describe_death()),
        *pairs,
        Fields(fields),
        Table(
            columns, [(number, done, run) for number, done in rounds for run in done.runs], "runs"
        ),
        *(
            Note(
                f"{len(done.runs) - done.distinct} of the runs of round {number} repeat the "
                "requests of another, or of one that the plan was made from. An emulator repeats "
                "equal input; equal runs count once"
            )
            for number, done in rounds
            if done.distinct < len(done.runs)
        ),
    ]


def _pair_parts(pairs: MeasuredPairs) -> list[Part]:
    """The verdict on the incumbent heap, and each run over both heaps."""
    today, sentence = pairs.today, f"{pairs.sentence()} {pairs.describe_flash()}"
    now, fitted = today.costs
    columns: list[Column[tuple[Pair, int]]] = [
        Column("name", "run", value=lambda one: one[0].name),
        Column("u_max", "U_max", value=lambda one: one[0].u_max),
        Column("now", now.name, value=lambda one: one[0].now),
        Column("fitted_u_max", "U_max, fitted", value=lambda one: one[1]),
        Column("fitted", fitted.name, value=lambda one: one[0].fitted),
    ]
    fields = {
        "is_kept": pairs.is_kept,
        "sentence": sentence,
        "saved": today.saved,
        "survival": pairs.survival and asdict(pairs.survival),
        "flash": pairs.flash,
    }
    return [
        *paragraph(sentence),
        Fields(fields),
        Table(columns, list(zip(today.pairs, pairs.peaks, strict=True)), "pairs"),
        Line(""),
    ]


def _answer(result: Verification) -> list[str]:
    last, rounds, times = result.rounds[-1], len(result.rounds), result.times
    size, share = f"{result.told.region:,} bytes", format_share(result.most_refused or 0)
    if result.refused is None and not result.is_settled:
        failed = sum(not run.is_passed for run in last.runs)
        opening = f"No plan passed: {failed} of {times} fresh runs failed in round {rounds}."
        return [opening, f"That heap had {size}."]
    # What the share rests on: how many runs count, and how often they were looked at.
    again = f" This was look {result.looks} of {MOST_LOOKS}." if result.looks > 1 else ""
    bound = [
        f"It counts {last.distinct} runs, as many as differ among {times} recorded ones; which",
        f"of the last runs equal each other is unknown.{again}",
    ]
    all_runs = f"most {share} of all runs run out of memory"
    if result.is_settled:
        what = result.told.setting or "the heap"
        opening = f"Set {what} to {size}: {times} fresh runs passed without the recorder."
        return [opening, f"At {all_runs} (95 % confidence).", *result.describe_size(), *bound]
    refused = f"{len(result.refused or ())} of {times} runs without the recorder failed."
    return [f"No plan passed: {refused}", f"That heap had {size}; at {all_runs}.", *bound]


def _describe_placements(last: Round) -> list[str]:
    times, elsewhere = len(last.runs), [run for run in last.runs if run.elsewhere is not None]
    return [
        f"{times - len(elsewhere)} of {times} recorded runs placed every block as the replay does.",
        *(
            f"Run {run.run} differs from {format_event(run.elsewhere or 0)} on (or events are "
            "missing)."
            for run in elsewhere[:1]
        ),
    ]
