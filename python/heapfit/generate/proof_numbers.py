# SPDX-License-Identifier: Apache-2.0
"""Proof goals from a generated folder's tables: its pools meet the premises of the proof.

The contracts in proofs/ hold for all pools that are laid out as the predicate `laid_out` says. For
each pool of a plan its numbers are read from the folder's own C, and that predicate is a goal. What
the contracts say of one pool holds for a whole plan if its pools keep apart inside the region and
requests reach pools that hold them: these are goals in bare numbers, one function for each table.
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
_REGION = re.compile(r"#define \w+_HEAP_BYTES (\d+)u")
_FIXED_POOL_BITS = 8  # offset of fixed_pool's used bits: USED_BITS of src/pools/fixed_pool.c
_WORDS = 2**32  # values of a word


@dataclass(frozen=True, slots=True)
class PoolLayout:
    """The offsets of one pool's blocks, of their used bits and of its free list."""

    list: int  # offset of its free list
    base: int  # offset of its first block
    count: int
    first: int  # place of its first block's used bit, in bits
    size: int  # bytes from one block to the next
    request: int  # bytes of the largest request that it serves
    inverse: int = 1  # by which an offset leads to its block's number (hfit/pools.h)
    turn: int = 0

    @property
    def end(self) -> int:
        """Offset just behind the last block."""
        return self.base + self.count * self.size

    def goal(self, number: int) -> str:
        """A C function whose contract states what the proof requires of a pool."""
        return (
            f"/*@ requires \\valid_read(run) && run->base == {self.base} && run->bits == 0 &&\n"
            f"        run->count == {self.count} && run->first == {self.first};\n"
            f"    assigns \\nothing;\n"
            f"    ensures laid_out({self.list}, run, {self.size}); */\n"
            f"static void pool_{number}(const block_run *run) {{\n    (void)run;\n}}\n"
        )

    def parts(self) -> tuple[tuple[str, str], ...]:
        """Begin and end, as terms, of its list, its used bits (in bits) and its blocks."""
        return (
            (f"{self.list}", f"{self.list} + 4"),
            (f"{self.first}", f"{self.first} + {self.count}"),
            (f"{self.base}", f"{self.base} + {self.count} * {self.size}"),
        )


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The pools of one plan struct, and the part of the region that is theirs."""

    pools: tuple[PoolLayout, ...]  # those with blocks
    alignment: int
    end: int  # offset of what lies behind the pools
    region: int  # bytes
    control: int  # bytes before the used bits
    leads: tuple[str, ...]  # what must be true that a size leads to its pool

    def goals(self, number: int) -> str:
        """A C function whose contract states, in numbers, what a table must keep."""
        clauses = [*self._places(), *self._pairs(), *self.leads]
        ensures = "\n".join(f"    ensures {clause};" for clause in clauses)
        return (
            f"/*@ assigns \\nothing;\n{ensures} */\nstatic void table_{number}(void) {{\n    "
            f"(void)0;\n}}\n"
        )

    def _places(self) -> Iterator[str]:
        """Each pool lies between the control words and what is behind the pools."""
        for at, pool in enumerate(self.pools):
            yield f"inside_{at}: {pool.parts()[2][1]} <= {self.end} && {self.end} <= {self.region}"
            yield f"behind_{at}: {self.control} <= 4 * ({pool.first} / 32)"
            yield (
                f"aligned_{at}: {pool.base} % {self.alignment} == 0 && "
                f"{pool.size} % {self.alignment} == 0"
            )
            yield f"holds_{at}: 1 <= {pool.request} && {pool.request} <= {pool.size}"
            yield (
                f"numbered_{at}: ({pool.size} / {2**pool.turn}) * {2**pool.turn} == {pool.size} && "
                f"(({pool.size} / {2**pool.turn}) * {pool.inverse}) % {_WORDS} == 1"
            )

    def _pairs(self) -> Iterator[str]:
        """No two pools share a block's byte, a used bit or a list; no bit lies in a block."""
        for at, pool in enumerate(self.pools):
            for before, other in enumerate(self.pools[:at]):
                apart = (
                    f"({end} <= {other_start} || {other_end} <= {start})"
                    for (start, end), (other_start, other_end) in zip(
                        pool.parts(), other.parts(), strict=True
                    )
                )
                yield f"apart_{before}_{at}: {' && '.join(apart)}"
                yield (
                    f"bits_{before}_{at}: "
                    f"4 * (({pool.first} + {pool.count} - 1) / 32) + 4 <= {other.base} && "
                    f"4 * (({other.first} + {other.count} - 1) / 32) + 4 <= {pool.base}"
                )
                yield f"ascend_{before}_{at}: {other.request} < {pool.request}"


def goals_of(folder: Path) -> tuple[list[str], str]:
    """The names of the functions that state a folder's goals, and their text."""
    tables = tables_of(folder)
    pools = [pool for table in tables for pool in table.pools]
    texts = {f"pool_{at}": pool.goal(at) for at, pool in enumerate(pools)}
    texts |= {f"table_{at}": table.goals(at) for at, table in enumerate(tables)}
    return list(texts), "\n".join(texts.values())


def tables_of(folder: Path) -> list[TableLayout]:
    """The tables of a generated folder whose pools' free blocks are linked, the outermost first.

    HeapfitError if it has none.
    """
    text = "".join(path.read_text() for path in sorted(folder.glob("*_plan.h")))
    header = "".join(path.read_text() for path in sorted(folder.glob("*_heap.h")))
    region = _REGION.search(header)
    tables = {name: (kind, body) for kind, name, body in _TABLE.findall(text)}
    room = 0 if region is None else int(region[1])
    found, by_bits = [], False
    for name, (kind, body) in reversed(tables.items()):
        plan = _numbers(body)
        by_bits = by_bits or plan.get("search") == 0
        layout = _lay_out_table(kind, name, plan, tables, room)
        if layout is not None:
            found.append(layout)
        room -= plan.get("end", 0)
    if not found:
        reason = "free blocks are found by their bits (search = 0)" if by_bits else "it has none"
        raise HeapfitError(f"--prove: proofs exist for linked pools only: {reason}")
    return found


def _lay_out_table(
    kind: str, name: str, plan: dict[str, int], tables: dict[str, tuple[str, str]], region: int
) -> TableLayout | None:
    """The layout of a plan struct; None if it has no linked block."""
    if kind == "hfit_fixed_pool_plan" and plan["blocks"] > 0:
        pool = _lay_out_fixed_pool(plan)
        return TableLayout((pool,), plan["alignment"], pool.end, region, _FIXED_POOL_BITS, ())
    if kind != "hfit_pools_plan" or plan.get("search") == 0 or "end" not in plan:
        return None
    rows = [_numbers(row) for row in _POOL.findall(tables[f"{name}_pools"][1])]
    pools = tuple(
        PoolLayout(
            4 * at, row["base"], row["count"], row["used_bit"], row["block_size"],
            row["size"], row["inverse"], row["turn"],
        )
        for at, row in enumerate(rows)
        if row["count"] > 0
    )  # fmt: skip
    if not pools:
        return None
    entries = [int(entry) for entry in re.findall(r"\d+", tables.get(f"{name}_index", ("", ""))[1])]
    leads = [f"all_pools: {len(rows)} == {plan['count']}"]
    leads += _index_goals(plan, rows, entries)
    control = 4 * len(rows) + 4
    return TableLayout(pools, plan["alignment"], plan["end"], region, control, tuple(leads))


def _lay_out_fixed_pool(plan: dict[str, int]) -> PoolLayout:
    """The layout by stride_of and base_for of src/pools/fixed_pool.c."""
    alignment, count, request = plan["alignment"], plan["blocks"], plan["block_size"]
    base = _round_up(_FIXED_POOL_BITS + 4 * -(-count // 32), alignment)
    stride = _round_up(request + plan["overhead"], alignment)
    odd, turn = stride, 0
    while odd % 2 == 0:
        odd, turn = odd // 2, turn + 1
    return PoolLayout(
        0, base, count, 8 * _FIXED_POOL_BITS, stride, request, pow(odd, -1, _WORDS), turn
    )


def _index_goals(
    plan: dict[str, int], rows: list[dict[str, int]], entries: list[int]
) -> Iterator[str]:
    """What the index must keep: its entries lead sizes to pools that hold them."""
    if not entries:
        return
    yield f"index: {len(entries)} == {plan['entries']} && {max(entries)} < {len(rows)}"
    if plan["multiplier"] != 0:
        yield from _hash_goals(plan, rows, entries)
        return
    yield f"index_end: {len(entries)} == {rows[-1]['size']} + 1"
    for pool, row in enumerate(rows):
        largest = max((size for size, entry in enumerate(entries) if entry == pool), default=0)
        yield f"index_{pool}: {largest} <= {row['size']}"


def _hash_goals(
    plan: dict[str, int], rows: list[dict[str, int]], entries: list[int]
) -> Iterator[str]:
    """A budget's class leads to the entry that names its pool (entry_of, src/pools/budgeted.c)."""
    for pool, row in enumerate(rows):
        product = f"({row['block_size']} * {plan['multiplier']}) % {_WORDS}"
        named = [at for at, entry in enumerate(entries) if entry == pool]
        terms = (f"({product}) / {2 ** plan['shift']} == {at}" for at in named)
        yield f"index_{pool}: {' || '.join(terms) or '0 == 1'}"


def _round_up(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def _numbers(body: str) -> dict[str, int]:
    return {name: int(value) for name, value in _NUMBER.findall(body)}
