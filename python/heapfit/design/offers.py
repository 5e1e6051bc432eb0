# SPDX-License-Identifier: Apache-2.0
"""Heaps that an answer may advise: of those that no other dominates, the best by a measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from heapfit.comparison.comparison import Comparison
from heapfit.comparison.costs.measures import MEASURE_TEXTS, Measure, Measures
from heapfit.comparison.margin import HeapSize
from heapfit.comparison.pareto import dominates
from heapfit.comparison.row import Row
from heapfit.design.preference import Preference
from heapfit.errors import HeapfitError
from heapfit.plan.quantities import format_share

NEAR: Final = 0.01  # of the least: what is this close counts as equal, and memory decides
MOST_MEMORY: Final = 1.25  # times the least: what needs more is no answer to any preference
WORTH_TIME: Final = 1.10  # times the instructions of a call: at most so many for under 1 % of RAM
WORTH_FLASH: Final = 500  # bytes of code: at most so many for under 1 % of RAM


@dataclass(frozen=True, slots=True)
class Offer:
    """A heap with the bytes to set, the margin of its own kind in them, and its costs."""

    name: str
    region: int
    costs: Measures
    is_advisable: bool = True  # its figures hold on other runs; others neither dominate

    def figure(self, preference: Preference | None) -> float | None:
        """What a user prefers to be small, by default memory; None if it was not measured."""
        if preference in (None, Preference.RAM, Preference.BUILD):
            return self.region
        return self.costs.figure(Measure(preference.value))


def list_offers(
    comparison: Comparison, sizes: Mapping[str, HeapSize | None], may_count: bool = True
) -> list[Offer]:
    """The measured rows that have a size, with their costs.

    `may_count`: also those whose blocks were counted on the trace may be advised.
    """
    return [
        Offer(
            row.name,
            size.region,
            comparison.measures[row.name],
            row.lasts is not False and (may_count or not row.is_cut_to_trace),
        )
        for row in comparison.rows
        if (size := sizes.get(row.name)) is not None
    ]


def is_dominated(offer: Offer, others: Sequence[Offer]) -> bool:
    """True if another is nowhere worse and somewhere better: bytes, instructions, worst and code.

    Compared is what both have: bytes and mean instructions always, else neither dominates.
    """
    return any(other.is_advisable and _beats(other, offer) for other in others)


def _beats(one: Offer, other: Offer) -> bool:
    ours, theirs = one.costs, other.costs
    if ours.time is None or theirs.time is None:
        return False
    optional = [(ours.longest, theirs.longest), (ours.flash, theirs.flash)]
    known = [(a, b) for a, b in optional if a is not None and b is not None]
    pairs = [(one.region, other.region), (ours.time, theirs.time), *known]
    return dominates(*zip(*pairs, strict=True))


def pick_offer(
    offers: Sequence[Offer], preference: Preference, rivals: Sequence[Offer] = ()
) -> Offer:
    """The offer with the least of a preferred measure; within 1 % of it that of least memory.

    It is advisable, needs at most a quarter more memory than the least does, and no other offer
    dominates it, nor a rival, which itself cannot be picked. If rivals dominate all, they do not
    count: then one of them is the answer.
    """
    advisable = [one for one in offers if one.is_advisable] or list(offers)
    own = [one for one in advisable if not is_dominated(one, offers)]
    most = MOST_MEMORY * min((one.region for one in own), default=0)
    own = [one for one in own if one.region <= most]
    able = [one for one in own if not is_dominated(one, rivals)] or own
    known = [(value, one) for one in able if (value := one.figure(preference)) is not None]
    if not known:
        raise HeapfitError(
            f"--prefer {preference}: no candidate has a figure for it "
            "(scripts/measure_calls.py measures allocators that ship)"
        )
    least = min(value for value, _ in known)
    near = [pair for pair in known if is_near(pair[0], least)]
    return min(near, key=lambda pair: (pair[1].region, pair[0], pair[1].name))[1]


def step_down(least: Offer, rungs: Sequence[Offer]) -> Offer:
    """The offer of least memory, or a cheaper one from which the step to it is not worth it.

    A step that saves under 1 % of memory is not worth 10 % more time or 500 B more code.
    """
    cheaper = [
        one
        for one in rungs
        if one.is_advisable and is_near(one.region, least.region) and _is_too_dear(least, one)
    ]
    return min(cheaper, key=lambda one: (one.costs.time or 0, one.region), default=least)


def _is_too_dear(dear: Offer, cheap: Offer) -> bool:
    """True if one offer takes so much more time or code than another, and less of neither."""
    old, new = cheap.costs, dear.costs
    if old.time is None or new.time is None or old.flash is None or new.flash is None:
        return False
    is_much = new.time > WORTH_TIME * old.time or new.flash > old.flash + WORTH_FLASH
    return is_much and new.time >= old.time and new.flash >= old.flash


def is_near(value: float, least: float) -> bool:
    """True if a value is so close to the least that memory decides."""
    return value <= least * (1 + NEAR)


def cost_of_choice(comparison: Comparison, choice: Row) -> str:
    """How far the choice lies above the least that no other beats, by measure, in words."""
    more, unbeaten = [], comparison.unbeaten
    for measure in Measure:
        known = [comparison.measures[name].figure(measure) for name in unbeaten]
        least = min((value for value in known if value is not None), default=None)
        value = comparison.measures[choice.name].figure(measure)
        if value is not None and least and not is_near(value, least):
            more.append(f"{MEASURE_TEXTS[measure]} +{format_share(value / least - 1)}")
    return f"above the least: {', '.join(more)}" if more else "the least in every measure"
