# SPDX-License-Identifier: Apache-2.0
"""The result of a fit: what was found, and where it was written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from heapfit.comparison.change_results import ChangeTest
from heapfit.comparison.changed_programs import ChangedPrograms
from heapfit.comparison.comparison import Comparison
from heapfit.comparison.incumbents.heap_plans import make_heap_plan
from heapfit.comparison.incumbents.replacement import IncumbentVerdict
from heapfit.comparison.longer import LongerRuns
from heapfit.comparison.margin import divide_by_peak
from heapfit.comparison.row import Row, rank_rows
from heapfit.comparison.verdict import pools_warning
from heapfit.comparison.work import NO_WORK, Work
from heapfit.design.effort import MEANING
from heapfit.design.plan_files import save_candidates
from heapfit.design.preference import Preference
from heapfit.errors import HeapfitError
from heapfit.fitting.answer import Answer, compare_regions, describe_replacement
from heapfit.fitting.assessment import HoldoutResult, check_holdout
from heapfit.fitting.by_site import BySite, find_by_site
from heapfit.fitting.excerpt_search import ExcerptInfo
from heapfit.fitting.folder import FitPaths
from heapfit.fitting.longer_runs import FitKinds
from heapfit.fitting.options import FitOptions
from heapfit.fitting.reference_heaps import ReferenceKind, ReferenceRow, measure_reference_heaps
from heapfit.fitting.selection import Selection
from heapfit.fitting.this_build import ThisBuild, find_this_build
from heapfit.fitting.workload import Request
from heapfit.plan.plan_file import PlanFile
from heapfit.plan.quantities import format_count
from heapfit.trace.profile import Profile
from heapfit.trace.stored import Trace

_REFERENCES = 8  # steps, about: of heaps to measure and of costs


@dataclass(frozen=True, slots=True)
class Run:
    """One recording in the heap that is set. Sizes in bytes."""

    name: str
    source: Path
    u_max: int  # its own peak of live bytes
    r_safe: int | None  # of the chosen plan on it, or of the heap that is kept
    unseen: int | None = None  # of the plan made without it; None: there is one recording
    is_shown: bool = False  # the page draws it

    @property
    def over_u_max(self) -> float | None:
        """R_safe over its own peak."""
        return divide_by_peak(self.r_safe, self.u_max)


@dataclass(frozen=True, slots=True)
class Fit:
    """A heap fitted to one or more recordings."""

    name: str  # from the first source's file name; fit for a folder
    runs: tuple[Run, ...]  # at least one
    trace: Trace  # of the run that needs the largest region in the fitted heap: it is shown
    searched: Trace  # the same, or its excerpt, where it was too long to be searched whole
    profile: Profile  # of that trace
    comparison: Comparison  # rows ranked, measured on that trace
    winner: Row  # the plan was made from it
    answer: Answer
    plan_file: PlanFile  # as written: the winner's, or that of the heap that is kept
    verdict: str  # one sentence, with the figures that decided
    notes: tuple[str, ...]  # of the imports
    warnings: tuple[str, ...]  # each one sentence, these notes among them
    paths: FitPaths
    options: FitOptions
    references: tuple[ReferenceRow, ...]  # incumbent and fitted heap first, then others
    holdout: HoldoutResult
    kinds: FitKinds  # of the recordings
    longer: LongerRuns
    changes: ChangeTest | None  # the heap that is set, tried on changed programs; None: not tried
    this_build: ThisBuild | None  # a plan that needs less, passed over for a change
    by_site: BySite | None  # what the program saves that passes its call sites
    # The incumbent heap compared with the fitted one; where none is known, one that many have.
    today: IncumbentVerdict | None = None
    excerpt: ExcerptInfo | None = None  # where a recording was too long to be searched whole
    work: Work = NO_WORK  # of all stages, without drawing the page
    designs: Comparison | None = None  # of several recordings: every candidate on all of them

    @property
    def lasts(self) -> str:
        """The horizon that the size is set for; "": none was asked for, or it needs more."""
        return self.longer.lasts(self.answer.heap.set_to(self.answer.size.region))

    @property
    def leak(self) -> str:
        """What leaks, as a sentence; then no size is the answer, but for a horizon. "": nothing."""
        return self.kinds.growth[0] if self.kinds.shown.is_leak else ""

    @property
    def headline(self) -> str:
        """The answer as a sentence."""
        return self.leak or self.sized

    @property
    def sized(self) -> str:
        """The size to set as a sentence, and what it saves over the heap that is compared."""
        answer, other = self.answer, self.compared
        is_less = other is not None and not answer.is_kept and self.excerpt is None
        region = other.region if other is not None and is_less else None
        saving = region and compare_regions(
            answer.size.region, region, other.title if other else ""
        )
        return answer.headline(lasts=self.lasts, saving=saving or "")

    @property
    def fitted(self) -> ReferenceRow:
        """The row of the fitted heap."""
        return next(row for row in self.references if row.standing is ReferenceKind.FITTED)

    @property
    def compared(self) -> ReferenceRow | None:
        """The heap that the fitted one is compared with: the incumbent, else one that many have."""
        known = [row for row in self.references if row.region]
        return next(
            (
                row
                for kind in (ReferenceKind.TODAY, ReferenceKind.RULE, ReferenceKind.OTHER)
                for row in known
                if row.standing is kind
            ),
            None,
        )

    @property
    def basis(self) -> list[str]:
        """What the size is made of, its share of the peak, and its price in instructions."""
        other, texts = self.compared, self.answer.describe_parts()
        mean, largest = self.fitted.costs.mean, self.largest
        if largest.u_max < self.answer.size.u_max:
            texts[-1] += f" {largest.name} needs most, with an own peak of {largest.u_max:,} B."
        if other is None or self.answer.is_kept or not mean or not other.costs.mean:
            return texts
        ratio = f"{mean / other.costs.mean:.1f} times the instructions of {other.title}"
        return [*texts[:-1], f"{texts[-1]} A call takes {ratio}."]

    @property
    def findings(self) -> list[str]:
        """What was found that matters for the answer, most important first; each a sentence or two.

        Warnings come after all else.
        """
        answer, today, build = self.answer, self.today, self.this_build
        replaced = today and describe_replacement(today)
        growth = () if self.leak else self.kinds.growth
        names = tuple(run.name for run in self.runs)
        return [
            one
            for one in (
                *growth,
                *([] if self.leak and not self.lasts else answer.describe_limits()),
                replaced,
                self.excerpt and self.excerpt.sentence(),
                build and build.sentence(),
                self.by_site and (self.lasts or not self.leak) and self.by_site.sentence(),
                MEANING.get(self.options.effort),
                *(
                    f"{one[:1] if one.startswith(names) else one[:1].upper()}"
                    f"{one[1:].removesuffix('.')}."
                    for one in self.warnings
                ),
            )
            if one
        ]

    @property
    def replayed(self) -> str:
        """What was replayed in the heap as it is set, and the bytes that longer runs need."""
        held, heap, longer = self.holdout, self.answer.heap, self.longer
        seen = {1: "this run", 2: "both runs"}.get(held.seen, f"all {held.seen} runs")
        if self.excerpt is not None and self.excerpt.is_kept:
            seen = f"an excerpt of {seen}"
        if held.seen_refused:
            seen = f"{held.seen_refused} of {format_count(held.seen, 'run')} ran out of memory"
        told = self.changes and self.changes.sentence(self.answer.size.region, heap.set_to)
        return (
            f"Replayed: {seen}{told and f'; {told}'}. "
            f"{longer.sentence(heap.set_to(self.answer.size.region))}"
        )

    @property
    def shown(self) -> Run:
        """The run of `trace`."""
        return next(run for run in self.runs if run.is_shown)

    @property
    def largest(self) -> Run:
        """The run that needs the largest region."""
        return max(self.runs, key=lambda run: (run.r_safe or 0, run.is_shown))


def make_result(
    selection: Selection,
    request: Request,
    *,
    kinds: FitKinds,
    longer: LongerRuns,
    has_page: bool,
) -> Fit:
    """Assesses a selection, which does not change; its parts have the paths that they will have."""
    choice, workload, searched = selection.choice, selection.workload, selection.searched
    options, stages, place = selection.options, request.stages, request.place
    referring = stages.part("reference", steps=_REFERENCES)
    references, referred = measure_reference_heaps(selection, referring)
    holdout = selection.others + check_holdout(
        choice, workload.recordings, searched, stages.part("hold")
    )
    changes, (by_site, further) = _confirm_changes(selection), find_by_site(selection)
    traces = [place.final(recording.trace) for recording in workload.recordings]
    excerpts = [place.final(loaded.trace) for loaded in searched]
    runs = _list_runs(selection)
    shown = next(i for i, run in enumerate(runs) if run.is_shown)
    stored = tuple(dict.fromkeys(trace.path for trace in (*traces, *excerpts)))
    has_code = selection.writes_code
    return Fit(
        name=workload.name,
        runs=runs,
        trace=traces[shown],
        searched=excerpts[shown],
        profile=selection.profile,
        comparison=choice.comparison,
        winner=choice.winner,
        answer=choice.answer,
        plan_file=_plan_to_write(selection),
        verdict=choice.verdict,
        notes=workload.notes,
        warnings=_list_warnings(selection, kinds),
        paths=FitPaths.in_folder(place.folder, stored, has_code=has_code, has_page=has_page),
        options=options,
        references=references,
        holdout=holdout,
        kinds=kinds,
        longer=longer,
        changes=changes,
        this_build=find_this_build(selection),
        by_site=by_site,
        today=selection.today,
        excerpt=selection.excerpt,
        designs=choice.designs,
        work=further + _sum_work(selection, changes, referred, holdout.events),
    )


def _confirm_changes(selection: Selection) -> ChangeTest | None:
    """The trials of the heap that is set, each change replayed in it as it is set."""
    choice, today = selection.choice, selection.today
    answer = choice.answer
    tested = today.changes if answer.is_kept and today is not None else choice.winner.changes
    programs = ChangedPrograms.from_recordings(selection.searched)
    if tested is None and selection.options.prefer is Preference.BUILD and not answer.is_kept:
        tested = programs.test(answer.heap, answer.size.r_safe, replace(answer.known, changes=0.0))
    if tested is None:
        return None
    return programs.confirm(answer.heap, answer.size.region, tested)


def _sum_work(selection: Selection, changes: ChangeTest | None, beside: int, judged: int) -> Work:
    """The work of selection and assessment, of which these events were replayed."""
    excerpt = selection.excerpt
    return (
        selection.judged
        + selection.choice.comparison.work
        + Work(
            beside=beside + selection.baselines.events,
            judged=judged + (0 if excerpt is None else excerpt.replayed),
            changed=0 if changes is None else changes.events,
        )
    )


def _list_runs(selection: Selection) -> tuple[Run, ...]:
    """The recordings in the heap that is set; of one that is kept nothing is learned from them."""
    choice, recordings = selection.choice, selection.workload.recordings
    needs = selection.needs
    unseen = needs if choice.answer.is_kept else choice.unseen
    is_shown = [one is choice.shown for one in selection.searched]
    columns = zip(recordings, choice.u_max, needs, unseen, is_shown, strict=True)
    is_one = len(recordings) == 1
    return tuple(
        Run(one.name, one.source, u_max, need, None if is_one else other, is_shown)
        for one, u_max, need, other, is_shown in columns
    )


def _list_warnings(selection: Selection, kinds: FitKinds) -> tuple[str, ...]:
    choice = selection.choice
    named = zip(selection.workload.names, kinds.each, strict=True)
    cut = [
        f"{name} ends at its peak: record on until it is given back"
        for name, one in named
        if one.ends_at_peak
    ]
    pools = pools_warning(choice.winner, choice.comparison) if selection.writes_code else None
    warnings = [*cut, *selection.workload.warnings(), *([pools] if pools else [])]
    incumbent = selection.baselines.incumbent
    warnings += [] if incumbent is None else incumbent.notes
    return tuple(dict.fromkeys(warnings))


def _plan_to_write(selection: Selection) -> PlanFile:
    """The fitted heap's plan, or that of the heap that is kept, in bytes of its setting."""
    choice = selection.choice
    kept, fitted, size = choice.answer.heap, choice.plan_file, choice.answer.size
    if selection.writes_code:
        return fitted
    plan = make_heap_plan(kept, kept.set_to(size.region))
    if kept.is_ours:  # an allocator of ours, which can be generated
        plan = replace(plan, heap="", setting="")
    return replace(
        plan,
        r_safe=kept.set_to(size.r_safe),
        base_alignment=max(plan.base_alignment, fitted.base_alignment),
        u_max=fitted.u_max,
        pointer_bits=fitted.pointer_bits,
        trained_on=fitted.trained_on,
        peak=fitted.peak,
        margin=size.margin,
    )


def rank_by_memory(fitted: Fit) -> Comparison:
    """The comparison on the shown recording, ranked by memory whatever was preferred."""
    return replace(fitted.comparison, rows=rank_rows(fitted.comparison.rows))


def save_plans(fitted: Fit, folder: Path) -> tuple[Path, ...]:
    """Writes every candidate as a plan file to an existing folder, least memory first.

    HeapfitError if it was compared on an excerpt, whose regions are not those of the whole.
    """
    if fitted.excerpt is not None:
        raise HeapfitError(
            f"{fitted.name}: was searched by an excerpt, whose regions are not the whole's "
            "(set most_events above its events)"
        )
    trained_on = fitted.plan_file.trained_on
    return save_candidates(fitted.designs or rank_by_memory(fitted), trained_on, folder)
