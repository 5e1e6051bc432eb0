# SPDX-License-Identifier: Apache-2.0
"""The saving of a fitted heap, as the sentence with which the screen and the page begin."""

from __future__ import annotations

from collections.abc import Iterator

from heapfit.design.robust.objective import LARGEST
from heapfit.fitting.result import Fit


def describe_saving(fit: Fit) -> Iterator[str]:
    """The saving over the incumbent heap; where that is unknown, over two that many have."""
    if fit.today is not None:
        yield _describe_replacement(fit)
        return
    region = fit.answer.size.region
    is_alike = fit.excerpt is None and fit.options.objective == LARGEST
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
    change = f"{abs(other - region):,} B ({_format_percent(1 - region / other)})"
    return f"{change} {'less' if region < other else 'more'} than {title}"


def _describe_replacement(fit: Fit) -> str:
    today = fit.today
    assert today is not None
    now, fitted = (row.region for row in fit.references[:2])
    name = today.heap.name
    saved = today.saved_with_margins
    if now is None or fitted is None or saved is None:
        return f"{name} serves these recordings in no region." if now is None else ""
    less = sum(pair.saves for pair in today.pairs)
    change = f"{_format_percent(saved)} {'less' if saved >= 0 else 'more'}"
    runs = "1 recording" if len(today.pairs) == 1 else f"{len(today.pairs)} recordings"
    found = f"needs {change} than {name}, and less on {less} of {runs}"
    if today.is_kept:
        why = "no reason to change" if fit.answer.is_enough else "too few recordings to change"
        return f"The fitted heap {found}: {why}."
    if today.is_foretold:
        return (
            f"It replaces {name} if `heapfit verify --now {name}` agrees: the fitted heap {found}. "
            "On a device, the heap changes the timing, and the timing changes the requests."
        )
    return f"It replaces {name}: the fitted heap {found}."


def _format_percent(share: float) -> str:
    return f"{100 * abs(share):.1f} %"
