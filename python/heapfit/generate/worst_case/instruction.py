# SPDX-License-Identifier: Apache-2.0
"""What one instruction does to the way through a program and to the stack."""

from __future__ import annotations

from dataclasses import dataclass

from heapfit.errors import HeapfitError


class UnboundedError(HeapfitError):
    """Code of which no worst case is known: where, and what stands there."""

    def __init__(self, place: int | str, why: str) -> None:
        at = f"0x{place:x}" if isinstance(place, int) else place
        super().__init__(f"{at}: {why}")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a disassembly."""

    address: int
    mnemonic: str
    operands: str

    def target(self) -> int:
        """The address that the last operand names."""
        try:
            return int(self.operands.split(",")[-1].split()[0], 16)
        except (IndexError, ValueError):
            raise self.unbounded("leads to a place that is not in the code") from None

    def unbounded(self, why: str) -> UnboundedError:
        """What to raise of this line."""
        return UnboundedError(self.address, f"{self.mnemonic} {self.operands}".strip() + f" {why}")


@dataclass(frozen=True, slots=True)
class Flow:
    """Where an instruction leads. A call comes back behind itself, and so `falls_through`."""

    jump: int | None = None  # address, in this function or, as its last call, another's first
    call: int | None = None  # address
    falls_through: bool = True
    returns: bool = False
    pushed: int = 0  # bytes; below 0: popped
    stays: bool = False  # a branch, call or access: done only where the source asks for it


PLAIN = Flow()
RETURN = Flow(returns=True, falls_through=False)
TRAP = Flow(falls_through=False)
