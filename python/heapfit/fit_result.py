# SPDX-License-Identifier: Apache-2.0
"""What a fit found and where it was written: the record that the report and the printer read."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from heapfit.comparison.candidate import NotApplicable
from heapfit.comparison.comparison import Comparison
from heapfit.comparison.incumbents.heaps import SystemHeap
from heapfit.comparison.incumbents.replacement import Today
from heapfit.comparison.margin import ENOUGH_OF_SMALL, SMALL_PEAK, HeapSize, Known, is_enough
from heapfit.comparison.row import Row
from heapfit.comparison.work import NO_WORK, Work
from heapfit.design.budgets.choice import BudgetChoice
from heapfit.design.effort import Effort
from heapfit.design.front.preference import Preference
from heapfit.design.plan_options import PlanOptions
from heapfit.design.robust.design import MOST_FOLDS, RobustDesigns
from heapfit.design.robust.objective import LARGEST, Objective
from heapfit.importers import ImportOptions
from heapfit.plan.energy import Sram
from heapfit.plan.plan_file import PlanFile
from heapfit.trace.loaded import STANDARD_ALIGNMENT
from heapfit.trace.profile import Profile
from heapfit.trace.stored import Trace

# A recording of more events is searched by an excerpt: a search holds 65 B an event in memory and
# replays some hundred times what it looks at (docs/long-recordings.md).
MOST_SEARCHED = 5_000_000


@dataclass(frozen=True, slots=True)
class FitOptions:
    """What a user may want different."""

    alignment: int = STANDARD_ALIGNMENT  # of every block: 4, 8 or 16
    importing: ImportOptions = field(default_factory=ImportOptions)
    prefer: Preference = Preference.MEMORY  # what the winner has least of
    call_sites: bool = False  # the program can pass call sites
    sized: bool = False  # it hands over the sizes of blocks that it frees and resizes
    pools: bool = False  # plans whose blocks are counted on the recordings may be chosen
    peak: int | None = None  # live bytes to be ready for; None: what the recordings have
    margin: float | None = None  # percent; None: what was measured (docs/margin.md)
    exact: bool = False  # every size is tried of each plan's regions
    effort: Effort = Effort.STANDARD  # how far plans are looked for
    whole: bool = False  # search the regions of plans, too, that cannot win
    now: str | None = None  # the heap that there is today: one of SYSTEM_HEAPS
    programs: tuple[Path, ...] = ()  # recorded ones, for names of call sites on the page
    kept: Path | None = None  # a folder for what replays came to: it changes no answer
    most_events: int = MOST_SEARCHED  # of a longer recording an excerpt is searched
    budgets: BudgetChoice | None = None  # of pools; None: as the effort has it
    objective: Objective = LARGEST  # of several recordings: what of their needs counts
    folds: int = MOST_FOLDS  # of several recordings: parts that are left out by turns
    front: bool = False  # every configuration of the design space is compared, for its front
    allocators: tuple[str, ...] = ()  # what is tried, NAME or NAME:TUNABLE=VALUE,...; none: all
    sram: Sram | None = None  # what an access takes, for what is preferred; None: the standard's

    @property
    def plans(self) -> PlanOptions:
        """Those of the plans that are made."""
        return PlanOptions(
            self.alignment,
            choice=self.budgets,
            call_sites=self.call_sites,
            sized=self.sized,
            exact=self.exact,
            effort=self.effort,
        )


@dataclass(frozen=True, slots=True)
class FitPaths:
    """What a fit wrote, all inside `folder`."""

    folder: Path
    # Stored traces, the sources themselves where they already were; then excerpts of long ones.
    traces: tuple[Path, ...]
    plan: Path | None  # plan.toml; None where today's heap is kept
    code: Path | None  # folder of generated C; likewise
    report: Path  # report.html


@dataclass(frozen=True, slots=True)
class Run:
    """One recording under the plan that was chosen. Sizes in bytes."""

    name: str
    source: Path
    u_max: int  # its own peak of live bytes
    r_safe: int | None  # of the chosen plan on it
    unseen: int | None = None  # likewise, of the plan made without it; None: it was made of one

    @property
    def over_u_max(self) -> float | None:
        """R_safe over its own peak."""
        return self.r_safe / self.u_max if self.r_safe is not None and self.u_max else None


@dataclass(frozen=True, slots=True)
class Answer:
    """What to set the heap to, in a user's words."""

    size: HeapSize
    known: Known  # what the margin rests on
    asked_peak: int | None  # by the user
    kept: SystemHeap | None = None  # what is set; None: the fitted heap

    @property
    def is_enough(self) -> bool:
        """Whether the recordings can carry an answer."""
        return is_enough(self.known)

    @property
    def overhead(self) -> float:
        """Percent of the peak that goes to the allocator: metadata, rounding and holes."""
        return 100 * (self.size.r_safe / max(self.size.u_max, 1) - 1)

    def sentences(self) -> list[str]:
        """The answer first; then what limits it."""
        what, region = "the heap", self.size.region
        if self.kept is not None:
            what, region = self.kept.setting, self.kept.set_to(region)
        size, runs = self.size, self.known.runs
        recordings = "1 recording" if runs == 1 else f"{runs} recordings"
        peak = f"your peak of {size.u_max:,}"
        if size.peak > size.u_max:
            peak = f"the peak of {size.peak:,} that you expect"
        parts = f"{peak}, {self.overhead:.1f} % for the allocator, {size.margin:g} % margin"
        if self.is_enough:
            answers = [f"Set {what} to {region:,} bytes: {parts}; from {recordings}."]
        else:
            answers = [
                f"{recordings} cannot carry an answer for a heap below "
                f"{SMALL_PEAK // 1024} KiB, where runs differ most: record "
                f"{ENOUGH_OF_SMALL} and fit them together.",
                f"Until then set {what} to {region:,} bytes: {parts}.",
            ]
        if self.asked_peak is not None and self.asked_peak < size.u_max:
            answers.append(
                f"A peak of {self.asked_peak:,} is below the recorded one, whose region stands: "
                "smaller heaps are relatively more broken up."
            )
        return answers


class Standing(StrEnum):
    """What a heap is beside the answer."""

    FITTED = "fitted"
    TODAY = "today"  # what the user has
    RULE = "rule"  # places blocks by a published rule; its own code was not run
    OTHER = "other"
    COUNTED = "counted"  # holds so many blocks of a size as the recordings show, and no more


@dataclass(frozen=True, slots=True)
class BesideRow:
    """A heap for the same recordings, with the same margin. None where nothing was measured."""

    title: str
    standing: Standing
    region: int | None  # bytes to set, the margin included but for what is COUNTED; None: none
    over_peak: float | None  # that over the peak
    mean: float | None  # instructions of a call, in the mean (docs/front.md has the model)
    longest: float | None  # likewise of the longest call of the recording
    flash: int | None  # bytes of code
    is_of_excerpt: bool = False  # what it needs was not seen on the whole of a long recording


@dataclass(frozen=True, slots=True)
class Held:
    """Whether runs are served by just the region that is to be set: a replay of each."""

    seen: int  # recordings
    seen_refused: int  # of these
    drawn: int  # runs drawn from the recordings, which took no part in the choice; 0: none
    drawn_refused: int
    events: int  # replayed for it
    # The least region that each drawn run was found to need; None: more than all that were tried.
    # Empty: not looked for.
    drawn_needs: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class LookedAt:
    """What of long recordings the search looked at; each was then replayed whole."""

    events: int  # of the long recordings
    searched: int  # of these, in excerpts
    refused: tuple[int, ...]  # events that a heap refused, around which the search looked, too
    replayed: int  # events, of whole recordings
    r_safe: int  # of the plan in the search, before it was raised; bytes
    is_raised: bool  # the region was at last set by the whole recording, not by the search
    is_kept: bool = False  # today's heap is, whose region is known of the excerpts alone

    def sentence(self) -> str:
        """What was searched, and by what the region is known to serve the rest."""
        looked = f"The search looked at {self.searched:,} of {self.events:,} events"
        if self.is_kept:
            return f"{looked}: the region to keep is known of these alone."
        if self.is_raised:
            return f"{looked}; then all were replayed, the region raised until nothing was refused."
        return f"{looked}; then all were replayed in the region found: nothing was refused."


@dataclass(frozen=True, slots=True)
class Fit:
    """A heap fitted to one or more recordings."""

    name: str  # from the first source's file name; fit for a folder
    runs: tuple[Run, ...]  # at least one
    trace: Trace  # of the run that needs the largest region: the one that is shown
    searched: Trace  # the same, or its excerpt, where it was too long to be searched whole
    profile: Profile  # of that trace
    comparison: Comparison  # rows ranked, measured on that trace
    winner: Row  # the plan was made from it
    answer: Answer
    plan_file: PlanFile  # the winner's; written unless today's heap is kept
    verdict: str  # one sentence, with the figures that decided
    firmer: tuple[str, ...]  # what would make the answer firmer, each a few words
    warnings: tuple[str, ...]  # each one sentence
    paths: FitPaths
    options: FitOptions
    beside: tuple[BesideRow, ...]  # today's heap and the fitted one first, then others
    held: Held
    today: Today | None = None  # the heap that there is, where it was named
    looked_at: LookedAt | None = None  # where a recording was too long to be searched whole
    work: Work = NO_WORK  # that all of it took, pictures aside
    recalled: int = field(default=0, compare=False)  # recordings of which something was kept
    designs: RobustDesigns | None = None  # of several recordings: every candidate on all of them

    @property
    def source(self) -> Path:
        """Of the run that is shown."""
        return self.shown.source

    @property
    def shown(self) -> Run:
        """The run that needs the largest region."""
        return max(self.runs, key=lambda run: run.r_safe or 0)

    @property
    def not_applicable(self) -> tuple[NotApplicable, ...]:
        """Candidates left out, and why."""
        return self.comparison.not_applicable
