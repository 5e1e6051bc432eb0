# SPDX-License-Identifier: Apache-2.0
"""The closed loop: a plan's heap runs in the firmware until fresh runs pass, or does not settle.

    plan -> C -> build, recording -> N fresh runs -> all pass? ---> build, not recording -> N more
     ^                                                |  no          fresh runs: how many refused?
     |                                                v
     +------------- fit, with their recordings <------+

The last runs have the size that the recordings tell with the new ones among them (evidence.py); if
one of them is refused, as many more have the plan's own.

A firmware's requests follow its timing, and that follows its heap: recordings over another heap do
not apply to this one. Runs that a plan was made from say nothing of it, so each round has new ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from heapfit.checks.run import run_recording
from heapfit.comparison.failure_share import bound_failures, share_risk
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.fitting.fit import WritePage, fit
from heapfit.fitting.options import FitOptions
from heapfit.fitting.verify.evidence import size_by_runs
from heapfit.fitting.verify.firmware import Firmware
from heapfit.fitting.verify.pairs import MeasuredPairs, measure_pairs
from heapfit.fitting.verify.placements import find_first_difference, read_addresses
from heapfit.fitting.verify.survival import MOST_SIZES, ResizableHeap, compare_survival
from heapfit.generate import GenerateOptions, generate
from heapfit.outputs.folder import new_folder
from heapfit.plan.plan_file import PlanFile, load_plan, save_plan
from heapfit.plan.targets import GUARD
from heapfit.progress import Progress, WeightedProgress, ignore_progress
from heapfit.trace.content import content_hash
from heapfit.trace.stored import Trace

MOST_ROUNDS = 5
MOST_LOOKS = 2 * MOST_ROUNDS  # at last runs: in two sizes a round
_REFUSED = 1  # the status of an image that was refused a request


@dataclass(frozen=True, slots=True)
class FreshRun:
    """A recorded run over a heap that was not made from it."""

    run: int  # its number
    ending: str  # in words
    is_passed: bool  # it ended with 0, and its requests are served in the plan's region
    u_max: int  # bytes
    elsewhere: int | None  # the first event whose block the replay places elsewhere; None: none
    trace: Trace


@dataclass(frozen=True, slots=True)
class Round:
    """A plan, and fresh runs over it."""

    plan: PlanFile
    runs: tuple[FreshRun, ...]
    distinct: int  # runs whose requests no other run of the round has, nor the plan has seen

    @property
    def is_passed(self) -> bool:
        """True if every run has passed."""
        return all(run.is_passed for run in self.runs)


@dataclass(frozen=True, slots=True)
class Verification:
    """The results of all rounds, and of the last runs."""

    rounds: tuple[Round, ...]
    refused: tuple[int, ...] | None  # of the last runs, not recorded; None: there were none
    times: int  # how many last runs there are
    looks: int  # how often there were last runs
    plan: Path  # the last plan, stored
    told: PlanFile  # the same: in the size of the last runs
    pairs: MeasuredPairs | None = None  # of the last round, if settled, with an incumbent
    deaths: tuple[str, ...] = ()  # runs over the plan's heap that died, in words
    misuse: str | None = None  # that a heap of level 3 found in the run that died first

    @property
    def is_settled(self) -> bool:
        """True if all runs of a round have passed, and the last runs after it."""
        return self.refused == ()

    @property
    def most_refused(self) -> float | None:
        """The share of all runs that may be refused, at most, with 95 % certainty.

        All looks together are as certain. No one knows which of the last runs equal each other, as
        they are not recorded: they count as many as differ among the recorded ones.
        """
        if self.refused is None:
            return None
        counted = self.rounds[-1].distinct
        return bound_failures(
            min(len(self.refused), counted), counted, share_risk(self.looks, MOST_LOOKS)
        )

    def describe_size(self) -> list[str]:
        """Lines on the size that is told where it is not the plan's."""
        had, margin = self.rounds[-1].plan.region, self.told.margin or 0
        lines = (
            f"The plan's {had:,} bytes had the margin of fewer recordings; with those of these",
            f"runs it is {margin:g} %.",
        )
        return [*lines] if self.told.region != had else []

    def describe_death(self) -> list[str]:
        """Sentences on the run that died first: how, and what misuse was found in it."""
        told = "names no misuse" if self.misuse is None else f"says: {self.misuse}"
        again = f"Run again, a heap of --for guard {told} (docs/crashes.md)."
        return [self.deaths[0], again] if self.deaths else []


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """The options of the closed loop."""

    times: int = 10  # fresh runs of each kind
    recordings: tuple[Path, ...] = ()  # that the plan was made from, which a new plan serves, too
    prefix: str = "app"  # of the names in the heap's C
    platforms: tuple[str, ...] = ()  # that it is generated for
    now: str | None = None  # the incumbent heap, to be compared in pairs
    build_now: str = ""  # the command that makes the image with that heap in it
    write_page: WritePage | None = None  # of each new plan's fit; None: no page is written


@dataclass(slots=True)
class _Loop:
    """The firmware, and what is known of it so far."""

    firmware: Firmware
    folder: Path
    options: VerifyOptions
    known: list[Path]  # recordings, also of earlier rounds
    numbers: Iterator[int]  # of runs to come
    progress: WeightedProgress
    runs: Progress = ignore_progress  # of a round
    deaths: dict[int, str] = field(default_factory=dict)  # runs that died, in words
    looks: int = 0  # at last runs
    flash: int = 0  # bytes of the last runs' image

    def round(self, plan_path: Path) -> Round:
        """Builds the plan's heap into the firmware and records fresh runs."""
        each = 2 if self.options.now is None else 3  # recorded, last ones, and over the incumbent
        self.runs = self.progress.part("runs", steps=self.options.times * each)
        plan = load_plan(plan_path)
        code = self._write_code(plan, not self.firmware.has_recorder)
        self.firmware.make(code, True, plan.region or 0)
        runs = [self._record_fresh_run(plan) for _ in range(self.options.times)]
        hashes = {content_hash(run.trace) for run in runs}
        return Round(plan, tuple(runs), sum(not plan.trained_on.has_seen(one) for one in hashes))

    def _write_code(self, plan: PlanFile, records: bool, *forms: str) -> Path | None:
        """The folder of the plan's C; None for a system's own heap, which the firmware has."""
        if plan.heap:
            return None
        code = self.folder / "code"
        options = GenerateOptions((*self.options.platforms, *forms), records=records)
        generate(plan, code, self.options.prefix, options=options)
        return code

    def name_misuse(self, plan: PlanFile) -> str | None:
        """What a heap that names misuse finds in the run that died first; None: nothing."""
        if not self.deaths or plan.heap:
            return None
        self.firmware.make(self._write_code(plan, False, GUARD), False, plan.region or 0)
        found = self.firmware.name_misuse(min(self.deaths))
        self._write_code(plan, False)
        return found

    def refit(self, done: Round) -> Path:
        """A plan for all recordings, those of the last round included."""
        self.known += [run.trace.path for run in done.runs]
        options = FitOptions(
            alignment=done.plan.plan.alignment, now=done.plan.heap or None, code=not done.plan.heap
        )
        write_page = self.options.write_page
        return fit(self.known, self.folder / "fit", options, write_page=write_page).paths.plan

    def run_unrecorded(self, done: Round) -> tuple[PlanFile, tuple[int, ...] | None]:
        """Runs the firmware without the recorder, which takes time; the runs that did not pass.

        In the size that all recordings tell, then in the plan's; None if the round has not passed.
        """
        if not done.is_passed:
            return done.plan, None
        sized = size_by_runs(done.plan, [*self.known, *(run.trace.path for run in done.runs)])
        tries = [(done.plan, self.firmware)]
        if sized != done.plan:  # who dies of a request that is refused there dies of no misuse
            tries.insert(0, (sized, replace(self.firmware)))
        for plan, firmware in tries:
            self.looks += 1
            firmware.make(self._write_code(plan, False), False, plan.region or 0)
            numbers = [next(self.numbers) for _ in range(self.options.times)]
            refused = tuple(one for one in numbers if not self._passes(one, firmware))
            self.flash = firmware.measure_flash(numbers[-1])
            if not refused:
                break
        return plan, refused

    def measure_survival(self, pairs: MeasuredPairs, done: Round, now: Firmware) -> MeasuredPairs:
        """The pairs with the size in which each heap survives the same fresh runs.

        Not where the pairs are too few to carry an answer.
        """
        if len(pairs.today.pairs) < pairs.today.wanted:
            return pairs
        numbers = [next(self.numbers) for _ in range(self.options.times)]
        self.runs = self.progress.part("runs", steps=2 * MOST_SIZES * len(numbers))
        again = replace(self.firmware)  # whose deaths in too small a size are none of the plan's
        heap, size = pairs.today.heap, done.plan.region or 0

        def build_fitted(region: int) -> None:
            code = self._write_code(replace(done.plan, region=region), False)
            again.make(code, False, region)

        incumbent = ResizableHeap(
            lambda region: now.make(None, False, heap.set_to(region)),
            lambda number: self._passes(number, now),
            min(one.u_max for one in pairs.today.pairs),
            pairs.today.costs[0].region or 2 * size,
        )
        fitted = ResizableHeap(
            build_fitted, lambda number: self._passes(number, again), min(pairs.peaks), size
        )
        survival = compare_survival(incumbent, fitted, numbers, done.distinct)
        self._write_code(done.plan, False)
        return replace(pairs, survival=survival)

    def _passes(self, number: int, firmware: Firmware) -> bool:
        words, status = firmware.run(number)
        self._tell(number, words, status, firmware is self.firmware)
        return status == 0

    def _tell(self, run: int, words: str, status: int | None, is_plans: bool = True) -> None:
        """Reports a run's end, and keeps it if it died: of no request that was refused."""
        self.runs(f"run {run} {words}", 1.0)
        if status not in (0, _REFUSED) and is_plans:
            self.deaths[run] = f"Run {run} {words}."

    def _record_fresh_run(self, plan: PlanFile) -> FreshRun:
        number = next(self.numbers)
        recorded = self.firmware.record(number, self.folder / f"run-{number}.parquet")
        replayed = run_recording(recorded.trace, plan, f"run {number}")
        is_passed = recorded.status == 0 and replayed.refusal is None
        self._tell(number, recorded.ending, recorded.status)
        assert recorded.log is not None, "a firmware's recordings keep their logs"
        elsewhere = find_first_difference(recorded.trace, plan, read_addresses(recorded.log))
        return FreshRun(
            number, recorded.ending, is_passed, replayed.peak, elsewhere, recorded.trace
        )


def verify(
    plan: Path,
    firmware: Firmware,
    folder: Path,
    options: VerifyOptions | None = None,
    progress: Progress = ignore_progress,
) -> Verification:
    """Runs the firmware over the plan's heap until fresh runs pass.

    Runs are numbered from 1 above the count of earlier recordings on. `folder` must be empty or
    absent; it gets the recordings, the C and the last plan, and is as it was after any exception,
    Ctrl-C included. Where the options name an incumbent, the last round's runs are recorded over
    that one, too, once it has settled. HeapfitError if the build fails, an image does not run, or
    nothing can be fitted.
    """
    options = options or VerifyOptions()
    alignment = load_plan(plan).plan.alignment
    today = None if options.now is None else find_heap(options.now, alignment)
    known, whole = list(options.recordings), WeightedProgress(progress, {"runs": 1.0})
    with new_folder(folder):
        loop = _Loop(firmware, folder, options, known, count(len(known) + 1), whole)
        settled = _repeat_rounds(loop, plan)
        if today is None or not settled.is_settled:
            return settled
        last = settled.rounds[-1]
        fitted = {run.run: run.trace for run in last.runs}
        now = replace(firmware, build=options.build_now)
        pairs = measure_pairs(
            settled.told, fitted, today=today, firmware=now, folder=folder, runs=loop.runs
        )
        now.make(None, False, today.set_to(settled.told.region or 0))
        pairs = replace(pairs, flash=(now.measure_flash(last.runs[-1].run), loop.flash))
        return replace(
            settled, pairs=loop.measure_survival(pairs, replace(last, plan=settled.told), now)
        )


def _repeat_rounds(loop: _Loop, plan: Path) -> Verification:
    """Repeats rounds until the last runs pass, a run dies, or there were too many."""
    rounds = [loop.round(plan)]
    told, refused = loop.run_unrecorded(rounds[-1])
    while (refused is None or refused) and len(rounds) < MOST_ROUNDS and not loop.deaths:
        plan = loop.refit(rounds[-1])
        rounds.append(loop.round(plan))
        told, refused = loop.run_unrecorded(rounds[-1])
    if told != rounds[-1].plan:
        plan = loop.folder / "plan.toml"
        save_plan(plan, told)
    return Verification(
        tuple(rounds), refused, loop.options.times, loop.looks, plan, told,
        deaths=tuple(loop.deaths.values()), misuse=loop.name_misuse(rounds[-1].plan),
    )  # fmt: skip
