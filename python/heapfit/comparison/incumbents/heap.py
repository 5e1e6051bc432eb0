# SPDX-License-Identifier: Apache-2.0
"""A heap: its algorithm as a plan, its memory as its users count it, and what it is asked.

    our region       | control | chunks ...                          | sentinel |
    the system's     | its own | the very same chunks, one for one   | its mark |

A plan of ours is a heap whose memory is its region. Of a system's heap what is not chunks differs,
so its memory is computed from the bytes of chunks in a region of ours, and it is asked what it can
be asked. The rules are written from what is published, and checked against the systems' own sources
(docs/now.md). A resize that a heap does not serve in place is two requests:

    resize of 3 to 80 B  ->  request of 80 B as 7, free of 3; later 3 is 7
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.comparison.incumbents.heap_names import (
    SYSTEM_HEAPS,
    find_heap_name,
    is_heap,
    suggest_heap,
)
from heapfit.comparison.incumbents.requests import (
    BatchSource,
    Requests,
    describe_zero_requests,
    requests_of,
)
from heapfit.errors import HeapfitError
from heapfit.plan.allocators import find_allocators, is_for_any_program, takes
from heapfit.plan.plan import Plan
from heapfit.plan.quantities import format_event
from heapfit.plan.values import parse_values
from heapfit.trace.operations import ALIGNED, ALLOC, FREE, RESIZE, is_allocation, is_end

_WORD: Final = 4  # bytes of a sentinel, and of the first header that counts as in use
_OURS: Final = 4  # bytes of a header that a plan says nothing of
# Bytes of the least chunk with links; two values of first_fit's `list`, both by address.
_LINKED, _BY_ADDRESS, _WITHOUT_LINKS = 16, 1, 2
_PORTS: Final = {f"alignment={one}": one for one in (4, 8, 16)}


class Resizes(StrEnum):
    """How a heap serves a request for another size."""

    IN_PLACE = "in place"  # where there is room; else as the next
    SHRINK = "shrinks in place, grows by a new block, a copy and a free"
    CUT = "shrinks in place by a chunk, else a new block, a copy and a free"
    MOVE = "a new block, a copy and a free"


class ReplayableTrace(BatchSource, Protocol):
    """A recording in memory or in its file."""

    @property
    def largest_alignment(self) -> int:
        """The largest alignment any request asks for; 0 where none does."""

    def events_for(self, plan: Plan) -> _engine.EventArray:
        """The events for a plan of ours, with the tags of its call sites."""


@dataclass(frozen=True, slots=True)
class Heap:
    """A plan of ours, or a heap as a system brings it. Sizes in bytes."""

    name: str  # as typed
    plan: Plan  # places its blocks where the system does
    title: str = ""
    version: str = _engine.version  # of the source that the rule was checked against
    setting: str = "its region"  # what a user sets
    own: int = 0  # of its memory that is no chunk: control, marks, statics
    unset: int = 0  # of these, what its setting does not count
    page: int = 1  # its setting is a multiple
    resizes: Resizes = Resizes.IN_PLACE
    aligns: bool = True  # False: beyond its plan's alignment it serves no request
    least: int = 0  # smaller requests are served as this
    mark: int = 0  # of resizes that depend on the block's chunk (EventArray.moving)
    refuses_zero: bool = False  # a request of 0 B gets no block
    is_region: bool = True  # its memory is the plan's region, control and all
    has_sentinel: bool = True  # the plan's region ends in a word of ours
    walks: bool = (
        False  # over all chunks, used ones too, where the plan follows a list of free ones
    )
    long_header: int = 0  # of each chunk where its setting is larger than the next
    largest_short: int = 0
    drop_in: int = 0  # of code that a heap of ours has in its place, beside init, malloc and free
    tolerance: float | None = None  # percent of R beside the source; 0.0: exact; None: it is ours

    @property
    def is_ours(self) -> bool:
        """True for a plan whose code heapfit writes or measures; else it is simulated."""
        return self.tolerance is None

    def memory(self, region: int) -> int:
        """Bytes of the heap's memory with as many bytes of chunks as our `region` of the plan."""
        return (region if self.is_region else self._chunks_in(region)) + self.own

    def region(self, memory: int) -> int:
        """Our region of the plan, in whole words, with as many bytes of chunks as `memory`.

        What the plan needs to start is one, too; less where the memory does not hold even that. Of
        a plan of ours it is the memory.
        """
        if self.is_ours:
            return memory
        least = self.plan.engine().smallest_region
        if memory < self.memory(least):
            return least - 8
        region = max(least, memory // _WORD * _WORD)
        region += (memory - self.memory(region)) // _WORD * _WORD
        while region >= least and self.memory(region) > memory:
            region -= _WORD
        return max(region, least)

    def taken_by_itself(self, memory: int) -> int:
        """Bytes of so much memory that hold no block: the heap's own, before any request."""
        if not self.is_region:
            return self.own
        return self.own + _engine.Replay(self.plan.engine(), self.region(memory)).result().footprint

    def with_links(self, region: int) -> tuple[_engine.Plan, int]:
        """A plan that searches a list as the heap does, and its region for as many blocks.

        The heap's own, but where its least chunk has no room for our links: they take some, and by
        address no block moves for it.
        """
        if self.is_ours or self.plan.scalars.get("list") != _WITHOUT_LINKS:
            return self.plan.engine(), region
        scalars = {**self.plan.scalars, "list": _BY_ADDRESS}
        return replace(self.plan, scalars=scalars).engine(), 2 * region

    def set_to(self, memory: int) -> int:
        """The value of the heap's setting that gives it so much memory, in whole pages."""
        return -((self.unset - memory) // self.page) * self.page

    def memory_of(self, setting: int) -> int:
        """The memory that a value of the heap's setting gives it."""
        return setting + self.unset

    def serve(self, requests: Requests) -> Requests:
        """The requests for its plan to replay; HeapfitError if it cannot serve one."""
        if self.is_ours:
            return requests
        beyond = (requests.op == ALIGNED) & (requests.alignment > self.plan.alignment)
        if not self.aligns and beyond.any():
            first = int(np.argmax(beyond))
            raise HeapfitError(
                f"{format_event(first)}: asks for an alignment of {requests.alignment[first]}, "
                f"which {self.title} cannot serve"
            )
        if self.resizes in (Resizes.SHRINK, Resizes.MOVE):
            requests = _replace_resizes(requests, self.find_moves(requests))
        return self._with_least(requests)

    def find_moves(
        self, requests: Requests, refused: NDArray[np.uint64] | None = None
    ) -> NDArray[np.bool_]:
        """True for each resize that it serves by a new block, where it refuses these events."""
        is_resize = (requests.op == RESIZE) & (requests.size > 0)
        return np.asarray(
            is_resize & self._moves(requests.size, _find_last_sizes(requests, refused))
        )

    def _with_least(self, requests: Requests) -> Requests:
        is_cut = (requests.op == RESIZE) & (self.mark > 0)  # may be, to less
        is_left = is_end(requests.op, requests.size) | is_cut
        least = np.where(is_left, np.uint64(0), np.uint64(self.least))
        return replace(requests, size=np.maximum(requests.size, least), moves=self.mark)

    def events(self, recording: ReplayableTrace) -> _engine.EventArray:
        """What the engine replays for a recording; HeapfitError if the heap cannot serve it."""
        if self.is_ours:
            return recording.events_for(self.plan)
        return self.serve(requests_of(recording)).engine()

    def events_past_refusals(
        self, recording: ReplayableTrace, moves: NDArray[np.bool_]
    ) -> _engine.EventArray:
        """Each event of a recording for a replay that goes on, these resizes by a new block."""
        if self.is_ours:
            return recording.events_for(self.plan)
        asked = self._with_least(requests_of(recording)).engine()
        return asked.moving(moves.astype(np.uint16) * np.uint16(self.mark or 1))

    def trial(self, recording: ReplayableTrace, base: int = 0) -> _engine.Trial:
        """A trial of the plan, in a region whose start is aligned to `base` at least."""
        return _engine.Trial(
            self.plan.engine(), self.events(recording), max(base, recording.largest_alignment)
        )

    def describe_requests(self, requests: Requests) -> Iterator[str]:
        """A sentence on the requests that it refuses, and on those whose need is not exact.

        What aligned ones take depends on where a system's memory begins (docs/evidence/
        system-heaps.md).
        """
        if self.refuses_zero:
            yield from describe_zero_requests(
                requests,
                f"which {self.title} refuses (as where memory runs out); they are replayed as its "
                "smallest block",
            )
        count = is_allocation(requests.op).sum()
        beyond = np.count_nonzero(requests.alignment[requests.op == ALIGNED] > self.plan.alignment)
        if beyond and not self.is_ours:
            yield (
                f"{beyond:,} of {count:,} requests are aligned above {self.plan.alignment} "
                f"B: {self.title} may need some 8 % more where its memory begins elsewhere"
            )

    def _moves(self, size: NDArray[np.uint64], old: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """True where the heap may serve a resize from `old` to `size` by a new block."""
        return np.asarray(
            (size > old) & (self.resizes is Resizes.SHRINK)
            | (self.resizes in (Resizes.MOVE, Resizes.CUT))
        )

    def _chunks_in(self, region: int) -> int:
        """Bytes from the first chunk to the sentinel (core/src/tiling/tiling.h draws both)."""
        plan = self.plan
        untouched = _engine.Replay(plan.engine(), region).result().footprint
        if not self.has_sentinel:
            return region - untouched
        tail = _WORD + (region + plan.scalars.get("header_size", _OURS) - _WORD) % plan.alignment
        return region - tail - (untouched - _WORD)


def _find_last_sizes(requests: Requests, refused: NDArray[np.uint64] | None) -> NDArray[np.uint64]:
    """The size of each event's object before it; `refused` events change no size."""
    size, by_object = requests.size, np.argsort(requests.named, kind="stable")
    served = ~np.isin(by_object, () if refused is None else refused)
    last = np.maximum.accumulate(np.where(served, np.arange(len(size)), 0))
    last_size = np.zeros(len(size), np.uint64)
    last_size[by_object[1:]] = size[by_object[last[:-1]]]
    return last_size


def _replace_resizes(requests: Requests, moves: NDArray[np.bool_]) -> Requests:
    """Replaces each resize that a heap does not serve in place by a request, a copy and a free."""
    by_object = np.argsort(requests.named, kind="stable")
    begins = is_allocation(requests.op) | moves
    ordinal = np.cumsum(begins, dtype=np.uint32) - np.uint32(1)
    now, before = _incarnations(begins[by_object], ordinal[by_object])
    named, old = np.empty_like(requests.named), np.empty_like(requests.named)
    named[by_object], old[by_object] = now, before
    op = np.where(moves, np.uint8(ALLOC), requests.op)
    op = np.where((op == RESIZE) & (requests.size == 0), np.uint8(FREE), op)
    slots = np.flatnonzero(moves) + 1
    zeros = np.zeros_like(slots)
    return Requests(
        np.insert(op, slots, np.uint8(FREE)),
        np.insert(named, slots, old[moves]),
        np.insert(requests.size, slots, zeros),
        np.insert(np.where(moves, np.uint32(0), requests.alignment), slots, zeros),
    )


def _incarnations(
    begins: NDArray[np.bool_], ordinal: NDArray[np.uint32]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The block numbers after and before each event, for events in order of their objects."""
    now = ordinal[np.maximum.accumulate(np.where(begins, np.arange(len(begins)), 0))]
    return now, np.concatenate([now[:1], now[:-1]])


def find_heap(text: str, alignment: int) -> Heap:
    """A heap by NAME, or an allocator by NAME or NAME:TUNABLE=VALUE,...

    `alignment` of blocks in bytes, for heaps whose users set it; heap_4:alignment=4 has its own.

    >>> find_heap("lwip-mem", 8).own, find_heap("dlmalloc", 8).name
    (16, 'lea')
    """
    text = find_heap_name(text)
    name, _, values = text.partition(":")
    if not is_heap(name):
        raise HeapfitError(f"{name}: no such heap ({suggest_heap(name)})")
    if name not in SYSTEM_HEAPS:
        return _make_allocator_heap(text, alignment)
    facts = SYSTEM_HEAPS[name]
    ports = {} if facts.get("is_aligned_alike", "alignment" in facts) else _PORTS
    if values and values not in ports:
        raise HeapfitError(
            f"{text}: {name} takes no tunables{' but alignment=4, 8 or 16' if ports else ''}: give "
            f"{name} alone (whether recordings run in a size is told by check --heap {name}:SIZE)"
        )
    return make_system_heap(text, _PORTS.get(values, facts.get("alignment", alignment)))


def make_system_heap(name: str, alignment: int, **changed: int) -> Heap:
    """A system's heap with its blocks at multiples of `alignment`, and some of its facts changed.

    Its name may say of what port it is: heap_4:alignment=4.

    In bytes: `header` of each chunk, `rest` split off beyond one, `least` that a request takes.
    """
    system, _, port = name.partition(":")
    facts = {
        "least": 1,
        "headers": (0, 0),
        "resizes": "IN_PLACE",
        **SYSTEM_HEAPS[system],
        **changed,
    }
    unit = alignment if facts.get("rounds") else 1
    header, rest, least = (
        -(-facts.get(one, 0) // unit) * unit for one in ("header", "rest", "least")
    )
    scalars = {"alignment": alignment, **facts["plan"]}
    scalars |= {"header_size": header, "least_split": header + rest} if header else {}
    has_links = scalars.get("list") != _BY_ADDRESS or header + alignment >= _LINKED
    scalars |= {} if has_links else {"list": _WITHOUT_LINKS}
    standard = {"is_region": False, "refuses_zero": True}
    known = {one.name: facts[one.name] for one in fields(Heap) if one.name in facts}
    computed = {
        "title": ", ".join(filter(None, [facts["title"], port])),
        "plan": Plan(scalars.pop("allocator"), scalars),
        "resizes": Resizes[facts["resizes"]],
        "least": least,
        "mark": (header + facts["least_cut"]) // -unit * -unit + 256 * least
        if "least_cut" in facts
        else 0,
        "own": facts.get("own", 0) + facts["headers"][0] * header,
        "unset": facts.get("unset", 0) + facts["headers"][1] * header,
    }
    return Heap(name=name, **(standard | known | computed))


def _make_allocator_heap(text: str, alignment: int) -> Heap:
    """An allocator as it is, its region the memory that counts."""
    name, _, values = text.partition(":")
    (info,) = find_allocators([name])
    if takes(info, "pools") or (info.ships and not is_for_any_program(info)):
        raise HeapfitError(
            f"{text}: is no heap that a program can have as it is (its blocks are counted on a "
            "recording, or callers must know sizes or follow pieces)"
        )
    scalars = {"alignment": alignment, **parse_values(text, values, "TUNABLE")}
    return Heap(":".join(filter(None, [info.name, values])), Plan(info.name, scalars), info.title)
