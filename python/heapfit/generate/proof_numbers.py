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
from typing import TypeAlias

from heapfit.errors import HeapfitError
from heapfit.plan.quantities import round_up

_TABLE = re.compile(r"static const (\w+) (\w+)(?:\[\])? = \{\n(.*?)\n\};", re.DOTALL)
_POOL = re.compile(r"\{(\.size = .*?)\}", re.DOTALL)
_NUMBER = re.compile(r"\.(\w+) = (\d+)u")
_REGION = re.compile(r"#define \w+_HEAP_BYTES (\d+)u")
_FIXED_POOL_BITS = 8  # offset of fixed_pool's used bits: USED_BITS of src/pools/fixed_pool.c
_WORDS = 2**32  # values of a word


# A pool by the names that its row has in C, and "list", the offset of its free list:
# used_bit is the place of its first block's used bit, in bits; block_size are the bytes from one
# block to the next, size those of the largest request; by inverse and turn an offset leads to its
# block's number (hfit/pools.h).
Pool: TypeAlias = dict[str, int]

# A C function whose contract states what the proof requires of a pool.
_POOL_GOAL = """\
/*@ requires \\valid_read(run) && run->base == {base} && run->bits == 0 &&
        run->count == {count} && run->first == {used_bit};
    assigns \\nothing;
    ensures laid_out({list}, run, {block_size}); */
static void pool_{number}(const block_run *run) {{
    (void)run;
}}
"""
# A C function whose contract states, in numbers, what a table must keep.
_TABLE_GOAL = """\
/*@ assigns \\nothing;
{ensures} */
static void table_{number}(void) {{
    (void)0;
}}
"""
# Each pool lies between the control words and what is behind the pools.
_OF_EACH = (
    "inside_{at}: {base} + {count} * {block_size} <= {end} && {end} <= {region}",
    "behind_{at}: {control} <= 4 * ({used_bit} / 32)",
    "aligned_{at}: {base} % {alignment} == 0 && {block_size} % {alignment} == 0",
    "holds_{at}: 1 <= {size} && {size} <= {block_size}",
    "numbered_{at}: ({block_size} / {unit}) * {unit} == {block_size} && "
    "(({block_size} / {unit}) * {inverse}) % {words} == 1",
)
# No two pools share a block's byte, a used bit or a list; no bit lies in a block.
_OF_TWO = (
    "apart_{before}_{at}: ({list} + 4 <= {other[list]} || {other[list]} + 4 <= {list}) && "
    "({used_bit} + {count} <= {other[used_bit]} || "
    "{other[used_bit]} + {other[count]} <= {used_bit}) && "
    "({base} + {count} * {block_size} <= {other[base]} || "
    "{other[base]} + {other[count]} * {other[block_size]} <= {base})",
    "bits_{before}_{at}: 4 * (({used_bit} + {count} - 1) / 32) + 4 <= {other[base]} && "
    "4 * (({other[used_bit]} + {other[count]} - 1) / 32) + 4 <= {base}",
    "ascend_{before}_{at}: {other[size]} < {size}",
)


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The pools of one plan struct, and the part of the region that is theirs."""

    pools: tuple[Pool, ...]  # those with blocks
    alignment: int
    end: int  # offset of what lies behind the pools
    region: int  # bytes
    control: int  # bytes before the used bits
    leads: tuple[str, ...]  # what must be true that a size leads to its pool

    def clauses(self) -> Iterator[str]:
        """What a table must keep, in numbers."""
        its = {name: getattr(self, name) for name in ("alignment", "end", "region", "control")}
        for at, pool in enumerate(self.pools):
            named = {**its, **pool, "at": at, "unit": 2 ** pool["turn"], "words": _WORDS}
            yield from (clause.format(**named) for clause in _OF_EACH)
        for at, pool in enumerate(self.pools):
            for before, other in enumerate(self.pools[:at]):
                two = {**pool, "at": at, "before": before, "other": other}
                yield from (clause.format(**two) for clause in _OF_TWO)
        yield from self.leads


def goals_of(folder: Path) -> tuple[list[str], str]:
    """The names of the functions that state a folder's goals, and their text."""
    tables = tables_of(folder)
    pools = [pool for table in tables for pool in table.pools]
    texts = {f"pool_{at}": _POOL_GOAL.format(**pool, number=at) for at, pool in enumerate(pools)}
    for at, table in enumerate(tables):
        ensures = "\n".join(f"    ensures {clause};" for clause in table.clauses())
        texts[f"table_{at}"] = _TABLE_GOAL.format(number=at, ensures=ensures)
    return list(texts), "\n".join(texts.values())


def tables_of(folder: Path) -> list[TableLayout]:
    """The tables of a generated folder whose pools' free blocks are linked, the outermost first.

    HeapfitError if it has none.
    """
    text = "".join(path.read_text() for path in sorted(folder.glob("*_plan.h")))
    region = _REGION.search("".join(path.read_text() for path in sorted(folder.glob("*_heap.h"))))
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
        end = pool["base"] + pool["count"] * pool["block_size"]
        return TableLayout((pool,), plan["alignment"], end, region, _FIXED_POOL_BITS, ())
    if kind != "hfit_pools_plan" or plan.get("search") == 0 or "end" not in plan:
        return None
    rows = [_numbers(row) for row in _POOL.findall(tables[f"{name}_pools"][1])]
    pools = tuple({**row, "list": 4 * at} for at, row in enumerate(rows) if row["count"] > 0)
    if not pools:
        return None
    entries = [int(entry) for entry in re.findall(r"\d+", tables.get(f"{name}_index", ("", ""))[1])]
    leads = [f"all_pools: {len(rows)} == {plan['count']}"]
    leads += _index_goals(plan, rows, entries)
    control = 4 * len(rows) + 4
    return TableLayout(pools, plan["alignment"], plan["end"], region, control, tuple(leads))


def _lay_out_fixed_pool(plan: dict[str, int]) -> Pool:
    """The layout by stride_of and base_for of src/pools/fixed_pool.c."""
    alignment, count, request = plan["alignment"], plan["blocks"], plan["block_size"]
    base = round_up(_FIXED_POOL_BITS + 4 * -(-count // 32), alignment)
    stride = round_up(request + plan["overhead"], alignment)
    odd, turn = stride, 0
    while odd % 2 == 0:
        odd, turn = odd // 2, turn + 1
    return {
        "list": 0,
        "base": base,
        "count": count,
        "used_bit": 8 * _FIXED_POOL_BITS,
        "block_size": stride,
        "size": request,
        "inverse": pow(odd, -1, _WORDS),
        "turn": turn,
    }


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


def _numbers(body: str) -> dict[str, int]:
    return {name: int(value) for name, value in _NUMBER.findall(body)}
