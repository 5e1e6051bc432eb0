# SPDX-License-Identifier: Apache-2.0
"""Ranking and verdict, on rows made by hand."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from heapfit.comparison.candidate import NotApplicable
from heapfit.comparison.change_results import ChangeResult, ChangeTest
from heapfit.comparison.comparison import Comparison, rows_to_refine
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.row import Row, rank_rows
from heapfit.comparison.verdict import pools_warning, select_row, verdict
from heapfit.comparison.work import EVENTS_TO_TRY_ALL, TIMES_TO_TRY_ALL
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.stored import TraceInfo

INFO = TraceInfo("program", "source", 32, "heap", "", 100, ())
POOLS = (Pool(64, 3, True),)


@dataclass(frozen=True)
class Replayed:
    """The part of a replay's result that a row reads."""

    loads: int
    stores: int = 0
    allocations: int = 60
    frees: int = 40
    resizes: int = 0
    footprint: int = 900


def row(
    name: str, r_safe: int | None, loads: int = 500, *, has_pools: bool = False, r_min: int = 1000
) -> Row:
    return Row(
        name=name,
        reason="",
        heap=Heap(name, Plan("budgeted" if has_pools else "tlsf", {}, POOLS if has_pools else ())),
        alignment=8,
        r_min=r_min,
        r_safe=r_safe,
        step=8,
        u_max=1000,
        trained_on_this_trace=has_pools,
        replay=Replayed(loads),  # type: ignore[arg-type]
    )


def names(rows: tuple[Row, ...]) -> list[str]:
    return [row.name for row in rows]


def compared(*rows: Row, not_applicable: tuple[NotApplicable, ...] = ()) -> Comparison:
    return Comparison(INFO, 1000, 8, rank_rows(rows), not_applicable)


def told(*rows: Row, not_applicable: tuple[NotApplicable, ...] = ()) -> str:
    return verdict(compared(*rows, not_applicable=not_applicable), pools_asked=True)


def test_the_smallest_safe_region_comes_first_and_none_last() -> None:
    rows = (row("none", None, r_min=900), row("large", 1200), row("small", 1100))
    assert names(rank_rows(rows)) == ["small", "large", "none"]


def test_equal_regions_are_ranked_by_accesses_then_by_name() -> None:
    rows = (row("b", 1100), row("slow", 1100, loads=900), row("a", 1100))
    assert names(rank_rows(rows)) == ["a", "b", "slow"]


def test_a_region_that_was_not_tried_whole_is_called_the_smallest_found() -> None:
    guessed = replace(row("tlsf", 1160), step=24, events_left=7)
    assert not guessed.is_exhaustive
    assert "alignment 8, smallest found, step 24)" in told(guessed)
    assert "smallest found" not in told(row("tlsf", 1160))


def measured(regions: dict[str, tuple[int, int]], pools: Sequence[str] = ()) -> dict[int, Row]:
    """Rows by number, of R_safe and the events left."""
    return {
        i: replace(row(name, region, has_pools=name in pools), events_left=left)
        for i, (name, (region, left)) in enumerate(regions.items())
    }


def test_the_first_three_with_and_without_pools_are_looked_at_closer() -> None:
    regions = {name: (1000 + 10 * i, 5) for i, name in enumerate("abcdefgh")}
    rows = measured(regions, pools="acegh")
    assert rows_to_refine(rows, 100) == [0, 1, 2, 3, 4, 5]  # a c e, and b d f


def test_what_is_known_or_would_take_too_long_is_not_looked_at_closer() -> None:
    most = EVENTS_TO_TRY_ALL
    rows = measured({"a": (1000, 0), "b": (1010, most), "c": (1020, most + 1), "d": (1030, 1)})
    assert rows_to_refine(rows, 100) == [1]  # d is the fourth
    long = most // TIMES_TO_TRY_ALL + 1
    assert rows_to_refine(rows, long) == [1, 2]


def test_the_order_given_does_not_matter() -> None:
    rows = [row("a", 1100), row("b", 1100, loads=300), row("c", None), row("d", 1000)]
    orders = {tuple(names(rank_rows(order))) for order in itertools.permutations(rows)}
    assert orders == {("d", "b", "a", "c")}


def test_pools_that_win_are_told_beside_the_best_without() -> None:
    assert told(row("tlsf", 1160), row("budgeted_4_largest", 1020, has_pools=True)) == (
        "Pools save 12.1 %: budgeted_4_largest needs 1,020 B (1.02 x U_max, alignment 8); "
        "without pools, tlsf needs 1,160 B (1.16 x U_max, alignment 8)."
    )


def test_no_pools_is_told_with_the_figures_of_the_best_pools() -> None:
    assert told(row("tlsf", 1160), row("class_pools", 1400, has_pools=True)) == (
        "No pools here: tlsf needs 1,160 B (1.16 x U_max, alignment 8); "
        "with pools, class_pools needs 1,400 B (1.40 x U_max, alignment 8)."
    )


def test_no_pools_says_why_none_applied() -> None:
    why = NotApplicable("class_pools", "no size has 10 % of the allocations")
    assert told(row("tlsf", 1160), not_applicable=(why,)).endswith(
        "no plan with pools applies (class_pools: no size has 10 % of the allocations)."
    )


def test_pools_for_less_than_a_tenth_of_the_gap_are_not_taken() -> None:
    rows = [row("tlsf", 1160), row("searched", 1145, has_pools=True)]
    assert select_row(compared(*rows), pools_asked=True).name == "tlsf"
    assert told(*rows).endswith(
        "with pools, searched needs 1,145 B (1.15 x U_max, alignment 8), 9.4 % of the gap "
        "to U_max, too little to fit pools to one trace."
    )
    enough = [row("tlsf", 1160), row("searched", 1144, has_pools=True)]
    assert select_row(compared(*enough), pools_asked=True).name == "searched"
    assert told(*enough).startswith("Pools save 1.4 %: searched")


def test_pools_without_a_safe_region_are_told_so() -> None:
    assert told(row("tlsf", 1160), row("class_pools", None, has_pools=True)).endswith(
        "with pools, class_pools has no safe region."
    )


def test_pools_that_alone_have_a_safe_region_pay() -> None:
    assert told(row("tlsf", None), row("class_pools", 1400, has_pools=True)).startswith(
        "Pools pay: class_pools needs 1,400 B"
    )


def test_blocks_counted_on_one_recording_are_shown_and_never_chosen() -> None:
    both = compared(row("tlsf", 1160), row("searched", 1010, has_pools=True))
    assert select_row(both).name == "tlsf"
    assert verdict(both) == (
        "tlsf needs 1,160 B (1.16 x U_max, alignment 8). If every run were identical, "
        "searched would do with 1,010 B; another run may need more blocks of a size (--pools)."
    )


def test_counted_blocks_that_save_nothing_are_not_mentioned() -> None:
    both = compared(row("tlsf", 1160), row("class_pools", 1400, has_pools=True))
    assert verdict(both) == "tlsf needs 1,160 B (1.16 x U_max, alignment 8)."


def test_rows_are_ranked_with_the_margin_of_their_kind() -> None:
    placed = replace(row("placed", 98_000), trained_on_this_trace=True, u_max=90_000)
    plain = replace(row("plain", 100_000), u_max=90_000)
    assert (placed.heap_size.margin, plain.heap_size.margin) == (5, 2)
    assert names(rank_rows((placed, plain))) == ["plain", "placed"]
    assert names(rank_rows((replace(placed, r_safe=97_000), plain))) == ["placed", "plain"]


def test_pools_are_warned_to_be_counted_on_one_recording() -> None:
    much, little = row("searched", 1050, has_pools=True), row("searched", 1140, has_pools=True)
    for pools, is_small in ((much, False), (little, True)):
        warning = pools_warning(pools, compared(row("tlsf", 1160), pools))
        assert warning is not None
        assert "counted on this one recording" in warning
        assert ("a saving below 5 % may be chance" in warning) == is_small
        assert warning.startswith("blocks are")
    assert pools_warning(row("tlsf", 1160), compared(row("tlsf", 1160), much)) is None


def test_pools_that_changes_of_the_program_break_are_not_named_but_said_to_be() -> None:
    broken = ChangeResult("8 B more a request", 4.7, True, False, 61.0)
    pools = replace(row("searched", 1010, has_pools=True), changes=ChangeTest((broken,)))
    both = compared(row("tlsf", 1160), pools)
    assert select_row(both, pools_asked=True).name == "tlsf"
    assert verdict(both, pools_asked=True).endswith(
        "; searched would do with 1,010 B, but needs 61 % more with 8 B more a request."
    )
    assert select_row(compared(pools), pools_asked=True).name == "searched"
