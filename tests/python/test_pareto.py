# SPDX-License-Identifier: Apache-2.0
"""The Pareto front against its definition, on random figures with many ties."""

from hypothesis import given
from hypothesis import strategies as st

from heapfit.design.front.pareto import Dominance, dominates, rank_points

FIGURE = st.one_of(st.none(), st.integers(0, 4), st.floats(0, 4, width=16))
SPACE = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[FIGURE] * width), min_size=1, max_size=14)
)


def known_by_all(rows):
    """The columns that somebody has a figure in."""
    return [i for i in range(len(rows[0])) if any(row[i] is not None for row in rows)]


@given(SPACE)
def test_standings_are_what_the_definition_says(rows):
    columns = known_by_all(rows)
    cut = [tuple(row[i] for i in columns) for row in rows]
    for row, place in zip(cut, rank_points(rows), strict=True):
        rivals = [other for other in cut if None not in other]
        if None in row:
            assert place.standing is Dominance.UNKNOWN
        elif any(dominates(other, row) for other in rivals):
            assert place.standing is Dominance.DOMINATED
        else:
            assert place.standing in (Dominance.FRONT, Dominance.SAME)


@given(SPACE)
def test_of_equal_ones_just_the_first_is_on_the_front(rows):
    columns = known_by_all(rows)
    cut = [tuple(row[i] for i in columns) for row in rows]
    found = rank_points(rows)
    front = [row for row, place in zip(cut, found, strict=True) if place.standing == "front"]
    assert len(front) == len(set(front))
    for number, place in enumerate(found):
        if place.standing is Dominance.SAME:
            assert cut[place.by] == cut[number]
            assert place.by < number


@given(SPACE)
def test_who_is_told_to_be_better_is_on_the_front_and_better(rows):
    columns = known_by_all(rows)
    found = rank_points(rows)
    for row, place in zip(rows, found, strict=True):
        if place.standing is Dominance.DOMINATED:
            better = rows[place.by]
            assert found[place.by].standing is Dominance.FRONT
            assert dominates([better[i] for i in columns], [row[i] for i in columns])


def test_a_figure_that_nobody_has_excludes_nobody():
    assert [place.standing for place in rank_points([(1, None), (2, None)])] == [
        "front",
        "dominated",
    ]


def test_nothing_has_no_front():
    assert rank_points([]) == []
