# SPDX-License-Identifier: Apache-2.0
"""Proof goals from a generated folder's tables: its pools meet the premises of the proof.

The contracts in proofs/ hold for all pools that are laid out as the predicate `laid_out` says. For
each pool of a plan its numbers are read from the folder's own C, and that predicate is a goal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from heapfit.errors import HeapfitError

_TABLE = re.compile(r"static const (\w+) (\w+)(?:\[\])? = \{\n(.*?)\n\};", re.DOTALL)
_POOL = re.compile(r"\{(\.size = .*?)\}", re.DOTALL)
_NUMBER = re.compile(r"\.(\w+) = (\d+)u")
_FIXED_POOL_BITS = 8  # offset of fixed_pool's used bits: USED_BITS of src/pools/fixed_pool.c


@dataclass(frozen=True, slots=True)
class PoolLayout:
    """The offsets of one pool's blocks, of their used bits and of its free list."""

    list: int  # offset of its free list
    base: int  # offset of its first block
    count: int
    first: int  # place of its first block's used bit, in bits
    size: int  # bytes from one block to the next

    def goal(self, number: int) -> str:
        """A C function whose contract states what the proof requires of a pool."""
        return (
            f"/*@ requires \\valid_read(run) && run->base == {self.base} && run->bits == 0 &&\n"
            f"        run->count == {self.count} && run->first == {self.first};\n"
            f"    assigns \\nothing;\n"
            f"    ensures laid_out({self.list}, run, {self.size}); */\n"
            f"static void pool_{number}(const block_run *run) {{\n    (void)run;\n}}\n"
        )


def pools_of(folder: Path) -> list[PoolLayout]:
    """The pools of a generated folder whose free blocks are linked; HeapfitError if it has none."""
    tables = [
        (kind, name, body)
        for path in sorted(folder.glob("*_plan.h"))
        for kind, name, body in _TABLE.findall(path.read_text())
    ]
    by_bits = [body for _, _, body in tables if _numbers(body).get("search") == 0]
    found = [pool for table in tables for pool in _lay_out_table(*table, by_bits)]
    if not found:
        reason = "free blocks are found by their bits (search = 0)" if by_bits else "it has none"
        raise HeapfitError(f"{folder}: proofs exist for linked pools only: {reason}")
    return found


def _lay_out_table(kind: str, name: str, body: str, by_bits: list[str]) -> Iterator[PoolLayout]:
    """The pools of one table, none if it is no list of pools."""
    if kind == "hfit_fixed_pool_plan":
        yield from _lay_out_fixed_pool(_numbers(body))
    if kind != "hfit_pool" or any(f".items = {name}," in plan for plan in by_bits):
        return
    for index, pool in enumerate(map(_numbers, _POOL.findall(body))):
        if pool["count"] > 0:
            at = (pool["base"], pool["count"], pool["used_bit"])
            yield PoolLayout(4 * index, *at, pool["block_size"])


def _lay_out_fixed_pool(plan: dict[str, int]) -> Iterator[PoolLayout]:
    """The layout by stride_of and base_for of src/pools/fixed_pool.c; none for a count of 0."""
    if plan["blocks"] > 0:
        alignment, count = plan["alignment"], plan["blocks"]
        base = _FIXED_POOL_BITS + 4 * -(-count // 32)
        stride = _round_up(plan["block_size"] + plan["overhead"], alignment)
        yield PoolLayout(0, _round_up(base, alignment), count, 8 * _FIXED_POOL_BITS, stride)


def _round_up(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def _numbers(body: str) -> dict[str, int]:
    return {name: int(value) for name, value in _NUMBER.findall(body)}
