# SPDX-License-Identifier: Apache-2.0
"""The effect of one instruction on the control flow and on the stack."""

from __future__ import annotations

from dataclasses import dataclass

from heapfit.errors import HeapfitError


class UnboundedError(HeapfitError):
    """Code of which no worst case is known; the message says where it is and why."""

    def __init__(self, place: int | str, why: str) -> None:
        super().__init__(f"{hex(place) if isinstance(place, int) else place}: {why}")


@dataclass(frozen=True, slots=True)
class DisassemblyLine:
    """One line of a disassembly."""

    address: int
    mnemonic: str
    operands: str

    def target(self) -> int:
        """The address that the last operand names."""
        try:
            return int(self.operands.split(",")[-1].split()[0], 16)
        except (IndexError, ValueError):
            raise self.make_error("leads to a place that is not in the code") from None

    def make_error(self, why: str) -> UnboundedError:
        """The error for this line, with the reason."""
        return UnboundedError(self.address, f"{self.mnemonic} {self.operands}".strip() + f" {why}")


@dataclass(frozen=True, slots=True)
class Flow:
    """The successors of an instruction; a call returns behind itself, so it `falls_through`."""

    jump: int | None = None  # address, in this function or, as its last call, another's first
    call: int | None = None  # address
    falls_through: bool = True
    returns: bool = False
    pushed: int = 0  # bytes; below 0: popped
    stays: bool = False  # a branch, call or access: done only where the source asks for it


PLAIN = Flow()
RETURN = Flow(returns=True, falls_through=False)
TRAP = Flow(falls_through=False)
