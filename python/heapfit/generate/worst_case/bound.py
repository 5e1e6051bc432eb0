# SPDX-License-Identifier: Apache-2.0
"""The worst case of a function of a linked program: instructions and stack, callees included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from heapfit.generate.worst_case.instruction import UnboundedError
from heapfit.generate.worst_case.linked_code import Function, LinkedCode
from heapfit.generate.worst_case.longest_path import PathCost, longest_path


@dataclass(frozen=True, slots=True)
class WorstCase(PathCost):
    """Upper bounds of a call, whatever the heap holds and however it is called."""

    stack: int = 0  # bytes below the caller's stack pointer


class WorstCases:
    """The worst cases of a program's functions, each found once."""

    def __init__(self, code: LinkedCode) -> None:
        self._code = code
        self._known: dict[int, WorstCase] = {}
        self._callers: list[int] = []

    def find(self, name: str) -> WorstCase:
        """The worst case of one function; UnboundedError, which names the place, if it has none."""
        return self._find_at(self._code.find_function(name))

    def _find_at(self, start: int) -> WorstCase:
        if start in self._callers:
            raise UnboundedError(
                start, f"{self._code.name_at(start)} calls itself, through others or not"
            )
        if start not in self._known:
            self._callers.append(start)
            try:
                function = self._code.function(start)
                path = longest_path(function, self._code.marks, self._find_at)
                stack = deepest_stack(function, lambda callee: self._find_at(callee).stack)
            finally:
                self._callers.pop()
            self._known[start] = WorstCase(path.instructions, path.a_byte, stack)
        return self._known[start]


def deepest_stack(function: Function, called: Callable[[int], int]) -> int:
    """Bytes below the caller's stack pointer; UnboundedError where joining paths disagree."""
    depth = {function.start: 0}
    left = [function.start]
    deepest = 0
    while left:
        node = left.pop()
        flow = function.flows[node]
        behind = depth[node] + flow.pushed
        callee = function.callee(node)
        deepest = max(deepest, behind + (0 if callee is None else called(callee)))
        for successor in function.successors(node):
            if successor not in depth:
                depth[successor] = behind
                left.append(successor)
            elif depth[successor] != behind:
                raise UnboundedError(successor, f"the stack of {function.name} has two depths here")
    return deepest
