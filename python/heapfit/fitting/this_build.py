# SPDX-License-Identifier: Apache-2.0
"""The plan that needs least if the recorded build is what ships, beside the one that is named.

The named one needs least with the changes of the program that it has to hold. One that needed less
and was passed over for a change may still be right for a build that is done.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from heapfit.comparison.change_results import ChangeTest
from heapfit.comparison.changed_programs import ChangedPrograms
from heapfit.fitting.choice import basis_of, compute_size
from heapfit.fitting.selection import Selection

_MOST_TOLD = 2  # changes that break it


@dataclass(frozen=True, slots=True)
class ThisBuild:
    """A plan for the recorded build, and what changes of it take of its heap."""

    name: str
    region: int  # bytes to set, with the reserve for other runs
    changes: ChangeTest  # each replayed in this region

    @property
    def broken(self) -> list[str]:
        """The changes that do not hold, the worst first."""
        worst = sorted(self.changes.results, key=lambda one: -(one.takes or 0))
        return [one.name for one in worst if (one.takes or 0) > self.region]

    def sentence(self) -> str:
        """What it takes, and what breaks it."""
        more = len(self.broken) - _MOST_TOLD
        others = f", and so do {more} more" if more > 0 else ""
        named = " or ".join(self.broken[:_MOST_TOLD]) or "no change that was tried"
        return (
            f"If this build is what ships: {self.name} at {self.region:,} B does "
            f"(--prefer build); {named} breaks it{others}."
        )


def find_this_build(selection: Selection) -> ThisBuild | None:
    """The plan that was passed over for a change, and needs least; None: there is no such plan."""
    choice, options = selection.choice, selection.options
    sizes: dict[str, int] = {}
    for row in choice.table.rows:
        is_passed_over = row.changes is not None and row.changes.needed > 0
        if (
            is_passed_over
            and row.lasts is not False
            and row.r_safe is not None
            and not row.is_cut_to_trace
        ):
            known = replace(basis_of(choice, row), changes=0.0)
            sizes[row.name] = compute_size(row.r_safe, known, options).region
    name = min(sizes, key=lambda one: sizes[one], default="")
    named = min(one.answer.size.region for one in (selection.fitted, choice))
    if not name or name == choice.row.name or sizes[name] >= named:
        return None
    row = choice.table.row(name)
    programs, tested = ChangedPrograms.from_recordings(selection.searched), row.changes
    if tested is None or not tested.is_complete:
        tested = programs.test(row.heap, row.r_safe or 0, row.known)
    return ThisBuild(name, sizes[name], programs.confirm(row.heap, sizes[name], tested))
