# SPDX-License-Identifier: Apache-2.0
"""The source loop that a loop of the machine code comes from, and how often its body is run.

Instructions of a body come from the scope of its mark, those of its condition from around it. So a
loop inside another holds instructions of both: it is the inner one if the machine code has a loop
around it that is the outer one. Otherwise one of both was unrolled or turned into straight code,
nobody knows which, and the larger number holds for either. A loop all of which is in the body of a
marked one is none that a mark is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heapfit.generate.worst_case.instruction import UnboundedError
from heapfit.generate.worst_case.linked_code import Function
from heapfit.generate.worst_case.loop_marks import LoopMark
from heapfit.generate.worst_case.loops import Loop


def find_mark(
    function: Function, loop: Loop, loops: Sequence[Loop], marks: Sequence[LoopMark]
) -> LoopMark:
    """The mark that bounds a loop; UnboundedError if there is none, or it gives no number."""
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
