# SPDX-License-Identifier: Apache-2.0
"""The part of a grid that each run takes holds every value of every axis."""

import pytest

import grid


@pytest.mark.parametrize("share", [2, 3])
def test_every_value_is_in_the_part(share: int) -> None:
    axes = (range(7), "abc", "xyzw")
    part = grid.thin(share, *axes)
    assert [set(values) for values in zip(*part, strict=True)] == [set(axis) for axis in axes]
    assert len(part) == 7 * 3 * 4 // share


def test_all_are_run_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid, "ALL", True)
    assert grid.thin(3, "ab", "cd") == [("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]
