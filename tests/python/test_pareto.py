# SPDX-License-Identifier: Apache-2.0
"""What no other beats, against its definition, on random figures with many ties."""

from hypothesis import given
from hypothesis import strategies as st

from heapfit.comparison.pareto import dominates, list_unbeaten

FIGURE = st.one_of(st.none(), st.integers(0, 4), st.floats(0, 4, width=16))
SPACE = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[FIGURE] * width), max_size=14).map(
        lambda rows: dict(zip(map(str, range(14)), rows, strict=False))
    )
)


@given(SPACE)
def test_what_is_unbeaten_is_what_the_definition_says(rows):
    columns = [
        i for i in range(4) if any(row[i : i + 1] not in ((), (None,)) for row in rows.values())
    ]
    cut = {name: [row[i] for i in columns] for name, row in rows.items()}
    known = {name: row for name, row in cut.items() if None not in row}
    assert list_unbeaten(rows) == {
        name
        for name, row in known.items()
        if not any(dominates(other, row) for other in known.values())
    }
