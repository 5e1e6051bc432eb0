# SPDX-License-Identifier: Apache-2.0
"""The longest path through a function's machine code, callees included.

From the inside outwards: a loop becomes one step, whose ways out have each their worst case. A body
that is run n times goes round n - 1 times and then leaves, or goes round n times and leaves before
what cannot be but in the body. What is left has no circle, so each place is looked at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from heapfit.generate.worst_case.instruction import UnboundedError
from heapfit.generate.worst_case.linked_code import Function
from heapfit.generate.worst_case.loop_bounds import find_mark
from heapfit.generate.worst_case.loop_marks import LoopMark
from heapfit.generate.worst_case.loops import Loop, find_loops

_RETURN: Final = -1  # what a function's way out leads to


@dataclass(frozen=True, slots=True)
class PathCost:
    """The cost of a path: instructions, and how many more for each byte moved or cleared."""

    fixed: int = 0
    a_byte: int = 0

    def __add__(self, other: PathCost) -> PathCost:
        return PathCost(self.fixed + other.fixed, self.a_byte + other.a_byte)

    def __mul__(self, times: int) -> PathCost:
        return PathCost(self.fixed * times, self.a_byte * times)

    def max_with(self, other: PathCost | None) -> PathCost:
        """The larger cost of the two, for each figure."""
        if other is None:
            return self
        return PathCost(max(self.fixed, other.fixed), max(self.a_byte, other.a_byte))


_Exits = dict[int, PathCost]  # the worst case of each address that an exit leads to


def longest_path(
    function: Function, marks: Sequence[LoopMark], called: Callable[[int], PathCost]
) -> PathCost:
    """The worst case from the first instruction to the return; `called` gives a callee's.

    UnboundedError where a loop has no bound, or the function never returns.
    """
    paths = _Paths(function, marks, called)
    exits = paths.exits(None)
    if _RETURN not in exits:
        raise UnboundedError(function.start, f"{function.name} never returns")
    return exits[_RETURN]


class _Paths:
    def __init__(
        self, function: Function, marks: Sequence[LoopMark], called: Callable[[int], PathCost]
    ) -> None:
        self._function = function
        self._marks = marks
        self._called = called
        self._loops = find_loops(function)

    def exits(self, loop: Loop | None) -> _Exits:
        """The worst case of each exit of a loop, or of the whole function."""
        steps = self._steps(loop)
        if loop is None:
            return _find_longest(steps, self._owner(None, self._function.start), None)
        mark = find_mark(self._function, loop, self._loops, self._marks)
        whole = _find_longest(steps, loop.header, loop.header)
        in_body = {step for step in steps if self._is_in_body(step, loop, mark)}
        outside = _drop_steps(steps, in_body)
        before = {} if loop.header in in_body else _find_longest(outside, loop.header, loop.header)
        around = whole.pop(loop.header, PathCost())
        before.pop(loop.header, None)
        if mark.is_of_payload:
            return _cost_per_byte(whole, before, around)
        return _cost_of_rounds(whole, before, around, mark.times or 0)

    def _steps(self, loop: Loop | None) -> dict[int, _Exits]:
        """The successors of each instruction, or loop inside, with the cost to get there."""
        steps: dict[int, _Exits] = {}
        for inner in self._largest_inside(loop):
            ways: _Exits = {}
            for target, work in self.exits(inner).items():
                owner = self._owner(loop, target)
                ways[owner] = work.max_with(ways.get(owner))
            steps[inner.header] = ways
        for node in self._function.flows if loop is None else loop.nodes:
            if self._owner(loop, node) == node and node not in steps:
                work = self._cost_of(node)
                steps[node] = dict.fromkeys(
                    [self._owner(loop, one) for one in self._find_successors(node)], work
                )
        return steps

    def _largest_inside(self, loop: Loop | None) -> list[Loop]:
        """The largest loops inside this one."""
        smaller = [one for one in self._loops if loop is None or one.nodes < loop.nodes]
        return [one for one in smaller if not any(one.nodes < other.nodes for other in smaller)]

    def _owner(self, loop: Loop | None, node: int) -> int:
        """The header of the loop inside that a node is part of, or the node itself."""
        return next((one.header for one in self._largest_inside(loop) if node in one.nodes), node)

    def _find_successors(self, node: int) -> list[int]:
        flow = self._function.flows[node]
        leaves = flow.returns or (flow.jump is not None and flow.jump not in self._function.flows)
        return self._function.successors(node) + ([_RETURN] if leaves else [])

    def _cost_of(self, node: int) -> PathCost:
        flow = self._function.flows[node]
        is_last_call = flow.jump is not None and flow.jump not in self._function.flows
        callee = flow.jump if is_last_call else flow.call
        return PathCost(1) if callee is None else PathCost(1) + self._called(callee)

    def _is_in_body(self, step: int, loop: Loop, mark: LoopMark) -> bool:
        """True if the step is done only when the body is run: it came from the body and stayed."""
        inner = next(
            (one.nodes for one in self._largest_inside(loop) if one.header == step), {step}
        )
        return any(mark.holds(node) and self._function.flows[node].stays for node in inner)


def _drop_steps(steps: dict[int, _Exits], dropped: set[int]) -> dict[int, _Exits]:
    """The steps that are not in `dropped`, with their edges to each other."""
    return {
        step: {target: work for target, work in ways.items() if target not in dropped}
        for step, ways in steps.items()
        if step not in dropped
    }


def _find_longest(steps: dict[int, _Exits], first: int, header: int | None) -> _Exits:
    """The worst case from `first` to each place that is no step, and back to `header`."""
    most = {first: PathCost()}
    exits: _Exits = {}
    for step in _sort_steps(steps, first, header):
        for target, work in steps[step].items():
            found = most if target in steps and target != header else exits
            found[target] = (most[step] + work).max_with(found.get(target))
    return exits


def _sort_steps(steps: dict[int, _Exits], first: int, header: int | None) -> list[int]:
    """The steps that are reached, each before its successors."""
    seen, order = {first}, []
    stack = [(first, iter(steps[first]))]
    while stack:
        left = stack[-1][1]
        following = next(
            (one for one in left if one in steps and one != header and one not in seen), None
        )
        if following is None:
            order.append(stack.pop()[0])
        else:
            seen.add(following)
            stack.append((following, iter(steps[following])))
    return order[::-1]


def _cost_of_rounds(whole: _Exits, before: _Exits, around: PathCost, times: int) -> _Exits:
    """The exits of a loop whose body is run `times` times; the last time it may leave anywhere."""
    exits = {target: around * times + work for target, work in before.items()}
    for target, work in whole.items() if times > 0 else ():
        exits[target] = (around * (times - 1) + work).max_with(exits.get(target))
    return exits


def _cost_per_byte(whole: _Exits, before: _Exits, around: PathCost) -> _Exits:
    """The exits of a loop whose body is run once a byte; before it, for no byte."""
    exits = {target: PathCost(work.fixed, around.fixed) for target, work in before.items()}
    for target, work in whole.items():
        once = PathCost(max(work.fixed - around.fixed, 0), around.fixed)
        exits[target] = once.max_with(exits.get(target))
    return exits
