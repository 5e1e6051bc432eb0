# SPDX-License-Identifier: Apache-2.0
"""The loops of a function's machine code: what leads back to a place, without passing it.

An edge leads back if its end comes no later in a search by depth. The place that it leads to is
the only entry of its loop if each path from the function's start passes there (Aho et al.).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from heapfit.generate.worst_case.instruction import UnboundedError
from heapfit.generate.worst_case.linked_code import Function


@dataclass(frozen=True, slots=True)
class Loop:
    """Instructions from which control returns to `header`, the only entry of the loop."""

    header: int
    nodes: frozenset[int]

    def own_nodes(self, loops: Sequence[Loop]) -> set[int]:
        """The nodes of the loop without those of the loops inside it."""
        inside = (other.nodes for other in loops if other.nodes < self.nodes)
        return set(self.nodes).difference(*inside)


def find_loops(function: Function) -> list[Loop]:
    """The loops of a function, the smallest first; UnboundedError if one has several entries."""
    order = postorder(function.start, function.successors)
    place = {node: number for number, node in enumerate(order)}
    edges = [(node, successor) for node in order for successor in function.successors(node)]
    before = defaultdict(list)
    for node, successor in edges:
        before[successor].append(node)
    nodes: dict[int, set[int]] = {}
    for node, header in edges:
        if place[header] >= place[node]:
            body = nodes.setdefault(header, {header})
            _add_body(body, node, before)
            if function.start in body - {header}:
                raise UnboundedError(header, f"a loop of {function.name} has more than one entry")
    loops = [Loop(header, frozenset(body)) for header, body in nodes.items()]
    return sorted(loops, key=lambda loop: len(loop.nodes))


def postorder(start: int, successors: Callable[[int], Iterable[int]]) -> list[int]:
    """Every node that is reached, after its successors."""
    seen, order = {start}, []
    stack = [(start, iter(successors(start)))]
    while stack:
        node, left = stack[-1]
        following = next((one for one in left if one not in seen), None)
        if following is None:
            order.append(node)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(successors(following))))
    return order


def _add_body(body: set[int], last: int, before: dict[int, list[int]]) -> None:
    """Adds the nodes from which `last` is reached without passing those that are there."""
    left = [last]
    while left:
        node = left.pop()
        if node not in body:
            body.add(node)
            left += before[node]
