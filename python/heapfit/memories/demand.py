# SPDX-License-Identifier: Apache-2.0
"""The requests of recordings that several memories have to serve: what each needs and weighs."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.served import ServedRequests
from heapfit.errors import HeapfitError
from heapfit.plan.memories import BYTES, MemoriesPlan, Memory, bits_of
from heapfit.plan.quantities import parse_size
from heapfit.trace.chains import tags_of
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import RESIZE, find_next_events, is_allocation, is_end
from heapfit.trace.profile import profile_events

Bits: TypeAlias = NDArray[np.uint8]  # of capabilities, for each event

NEEDS_SHIFT = 8  # in the engine's column of requests: bits needed above the tag


@dataclass(frozen=True, slots=True)
class NeedRule:
    """Requests that need something, where the recording does not say it."""

    bits: int
    least: int = 0  # bytes, of any call site
    site: int | None = None  # of this call site, of any size


def parse_need(text: str) -> NeedRule:
    """The rule in CAPABILITY=SIZE, for requests of at least so many bytes, or CAPABILITY=site:HEX.

    >>> parse_need("dma=1500")
    NeedRule(bits=2, least=1500, site=None)
    >>> parse_need("dma=site:00c0ffee").site == 0xC0FFEE
    True
    """
    name, _, rest = text.partition("=")
    if not rest:
        raise HeapfitError(
            f"--needs {text[:60]}: is not CAPABILITY=SIZE or CAPABILITY=site:HEX, such as dma=1500"
        )
    if rest.startswith("site:"):
        return NeedRule(bits_of([name]), site=parse_site(rest.removeprefix("site:")))
    return NeedRule(bits_of([name]), least=parse_size(rest))


def parse_site(text: str) -> int:
    """The call site of eight hexadecimal digits."""
    try:
        return int(text, 16) if len(text) == 8 else int("", 16)
    except ValueError as error:
        raise HeapfitError(
            f"{text[:40]}: is not the eight hexadecimal digits of a call site"
        ) from error


@dataclass(frozen=True, slots=True)
class RecordingRequests:
    """The requests of one recording: allocations and resizes. Columns have a row an event."""

    name: str
    loaded: LoadedTrace
    asks: NDArray[np.bool_]  # it is a request
    sizes: NDArray[np.uint64]
    sites: NDArray[np.uint32]
    needs: NDArray[np.uint8]  # bits
    served: NDArray[np.uint8]  # bits of the memory that it was served in; 0: unknown
    byte_events: NDArray[np.float64]  # bytes x events until they are resized or freed
    weights: NDArray[np.float64]  # of each request 1, or 0 if it cannot be in the first memory

    def served_by(self, heap: Heap) -> RecordingRequests:
        """The requests as a heap serves them: a resize by a new block has a free behind it.

        HeapfitError if it cannot serve one.
        """
        asked = ServedRequests.of(heap, self.loaded)
        columns: dict[str, Any] = {
            name: asked.spread(getattr(self, name))
            for name in ("asks", "sites", "needs", "served", "byte_events", "weights")
        }
        events = asked.served.engine()
        loaded = replace(
            self.loaded,
            events=events,
            sites=columns["sites"] if len(self.loaded.sites) else self.loaded.sites,
            profile=profile_events(events),
        )
        return replace(self, loaded=loaded, sizes=asked.served.size, **columns)

    def needs_inside(self, bits: int) -> NDArray[np.bool_]:
        """True for requests that need something, all of which a memory with these bits offers."""
        is_inside = (self.needs != 0) & (self.needs & np.uint8(255 ^ bits) == 0)
        return np.asarray(is_inside & self.asks)

    def requests(self, plan: MemoriesPlan) -> NDArray[np.uint16]:
        """What each event needs and the tag of its site, as the engine takes them."""
        needed = self.needs.astype(np.uint16) << np.uint16(NEEDS_SHIFT)
        known = plan.rule.sites
        tags = tags_of(self.sites, known, self.loaded.trace.chains) if known else np.uint16(0)
        return needed | np.where(self.asks, tags, np.uint16(0))


def demand_of(name: str, loaded: LoadedTrace, rules: Sequence[NeedRule]) -> RecordingRequests:
    """The requests of a recording."""
    ops, sizes, objects = loaded.events.ops(), loaded.events.sizes(), loaded.events.objects()
    asks = ~is_end(ops, sizes)
    sites = loaded.sites if len(loaded.sites) else np.zeros(len(ops), np.uint32)
    needs = np.where(asks, _needs_of(sizes, loaded, rules) | loaded.trace.bits("needs"), 0).astype(
        np.uint8
    )
    needs = _hand_down(needs, ops, objects)
    needs[needs == BYTES] = 0  # what needs nothing is in no memory of words anyway
    return RecordingRequests(
        name,
        loaded,
        asks,
        sizes,
        sites,
        needs,
        loaded.trace.bits("served"),
        np.where(asks, sizes * (find_next_events(objects) - np.arange(len(objects))), 0.0),
        asks.astype(np.float64),
    )


def _needs_of(
    sizes: NDArray[np.uint64], loaded: LoadedTrace, rules: Sequence[NeedRule]
) -> NDArray[np.uint8]:
    needs = np.zeros(len(sizes), np.uint8)
    for rule in rules:
        # Of a call site, also the chains that begin with it.
        is_meant = sizes >= rule.least if rule.site is None else loaded.tags({rule.site: 1}) == 1
        needs[is_meant] |= rule.bits
    return needs


def require_known_sites(demands: Sequence[RecordingRequests], sites: Mapping[int, str]) -> None:
    """HeapfitError if no recording has a call site; `sites` are texts that name each in it."""
    known = {one for demand in demands for one in list_callers(demand.loaded)}
    names = " and ".join(demand.name for demand in demands[:2])
    for site, text in sites.items():
        if not known:
            raise HeapfitError(
                f"{text}: {names} has no call sites (record them, or tell a size: --needs dma=1500)"
            )
        if site not in known:
            nearest = difflib.get_close_matches(
                f"{site:08x}", [f"{one:08x}" for one in known], 3, 0
            )
            raise HeapfitError(
                f"{text}: no request of {names} comes from there (nearest: {', '.join(nearest)}; "
                f"`heapfit sites {demands[0].loaded.trace.given}` lists all)"
            )


def list_callers(loaded: LoadedTrace) -> set[int]:
    """The call sites of a recording, and the direct callers of those that are chains."""
    sites = set(np.unique(loaded.sites).tolist()) - {0}
    chains = loaded.trace.chains
    return sites | {chains[one][0] for one in sites if one in chains}


def _hand_down(
    needs: NDArray[np.uint8], ops: NDArray[Any], objects: NDArray[np.uint32]
) -> NDArray[np.uint8]:
    """A block that is resized needs what it was allocated for, too."""
    own = needs[is_allocation(ops)]  # by object: they are numbered in order of allocation
    resizes = ops == RESIZE
    needs[resizes] |= own[objects[resizes]]
    return needs


def live_after(sizes: NDArray[Any], objects: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Live bytes after each event; `sizes`: 0 of what frees, or does not count."""
    freed = np.bincount(find_next_events(objects), sizes, len(sizes) + 1)[:-1].astype(np.int64)
    return np.cumsum(sizes.astype(np.int64) - freed)


def find_unmet(needs: Bits, served: Bits) -> Bits:
    """What each request needs that the memory it was served in does not offer.

    A capability that no memory offers is unknown to the recorder, and is not counted.

    >>> find_unmet(np.uint8([2, 2, 16, 2]), np.uint8([3, 8, 3, 0])).tolist()
    [0, 2, 0, 0]
    """
    offered = np.bitwise_or.reduce(served, initial=np.uint8(0))
    return np.where(served > 0, needs & ~served & offered, np.uint8(0))


def find_memories(memories: Sequence[Memory], served: Bits) -> NDArray[np.int64]:
    """The index of the memory that each event was served in; -1 where that is unknown.

    It is the one with most of the recorded bits, of these the one with fewest others; unknown if
    there are two.
    """
    bits = np.array([one.bits for one in memories], np.uint8)[:, None]
    recorded = np.arange(256, dtype=np.uint8)
    likeness = 9.0 * np.bitwise_count(recorded & bits) - np.bitwise_count(recorded ^ bits)
    found = np.where((likeness == likeness.max(0)).sum(0) == 1, likeness.argmax(0), -1)
    found[0] = -1
    return np.asarray(found[served], np.int64)
