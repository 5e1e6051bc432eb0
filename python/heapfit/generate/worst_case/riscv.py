# SPDX-License-Identifier: Apache-2.0
"""RV32 instructions, as objdump prints them, with its aliases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from heapfit.generate.worst_case.instruction import RETURN, TRAP, DisassemblyLine, Flow

_BRANCHES: Final = {
    *("beq", "bne", "blt", "bge", "bltu", "bgeu", "bgt", "ble", "bgtu", "bleu"),
    *("beqz", "bnez", "blez", "bgez", "bltz", "bgtz"),
}
_MEMORY: Final = re.compile(r"[ls](b|h|w|bu|hu)|lr\.w|sc\.w|amo\w+\.w.*")
_STACK: Final = re.compile(r"sp,sp,(-?\d+)")


def riscv_flows(lines: Iterable[DisassemblyLine]) -> Iterator[Flow]:
    """The control flow of each line; UnboundedError where it is unknown."""
    return (_flow(line) for line in lines)


def _flow(line: DisassemblyLine) -> Flow:
    mnemonic, operands = line.mnemonic, line.operands
    if mnemonic in _BRANCHES:
        return Flow(jump=line.target(), stays=True)
    if mnemonic == "j":
        return Flow(jump=line.target(), falls_through=False)
    if mnemonic == "jal" and not operands.startswith("t0"):
        return Flow(call=line.target(), stays=True)
    if mnemonic == "ret":
        return RETURN
    if mnemonic in {"ebreak", "unimp"}:
        return TRAP
    if mnemonic in {"jr", "jalr", "jal", "mret", "ecall"}:
        raise line.make_error("jumps or calls by a register")
    return Flow(pushed=_stack_growth(line), stays=_MEMORY.fullmatch(mnemonic) is not None)


def _stack_growth(line: DisassemblyLine) -> int:
    """Bytes by which the instruction lets the stack grow."""
    if not line.operands.startswith("sp,") or line.mnemonic in {"sw", "sh", "sb"}:
        return 0
    by = _STACK.fullmatch(line.operands)
    if line.mnemonic not in {"addi", "add"} or by is None:
        raise line.make_error("moves the stack by a number that is not in the code")
    return -int(by[1])
