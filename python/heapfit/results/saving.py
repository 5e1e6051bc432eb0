# SPDX-License-Identifier: Apache-2.0
"""The saving of a fitted heap, as the sentence with which the screen and the page begin."""

from __future__ import annotations

from collections.abc import Iterator

from heapfit.comparison.incumbents.replacement import IncumbentVerdict
from heapfit.fitting.result import Fit
from heapfit.plan.quantities import format_share


def describe_saving(fit: Fit) -> Iterator[str]:
    """The saving over the incumbent heap; where that is unknown, over two that many have."""
    today = fit.today
    if today is not None and (today.is_known or today.is_kept):
        yield _describe_replacement(fit, today)
        return
    region = fit.answer.size.region
    is_alike = fit.excerpt is None
    if not is_alike:  # the others were not replayed on all of it, or serve every recording
        return
    found = [row for row in fit.references if row.is_in_saving]
    comparisons = [_compare_regions(region, row.region, row.title) for row in found if row.region]
    if comparisons:
        yield f"That is {' and '.join(comparisons)}, each with its own margin."


def _compare_regions(region: int, other: int, title: str) -> str:
    """A region compared with another heap's.

    >>> _compare_regions(80, 80, "TLSF"), _compare_regions(80, 100, "TLSF")
    ('as much as TLSF', '20 B (20.0 %) less than TLSF')
    """
    if region == other:
        return f"as much as {title}"
    change = f"{abs(other - region):,} B ({format_share(abs(1 - region / other))})"
    return f"{change} {'less' if region < other else 'more'} than {title}"


def _describe_replacement(fit: Fit, today: IncumbentVerdict) -> str:
    now, fitted = (cost.region for cost in today.costs)
    name, saved = today.heap.name, today.saved_with_margins
    if now is None or fitted is None or saved is None:
        return f"{name} serves these recordings in no region." if now is None else ""
    if today.is_kept:
        return _describe_kept(fit, today, now - fitted)
    less = sum(pair.saves for pair in today.pairs)
    runs = "1 recording" if len(today.pairs) == 1 else f"{len(today.pairs)} recordings"
    change = f"{format_share(abs(saved))} {'less' if saved >= 0 else 'more'}"
    found = f"needs {change} than {name}, and less on {less} of {runs}"
    if today.is_foretold:
        return (
            f"It replaces {name} if `heapfit verify --now {name}` agrees: the fitted heap {found}. "
            "On a device, the heap changes the timing, and the timing changes the requests."
        )
    return f"It replaces {name}: the fitted heap {found}."


def _describe_kept(fit: Fit, today: IncumbentVerdict, saved: int) -> str:
    """What the fitted heap would save, and cost."""
    now, fitted = today.costs
    if now.name == fitted.name:
        return "The search found no heap that needs less."
    share = format_share(abs(today.saved_with_margins or 0))
    change = f"{abs(saved):,} B ({share}) {'less' if saved >= 0 else 'more'}"
    ratios = [
        f"{new / old:.1f} times the {what}"
        for new, old, what in (
            (fitted.instructions, now.instructions, "instructions"),
            (fitted.code, now.code, "flash"),
        )
        if new and old
    ]
    costs = f", at {' and '.join(ratios)}" if ratios else ""
    why = "" if fit.answer.is_enough or not today.is_known else " Too few recordings to change."
    return f"The fitted heap would need {fitted.region:,} B: {change}{costs}.{why}"
