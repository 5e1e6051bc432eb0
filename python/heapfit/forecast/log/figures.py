# SPDX-License-Identifier: Apache-2.0
"""What is free, by all that a log says of one heap.

Free bytes by name count first, then total less used. A figure whose word says little is what the
others make it: `available` that never changes beside used bytes is the heap's size (lwIP), a bare
`heap` is free where its least or largest block says so. What contradicts itself is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import inf
from operator import attrgetter

import numpy as np

from heapfit.errors import HeapfitError
from heapfit.forecast.log.states import Field, Sample
from heapfit.forecast.log.words import SIGN

_BELOW_FREE = {Field.LARGEST: "the largest block", Field.LEAST: "the least ever free"}
_FEW = {"internal": 1000, "PSRAM": 16_384}  # bytes: fewer all the time are none, but KiB
_ROUNDED = 1024  # bytes that free ones in whole KiB may be more; the part of free that is reserved
_FEW_SIZES = 0.1  # of the states
_MOST_WRONG = 0.1  # of states that may contradict themselves, as printed between two calls
_LEAST_SUM = 0.5  # of a heap's size, that its free and used bytes have together
_FAR_BELOW = 64  # times
_STEADY = 10  # states from which on a figure that never changes is doubted


class UnclearFigureError(HeapfitError):
    """A log does not tell what is free; the text asks for what would."""


def settle(found: Sequence[Sample]) -> tuple[list[Sample], int | None, tuple[str, ...]]:
    """The states with their free bytes, the heap's size where it is told, and what was supposed."""
    if not any(one.values for one in found):
        raise UnclearFigureError(
            f"line {found[0].line}: free bytes are negative, too large or no number, as in all of "
            f"{len(found):,} states (print them unsigned, in decimal)"
        )
    _drop_numbers(found)
    _settle_words(found)
    _carry_total(found)
    notes = _scale(found)
    for one in found:
        _add_free(one.values)
    free = _leave_torn([one for one in found if Field.FREE in one.values])
    if not free:
        raise UnclearFigureError(_ask(next(one for one in found if one.values)))
    _check(free)
    totals = {one.values.get(Field.TOTAL) for one in free}
    total = totals.pop() if len(totals) == 1 else None
    sums = [one.values[Field.FREE] + one.values.get(Field.ALLOCATED, total or 0) for one in free]
    is_size = total is not None and _LEAST_SUM * total <= min(sums) <= max(sums) <= 2 * total
    return free, int(total or 0) if is_size else None, notes


def _column(found: Sequence[Sample], field: Field) -> list[float]:
    return [one.values[field] for one in found if field in one.values]


def _find_usual(values: Sequence[float]) -> float:
    """The part of some values that are the most frequent one."""
    return max(Counter(values).values(), default=0) / max(1, len(values))


def _rename(found: Sequence[Sample], old: Field, new: Field) -> None:
    for one in found:
        if old in one.values and new not in one.values:
            one.values[new] = one.values.pop(old)
            one.names[new] = one.names.pop(old, "")


def _drop_numbers(found: Sequence[Sample]) -> None:
    """Leaves out a block's number, as of "free 30000, block 12": it is far below what is free."""
    bare = [one for one in found if SIGN["bare_block"].search(one.names.get(Field.LARGEST, ""))]
    free, blocks = (_column(bare, field) for field in (Field.FREE, Field.LARGEST))
    if free and _FAR_BELOW * np.median(blocks) < np.median(free):
        for one in bare:
            del one.values[Field.LARGEST]


def _settle_words(found: Sequence[Sample]) -> None:
    """Gives what is available, and what is named a heap alone, the meaning that the rest tells."""
    has = {field for one in found for field in one.values}
    if Field.AVAILABLE in has:
        pairs = [
            (one.values[Field.ALLOCATED], one.values[Field.AVAILABLE])
            for one in found
            if {Field.ALLOCATED, Field.AVAILABLE} <= one.values.keys()
        ]
        is_size = (
            bool(pairs)
            and Field.TOTAL not in has
            and _find_usual([size for _, size in pairs])
            >= max(1 - _MOST_WRONG, _find_usual([used + size for used, size in pairs]))
            and sum(used > size for used, size in pairs) <= _MOST_WRONG * len(pairs)
            and (len({used for used, _ in pairs}) > 1 or bool(has & {Field.MOST, Field.FAILURES}))
        )
        _rename(found, Field.AVAILABLE, Field.TOTAL if is_size else Field.FREE)
    tops = _column(found, Field.LARGEST)
    if tops == sorted(tops) and any(map(_is_most, found)):
        _rename(found, Field.LARGEST, Field.MOST)
    if Field.HEAP in has:
        heap = max(_column(found, Field.HEAP))
        below = [*_column(found, Field.LEAST), *_column(found, Field.LARGEST)]
        if _find_usual(_column(found, Field.HEAP)) == 1 and has & {Field.FREE, Field.ALLOCATED}:
            _rename(found, Field.HEAP, Field.TOTAL)
        elif (
            not has & {Field.FREE, Field.AVAILABLE, Field.ALLOCATED}
            and below
            and max(below) <= heap
        ):
            _rename(found, Field.HEAP, Field.FREE)


def _is_above(one: Sample, field: Field = Field.LARGEST) -> bool:
    """True if a figure is above the free bytes, and not by their rounding alone."""
    free = one.values.get(Field.FREE, inf)
    return one.values.get(field, 0) > free + (free / _ROUNDED if free % _ROUNDED else _ROUNDED)


def _is_most(one: Sample) -> bool:
    """True if the largest block is the most used: as a bare "max", or a "max alloc" above free."""
    name, used = one.names.get(Field.LARGEST, "").lower(), one.values.get(Field.ALLOCATED, inf)
    if name.rstrip(" :=").endswith("max"):
        return used <= one.values[Field.LARGEST]
    return bool(SIGN["most_allocated"].search(name)) or ("alloc" in name and _is_above(one))


def _carry_total(found: Sequence[Sample]) -> None:
    """Gives each state the heap's size that was told last, or by the share that is used."""
    shares = [
        100 * one.values[Field.ALLOCATED] / one.values[Field.SHARE]
        for one in found
        if Field.ALLOCATED in one.values and one.values.get(Field.SHARE)
    ]
    total = float(np.median(shares)) if shares and not _column(found, Field.TOTAL) else None
    for one in found:
        total = one.values.get(Field.TOTAL, total)
        if total is not None:
            one.values[Field.TOTAL] = total


def _scale(found: Sequence[Sample]) -> tuple[str, ...]:
    """Takes bytes with a fraction as KiB, and too few for a chip's memory, and says so."""
    amounts = {*Field} - {Field.FAILURES, Field.SHARE}
    values = [one.values[field] for one in found for field in amounts & one.values.keys()]
    # Beside whole free bytes a used figure with a fraction is per cent.
    is_split = any(
        value % 1 for value in _column(found, Field.FREE) or _column(found, Field.ALLOCATED)
    )
    if max(values) > _FEW.get(found[0].memory, -1) and not (is_split and max(values) < 1 << 20):
        return ()
    for one in found:
        for field in amounts & one.values.keys():
            one.values[field] *= 1024
    return (
        f"taken as KiB, since {'no byte has a fraction' if is_split else 'there are so few'}; "
        "--line '{free} B' or '{free} KB' says it",
    )


def _add_free(values: dict[Field, float]) -> None:
    """Free bytes by the total and the used ones, and the least by the most used."""
    used, total, most = map(values.get, (Field.ALLOCATED, Field.TOTAL, Field.MOST))
    if Field.FREE not in values and used is not None and total is not None and used <= total:
        values[Field.FREE] = total - used
    free = values.get(Field.FREE)
    size = free + used if free is not None and used is not None else total
    if (
        free is not None
        and Field.LEAST not in values
        and (used or 0) <= (inf if most is None else most) <= (size or 0)  # else a line is torn
    ):
        values[Field.LEAST] = (size or 0) - (most or 0)


def _leave_torn(found: Sequence[Sample]) -> list[Sample]:
    """The states but those whose size few have, and neither the one before nor the one behind."""
    sizes = [one.values.get(Field.TOTAL) for one in found]
    counts = Counter(sizes)
    return [
        one
        for one, before, size, after in zip(
            found, sizes[:1] + sizes, sizes, sizes[1:] + sizes[-1:], strict=False
        )
        if not (before == after != size and counts[size] < _FEW_SIZES * len(found))
    ]


def _ask(one: Sample) -> str:
    """The question which of two meanings the first figure has."""
    field = next(field for field in one.values)
    name = " ".join(one.names.get(field, "").split()[-4:]).strip(" :=") or field
    shown = f"line {one.line}: {name} {one.values[field]:,.0f}"
    if field is Field.ALLOCATED:
        return (
            f"{shown}: used bytes alone do not tell when memory ends (print the heap's size, too: "
            f"--line '{name} {{used}} of {{total}}')"
        )
    return (
        f"{shown}: free or used bytes? Say which: --line '{name} {{free}}', or with the heap's "
        f"size in the line --line '{name} {{used}} of {{total}}'"
    )


def _check(found: Sequence[Sample]) -> None:
    """UnclearFigureError where figures contradict each other: one of them is something else."""
    for field, what in _BELOW_FREE.items():
        above = [one for one in found if _is_above(one, field)]
        if len(above) > _MOST_WRONG * len(found):
            one = above[0]
            raise UnclearFigureError(
                f"line {one.line}: {what}, {one.values[field]:,.0f} B, is above the free bytes, "
                f"{one.values[Field.FREE]:,.0f} B: one of them is something else (say which: "
                "--line 'free {free}' takes that alone)"
            )
    for field in (Field.HEAP, Field.ALLOCATED):
        if (
            _find_usual(_column(found, Field.FREE)) == 1
            and len({*_column(found, field)}) >= _STEADY
        ):
            one = max((one for one in found if field in one.values), key=attrgetter("line"))
            raise UnclearFigureError(
                f"line {one.line}: free bytes never change, {one.values[Field.FREE]:,.0f} B, and "
                f"what is named {field} does, {one.values[field]:,.0f} B: which are free? (say it: "
                f"--line '{{free}}' behind its word)"
            )
