# SPDX-License-Identifier: Apache-2.0
"""What a comparison comes to, in one sentence with the figures that decide.

`fit` and `compare` say it by the same rows, those of the standard portfolio, so that they
name one plan and one region. Rows of an extended search are kept apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from heapfit.comparison.comparison import Comparison
from heapfit.comparison.row import Row
from heapfit.plan.quantities import format_share

# A search can cut pools to any trace, and gains a little even where sizes are drawn at random; what
# closes less of the gap between a heap without pools and U_max is no reason to have them.
LEAST_SHARE = 0.1
# On 12 programs recorded twice, savings of 5 % or more on the first run mostly held on the second;
# smaller ones were as often losses (decision 6).
LEAST_SURE_SAVING = 0.05
_LEAST_SAVED = 100  # pools have to save this part of U_max on each hold-out trace


def share_of_gap(region: int, plain: int, u_max: int) -> float:
    """What `region` saves of what the region `plain` has beyond U_max.

    >>> share_of_gap(1050, 1100, 1000)
    0.5
    """
    return (plain - region) / (plain - u_max) if plain > u_max else 0.0


def are_pools_worth_it(region: int | None, plain: int | None, u_max: int) -> bool:
    """True if pools that need `region` are worth having; None is a plan without a region."""
    if region is None or plain is None:
        return region is not None
    return share_of_gap(region, plain, u_max) >= LEAST_SHARE


def verdict(comparison: Comparison, pools_asked: bool = False) -> str:
    """The sentence that names the plan to take, and the best of the other kind."""
    winner = select_row(comparison, pools_asked)
    if pools_asked:
        return _verdict_with_pools(winner, comparison)
    counted = best_row(comparison, is_cut=True)
    if counted is None or not _needs_less(counted, winner):
        return f"{_state_need(winner)}."
    return (
        f"{_state_need(winner)}. If every run were identical, {counted.name} would do with "
        f"{counted.r_safe:,} B; another run may need more blocks of a size (--pools)."
    )


def _name_trace_specific(winner: Row, comparison: Comparison) -> str:
    """The clause on pools that need less until the program changes; "" where there are none."""
    broken = (one for one in comparison.rows if one.changes is not None and one.changes.broken)
    row = next((one for one in broken if _needs_less(one, winner)), None)
    if row is None or row.changes is None:
        return ""
    worst = row.changes.broken[0]
    return (
        f"; {row.name} would do with {row.r_safe:,} B, but needs {worst.needed_text} with "
        f"{worst.name}"
    )


def _needs_less(counted: Row, winner: Row) -> bool:
    if counted.r_safe is None or winner.r_safe is None:
        return False
    return counted.r_safe < winner.r_safe


def _verdict_with_pools(winner: Row, comparison: Comparison) -> str:
    is_cut = winner.is_cut_to_trace
    other = best_row(comparison, not is_cut)
    opening = _pools_pay(winner, comparison) if is_cut else "No pools here"
    close = _explain_small_gain(winner, other) + _name_trace_specific(winner, comparison)
    close = "" if is_cut else close
    return (
        f"{opening}: {_state_need(winner)}; {_state_alternative(other, is_cut, comparison)}{close}."
    )


def select_row(comparison: Comparison, pools_asked: bool = False) -> Row:
    """The plan to take: the first whose blocks were not counted on the recordings.

    But one with such blocks if it held on each of several recordings that it was made without, and
    saved a hundredth of its U_max there; or if such plans are asked for, and it saves enough.
    """
    rows, plain = verdict_rows(comparison), best_row(comparison, is_cut=False)
    if plain is None:
        return rows[0]
    is_enough = pools_asked or plain.r_safe is None
    return next(
        (
            row
            for row in rows[: rows.index(plain)]
            if (
                are_pools_worth_it(row.needed, plain.needed, row.u_max)
                if is_enough
                else _holds_and_saves(row, plain, comparison.peaks)
            )
        ),
        plain,
    )


def _holds_and_saves(row: Row, plain: Row, peaks: Sequence[int]) -> bool:
    if not row.held or not all(row.held):
        return False
    return all(
        pools is not None and (heap is None or pools + u_max / _LEAST_SAVED <= heap)
        for pools, heap, u_max in zip(row.unseen, plain.unseen, peaks, strict=True)
    )


def describe_preference(winner: Row, preference: str, cost: str) -> str:
    """The sentence for a plan chosen for something other than memory, with its cost."""
    return f"Chosen for {preference}: {_state_need(winner)}; {cost}."


def pool_saving(winner: Row, comparison: Comparison) -> float | None:
    """The share that a plan with pools saves of the best region without; None: one is unknown."""
    other = best_row(comparison, is_cut=False)
    if winner.r_safe is None or other is None or other.r_safe is None:
        return None
    return 1 - winner.r_safe / other.r_safe


def pools_warning(winner: Row, comparison: Comparison) -> str | None:
    """The warning that pools fit this one recording; None for a plan without pools."""
    if not winner.is_cut_to_trace:
        return None
    saving = pool_saving(winner, comparison)
    is_small = saving is not None and 0 <= saving < LEAST_SURE_SAVING
    return (
        "blocks are counted on this one recording"
        + (f", and a saving below {100 * LEAST_SURE_SAVING:g} % may be chance" if is_small else "")
        + "; check a second run with `heapfit compare OTHER --plan plan.toml`"
    )


def best_row(comparison: Comparison, is_cut: bool) -> Row | None:
    """The best row whose blocks were counted on this recording, or of the others."""
    return next((row for row in verdict_rows(comparison) if row.is_cut_to_trace == is_cut), None)


def verdict_rows(comparison: Comparison) -> tuple[Row, ...]:
    """The rows that the verdict is about: of the usual search, with a lead that lasts.

    Unless there are none: then rows of the other kinds, too.
    """
    rows = tuple(row for row in comparison.rows if not row.is_searched_further)
    lasting = tuple(row for row in rows if row.lasts is not False)
    is_any = any(row.r_safe is not None and not row.is_cut_to_trace for row in lasting)
    return (lasting if is_any else rows) or comparison.rows


def _explain_small_gain(winner: Row, pooled: Row | None) -> str:
    """The clause that says why pools that need less are not taken; "" where they need more."""
    if pooled is None or pooled.r_safe is None or winner.r_safe is None:
        return ""
    closed = share_of_gap(pooled.r_safe, winner.r_safe, winner.u_max)
    if closed <= 0:
        return ""
    return f", {format_share(closed)} of the gap to U_max, too little to fit pools to one trace"


def _pools_pay(winner: Row, comparison: Comparison) -> str:
    saving = pool_saving(winner, comparison)
    return "Pools pay" if saving is None else f"Pools save {format_share(saving)}"


def _state_alternative(other: Row | None, has_pools: bool, comparison: Comparison) -> str:
    if other is None:
        whys = "; ".join(f"{one.name}: {one.why}" for one in comparison.not_applicable)
        return f"no plan with pools applies ({whys})" if whys else "no other plan was tried"
    return f"{'without' if has_pools else 'with'} pools, {_state_need(other)}"


def _state_need(row: Row) -> str:
    if row.r_safe is None:
        return f"{row.name} has no safe region"
    over = "" if row.over_u_max is None else f"{row.over_u_max:.2f} x U_max, "
    step = "" if row.is_exhaustive else f", smallest found, step {row.step:,}"
    return f"{row.name} needs {row.r_safe:,} B ({over}alignment {row.alignment}{step})"
