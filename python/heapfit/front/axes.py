# SPDX-License-Identifier: Apache-2.0
"""Where a plan lies in the space of designs, told along the axes that the literature has.

The letters are those of Mamagkakis et al., section 4: A blocks, B splitting and coalescing, C
pools, D fit. The order of free blocks is told as in Wilson et al. 1995, section 3; growth is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from heapfit.plan.allocators import find_allocators
from heapfit.plan.plan import Plan

AXES: Final = (
    "A block sizes",
    "B splitting",
    "B coalescing",
    "C pools",
    "D fit among pools",
    "D fit in a pool",
    "order of free blocks",
    "growth",
)
UNKNOWN: Final = "not in the table"  # a tunable's value that came after it


@dataclass(frozen=True, slots=True)
class By:
    """What a tunable decides: the text for each of its values."""

    tunable: str
    texts: Mapping[int, str]


_FIRST, _BEST, _EXACT = "first", "best", "exact"
_NEVER, _AT_ONCE = "never", "at once"
_ANY, _POWERS = "any", "powers of two"
_LIFO, _ADDRESS, _SIZE = "last freed first", "by address", "by size"
_SET_ASIDE, _TOP, _STEPS = "all set aside", "from the end of what is in use", "in steps"
_ONE, _CLASSES, _OWN = "one", "by power of two", "one for each block size"
_NEXT = "next larger that has one"
_LISTS = "exact sizes and one general"
_TRIES = "exact sizes, then powers of two"
_WHOLE = "the whole region is free at first"

# For each allocator a value for each of AXES, in their order.
_TABLE: Final[Mapping[str, tuple[str | By, ...]]] = {
    "first_fit": (
        *(_ANY, "always", By("coalesce", {0: _NEVER, 1: _AT_ONCE}), _ONE, "-", _FIRST),
        *(By("list", {0: _LIFO, 1: _ADDRESS, 2: _ADDRESS}), _WHOLE),
    ),
    "segregated_fit": (
        *(_ANY, "always", _AT_ONCE, _LISTS),
        By("upward", {0: "exact, general, larger exact", 1: "exact, larger exact, general"}),
        *(_FIRST, By("general_order", {0: _LIFO, 1: _ADDRESS}), _WHOLE),
    ),
    "tlsf": (
        *(_ANY, "always", _AT_ONCE, "by part of a power of two", "least class that surely fits"),
        *(_FIRST, _LIFO, _WHOLE),
    ),
    "best_fit": (_ANY, "always", _AT_ONCE, _TRIES, _NEXT, _BEST, _SIZE, _TOP),
    "tailored": (
        *(_ANY, "always", _AT_ONCE, _TRIES, _NEXT),
        *(By("index", {0: _BEST, 1: "good"}), _SIZE, By("ends", {1: _TOP, 2: "from both ends"})),
    ),
    "class_pools": (
        *("special and powers of two", _NEVER, _NEVER, _OWN, "exact, then first", _FIRST),
        By("search", {0: _ADDRESS, 1: _LIFO}),
        By("growth", {0: _SET_ASIDE}),
    ),
    "budgeted": (
        *("special", _NEVER, _NEVER, _OWN),
        By("borrow", {0: _EXACT, 1: f"exact, then {_NEXT}"}),
        *(_FIRST, _LIFO, _SET_ASIDE),
    ),
    "fixed_pool": ("one", _NEVER, _NEVER, _ONE, "-", _FIRST, _LIFO, _SET_ASIDE),
    "partition_pool": (
        *("multiples of a partition", "always", _AT_ONCE, _ONE, "-"),
        *(By("fit", {0: _FIRST, 1: _BEST}), _ADDRESS, _WHOLE),
    ),
    "chained_pool": (
        *("one partition, in chains", _NEVER, _NEVER, _ONE, "-", _FIRST, _LIFO, _SET_ASIDE),
    ),
    "kingsley": (_POWERS, _NEVER, _NEVER, _OWN, _EXACT, _FIRST, _LIFO, _STEPS),
    "lea": (_ANY, "always", _AT_ONCE, _TRIES, _NEXT, _BEST, _SIZE, _TOP),
    "djgpp_test1": (_POWERS, _NEVER, _NEVER, _OWN, _EXACT, _FIRST, _LIFO, _TOP),
    "djgpp_test2": (_POWERS, _NEVER, _NEVER, _OWN, _EXACT, _FIRST, _LIFO, _STEPS),
    "djgpp_test3": (
        *("quarters of powers of two", _NEVER, _NEVER, _OWN, _EXACT, _FIRST, _LIFO, _TOP),
    ),
    "djgpp_test4": (_ANY, "always", _AT_ONCE, _CLASSES, _NEXT, _FIRST, _LIFO, _STEPS),
    "djgpp_test5": (_ANY, "always", _AT_ONCE, _CLASSES, _NEXT, _FIRST, _LIFO, _STEPS),
    "djgpp_test6": (
        _ANY,
        "64 B or more",
        _AT_ONCE,
        _CLASSES,
        _NEXT,
        "close, then first",
        _LIFO,
        _TOP,
    ),
    "halffit": (_POWERS, "always", _AT_ONCE, _CLASSES, _NEXT, _FIRST, _LIFO, _WHOLE),
    "buddy": (_POWERS, "in halves", "buddies, at once", _OWN, _NEXT, _FIRST, _LIFO, _WHOLE),
    "static_pools": ("special", _NEVER, _NEVER, _OWN, _EXACT, _FIRST, _LIFO, _SET_ASIDE),
}
_OTHERWISE: Final = {("class_pools", "growth"): "by blocks from the shared heap"}


def known_allocators() -> frozenset[str]:
    """The allocators that the table has."""
    return frozenset(_TABLE)


def place(plan: Plan) -> dict[str, str]:
    """The plan's value along each axis, and behind it its shared allocator's.

    >>> from heapfit.plan.plan import Plan
    >>> place(Plan("first_fit"))["B coalescing"]
    'at once'
    """
    own = _own(plan)
    if plan.shared is None:
        return own
    behind = place(plan.shared)
    return {axis: _joined(own[axis], behind[axis]) for axis in AXES}


def _joined(own: str, behind: str) -> str:
    return own if behind in (own, "-") else f"{own}; behind: {behind}"


def _own(plan: Plan) -> dict[str, str]:
    if plan.allocator not in _TABLE:
        return dict.fromkeys(AXES, UNKNOWN)
    values = zip(AXES, _TABLE[plan.allocator], strict=True)
    return {axis: value if isinstance(value, str) else _text(plan, value) for axis, value in values}


def _text(plan: Plan, by: By) -> str:
    (info,) = find_allocators([plan.allocator])
    standards = {tunable.name: tunable.standard for tunable in info.tunables}
    chosen = plan.scalars.get(by.tunable, standards.get(by.tunable, 0))
    return by.texts.get(chosen, _OTHERWISE.get((plan.allocator, by.tunable), UNKNOWN))


def axis_values() -> dict[str, tuple[str, ...]]:
    """The values that some registered allocator has, along each axis, in alphabetical order."""
    found: dict[str, set[str]] = {axis: set() for axis in AXES}
    for info in find_allocators():
        for axis, value in zip(AXES, _TABLE.get(info.name, ()), strict=False):
            texts = [value] if isinstance(value, str) else list(value.texts.values())
            found[axis].update(texts)
            if isinstance(value, By) and (info.name, value.tunable) in _OTHERWISE:
                found[axis].add(_OTHERWISE[info.name, value.tunable])
    return {axis: tuple(sorted(values - {"-"})) for axis, values in found.items()}
