# SPDX-License-Identifier: Apache-2.0
"""One bar for a whole command: it never falls and ends near its end."""

import pytest

from heapfit.progress import WeightedProgress


def shares_of(foretold: dict[str, float], takes: dict[str, float]) -> list[tuple[float, float]]:
    """Seconds and share at each of fifty reports of parts that take other times than foretold."""
    now, told = [0.0], []
    whole = WeightedProgress(
        lambda _, share: told.append((now[0], share)), foretold, clock=lambda: now[0]
    )
    for name, seconds in takes.items():
        report = whole.part(name)
        for done in range(1, 51):
            now[0] += seconds / 50
            report(name, done / 50)
    return told


@pytest.mark.parametrize(
    "takes",
    [
        {"now": 1, "choose": 6, "write": 3},
        {"now": 3, "choose": 18, "write": 9},  # a machine that is slower
        {"now": 0.5, "choose": 3, "write": 1.5},  # and one that is faster
        {"now": 8, "choose": 24, "write": 6},  # a program with long free lists
        {"now": 1, "choose": 4, "write": 4},
        {"now": 1, "choose": 6},  # without what is left out
    ],
)
def test_the_bar_foretells_the_end_at_a_third_and_never_stands(takes):
    told = shares_of({"now": 1, "choose": 6, "write": 3}, takes)
    end, shares = told[-1][0], [share for _, share in told]
    at_a_third = max(share for when, share in told if when <= end / 3)
    assert 1 / 1.5 <= 1 / 3 / at_a_third <= 1.5
    assert shares == sorted(set(shares)), "it falls or stands"
    assert shares[-1] == 1.0 or "write" not in takes


def test_a_part_that_begins_anew_is_not_done():
    told: list[float] = []
    seconds = iter(range(9))
    whole = WeightedProgress(
        lambda _, share: told.append(share), {"a": 1, "b": 1}, lambda: next(seconds)
    )
    for name in ("a", "b", "a", "b"):
        whole.part(name)(name, 1.0)
    assert told[1] == 1.0 == told[-1]


def test_a_part_beside_counts_by_the_seconds_that_it_delays():
    told: list[float] = []
    seconds = iter([0, 1, 2, 4])
    foretold = {"search": 2, "compile": 2}
    whole = WeightedProgress(lambda _, share: told.append(share), foretold, lambda: next(seconds))
    compiled, searched = whole.part_beside("compile"), whole.part("search")
    compiled("a file", 0.5)
    searched("all", 1.0)
    compiled("another", 1.0)
    assert told == [0.25, pytest.approx(0.68, abs=0.01), 1.0]
