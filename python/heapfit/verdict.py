# SPDX-License-Identifier: Apache-2.0
"""What a comparison comes to, in one sentence with the figures that decide."""

from __future__ import annotations

from heapfit.comparison import Comparison, Row

# On 12 programs recorded twice, savings of 5 % or more on the first run mostly held on the second;
# smaller ones were as often losses (docs/decisions/0006-which-plans-are-tried.md).
LEAST_SURE_SAVING = 0.05


def verdict(comparison: Comparison) -> str:
    """Which plan needs the least memory, beside the best of the other kind."""
    winner = comparison.rows[0]
    has_pools = bool(winner.plan.pools)
    other = _best_other(comparison)
    opening = _pools_pay(comparison) if has_pools else "No pools here"
    return f"{opening}: {_needs(winner)}; {_beside(other, has_pools, comparison)}."


def pools_save(comparison: Comparison) -> float | None:
    """What a winner with pools saves of the best region without, as a share; None if unknown."""
    winner, other = comparison.rows[0], _best_other(comparison)
    if not winner.plan.pools or winner.r_safe is None or other is None or other.r_safe is None:
        return None
    return 1 - winner.r_safe / other.r_safe


def _best_other(comparison: Comparison) -> Row | None:
    """The best plan with pools beside a winner without, and the other way round."""
    has_pools = bool(comparison.rows[0].plan.pools)
    return next((row for row in comparison.rows if bool(row.plan.pools) != has_pools), None)


def _pools_pay(comparison: Comparison) -> str:
    saving = pools_save(comparison)
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
    step = f", step {row.step:,}" if row.step else ""
    return f"{row.name} needs {row.r_safe:,} B ({over}alignment {row.alignment}{step})"
