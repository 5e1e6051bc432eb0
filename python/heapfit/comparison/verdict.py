# SPDX-License-Identifier: Apache-2.0
"""What a comparison comes to, in one sentence with the figures that decide.

`fit`, `design` and `front` say it by the same rows, those of the standard portfolio, so that they
name one plan and one region. What one of them searched further is told apart.
"""

from __future__ import annotations

from heapfit.comparison.comparison import Comparison
from heapfit.comparison.row import Row

# A search can cut pools to any trace, and gains a little even where sizes are drawn at random; what
# closes less of the gap between a heap without pools and U_max is no reason to have them.
LEAST_SHARE = 0.1
# On 12 programs recorded twice, savings of 5 % or more on the first run mostly held on the second;
# smaller ones were as often losses (docs/decisions/0006-which-plans-are-tried.md).
LEAST_SURE_SAVING = 0.05


def share_of_gap(region: int, plain: int, u_max: int) -> float:
    """What `region` saves of what the region `plain` has beyond U_max.

    >>> share_of_gap(1050, 1100, 1000)
    0.5
    """
    return (plain - region) / (plain - u_max) if plain > u_max else 0.0


def are_worth_it(region: int | None, plain: int | None, u_max: int) -> bool:
    """Whether pools that need `region` are to be taken; None is a plan without a region."""
    if region is None or plain is None:
        return region is not None
    return share_of_gap(region, plain, u_max) >= LEAST_SHARE


def verdict(comparison: Comparison, pools_asked: bool = False) -> str:
    """Which plan to take, beside the best of the other kind."""
    winner = chosen_row(comparison, pools_asked)
    if pools_asked:
        return _verdict_with_pools(winner, comparison)
    counted = best_row(comparison, is_cut=True)
    if counted is None or not _saves(counted, winner):
        return f"{_needs(winner)}."
    return (
        f"{_needs(winner)}. If every run were identical, {counted.name} would do with "
        f"{counted.r_safe:,} B; another run may run out of its pools (--pools)."
    )


def _saves(counted: Row, winner: Row) -> bool:
    if counted.r_safe is None or winner.r_safe is None:
        return False
    return counted.r_safe < winner.r_safe


def _verdict_with_pools(winner: Row, comparison: Comparison) -> str:
    is_cut = winner.is_cut_to_trace
    other = best_row(comparison, not is_cut)
    opening = _pools_pay(winner, comparison) if is_cut else "No pools here"
    close = "" if is_cut else _too_little(winner, other)
    return f"{opening}: {_needs(winner)}; {_beside(other, is_cut, comparison)}{close}."


def chosen_row(comparison: Comparison, pools_asked: bool = False) -> Row:
    """The plan to take: the first whose blocks were not counted on this one recording.

    Where such plans are asked for, the first of all, unless it has pools for too little.
    """
    first, plain = judged_rows(comparison)[0], best_row(comparison, is_cut=False)
    if plain is None or not first.is_cut_to_trace:
        return first
    if not pools_asked and plain.r_safe is not None:
        return plain
    return first if are_worth_it(first.r_safe, plain.r_safe, first.u_max) else plain


def preferred_verdict(winner: Row, preference: str, cost: str) -> str:
    """Which plan was chosen for something other than memory, and what that costs."""
    return f"Least {preference}: {_needs(winner)}; {cost}."


def pools_save(winner: Row, comparison: Comparison) -> float | None:
    """What a chosen plan with pools saves of the best region without, as a share; else None."""
    other = best_row(comparison, is_cut=False)
    if not winner.is_cut_to_trace or winner.r_safe is None or other is None or other.r_safe is None:
        return None
    return 1 - winner.r_safe / other.r_safe


def pools_warning(winner: Row, comparison: Comparison) -> str | None:
    """What a plan with pools does not say of another run; None for one without."""
    if not winner.is_cut_to_trace:
        return None
    saving = pools_save(winner, comparison)
    is_small = saving is not None and 0 <= saving < LEAST_SURE_SAVING
    return (
        "pools are counted on this one recording"
        + (f", and a saving below {LEAST_SURE_SAVING:.0%} may be chance" if is_small else "")
        + "; check a second run with `heapfit compare OTHER --plan plan.toml`"
    )


def best_row(comparison: Comparison, is_cut: bool) -> Row | None:
    """The best whose blocks were counted on this recording, or of the others."""
    return next((row for row in judged_rows(comparison) if row.is_cut_to_trace == is_cut), None)


def judged_rows(comparison: Comparison) -> tuple[Row, ...]:
    """Those that the verdict is about: not searched further, unless all are."""
    rows = tuple(row for row in comparison.rows if not row.is_searched_further)
    return rows or comparison.rows


def searched_further(comparison: Comparison) -> list[Row]:
    """What was searched further and needs less than the verdict's plan, or than the one counted.

    At most one whose blocks were not counted on this recording, then one whose blocks were.
    """
    chosen = chosen_row(comparison)
    known = [row for row in judged_rows(comparison) if row.r_safe is not None]
    found = []
    for is_cut in (False, True):
        rivals = [row for row in known if row is chosen or (is_cut and row.is_cut_to_trace)]
        further = _least(comparison, is_cut)
        if further is not None and all(_saves(further, one) for one in rivals):
            found.append(further)
    return found


def further_sentences(comparison: Comparison) -> list[str]:
    """Each of these in a sentence."""
    return [
        f"Searched further: {row.name} needs {row.r_safe:,} B"
        + (", if every run were identical." if row.is_cut_to_trace else " on this run.")
        for row in searched_further(comparison)
    ]


def _least(comparison: Comparison, is_cut: bool) -> Row | None:
    """The least R_safe of what was searched further; of equals the first ranked."""
    rows = [
        row
        for row in comparison.rows
        if row.is_searched_further and row.is_cut_to_trace == is_cut and row.r_safe is not None
    ]
    return min(rows, key=lambda row: row.r_safe or 0, default=None)


def _too_little(winner: Row, pooled: Row | None) -> str:
    """Why pools that need less are not taken."""
    if pooled is None or pooled.r_safe is None or winner.r_safe is None:
        return ""
    closed = share_of_gap(pooled.r_safe, winner.r_safe, winner.u_max)
    if closed <= 0:
        return ""
    return f", {closed:.1%} of the gap to U_max, too little to fit pools to one trace"


def _pools_pay(winner: Row, comparison: Comparison) -> str:
    saving = pools_save(winner, comparison)
    return "Pools pay" if saving is None else f"Pools save {saving:.1%}"


def _beside(other: Row | None, has_pools: bool, comparison: Comparison) -> str:
    if other is None:
        whys = "; ".join(f"{one.name}: {one.why}" for one in comparison.not_applicable)
        return f"no plan with pools applies ({whys})" if whys else "no other plan was tried"
    return f"{'without' if has_pools else 'with'} pools, {_needs(other)}"


def _needs(row: Row) -> str:
    if row.r_safe is None:
        return f"{row.name} has no safe region"
    over = "" if row.over_u_max is None else f"{row.over_u_max:.2f} x U_max, "
    step = "" if row.is_exhaustive else f", smallest found, step {row.step:,}"
    return f"{row.name} needs {row.r_safe:,} B ({over}alignment {row.alignment}{step})"
