# SPDX-License-Identifier: Apache-2.0
"""The longest path and the deepest stack of small functions, whose figures are counted by hand."""

import pytest

from heapfit.generate.worst_case import riscv, thumb
from heapfit.generate.worst_case.bound import deepest_stack
from heapfit.generate.worst_case.instruction import (
    PLAIN,
    RETURN,
    DisassemblyLine,
    Flow,
    UnboundedError,
)
from heapfit.generate.worst_case.linked_code import Function
from heapfit.generate.worst_case.longest_path import PathCost, longest_path
from heapfit.generate.worst_case.loop_marks import LoopMark

LOAD = Flow(stays=True)


def to(target: int) -> Flow:
    """A branch on a condition."""
    return Flow(jump=target, stays=True)


def function(*flows: Flow) -> Function:
    """Instructions at 0, 1, 2 ..."""
    numbered = dict(enumerate(flows))
    return Function("f", 0, numbered, {place: place + 1 for place in numbered})


def marked(start: int, end: int, times: int | None, depth: int = 1) -> LoopMark:
    return LoopMark((0, 0, start), ((start, end),), depth, times is None, times)


def path(code: Function, *marks: LoopMark) -> PathCost:
    return longest_path(code, marks, lambda _: PathCost(100, 1))


def test_the_longer_of_two_ways_counts() -> None:
    assert path(function(to(4), PLAIN, PLAIN, PLAIN, RETURN)) == PathCost(5)


def test_a_callee_counts_whether_called_or_jumped_to_at_last() -> None:
    assert path(function(Flow(call=900), RETURN)) == PathCost(102, 1)
    assert path(function(PLAIN, Flow(jump=900, falls_through=False))) == PathCost(102, 1)


# 0: test -> 4    1: load    2: plain    3: back to 0    4: return
TEST_FIRST = function(to(4), LOAD, PLAIN, Flow(jump=0, falls_through=False), RETURN)
# 0: load    1: plain    2: back to 0 on a condition    3: return
TEST_LAST = function(LOAD, PLAIN, to(0), RETURN)


@pytest.mark.parametrize("times", [0, 1, 2, 7])
def test_a_loop_that_tests_first_tests_once_more_than_it_runs(times: int) -> None:
    assert path(TEST_FIRST, marked(1, 4, times)) == PathCost(4 * times + 2)


@pytest.mark.parametrize("times", [1, 2, 7])
def test_a_loop_that_tests_last_tests_as_often_as_it_runs(times: int) -> None:
    assert path(TEST_LAST, marked(0, 2, times)) == PathCost(3 * times + 1)


def test_a_loop_of_payload_takes_so_much_a_byte() -> None:
    assert path(TEST_FIRST, marked(1, 4, None)) == PathCost(2, 4)
    assert path(TEST_LAST, marked(0, 2, None)) == PathCost(1, 3)


# 0: test -> 7    1: load    5: load    6: back to 0    7: return
#                 2: inner test -> 5    3: load    4: back to 2
NESTED = function(
    to(7), LOAD, to(5), LOAD, Flow(jump=2, falls_through=False), LOAD,
    Flow(jump=0, falls_through=False), RETURN,
)  # fmt: skip


def test_a_loop_whose_body_has_no_instruction_that_stays_runs_as_often_as_its_mark_says() -> None:
    two_ways_back = function(PLAIN, to(4), to(0), RETURN, Flow(jump=0, falls_through=False))
    assert path(two_ways_back, marked(0, 1, 5)) == PathCost(3 * 5 + 3 + 1)


def test_an_inner_loop_runs_anew_each_time_the_outer_one_does() -> None:
    inner = marked(3, 5, 4, depth=2)
    assert path(NESTED, marked(1, 7, 3), inner) == PathCost(3 * (4 + 4 * 3 + 1) + 2)


@pytest.mark.parametrize(
    "marks", [[], [marked(3, 5, 4, depth=2)], [marked(1, 7, 3)]], ids=["none", "inner", "outer"]
)
def test_a_loop_without_a_mark_of_its_own_has_no_bound(marks: list[LoopMark]) -> None:
    with pytest.raises(UnboundedError, match=r"0x\d: a loop of f has no mark"):
        path(NESTED, *marks)


def test_a_loop_inside_a_body_that_became_straight_code_has_no_bound() -> None:
    with pytest.raises(UnboundedError, match="no mark"):
        path(TEST_FIRST, marked(0, 5, 1))


def test_a_mark_whose_value_the_compiler_did_not_tell_is_refused() -> None:
    untold = LoopMark((0, 0, 1), ((1, 4),), 1, False, None)
    with pytest.raises(UnboundedError, match="has no constant"):
        path(TEST_FIRST, untold)


def test_a_loop_with_two_entries_has_no_bound() -> None:
    code = function(to(2), PLAIN, PLAIN, to(1), RETURN)
    with pytest.raises(UnboundedError, match="more than one entry"):
        path(code, marked(1, 3, 2))


def test_code_that_never_returns_has_no_bound() -> None:
    with pytest.raises(UnboundedError, match="never returns"):
        path(function(PLAIN, Flow(falls_through=False)))


def test_the_stack_is_the_deepest_with_its_callees() -> None:
    code = function(Flow(pushed=16), Flow(call=900), Flow(pushed=-16), RETURN)
    assert deepest_stack(code, lambda _: 24) == 40
    leaf = function(Flow(pushed=16), PLAIN, Flow(pushed=-16), RETURN)
    assert deepest_stack(leaf, lambda _: 24) == 16


def test_ways_that_meet_with_unlike_stacks_are_refused() -> None:
    with pytest.raises(UnboundedError, match="two depths"):
        deepest_stack(function(to(2), Flow(pushed=8), RETURN), lambda _: 0)


@pytest.mark.parametrize(
    ("text", "flow"),
    [
        ("push {r4, r5, r6, lr}", Flow(pushed=16, stays=True)),
        ("stmdb sp!, {r4-r8, lr}", Flow(pushed=24, stays=True)),
        ("pop {r4, pc}", Flow(pushed=-8, returns=True, falls_through=False)),
        ("sub.w sp, sp, #264", Flow(pushed=264)),
        ("add sp, #8", Flow(pushed=-8)),
        ("str.w lr, [sp, #-4]!", Flow(pushed=4, stays=True)),
        ("ldr.w pc, [sp], #4", Flow(pushed=-4, returns=True, falls_through=False)),
        ("bls.n 4c <f+0x10>", Flow(jump=0x4C, stays=True)),
        ("cbz r0, 4c <f+0x10>", Flow(jump=0x4C, stays=True)),
        ("b.w 4c <g>", Flow(jump=0x4C, falls_through=False)),
        ("bl 4c <g>", Flow(call=0x4C, stays=True)),
        ("bx lr", RETURN),
        ("add r0, sp, #8", PLAIN),
    ],
)
def test_thumb_is_read(text: str, flow: Flow) -> None:
    assert [*thumb.thumb_flows([line(text)])] == [flow]


@pytest.mark.parametrize(
    "text", ["blx r3", "bx r3", "tbb [pc, r0]", "mov pc, r0", "mov sp, r7", "vpush {d8}"]
)
def test_thumb_that_leads_or_pushes_nobody_knows_where_is_refused(text: str) -> None:
    with pytest.raises(UnboundedError, match=r"0x10: \w+"):
        [*thumb.thumb_flows([line(text)])]


def test_an_it_block_may_return_or_go_on() -> None:
    returns, plain = [*thumb.thumb_flows(map(line, ["it eq", "bxeq lr", "movs r0, #1"]))][1:]
    assert returns == Flow(returns=True, falls_through=True)
    assert plain == PLAIN
    with pytest.raises(UnboundedError, match="on a condition"):
        [*thumb.thumb_flows(map(line, ["it ne", "pushne {r4}"]))]
    assert [*thumb.thumb_flows(map(line, ["it eq", "bxeq lr", "push {r4}"]))][2].pushed == 4


@pytest.mark.parametrize(
    ("text", "flow"),
    [
        ("add sp,sp,-32", Flow(pushed=32)),
        ("addi sp,sp,32", Flow(pushed=-32)),
        ("sw ra,28(sp)", Flow(stays=True)),
        ("sw sp,28(s0)", Flow(stays=True)),
        ("beqz a0,4c <f+0x10>", Flow(jump=0x4C, stays=True)),
        ("j 4c <g>", Flow(jump=0x4C, falls_through=False)),
        ("jal 4c <g>", Flow(call=0x4C, stays=True)),
        ("ret", RETURN),
        ("add a0,sp,8", PLAIN),
    ],
)
def test_rv32_is_read(text: str, flow: Flow) -> None:
    assert [*riscv.riscv_flows([line(text)])] == [flow]


@pytest.mark.parametrize("text", ["jr t1", "jalr a5", "mv sp,s0", "sub sp,sp,t0"])
def test_rv32_that_leads_or_pushes_nobody_knows_where_is_refused(text: str) -> None:
    with pytest.raises(UnboundedError, match=r"0x10: \w+"):
        [*riscv.riscv_flows([line(text)])]


def line(text: str) -> DisassemblyLine:
    mnemonic, _, operands = text.partition(" ")
    return DisassemblyLine(0x10, mnemonic, operands)
