# SPDX-License-Identifier: Apache-2.0
"""Inside a layer, too, arrows between folders (rooms) point one way."""

import pytest
from rooms import circles


@pytest.mark.parametrize(
    ("edges", "ways"),
    [
        ({"a": {"b"}, "b": {"c"}}, []),
        ({"a": {"b"}, "b": {"a"}}, [["a", "b", "a"]]),
        ({"a": {"b"}, "b": {"c"}, "c": {"a", "b"}}, [["a", "b", "c", "a"]]),
        ({"a": {"a"}}, [["a", "a"]]),
        ({"x": {"a"}, "a": {"b"}, "b": {"a"}, "c": {"d"}, "d": {"c"}},
         [["a", "b", "a"], ["c", "d", "c"]]),
    ],
)  # fmt: skip
def test_each_circle_is_told_once(edges: dict[str, set[str]], ways: list[list[str]]) -> None:
    assert circles(edges) == ways
