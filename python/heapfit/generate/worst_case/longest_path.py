# SPDX-License-Identifier: Apache-2.0
"""The longest path through a function's machine code, callees included.

From the inside outwards: a loop becomes one step, whose ways out have each their worst case. A body
that is run n times goes round n - 1 times and then leaves, or goes round n times and leaves before
what cannot be but in the body. What is left has no circle, so each place is looked at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from heapfit.generate.worst_case.instruction import UnboundedError
from heapfit.generate.worst_case.linked_code import Function
from heapfit.generate.worst_case.loop_marks import LoopMark
from heapfit.generate.worst_case.loops import Loop, find_loops, postorder

_RETURN: Final = -1  # what a function's way out leads to


@dataclass(frozen=True, slots=True)
class PathCost:
    """The cost of a path: instructions, and how many more for each byte moved or cleared.

    Of a whole call also its stack, whatever the heap holds and however it is called.
    """

    instructions: int = 0  # without those for bytes of payload
    a_byte: int = 0  # instructions for each byte of payload that is moved or cleared
    stack: int = 0  # bytes of a call below the caller's stack pointer

    def __add__(self, other: PathCost) -> PathCost:
        return PathCost(self.instructions + other.instructions, self.a_byte + other.a_byte)

    def __sub__(self, other: PathCost) -> PathCost:
        a_byte = max(self.a_byte - other.a_byte, 0)
        return PathCost(max(self.instructions - other.instructions, 0), a_byte)

    def __mul__(self, times: int) -> PathCost:
        return PathCost(self.instructions * times, self.a_byte * times)

    def max_with(self, other: PathCost | None) -> PathCost:
        """The larger cost of the two, for each figure."""
        if other is None:
            return self
        return PathCost(max(self.instructions, other.instructions), max(self.a_byte, other.a_byte))


_Exits = dict[int, PathCost]  # the worst case of each address that an exit leads to


def longest_path(
    function: Function, marks: Sequence[LoopMark], called: Callable[[int], PathCost]
) -> PathCost:
    """The worst case from the first instruction to the return; `called` gives a callee's.

    UnboundedError where a loop has no bound, or the function never returns.
    """
    exits = _Paths(function, marks, called).exits(None)
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
        mark = _find_mark(self._function, loop, self._loops, self._marks)
        whole = _find_longest(steps, loop.header, loop.header)
        in_body = {step for step in steps if self._is_in_body(step, loop, mark)}
        outside = {
            step: {target: work for target, work in ways.items() if target not in in_body}
            for step, ways in steps.items()
            if step not in in_body
        }
        before = {} if loop.header in in_body else _find_longest(outside, loop.header, loop.header)
        around = whole.pop(loop.header, PathCost())
        before.pop(loop.header, None)
        a_byte = PathCost(0, around.instructions)
        rounds = a_byte if mark.is_of_payload else around * (mark.times or 0)
        exits = {target: work + rounds for target, work in before.items()}
        # The last time that the body is run it may leave anywhere.
        for target, work in whole.items() if rounds != PathCost() else ():
            exits[target] = (work + rounds - around).max_with(exits.get(target))
        return exits

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
        function = self._function
        leaves = function.flows[node].returns or function.ends_in_call(node)
        return function.successors(node) + ([_RETURN] if leaves else [])

    def _cost_of(self, node: int) -> PathCost:
        callee = self._function.callee(node)
        return PathCost(1) if callee is None else PathCost(1) + self._called(callee)

    def _is_in_body(self, step: int, loop: Loop, mark: LoopMark) -> bool:
        """True if the step is done only when the body is run: it came from the body and stayed."""
        inner = next(
            (one.nodes for one in self._largest_inside(loop) if one.header == step), {step}
        )
        return any(mark.holds(node) and self._function.flows[node].stays for node in inner)


def _find_longest(steps: dict[int, _Exits], first: int, header: int | None) -> _Exits:
    """The worst case from `first` to each place that is no step, and back to `header`."""
    most = {first: PathCost()}
    exits: _Exits = {}
    inside = steps.keys() - {header}
    for step in reversed(postorder(first, lambda step: steps[step].keys() & inside)):
        for target, work in steps[step].items():
            found = most if target in inside else exits
            found[target] = (most[step] + work).max_with(found.get(target))
    return exits


def _find_mark(
    function: Function, loop: Loop, loops: Sequence[Loop], marks: Sequence[LoopMark]
) -> LoopMark:
    """The mark that bounds a loop; UnboundedError if there is none, or it gives no number.

    Instructions of a body come from the scope of its mark, those of its condition from around it.
    So a loop inside another holds instructions of both: it is the inner one if the machine code has
    a loop around it that is the outer one. Otherwise one of both was unrolled or turned into
    straight code, nobody knows which, and the larger number holds for either. A loop all of which
    is in the body of a marked one is none that a mark is about.
    """
    own = loop.own_nodes(loops)
    around = [other for other in loops if loop.nodes < other.nodes]
    outer = {mark.line for one in around for mark in _marks_in(one.own_nodes(loops), marks)}
    found = [
        mark
        for mark in _marks_in(own, marks)
        if mark.line not in outer
        and any(function.flows[node].jump is not None and not mark.holds(node) for node in own)
    ]
    if not found:
        raise UnboundedError(
            loop.header, f"a loop of {function.name} has no mark (HFIT_LOOP_AT_MOST)"
        )
    if len({mark.is_of_payload for mark in found}) > 1:
        raise UnboundedError(loop.header, f"a loop of {function.name} is two of the source in one")
    times = [mark.times for mark in found if mark.times is not None]
    if len(times) < len(found) and not found[0].is_of_payload:
        raise UnboundedError(loop.header, f"the mark of a loop of {function.name} has no constant")
    return replace(max(found, key=lambda mark: mark.depth), times=max(times, default=None))


def _marks_in(nodes: set[int], marks: Sequence[LoopMark]) -> list[LoopMark]:
    """The innermost mark of each instruction that has one."""
    found: dict[LoopMark, None] = {}
    for node in sorted(nodes):
        holding = [mark for mark in marks if mark.holds(node)]
        if holding:
            found[max(holding, key=lambda mark: mark.depth)] = None
    return [*found]
