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
_STORES_DOWN: Final = re.compile(r"\[sp, #(-\d+)\]!")
_LOADS_UP: Final = re.compile(r"\[sp\], #(\d+)")
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
    if mnemonic in _BRANCHES | {"b", "bl"}:
        return _flow_to_address(line, mnemonic)
    if mnemonic in {"udf", "bkpt"}:
        return TRAP
    if mnemonic in {"bx", "blx", "tbb", "tbh"} or re.match(r"pc\b", line.operands):
        return _flow_to_register(line, mnemonic)
    if mnemonic.startswith(("vpush", "vpop", "vldm", "vstm")):
        raise line.make_error("moves registers of floats, whose bytes are not counted")
    pushed = _stack_growth(line, mnemonic)
    if _pops_address(line, mnemonic):
        return replace(RETURN, pushed=pushed)
    return Flow(pushed=pushed, stays=mnemonic.startswith(_MEMORY))


def _flow_to_address(line: DisassemblyLine, mnemonic: str) -> Flow:
    if mnemonic == "bl":
        return Flow(call=line.target(), stays=True)
    is_conditional = mnemonic != "b"
    return Flow(jump=line.target(), falls_through=is_conditional, stays=is_conditional)


def _flow_to_register(line: DisassemblyLine, mnemonic: str) -> Flow:
    if mnemonic == "bx" and line.operands == "lr":
        return RETURN
    if mnemonic == "ldr" and _LOADS_UP.search(line.operands):
        return replace(RETURN, pushed=_stack_growth(line, mnemonic))
    raise line.make_error("jumps or calls by a register")


def _pops_address(line: DisassemblyLine, mnemonic: str) -> bool:
    return (mnemonic == "pop" or mnemonic.startswith("ldm")) and "pc}" in line.operands


def _stack_growth(line: DisassemblyLine, mnemonic: str) -> int:
    """Bytes by which the instruction lets the stack grow."""
    operands = line.operands
    registers = _count_registers(operands)
    if mnemonic == "push" or (mnemonic == "stmdb" and operands.startswith("sp!")):
        return 4 * registers
    if mnemonic == "pop" or (mnemonic.startswith("ldm") and operands.startswith("sp!")):
        return -4 * registers
    down, up = _STORES_DOWN.search(operands), _LOADS_UP.search(operands)
    if down is not None or up is not None:
        return -int(down[1]) if down is not None else -int(up[1]) if up is not None else 0
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
