# SPDX-License-Identifier: Apache-2.0
"""What rooms (folders) of a layer name each other, and where that turns back."""


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """The shortest way from a room back to itself, one for each group of rooms that has any.

    >>> circles({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}})
    [['a', 'b', 'c', 'a']]
    """
    seen: set[str] = set()
    ways = []
    for room in sorted(edges):
        way = [] if room in seen else way_back(edges, room)
        if way:
            ways.append(way)
            seen |= {other for other in reached(edges, room) if room in reached(edges, other)}
    return ways


def reached(edges: dict[str, set[str]], room: str) -> set[str]:
    """All rooms that one leads to, in one step or more."""
    rooms: set[str] = set()
    waiting = [room]
    while waiting:
        new = edges.get(waiting.pop(), set()) - rooms
        rooms |= new
        waiting += new
    return rooms


def way_back(edges: dict[str, set[str]], room: str) -> list[str]:
    """The shortest way from a room back to itself, its name first and last; empty if there is none.

    Among ways of one length it is the first by name, so that it is the same in every run.
    """
    ways = [[room]]
    seen: set[str] = set()
    for way in ways:
        for step in sorted(edges.get(way[-1], ())):
            if step == room:
                return [*way, room]
            if step not in seen:
                seen.add(step)
                ways.append([*way, step])
    return []
