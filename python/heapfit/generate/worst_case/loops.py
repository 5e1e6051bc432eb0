# SPDX-License-Identifier: Apache-2.0
"""The loops of a function's machine code, by the nodes that dominate others (Aho et al.)."""

from __future__ import annotations

from dataclasses import dataclass

from heapfit.generate.worst_case.instruction import UnboundedError
from heapfit.generate.worst_case.linked_code import Function


@dataclass(frozen=True, slots=True)
class Loop:
    """Instructions from which control returns to `header`, the only entry of the loop."""

    header: int
    nodes: frozenset[int]


def find_loops(function: Function) -> list[Loop]:
    """The loops of a function, the smallest first; UnboundedError if one has several entries."""
    order = _postorder(function)
    above = _dominators(function, order)
    nodes: dict[int, set[int]] = {}
    for node in order:
        for successor in function.successors(node):
            if _dominates(above, successor, node):
                body = nodes.setdefault(successor, {successor})
                body |= _find_body(function, order, node, successor)
    _require_reducible(function, order, above)
    loops = [Loop(header, frozenset(body)) for header, body in nodes.items()]
    return sorted(loops, key=lambda loop: len(loop.nodes))


def _postorder(function: Function) -> list[int]:
    """Every instruction that is reached, after its successors."""
    seen, order = {function.start}, []
    stack = [(function.start, iter(function.successors(function.start)))]
    while stack:
        node, left = stack[-1]
        following = next((one for one in left if one not in seen), None)
        if following is None:
            order.append(node)
            stack.pop()
        elif following not in function.flows:
            raise UnboundedError(following, f"{function.name} runs into what is no code of its own")
        else:
            seen.add(following)
            stack.append((following, iter(function.successors(following))))
    return order


def _dominators(function: Function, order: list[int]) -> dict[int, int]:
    """The nearest dominator of each node (Cooper, Harvey and Kennedy 2001)."""
    number = {node: place for place, node in enumerate(order)}
    before: dict[int, list[int]] = {node: [] for node in order}
    for node in order:
        for successor in function.successors(node):
            before[successor].append(node)
    above = {function.start: function.start}

    def common(one: int, other: int) -> int:
        while one != other:
            if number[one] < number[other]:
                one = above[one]
            else:
                other = above[other]
        return one

    is_changed = True
    while is_changed:
        is_changed = False
        for node in reversed(order[:-1]):
            known = [one for one in before[node] if one in above]
            nearest = known[0]
            for one in known[1:]:
                nearest = common(nearest, one)
            is_changed |= above.get(node) != nearest
            above[node] = nearest
    return above


def _dominates(above: dict[int, int], one: int, other: int) -> bool:
    while other != one and above[other] != other:
        other = above[other]
    return other == one


def _find_body(function: Function, order: list[int], last: int, header: int) -> set[int]:
    """The nodes from which `last` is reached without passing `header`."""
    before: dict[int, list[int]] = {}
    for node in order:
        for successor in function.successors(node):
            before.setdefault(successor, []).append(node)
    found, left = {last, header}, [last] if last != header else []
    while left:
        for one in before.get(left.pop(), []):
            if one not in found:
                found.add(one)
                left.append(one)
    return found


def _require_reducible(function: Function, order: list[int], above: dict[int, int]) -> None:
    """UnboundedError if a cycle stays when the edges back to dominators are removed."""
    number = {node: place for place, node in enumerate(order)}
    for node in order:
        for successor in function.successors(node):
            leads_back = number[successor] >= number[node]
            if leads_back and not _dominates(above, successor, node):
                raise UnboundedError(
                    successor, f"a loop of {function.name} has more than one entry"
                )
