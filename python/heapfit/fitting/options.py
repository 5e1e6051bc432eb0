# SPDX-License-Identifier: Apache-2.0
"""The options of a fit."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from heapfit.design.effort import Effort
from heapfit.design.plan_options import PlanOptions
from heapfit.design.preference import Preference
from heapfit.forecast.horizon import Horizon
from heapfit.importers import ImportOptions
from heapfit.plan.quantities import require_alignment, require_choice, require_number

# A recording of more events is searched by an excerpt: a search holds 65 B an event in memory and
# replays some hundred times what it looks at (docs/evidence/long-recordings.md).
MOST_SEARCHED = 5_000_000
MOST_RECORDINGS = 100  # of more some are searched, and each other one is replayed in what is found


@dataclass(frozen=True, slots=True)
class FitOptions(PlanOptions):
    """The options of a fit, as the command line and `import heapfit` take them."""

    importing: ImportOptions = field(default_factory=ImportOptions)
    prefer: Preference | None = None  # what the winner has least of; None: RAM where it is worth it
    pools: bool = False  # plans whose blocks are counted on the recordings may be chosen
    peak: int | None = None  # live bytes to be ready for; None: what the recordings have
    horizon: Horizon | None = None  # how long the heap is to last
    margin: float | None = None  # percent; None: what was measured (docs/margin.md)
    whole: bool = False  # search the regions of plans, too, that cannot win
    now: str | None = None  # the incumbent heap: one of SYSTEM_HEAPS
    code: bool = False  # plan and code of the fitted heap are written even where one is kept
    programs: tuple[Path, ...] = ()  # recorded ones, for names of call sites on the page
    most_events: int = MOST_SEARCHED  # of a longer recording an excerpt is searched
    most_recordings: int = MOST_RECORDINGS  # that are searched
    allocators: tuple[str, ...] = ()  # what is tried, NAME or NAME:TUNABLE=VALUE,...; none: all

    def __post_init__(self) -> None:
        require_alignment(self.alignment)
        for name, least in (("peak", 1), ("margin", 0), ("most_events", 1), ("most_recordings", 1)):
            require_number(name, getattr(self, name), least)
        require_choice("prefer", self.prefer, Preference)
        require_choice("effort", self.effort, Effort)

    @property
    def is_by_memory(self) -> bool:
        """True if the winner is to have the least RAM, or about the least."""
        return self.prefer in (None, Preference.RAM, Preference.BUILD)
