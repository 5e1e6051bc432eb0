# SPDX-License-Identifier: Apache-2.0
"""Heaps by the names that users type: of systems, of allocators, and aliases."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Final

from heapfit import _engine
from heapfit.comparison.incumbents.catalogue import FAMILIES, heap_5
from heapfit.comparison.incumbents.system_heap import Maker, SystemHeap
from heapfit.errors import HeapfitError, did_you_mean
from heapfit.plan.allocators import (
    ALIGNMENTS,
    find_allocators,
    is_for_any_program,
    list_aliases,
    takes_pools,
)
from heapfit.plan.plan import Plan
from heapfit.plan.values import parse_values

SIMULATED: Final = "simulated from its algorithm"
# Reference allocators of every answer, whatever the incumbent is.
TLSF: Final = "tlsf"
# Our heaps that learn nothing from recordings, the quickest first.
RUNGS: Final = ("address_first_fit", "good_fit", "tailored")

SYSTEM_HEAPS: Final[Mapping[str, Maker]] = MappingProxyType(
    {name: make for family in FAMILIES for name, make in family.items()}
)

# The heap of a system by the system's name, which stands in the source of a recording.
_HEAP_OF_SYSTEM: Final = {
    "FreeRTOS": "heap_4",
    "lwIP": "lwip-mem",
    "Zephyr": "sys_heap",
    "ESP-IDF": "esp-tlsf",
}
COMMON_HEAPS: Final = ("heap_4", TLSF)  # that many have, and `generate` can write
# Tried in each of several memories; the first if none is named.
MEMORY_HEAPS: Final = ("best_fit", TLSF, "good_fit", "first_fit")


def name_system_heap(source: str) -> str | None:
    """The heap of the system that a recording comes from; None if its source names none.

    A source of one word is a tool, or the name of a file.

    >>> name_system_heap("recorder/target, lwIP"), name_system_heap("lwIP.heap")
    ('lwip-mem', None)
    """
    words = source if " " in source else ""
    return next((heap for system, heap in _HEAP_OF_SYSTEM.items() if system in words), None)


def find_system(word: str) -> str:
    """The name of the system whose heap a word names; else the word itself.

    >>> find_system("heap_4"), find_system("zephyr")
    ('freertos', 'zephyr')
    """
    return next((name.lower() for name, heap in _HEAP_OF_SYSTEM.items() if heap == word), word)


def find_common_heap(name: str, alignment: int) -> SystemHeap:
    """One of COMMON_HEAPS, under the title that readers know."""
    heap = find_heap(name, alignment)
    return replace(heap, title="TLSF") if name == TLSF else heap


def describe_namesakes(heap: SystemHeap) -> tuple[str, ...]:
    """A sentence on the heaps of others that an allocator of ours shares its name with.

    >>> describe_namesakes(find_heap("tlsf", 4))
    ("tlsf is heapfit's own: those of others are mattconte-tlsf and esp-tlsf.",)
    """
    others = [name for name in SYSTEM_HEAPS if name.endswith(f"-{heap.name}")]
    told = f"{heap.name} is heapfit's own: those of others are {' and '.join(others)}."
    return (told,) if others else ()


def list_algorithms() -> dict[str, tuple[str, ...]]:
    """The allocators that are only there as the algorithm of systems' heaps, with these.

    >>> list_algorithms()["esp_tlsf"], list_algorithms()["sorted_fit"]
    (('esp-tlsf',), ('heap_2', 'nuttx'))
    """
    found: dict[str, tuple[str, ...]] = {}
    for name, make in SYSTEM_HEAPS.items():
        (info,) = find_allocators([make(ALIGNMENTS[-1]).plan.allocator])
        if not info.ships:
            found[info.name] = (*found.get(info.name, ()), name)
    return found


def list_offered_allocators() -> list[_engine.AllocatorInfo]:
    """The allocators without those that a system's heap is named for."""
    algorithms = list_algorithms()
    return [info for info in find_allocators() if info.name not in algorithms]


def list_heap_names() -> list[str]:
    """All names of heaps that are offered: of allocators, of systems, and aliases."""
    return [*map(_name, list_offered_allocators()), *SYSTEM_HEAPS, *list_aliases()]


def find_heap_name(word: str) -> str:
    """The name a word stands for: of an algorithm without tunables the system's heap.

    HeapfitError if the algorithm is that of several.

    >>> find_heap_name("esp_tlsf"), find_heap_name("esp_tlsf:alignment=8"), find_heap_name("tlsf")
    ('esp-tlsf', 'esp_tlsf:alignment=8', 'tlsf')
    """
    heaps = (word,) if word in SYSTEM_HEAPS else list_algorithms().get(word, (word,))
    if len(heaps) > 1:
        raise HeapfitError(f"{word}: is the algorithm of {' and '.join(heaps)}; name one of them")
    return heaps[0]


def is_heap(word: str) -> bool:
    """True if a word is the name of a heap, with or without values behind a colon.

    >>> is_heap("heap_5:16K,8K"), is_heap("dlmalloc"), is_heap("run.heap")
    (True, True, False)
    """
    name = word.partition(":")[0]
    return name in list_heap_names() or name in map(_name, _engine.allocators())


def is_simulated(word: str) -> bool:
    """True if a name is that of a system's heap, also where an allocator is called so.

    >>> is_simulated("heap_4"), is_simulated("sys_heap"), is_simulated("tlsf")
    (True, True, False)
    """
    return word.partition(":")[0] in SYSTEM_HEAPS


def find_heap(text: str, alignment: int) -> SystemHeap:
    """A heap by NAME, heap_5 with its regions by address, `heap_5:SIZE,SIZE`, or an allocator.

    `alignment` of blocks in bytes, for heaps whose users set it.

    >>> find_heap("heap_5:16K,8K", 8).regions, find_heap("dlmalloc", 8).name
    ((16384,), 'lea')
    """
    text = find_heap_name(text)
    name, _, values = text.partition(":")
    if not is_heap(name):
        raise HeapfitError(f"{name}: no such heap ({_suggest_heap(name)})")
    if name not in SYSTEM_HEAPS:
        return _make_allocator_heap(text, alignment)
    if name == "heap_5":
        return heap_5(text, values)
    if values:
        raise HeapfitError(f"{text}: only heap_5 takes sizes, of its regions")
    return SYSTEM_HEAPS[name](alignment)


def _suggest_heap(name: str) -> str:
    """The heaps of the system that a word names, else the most similar name.

    >>> _suggest_heap("freertos"), _suggest_heap("tlfs")
    ('of FreeRTOS: heap_1, heap_2, heap_4, heap_5', "did you mean 'tlsf'?")
    """
    word = re.sub(r"\W|_", "", name.lower())
    system = next((one for one in _HEAP_OF_SYSTEM if re.sub(r"\W", "", one.lower()) == word), None)
    if system is not None:
        heaps = next(one for one in FAMILIES if _HEAP_OF_SYSTEM[system] in one)
        return f"of {system}: {', '.join(heaps)}"
    if get_close_matches(name, list_heap_names(), 1):
        return did_you_mean(name, list_heap_names())
    return f"of systems: {', '.join(SYSTEM_HEAPS)}; `heapfit allocators` lists others"


def _name(info: _engine.AllocatorInfo) -> str:
    return info.name


def _make_allocator_heap(text: str, alignment: int) -> SystemHeap:
    """An allocator as it is, its region the memory that counts."""
    name, _, values = text.partition(":")
    (info,) = find_allocators([name])
    if takes_pools(info) or (info.ships and not is_for_any_program(info)):
        raise HeapfitError(
            f"{text}: is no heap that a program can have as it is (its blocks are counted on a "
            "recording, or callers must know sizes or follow pieces)"
        )
    scalars = {"alignment": alignment, **parse_values(text, values, "TUNABLE")}
    return SystemHeap(
        name=":".join(filter(None, [info.name, values])),
        title=info.title,
        version=_engine.version,
        setting="its region",
        plan=Plan(info.name, scalars),
        own=0,
        refuses_zero=False,
        is_region=True,
    )
