# SPDX-License-Identifier: Apache-2.0
"""Heaps by the names that users type: of systems, of allocators, and aliases."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from heapfit import _engine
from heapfit.errors import RemovedError, did_you_mean, find_similar
from heapfit.fact_files import read_facts
from heapfit.plan.allocators import find_allocators, list_aliases

# The facts about the heaps of systems, by the names that users type.
SYSTEM_HEAPS: Final[Mapping[str, Mapping[str, Any]]] = read_facts(__file__, "systems.toml")
SIMULATED: Final = "simulated from its algorithm"
# Reference allocators of every answer, whatever the incumbent is.
TLSF: Final = "tlsf"
OWN_TLSF: Final = "heapfit's TLSF"  # its title: others' are smaller or larger
# Our heaps that learn nothing from recordings, the quickest first.
RUNGS: Final = ("address_first_fit", "good_fit", "tailored")

# The heap of a system by the system's name, which stands in the source of a recording.
_HEAP_OF_SYSTEM: Final = {
    facts["system"]: name for name, facts in SYSTEM_HEAPS.items() if "system" in facts
}
REMOVED: Final = {
    "heap_1": "never frees, so it takes all that is ever requested: give heap_4",
    "heap_2": "never joins free chunks, and FreeRTOS advises against it: give heap_4",
    "heap_5": "places blocks as heap_4 does: give heap_4 and its regions' sum",
}
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


def list_algorithms() -> dict[str, str]:
    """The allocators that are only there as the algorithm of a system's heap, with that.

    >>> list_algorithms()["esp_tlsf"], list_algorithms()["sorted_fit"]
    ('esp-tlsf', 'nuttx')
    """
    found = {facts["plan"]["allocator"]: name for name, facts in SYSTEM_HEAPS.items()}
    return {info.name: found[info.name] for info in find_allocators(list(found)) if not info.ships}


def list_offered_allocators() -> list[_engine.AllocatorInfo]:
    """The allocators without those that a system's heap is named for."""
    algorithms = list_algorithms()
    return [info for info in find_allocators() if info.name not in algorithms]


def list_heap_names() -> list[str]:
    """All names of heaps that are offered: of allocators, of systems, and aliases."""
    return [*(info.name for info in list_offered_allocators()), *SYSTEM_HEAPS, *list_aliases()]


def find_heap_name(word: str) -> str:
    """The name a word stands for: of an algorithm without tunables the system's heap.

    >>> find_heap_name("esp_tlsf"), find_heap_name("esp_tlsf:alignment=8"), find_heap_name("tlsf")
    ('esp-tlsf', 'esp_tlsf:alignment=8', 'tlsf')
    """
    name = word.partition(":")[0]
    if name in REMOVED:
        raise RemovedError(f"{name}: is no longer simulated: it {REMOVED[name]}")
    return list_algorithms().get(word, word)


def is_heap(word: str) -> bool:
    """True if a word is the name of a heap, with or without values behind a colon.

    >>> is_heap("tlsf:probes=0"), is_heap("dlmalloc"), is_heap("run.heap")
    (True, True, False)
    """
    name = word.partition(":")[0]
    return name in {*list_heap_names(), *REMOVED, *(info.name for info in _engine.allocators())}


def is_simulated(word: str) -> bool:
    """True if a name is that of a system's heap, also where an allocator is called so.

    >>> is_simulated("heap_4"), is_simulated("sys_heap"), is_simulated("tlsf")
    (True, True, False)
    """
    return word.partition(":")[0] in SYSTEM_HEAPS


def describe_namesakes(name: str, known: Collection[str] = ()) -> tuple[str, ...]:
    """A sentence on the heaps of others that an allocator of ours shares its name with.

    Of those that are known, in what they differ.

    >>> describe_namesakes("tlsf")
    ("tlsf is heapfit's own: those of others are mattconte-tlsf and esp-tlsf.",)
    >>> describe_namesakes("tlsf", ["tlsf", "mattconte-tlsf"])
    ("tlsf is heapfit's own: mattconte-tlsf has 3,192 B of lists in any region.",)
    """
    others = [one for one in SYSTEM_HEAPS if one.endswith(f"-{name}")]
    told = (
        "; ".join(f"{one} {SYSTEM_HEAPS[one]['differs']}" for one in others if one in known)
        or f"those of others are {' and '.join(others)}"
    )
    return (f"{name} is heapfit's own: {told}.",) if others else ()


def suggest_heap(name: str) -> str:
    """The heap of the system that a word names, else the most similar name.

    >>> suggest_heap("freertos"), suggest_heap("tlfs")
    ('of FreeRTOS: heap_4', "did you mean 'tlsf'?")
    """
    word = re.sub(r"\W|_", "", name.lower())
    system = next((one for one in _HEAP_OF_SYSTEM if re.sub(r"\W", "", one.lower()) == word), None)
    if system is not None:
        return f"of {system}: {_HEAP_OF_SYSTEM[system]}"
    if find_similar(name, list_heap_names()):
        return did_you_mean(name, list_heap_names())
    return f"of systems: {', '.join(SYSTEM_HEAPS)}; `heapfit allocators` lists others"
