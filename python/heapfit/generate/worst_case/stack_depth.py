# SPDX-License-Identifier: Apache-2.0
"""The largest depth of a function's stack, callees included, from its pushes and moves."""

from __future__ import annotations

from collections.abc import Callable

from heapfit.generate.worst_case.instruction import UnboundedError
from heapfit.generate.worst_case.linked_code import Function


def deepest_stack(function: Function, called: Callable[[int], int]) -> int:
    """Bytes below the caller's stack pointer; UnboundedError where joining paths disagree."""
    depth = {function.start: 0}
    left = [function.start]
    deepest = 0
    while left:
        node = left.pop()
        flow = function.flows[node]
        behind = depth[node] + flow.pushed
        is_last_call = flow.jump is not None and flow.jump not in function.flows
        callee = flow.jump if is_last_call else flow.call
        deepest = max(deepest, behind + (0 if callee is None else called(callee)))
        for successor in function.successors(node):
            if successor not in depth:
                depth[successor] = behind
                left.append(successor)
            elif depth[successor] != behind:
                raise UnboundedError(successor, f"the stack of {function.name} has two depths here")
    return deepest
