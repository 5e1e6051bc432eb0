# SPDX-License-Identifier: Apache-2.0
"""RV32 instructions, as objdump prints them, with its aliases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from heapfit.generate.worst_case.instruction import RETURN, TRAP, Flow, Line

_BRANCHES: Final = {
    *("beq", "bne", "blt", "bge", "bltu", "bgeu", "bgt", "ble", "bgtu", "bleu"),
    *("beqz", "bnez", "blez", "bgez", "bltz", "bgtz"),
}
_MEMORY: Final = re.compile(r"[ls](b|h|w|bu|hu)|lr\.w|sc\.w|amo\w+\.w.*")
_STACK: Final = re.compile(r"sp,sp,(-?\d+)")


def flows(lines: Iterable[Line]) -> Iterator[Flow]:
    """What each line does; UnboundedError where that cannot be told."""
    return (_flow(line) for line in lines)


def _flow(line: Line) -> Flow:
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
        raise line.unbounded("jumps or calls by a register")
    return Flow(pushed=_pushed(line), stays=_MEMORY.fullmatch(mnemonic) is not None)


def _pushed(line: Line) -> int:
    """Bytes by which the stack grows."""
    if not line.operands.startswith("sp,") or line.mnemonic in {"sw", "sh", "sb"}:
        return 0
    by = _STACK.fullmatch(line.operands)
    if line.mnemonic not in {"addi", "add"} or by is None:
        raise line.unbounded("moves the stack by a number that is not in the code")
    return -int(by[1])
