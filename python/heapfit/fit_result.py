# SPDX-License-Identifier: Apache-2.0
"""What a fit found and where it was written: the record that the report and the printer read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from heapfit.compare.candidate import NotApplicable
from heapfit.compare.comparison import Comparison, Row
from heapfit.front.preference import Preference
from heapfit.plan.plan_file import PlanFile
from heapfit.trace.profile import Profile
from heapfit.trace.stored import Trace


@dataclass(frozen=True, slots=True)
class FitPaths:
    """What a fit wrote, all inside `folder`."""

    folder: Path
    trace: Path  # the stored trace; the source itself where it already was one
    plan: Path  # plan.toml
    code: Path  # folder of generated C
    report: Path  # report.html


@dataclass(frozen=True, slots=True)
class Fit:
    """One fitted source."""

    name: str  # from the source's file name; fit for a folder
    source: Path
    trace: Trace
    profile: Profile
    comparison: Comparison  # rows ranked
    winner: Row  # the plan was made from it
    plan_file: PlanFile  # the winner's
    verdict: str  # one sentence, with the figures that decided
    warnings: tuple[str, ...]  # each one sentence
    paths: FitPaths
    prefer: Preference  # what the winner has least of

    @property
    def not_applicable(self) -> tuple[NotApplicable, ...]:
        """Candidates left out, and why."""
        return self.comparison.not_applicable
