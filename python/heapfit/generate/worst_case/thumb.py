# SPDX-License-Identifier: Apache-2.0
"""Thumb instructions of Armv6-M and Armv7-M, as objdump prints them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from heapfit.generate.worst_case.instruction import PLAIN, RETURN, TRAP, DisassemblyLine, Flow

_BRANCHES: Final = {
    *("beq", "bne", "bcs", "bhs", "bcc", "blo", "bmi", "bpl"),
    *("bvs", "bvc", "bhi", "bls", "bge", "blt", "bgt", "ble", "cbz", "cbnz"),
}
_IT: Final = re.compile(r"it[te]{0,3}")
_BY: Final = re.compile(r"#(-?\d+)")
_MOVES: Final = re.compile(r"\[sp, #(-\d+)\]!|\[sp\], #(\d+)")  # as it stores or loads
_RETURNS: Final = re.compile(r"bx lr$|(?:pop|ldm\w*) .*pc\}|ldr pc, \[sp\], #")
_MEMORY: Final = ("ldr", "str", "ldm", "stm", "push", "pop")


def thumb_flows(lines: Iterable[DisassemblyLine]) -> Iterator[Flow]:
    """The control flow of each line; UnboundedError where it is unknown."""
    in_block = 0
    for line in lines:
        mnemonic = line.mnemonic.split(".")[0]
        if _IT.fullmatch(mnemonic):
            in_block = len(mnemonic) - 1
            yield PLAIN
            continue
        flow = _flow(line, mnemonic[:-2] if in_block else mnemonic)
        if in_block:
            in_block -= 1
            flow = _make_conditional(line, flow)
        yield flow


def _make_conditional(line: DisassemblyLine, flow: Flow) -> Flow:
    if flow.pushed != 0 and not flow.returns:
        raise line.make_error("moves the stack on a condition")
    return replace(flow, falls_through=True, pushed=0)


def _flow(line: DisassemblyLine, mnemonic: str) -> Flow:
    if mnemonic == "bl":
        return Flow(call=line.target(), stays=True)
    if mnemonic == "b":
        return Flow(jump=line.target(), falls_through=False)
    if mnemonic in _BRANCHES:
        return Flow(jump=line.target(), stays=True)
    if mnemonic in {"udf", "bkpt"}:
        return TRAP
    is_return = _RETURNS.match(f"{mnemonic} {line.operands}") is not None
    to_register = mnemonic in {"bx", "blx", "tbb", "tbh"} or re.match(r"pc\b", line.operands)
    if to_register and not is_return:
        raise line.make_error("jumps or calls by a register")
    if mnemonic.startswith(("vpush", "vpop", "vldm", "vstm")):
        raise line.make_error("moves registers of floats, whose bytes are not counted")
    flow = RETURN if is_return else Flow(stays=mnemonic.startswith(_MEMORY))
    return replace(flow, pushed=_stack_growth(line, mnemonic))


def _stack_growth(line: DisassemblyLine, mnemonic: str) -> int:
    """Bytes by which the instruction lets the stack grow."""
    operands = line.operands
    registers = _count_registers(operands)
    if mnemonic == "push" or (mnemonic == "stmdb" and operands.startswith("sp!")):
        return 4 * registers
    if mnemonic == "pop" or (mnemonic.startswith("ldm") and operands.startswith("sp!")):
        return -4 * registers
    moved = _MOVES.search(operands)
    if moved is not None:
        return -int(moved[1] or moved[2])
    if not re.match(r"sp\b", operands) or mnemonic in {"cmp", "tst"}:
        return 0
    by = _BY.search(operands)
    if by is None or mnemonic not in {"sub", "subw", "add", "addw"}:
        raise line.make_error("moves the stack by a number that is not in the code")
    return int(by[1]) if mnemonic.startswith("sub") else -int(by[1])


def _count_registers(operands: str) -> int:
    """The number of registers in braces, which objdump lists one by one or as ranges."""
    inside = re.search(r"\{([^}]*)\}", operands)
    if inside is None:
        return 0
    parts = [part.strip() for part in inside[1].split(",")]
    ranges = (re.fullmatch(r"r(\d+)-r(\d+)", part) for part in parts)
    return sum(1 if one is None else int(one[2]) - int(one[1]) + 1 for one in ranges)
