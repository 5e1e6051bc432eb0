# SPDX-License-Identifier: Apache-2.0
"""Incumbent heaps by the names that `fit --now` takes: each algorithm as an equivalent plan.

    our region       | control | chunks ...                          | sentinel |
    the system's     | its own | the very same chunks, one for one   | its mark |

What is not chunks differs, so a region of ours is told as the system's own memory by what lies in
its chunks. The rules are written from what is published, and checked against figures of the
systems' own sources (docs/now.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from heapfit import _engine
from heapfit.errors import HeapfitError, did_you_mean
from heapfit.plan.allocators import (
    find_allocators,
    is_for_any_program,
    list_aliases,
    takes_pools,
)
from heapfit.plan.plan import Plan
from heapfit.plan.quantities import parse_sizes
from heapfit.plan.values import parse_values

_WORD: Final = 4  # bytes of a sentinel, and of the first header that counts as in use
_OURS: Final = 4  # bytes of a header that a plan says nothing of

SIMULATED: Final = "simulated from its algorithm"
# Reference allocators of every answer, whatever the incumbent is.
DLMALLOC: Final = "lea"
TLSF: Final = "tlsf"


class Resizes(StrEnum):
    """How a heap serves a request for another size."""

    IN_PLACE = "in place"  # where there is room; else as the next
    SHRINK = "shrinks in place, grows by a new block, a copy and a free"
    MOVE = "a new block, a copy and a free"


@dataclass(frozen=True, slots=True)
class SystemHeap:
    """A heap as a system brings it. Sizes in bytes."""

    name: str  # as typed
    title: str
    version: str  # of the source whose figures the rule was checked against
    setting: str  # what a user sets
    plan: Plan  # places its blocks where the system does
    own: int  # of its memory that is no chunk: control, marks, statics
    unset: int = 0  # of these, what its setting does not count
    resizes: Resizes = Resizes.IN_PLACE
    least: int = 1  # smaller requests are served as this
    regions: tuple[int, ...] = ()  # of heap_5: all but the last, by address
    is_region: bool = False  # its memory is the plan's region, control and all
    code: int | None = None  # text; None: not measured
    instructions: int | None = None  # a call, in the mean; None: not measured

    def memory(self, region: int) -> int:
        """Bytes of the system's memory with as many bytes of chunks as our `region` of the plan."""
        chunks = region if self.is_region else _chunks_in(self.plan, region)
        return chunks + self.own - self._marks()

    def region(self, memory: int) -> int:
        """Our region of the plan, a multiple of 8, with as many bytes of chunks as `memory`."""
        region = memory // 8 * 8
        region += (memory - self.memory(region)) // 8 * 8
        while self.memory(region) > memory:
            region -= 8
        return region

    def set_to(self, memory: int) -> int:
        """The value of the heap's setting that gives it so much memory."""
        return memory - self.unset

    def _marks(self) -> int:
        """Bytes that our marks between regions take beyond the system's."""
        return len(self.regions) * (MARK - self.own)


MARK: Final = 16  # bytes of the used chunk that stands for a mark between two regions of heap_5


def _chunks_in(plan: Plan, region: int) -> int:
    """Bytes between the first chunk and the sentinel (core/src/tiling/tiling.h draws both)."""
    untouched = _engine.Replay(plan.engine(), region).result().footprint
    if plan.allocator in _WITHOUT_SENTINEL:
        return region - untouched
    header = plan.scalars.get("header_size", _OURS)
    tail = _WORD + (region + header - _WORD) % plan.alignment
    return region - tail - (untouched - _WORD)


HEAP_4_LINK: Final = 8  # sizeof(BlockLink_t) with 32-bit pointers


def heap_4(alignment: int = 8, link: int = HEAP_4_LINK) -> SystemHeap:
    """heap_4.c: free chunks by address, the first that fits, a rest above two links split off."""
    scalars = {"list": 1, "header_size": max(4, link), "least_split": 2 * link + 1}
    return SystemHeap(
        name="heap_4",
        title="FreeRTOS heap_4",
        version="kernel 4269c69",
        setting="configTOTAL_HEAP_SIZE",
        plan=Plan("first_fit", {"alignment": alignment, **scalars}),
        own=link,  # pxEnd
        resizes=Resizes.MOVE,
        code=708,
        instructions=99,
    )


SHORT_HEADER, LONG_HEADER = 8, 12  # struct mem with 16-bit sizes; with 32-bit ones
LARGEST_SHORT: Final = 64_000  # of MEM_SIZE, with 16-bit sizes
LEAST: Final = 12  # MIN_SIZE of mem_malloc


def lwip_mem(alignment: int, header: int = SHORT_HEADER, least: int = LEAST) -> SystemHeap:
    """core/mem.c: all blocks in a row, the lowest free one that fits; realloc only shrinks."""
    header, least = (-(-size // alignment) * alignment for size in (header, least))
    scalars = {"list": 1, "header_size": header, "least_split": header + least}
    return SystemHeap(
        name="lwip-mem",
        title="lwIP mem_malloc",
        version="2.2, 3d896ba",
        setting="MEM_SIZE",
        plan=Plan("first_fit", {"alignment": alignment, **scalars}),
        own=2 * header,  # of the array: a header at its end, and one for what is cut to align
        unset=2 * header,
        resizes=Resizes.SHRINK,
        least=least,
    )


def _tlsf(alignment: int) -> SystemHeap:
    del alignment  # tlsf.c has 4 on 32 bits
    return SystemHeap(
        name="mattconte-tlsf",
        title="TLSF of mattconte/tlsf",
        version="deff9ab, 32 bits",
        setting="memory of tlsf_create_with_pool",
        plan=Plan("tlsf", {"alignment": 4, "second_level": 5, "probes": 0}),
        own=_TLSF_CONTROL + 2 * _WORD,  # and tlsf_pool_overhead
    )


_WITHOUT_SENTINEL: Final = {"nano_malloc"}


def _newlib(alignment: int) -> SystemHeap:
    del alignment  # MALLOC_ALIGN is 8 on 32 bits
    return SystemHeap(
        name="newlib",
        title="newlib's small malloc (nano.specs)",
        version="3.3.0",
        setting="bytes that _sbrk gives",
        plan=Plan("nano_malloc", {"alignment": 8}),
        own=2 * _WORD,  # its list's head and where it began
        unset=2 * _WORD,
    )


def sys_heap(_alignment: int = 4) -> SystemHeap:
    """Zephyr's sys_heap: blocks at multiples of 4, of 8 above 256 KiB, for any alignment."""
    return SystemHeap(
        name="sys_heap",
        title="Zephyr's sys_heap",
        version="2.5.0",
        setting="K_HEAP_DEFINE",
        plan=Plan("sys_heap", {"alignment": 4}),
        own=3 * _WORD,  # struct sys_heap
        unset=3 * _WORD,
        is_region=True,
    )


# control_t on 32 bits: the null block, a map of 24 first levels and of each, 32 lists a level.
_TLSF_CONTROL: Final = 16 + 4 + 24 * 4 + 24 * 32 * 4

_Maker = Callable[[int], SystemHeap]
SYSTEM_HEAPS: Final[Mapping[str, _Maker]] = MappingProxyType(
    {
        "heap_4": heap_4,
        "heap_5": heap_4,
        "lwip-mem": lwip_mem,
        "newlib": _newlib,
        "sys_heap": sys_heap,
        "mattconte-tlsf": _tlsf,
    }
)


def list_heap_names() -> list[str]:
    """All names of heaps that are offered: of allocators, of systems, and aliases."""
    return list(dict.fromkeys([*map(_name, find_allocators()), *SYSTEM_HEAPS, *list_aliases()]))


def is_heap(word: str) -> bool:
    """True if a word is the name of a heap, with or without values behind a colon.

    >>> is_heap("heap_5:16K,8K"), is_heap("dlmalloc"), is_heap("run.heap")
    (True, True, False)
    """
    name = word.partition(":")[0]
    return name in list_heap_names() or name in map(_name, _engine.allocators())


def is_simulated(word: str) -> bool:
    """True if a name is a system's heap alone, of which no allocator is the code.

    >>> is_simulated("heap_4"), is_simulated("sys_heap")
    (True, False)
    """
    name = word.partition(":")[0]
    return name in SYSTEM_HEAPS and name not in map(_name, _engine.allocators())


def find_heap(text: str, alignment: int) -> SystemHeap:
    """A heap by NAME, heap_5 with its regions by address, `heap_5:SIZE,SIZE`, or an allocator.

    `alignment` of blocks in bytes, for heaps whose users set it.

    >>> find_heap("heap_5:16K,8K", 8).regions, find_heap("dlmalloc", 8).name
    ((16384,), 'lea')
    """
    name, _, values = text.partition(":")
    if not is_heap(name):
        raise HeapfitError(f"{name}: no such heap ({did_you_mean(name, list_heap_names())})")
    if name not in SYSTEM_HEAPS:
        return _make_allocator_heap(text, alignment)
    if name == "heap_5":
        return _heap_5(text, values)
    if values:
        raise HeapfitError(f"{text}: only heap_5 takes sizes, of its regions")
    return heap_4() if name == "heap_4" else SYSTEM_HEAPS[name](alignment)


def _name(info: _engine.AllocatorInfo) -> str:
    return info.name


def _make_allocator_heap(text: str, alignment: int) -> SystemHeap:
    """An allocator as it is, its region the memory that counts."""
    name, _, values = text.partition(":")
    (info,) = find_allocators([name])
    if takes_pools(info) or (info.ships and not is_for_any_program(info)):
        raise HeapfitError(f"{text}: heap_5 cannot have such regions")
    scalars = {"alignment": alignment, **parse_values(text, values, "TUNABLE")}
    return SystemHeap(
        name=":".join(filter(None, [info.name, values])),
        title=info.title,
        version=_engine.version,
        setting="its region",
        plan=Plan(info.name, scalars),
        own=0,
        is_region=True,
    )


_LEAST_REGION: Final = 64  # bytes; below, our marks would not fit


def _heap_5(text: str, values: str) -> SystemHeap:
    try:
        sizes = parse_sizes(values)
    except HeapfitError:
        sizes = ()
    if len(sizes) < 2 or min(sizes) < _LEAST_REGION or sum(sizes) >= 2**32:
        raise HeapfitError(
            f"{text}: heap_5 takes the sizes of its regions by address, two at least of "
            f"{_LEAST_REGION} bytes or more each (heap_5:16K,8K)"
        )
    whole = [size // 8 * 8 for size in sizes]  # what is beyond a multiple of 8 it cannot use
    return replace(
        heap_4(),
        name="heap_5",
        title="FreeRTOS heap_5",
        setting="sizes of vPortDefineHeapRegions",
        regions=tuple(whole[:-1]),
        code=None,
        instructions=None,
    )
