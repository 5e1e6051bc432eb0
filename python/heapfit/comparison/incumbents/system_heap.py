# SPDX-License-Identifier: Apache-2.0
"""A heap as a system brings it: its algorithm as an equivalent plan, its memory as users count it.

    our region       | control | chunks ...                          | sentinel |
    the system's     | its own | the very same chunks, one for one   | its mark |

What is not chunks differs, so the system's memory is computed from the bytes of chunks in a region
of ours. The rules are written from what is published, and checked against the systems' own
sources (docs/now.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from heapfit import _engine
from heapfit.plan.plan import Plan

WORD: Final = 4  # bytes of a sentinel, and of the first header that counts as in use
_OURS: Final = 4  # bytes of a header that a plan says nothing of
MARK: Final = 16  # bytes of the used chunk that stands for a mark between two regions of heap_5


class Resizes(StrEnum):
    """How a heap serves a request for another size."""

    IN_PLACE = "in place"  # where there is room; else as the next
    SHRINK = "shrinks in place, grows by a new block, a copy and a free"
    CUT = "shrinks in place by a chunk, else a new block, a copy and a free"
    MOVE = "a new block, a copy and a free"


@dataclass(frozen=True, slots=True)
class SystemHeap:
    """A heap as a system brings it. Sizes in bytes."""

    name: str  # as typed
    title: str
    version: str  # of the source that the rule was checked against
    setting: str  # what a user sets
    plan: Plan  # places its blocks where the system does
    own: int  # of its memory that is no chunk: control, marks, statics
    unset: int = 0  # of these, what its setting does not count
    page: int = 1  # its setting is a multiple
    resizes: Resizes = Resizes.IN_PLACE
    aligns: bool = True  # False: beyond its plan's alignment it serves no request
    frees: bool = True  # False: no recording that frees a block can be served
    least: int = 1  # smaller requests are served as this
    least_cut: int = 0  # the least that a block loses in place where it is cut
    refuses_zero: bool = True  # a request of 0 B gets no block
    regions: tuple[int, ...] = ()  # of heap_5: all but the last, by address
    typed: tuple[int, ...] = ()  # of heap_5: all regions as its user has them
    grown: int = -1  # of heap_5: the region that is resized to serve more or less
    is_region: bool = False  # its memory is the plan's region, control and all
    has_sentinel: bool = True  # the plan's region ends in a word of ours
    walks: bool = (
        False  # over all chunks, used ones too, where the plan follows a list of free ones
    )
    tolerance: float | None = None  # percent of R beside the source; 0.0: exact; None: it is ours

    def memory(self, region: int) -> int:
        """Bytes of the system's memory with as many bytes of chunks as our `region` of the plan."""
        chunks = region if self.is_region else self._chunks_in(region)
        memory = chunks + self.own - self._marks()
        # Of heap_5 the last region is as typed where another one grows.
        return memory if self.grown < 0 else max(memory, sum(self.regions) + self.typed[-1])

    def region(self, memory: int) -> int:
        """Our region of the plan, a multiple of 8, with as many bytes of chunks as `memory`.

        What the plan needs to start is one, too; less where the memory does not hold even that.
        """
        least = self.plan.engine().smallest_region
        if memory < self.memory(least):
            return least - 8
        region = max(-(-least // 8) * 8, memory // 8 * 8)
        region += (memory - self.memory(region)) // 8 * 8
        while region >= least and self.memory(region) > memory:
            region -= 8
        return max(region, least)

    def set_to(self, memory: int) -> int:
        """The value of the heap's setting that gives it so much memory, in whole pages."""
        return -((self.unset - memory) // self.page) * self.page

    def memory_of(self, setting: int) -> int:
        """The memory that a value of the heap's setting gives it."""
        return setting + self.unset

    def describe_regions(self, memory: int) -> str:
        """A sentence on heap_5's regions as typed where it needs so much memory in all."""
        more, typed = memory - sum(self.typed), self.typed[self.grown]
        sizes = ", ".join(f"{size:,}" for size in self.typed)
        if more <= 0:
            return f"its regions of {sizes} B are large enough, with {-more:,} B left"
        number = self.grown % len(self.typed) + 1
        return (
            f"its regions of {sizes} B are too small by {more:,} B: enlarge region {number} from "
            f"{typed:,} to {typed + more:,} B"
        )

    def _marks(self) -> int:
        """Bytes that our marks between regions take beyond the system's."""
        return len(self.regions) * (MARK - self.own)

    def _chunks_in(self, region: int) -> int:
        """Bytes from the first chunk to the sentinel (core/src/tiling/tiling.h draws both)."""
        plan = self.plan
        untouched = _engine.Replay(plan.engine(), region).result().footprint
        if not self.has_sentinel:
            return region - untouched
        header = plan.scalars.get("header_size", _OURS)
        tail = WORD + (region + header - WORD) % plan.alignment
        return region - tail - (untouched - WORD)


Maker = Callable[[int], SystemHeap]  # from the alignment of blocks, for heaps whose users set it
Family = Mapping[str, Maker]  # by the name that users type
