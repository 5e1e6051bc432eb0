# SPDX-License-Identifier: Apache-2.0
"""The faults of a plug-in, by name."""

from __future__ import annotations

from dataclasses import dataclass

ENDLESS_LOOP = "endless loop"
CRASH = "crash"

# In the order of host/answer.h, without its first. What a fault means, with its two figures.
_FAULTS = {
    "overlap": "a block of {other:,} B at offset {detail:,} lies on a live block",
    "misaligned": "a block is not aligned to {detail}, as passed to init",
    "alignment ignored": "a block is not aligned to {detail:,} as requested",
    "outside the region": "a block or a write lies outside the region",
    "too small": "a block of {other:,} B at offset {detail:,} has less room: another begins inside",
    "header in payload": "bytes of live block {other:,}, of {detail:,} B, changed",
    "resize loses content": "block {other:,}, resized to {detail:,} B, lost its content",
    "NULL changes a block": "a failed resize changed block {other:,}, of {detail:,} B",
    "freed memory never reused": "is out of memory for a size it served before, with nothing live",
    "other memory": "it takes {detail:,} B from malloc or the system, not from its region",
    "impossible served": "it serves {detail:,} B, more than its region has",
    "system call": "it called the system, as print and sleep do",
    ENDLESS_LOOP: "one call used more than a second of CPU time",
    "abort": "it ended itself, as a failed assertion or a panic does",
    CRASH: "it crashed",
}
FAULT_NAMES = tuple(_FAULTS)

# In the order of host/attacks.c.
ATTACKS = (
    "sizes that overflow",
    "aligned sizes that overflow",
    "sizes around the region's",
    "huge alignments",
    "huge resizes",
    "freed blocks are reused",
)

# Behind them: what a caller does wrong. No allocator has to be safe of it.
MISUSES = (
    "double free",
    "double free, one between",
    "double free after joining",
    "free inside a block",
    "overrun by 16 B",
    "write after free",
)

# Behind these: requests near half the address space, told apart from faults, since where they do
# harm in a region that lies high they need not on a microcontroller.
EXTREMES = ("alignments up to half the address space", "resizes up to half the address space")
PROBES = (*ATTACKS, *MISUSES, *EXTREMES)
NO_HARM = "no harm seen"
NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault; nothing was asked of the plug-in after it."""

    name: str  # of FAULT_NAMES
    where: str  # which event of the recording or which attack
    region: int  # bytes that it was given
    what: str  # one line

    def __str__(self) -> str:
        return f"{self.name}: {self.where}, region of {self.region:,} B: {self.what}"


def fault_of(kind: int, detail: int, other: int, where: str, region: int) -> Fault:
    """The fault that a number of host/answer.h stands for."""
    name = FAULT_NAMES[kind - 1] if kind <= len(FAULT_NAMES) else CRASH  # it wrote there itself
    return Fault(name, where, region, _FAULTS[name].format(detail=detail, other=other))
