# SPDX-License-Identifier: Apache-2.0
"""The worst case of a function of a linked program: instructions and stack, callees included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from heapfit.generate.worst_case.instruction import UnboundedError
from heapfit.generate.worst_case.linked_code import Function, LinkedCode
from heapfit.generate.worst_case.longest_path import PathCost, longest_path


class WorstCases:
    """The worst cases of a program's functions, each found once."""

    def __init__(self, code: LinkedCode) -> None:
        self._code = code
        self._known: dict[int, PathCost] = {}
        self._stacks: dict[int, int] = {}
        self._callers: list[int] = []

    def find(self, name: str) -> PathCost:
        """The worst case of one function; UnboundedError, which names the place, if it has none."""
        return self._find_at(self._code.find_function(name))

    def find_stack(self, name: str) -> int:
        """The bytes of stack of one function, which may have loops without a bound."""
        return self._stack_at(self._code.find_function(name))

    def _stack_at(self, start: int) -> int:
        if start in self._callers:
            raise UnboundedError(
                start, f"{self._code.name_at(start)} calls itself, through others or not"
            )
        if start not in self._stacks:
            self._callers.append(start)
            try:
                self._stacks[start] = deepest_stack(self._code.function(start), self._stack_at)
            finally:
                self._callers.pop()
        return self._stacks[start]

    def _find_at(self, start: int) -> PathCost:
        stack = self._stack_at(start)  # which finds a function that calls itself
        if start not in self._known:
            path = longest_path(self._code.function(start), self._code.marks, self._find_at)
            self._known[start] = replace(path, stack=stack)
        return self._known[start]


def deepest_stack(function: Function, called: Callable[[int], int]) -> int:
    """Bytes below the caller's stack pointer; UnboundedError where joining paths disagree."""
    depth = {function.start: 0}
    left = [function.start]
    deepest = 0
    while left:
        node = left.pop()
        behind = depth[node] + function.flows[node].pushed
        callee = function.callee(node)
        deepest = max(deepest, behind + (0 if callee is None else called(callee)))
        for successor in function.successors(node):
            if successor not in depth:
                depth[successor] = behind
                left.append(successor)
            elif depth[successor] != behind:
                raise UnboundedError(successor, f"the stack of {function.name} has two depths here")
    return deepest
