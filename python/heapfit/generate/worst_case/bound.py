# SPDX-License-Identifier: Apache-2.0
"""The worst case of a function of a linked program: instructions and stack, callees included."""

from __future__ import annotations

from dataclasses import dataclass

from heapfit.generate.worst_case.instruction import UnboundedError
from heapfit.generate.worst_case.linked_code import Function, LinkedCode
from heapfit.generate.worst_case.longest_path import Work, longest_path
from heapfit.generate.worst_case.stack_depth import deepest_stack


@dataclass(frozen=True, slots=True)
class WorstCase:
    """No call takes more, whatever the heap holds and however it is called."""

    instructions: int  # without those for bytes of payload
    a_byte: int  # instructions for each byte of payload that is moved or cleared
    stack: int  # bytes below the caller's stack pointer


class WorstCases:
    """The worst cases of a program's functions, each looked for once."""

    def __init__(self, code: LinkedCode) -> None:
        self._code = code
        self._known: dict[int, WorstCase] = {}
        self._callers: list[int] = []

    def of(self, name: str) -> WorstCase:
        """Of one function; UnboundedError, which names the place, where there is none."""
        return self._at(self._code.named(name))

    def _at(self, start: int) -> WorstCase:
        if start in self._callers:
            raise UnboundedError(
                start, f"{self._code.name_at(start)} calls itself, through others or not"
            )
        if start not in self._known:
            self._callers.append(start)
            try:
                self._known[start] = self._found(self._code.function(start))
            finally:
                self._callers.pop()
        return self._known[start]

    def _found(self, function: Function) -> WorstCase:
        path = longest_path(function, self._code.marks, self._work)
        stack = deepest_stack(function, lambda callee: self._at(callee).stack)
        return WorstCase(path.fixed, path.a_byte, stack)

    def _work(self, start: int) -> Work:
        worst = self._at(start)
        return Work(worst.instructions, worst.a_byte)
