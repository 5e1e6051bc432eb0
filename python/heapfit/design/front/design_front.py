# SPDX-License-Identifier: Apache-2.0
"""What the rows of a comparison cost, which of them no other beats, and what a choice costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from heapfit.comparison.comparison import Comparison
from heapfit.comparison.costs.measures import MEASURE_TEXTS, Measure
from heapfit.comparison.margin import HeapSize
from heapfit.comparison.row import Row
from heapfit.design.front.offers import Offer, is_near
from heapfit.plan.quantities import format_share


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


def with_choice_first(comparison: Comparison, choice: Row) -> Comparison:
    """The comparison with the chosen row as its winner."""
    return replace(
        comparison, rows=(choice, *(row for row in comparison.rows if row is not choice))
    )
