# SPDX-License-Identifier: Apache-2.0
"""Prunes candidates that can no longer win: one replay shows that most of them cannot.

What is known to fail in a region needs a larger one. So a candidate that fails in the largest
region in which it would still be as good as the best so far is not searched: it needs more, and
that is all that its row says. The best is found as if all had been searched. Plans whose blocks
were counted on the trace have a best of their own (decision 20), where it needs less than
the best of the others does; otherwise none of them is taken, and no sentence names one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from heapfit import _engine
from heapfit.comparison.candidate import Candidate
from heapfit.comparison.margin import heap_size, largest_r_safe
from heapfit.forecast.load import Load
from heapfit.trace.loaded import LoadedTrace


@dataclass(slots=True)
class Pruning:
    """The least regions so far with margin, by whether blocks were counted on the trace."""

    load: Load  # of the trace
    _least: dict[bool, int] = field(default_factory=dict)
    _plain: int | None = None  # R_safe, without a margin, of the best that may be chosen

    def note(self, candidate: Candidate, r_safe: int | None) -> None:
        """Takes the R_safe of a candidate into account; None if no region is safe."""
        if r_safe is not None:
            is_cut, region = (
                candidate.is_cut_to_trace,
                heap_size(r_safe, candidate.margin_basis(self.load)).region,
            )
            if not is_cut and region <= self._least.get(is_cut, region):
                self._plain = r_safe
            self._least[is_cut] = min(region, self._least.get(is_cut, region))

    def limit(self, candidate: Candidate) -> int | None:
        """The largest region in which a candidate would equal the best; None: it must be searched.

        A multiple of 8.
        """
        if candidate.is_shown:
            return None
        is_cut = candidate.is_cut_to_trace
        least, plain = self._least.get(is_cut), self._plain if is_cut else None
        limit = None if least is None else largest_r_safe(least, candidate.margin_basis(self.load))
        return min((one for one in (limit, plain) if one is not None), default=None)


def sort_by_cost(
    loaded: LoadedTrace, candidates: Sequence[Candidate]
) -> list[tuple[int, Candidate]]:
    """The candidates with their indices, first those whose region is known after one replay.

    Of these, and of the others, the last made first, as later makers build on earlier ones; plans
    whose blocks were counted on the trace come last.
    """

    def cost(one: tuple[int, Candidate]) -> tuple[bool, bool, int]:
        number, candidate = one
        trial = _engine.Trial(candidate.plan.engine(), loaded.events)
        return candidate.is_cut_to_trace, not trial.tells_reach, -number

    return sorted(enumerate(candidates), key=cost)
