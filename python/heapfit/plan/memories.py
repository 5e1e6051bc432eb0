# SPDX-License-Identifier: Apache-2.0
"""Several memories, each with a heap of its own, and the rule that sends a request to one of them.

core/src/operations/memories.c is the rule's C. A request that needs something takes the order of
needs, any other the order of its call site's tag, else that of its size. Of an order's memories
those that do not offer what is needed are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from heapfit import _engine
from heapfit.errors import HeapfitError, did_you_mean
from heapfit.plan.plan import MOST_TAGS, Plan, plan_table, read_plan, read_sites
from heapfit.plan.quantities import LARGEST_REGION, parse_size
from heapfit.plan.toml_table import TomlTable

# What a request can need, in the order of its bits (docs/evidence/schemas.md).
CAPABILITIES: Final = (
    "internal", "dma", "exec", "external", "fast", "retained", "uncached", "bytes",
)  # fmt: skip
BYTES: Final = (
    128  # to be read and written byte by byte, which every memory offers but one of words
)
_WORDS: Final = "words"  # only whole words are read and written
_OFFERS: Final = (*CAPABILITIES[:-1], _WORDS)
MOST_MEMORIES: Final = 8
_ANY_SIZE: Final = 2**63 - 1
_NAME = re.compile(r"[a-z][a-z0-9_]{0,23}")
_MUST_NAME = "be a small letter, then at most 23 small letters, digits and _"
_SECTION = re.compile(r"[A-Za-z0-9._$]{1,60}")

Order: TypeAlias = tuple[str, ...]  # names of memories, the first one tried first


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory: what it offers, and the heap in it."""

    name: str
    size: int  # bytes of its region
    offers: Order  # of CAPABILITIES, or words; its name, too, if it is one
    plan: Plan
    section: str = ""  # of the linker, that the region lies in; "": the linker chooses
    wait_states: int | None = None  # of an access, as told; None: unknown

    @property
    def bits(self) -> int:
        """What it offers, a bit for each capability."""
        return bits_of(one for one in self.offers if one != _WORDS) | BYTES * self.has_bytes

    @property
    def has_bytes(self) -> bool:
        """True if requests that need nothing may be here."""
        return _WORDS not in self.offers


@dataclass(frozen=True, slots=True)
class MemoryRule:
    """Which memories a request is tried in, and in what order."""

    of_needs: Order
    by_size: tuple[tuple[int, Order], ...]  # up to so many bytes; the last one is for all above
    by_tag: tuple[Order, ...] = ()  # the first is of tag 1
    sites: Mapping[int, int] = field(default_factory=dict)  # the tag of each call site with one
    needs: tuple[str, ...] = ()  # as --needs takes them: what recordings do not tell


@dataclass(frozen=True, slots=True)
class MemoriesPlan:
    """Several memories and their rule."""

    memories: tuple[Memory, ...]
    rule: MemoryRule

    def replay(self, base_alignment: int = 0, *, keeps_places: bool = False) -> _engine.JointReplay:
        """A replay on all heaps together, which a refusal ends."""
        rule = self.rule
        return _engine.JointReplay(
            [(one.plan.engine(), one.size, base_alignment, one.bits) for one in self.memories],
            (
                [(up_to, self.route(order)) for up_to, order in rule.by_size],
                [self.route(order) for order in rule.by_tag],
                self.route(rule.of_needs),
            ),
            keeps_places,
        )

    def route(self, order: Order) -> int:
        """An order as core's hfit_route."""
        numbers = {one.name: i + 1 for i, one in enumerate(self.memories)}
        return sum(numbers[name] << 4 * place for place, name in enumerate(order))

    def order_of(self, size: int, needs: int, tag: int) -> tuple[str, Order]:
        """The part of the rule that decides on a request, in words, and the memories it tries."""
        if needs:
            bits = {one.name: one.bits for one in self.memories}
            offering = tuple(name for name in self.rule.of_needs if needs & ~bits[name] == 0)
            return f"needs {' and '.join(names_of(needs))}", offering
        if tag:
            return f"call site of tag {tag}", self.rule.by_tag[tag - 1]
        last = len(self.rule.by_size) - 1
        for place, (up_to, order) in enumerate(self.rule.by_size):
            if size <= up_to or place == last:
                return (f"up to {up_to:,} B" if place < last else "any size"), order
        raise AssertionError(size)


def bits_of(names: Iterable[str]) -> int:
    """The bits of capabilities; HeapfitError if there is no such one.

    >>> bits_of(["dma", "internal"])
    3
    """
    bits = 0
    for name in names:
        if name not in CAPABILITIES:
            about = did_you_mean(name, CAPABILITIES)
            raise HeapfitError(f"{name[:40]}: no such capability ({about})")
        bits |= 1 << CAPABILITIES.index(name)
    return bits


def names_of(bits: int) -> Order:
    """The capabilities of bits, in their order.

    >>> names_of(3)
    ('internal', 'dma')
    """
    return tuple(name for i, name in enumerate(CAPABILITIES) if bits >> i & 1)


def parse_memory(text: str, plan: Plan) -> Memory:
    """The memory in NAME=SIZE or NAME=SIZE:OFFERED,...; its heap is of `plan`.

    >>> parse_memory("internal=320K:dma", Plan("tlsf")).offers
    ('internal', 'dma')
    """
    name, _, rest = text.partition("=")
    size, _, offered = rest.partition(":")
    if not _NAME.fullmatch(name) or not size:
        raise HeapfitError(
            f"--memory {text[:60]}: is not NAME=SIZE or NAME=SIZE:OFFERED,..., such as "
            "internal=320K:dma"
        )
    named = {*([name] if name in CAPABILITIES else []), *filter(None, offered.split(","))}
    bits_of(named - {_WORDS})
    offers = tuple(one for one in _OFFERS if one in named)
    return Memory(name, _require_size(name, parse_size(size)), offers, plan)


def _require_size(name: str, size: int) -> int:
    if not 0 < size <= LARGEST_REGION:
        raise HeapfitError(f"{name}: {size} bytes are no region (1 to {LARGEST_REGION})")
    return size


def require_different(memories: Sequence[Memory]) -> None:
    """HeapfitError unless there are two memories at least, of different names."""
    names = [one.name for one in memories]
    if not 2 <= len(names) < MOST_MEMORIES or len(set(names)) < len(names):
        raise HeapfitError(
            f"memories: give 2 to {MOST_MEMORIES - 1} of different names, the one to save first: "
            "--memory internal=320K:dma --memory psram=4M"
        )


def memories_tables(plan: MemoriesPlan) -> dict[str, Any]:
    """The memories and their rule as in the plan file and in --json."""
    rule = plan.rule
    *sized, (_, last) = rule.by_size
    return {
        "memories": [
            {
                "name": memory.name,
                "size": memory.size,
                "offers": list(memory.offers),
                **({"section": memory.section} if memory.section else {}),
                **({} if memory.wait_states is None else {"wait_states": memory.wait_states}),
                "plan": plan_table(memory.plan),
            }
            for memory in plan.memories
        ],
        "rule": {
            "of_needs": list(rule.of_needs),
            "by_size": [
                *({"up_to": up_to, "order": list(order)} for up_to, order in sized),
                {"order": list(last)},
            ],
            **({"by_tag": [list(order) for order in rule.by_tag]} if rule.by_tag else {}),
            **(
                {"sites": {f"{site:08x}": tag for site, tag in rule.sites.items()}}
                if rule.sites
                else {}
            ),
            **({"needs": list(rule.needs)} if rule.needs else {}),
        },
    }


def read_memories(top: TomlTable) -> MemoriesPlan:
    """The memories and their rule, from the tables that `memories_tables` makes."""
    memories = tuple(map(_read_memory, top.tables("memories")))
    names = [one.name for one in memories]
    if not 1 <= len(names) <= MOST_MEMORIES or len(set(names)) < len(names):
        top.reject("memories", f"must be 1 to {MOST_MEMORIES} of different names")
    table = top.table("rule")
    of_needs = _require_order(table, "of_needs", table.items("of_needs"), names)
    by_size = tuple(_read_size(one, names) for one in table.tables("by_size"))
    limits = [up_to for up_to, _ in by_size]
    if not limits or limits[-1] != _ANY_SIZE or limits != sorted(set(limits)):
        table.reject("by_size", "must have ascending up_to, and a last order without")
    orders = table.items("by_tag") if table.has("by_tag") else []
    if len(orders) > MOST_TAGS:
        table.reject("by_tag", f"must be at most {MOST_TAGS} orders")
    by_tag = tuple(_require_order(table, "by_tag", order, names) for order in orders)
    sites = read_sites(table, len(by_tag)) if table.has("sites") else {}
    needs = tuple(map(str, table.items("needs"))) if table.has("needs") else ()
    table.finish()
    return MemoriesPlan(memories, MemoryRule(of_needs, by_size, by_tag, sites, needs))


def _read_memory(table: TomlTable) -> Memory:
    name = table.text("name", form=_NAME, must=_MUST_NAME)
    size = table.whole("size", 1, LARGEST_REGION)
    given = table.items("offers", least=0) if table.has("offers") else []
    offers = _require_order(table, "offers", given, _OFFERS) if given else ()
    must = "be letters, digits, ., _ and $"
    section = table.text("section", form=_SECTION, must=must) if table.has("section") else ""
    waits = table.whole("wait_states", 0, 1000) if table.has("wait_states") else None
    plan = read_plan(table.table("plan"))
    table.finish()
    return Memory(name, size, offers, plan, section, waits)


def _read_size(table: TomlTable, names: Sequence[str]) -> tuple[int, Order]:
    up_to = table.whole("up_to", 1, LARGEST_REGION) if table.has("up_to") else _ANY_SIZE
    order = _require_order(table, "order", table.items("order"), names)
    table.finish()
    return up_to, order


def _require_order(table: TomlTable, key: str, words: object, known: Sequence[str]) -> Order:
    """Words that are known, each once."""
    listed = words if isinstance(words, list) else []
    if not listed or len(set(map(str, listed))) < len(listed) or set(map(str, listed)) - {*known}:
        table.reject(key, f"must list some of {', '.join(known)}, each once")
    return tuple(map(str, listed))
