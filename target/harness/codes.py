# SPDX-License-Identifier: Apache-2.0
"""The plan by which a code (heapfit.comparison.costs.code_label) is weighed, made from its label.

A label says what chooses code; amounts are the standard ones, pools are always these. So whoever
links the code of a label again gets the bytes in python/heapfit/comparison/costs/codes.csv, which
is written here.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from harness.workbench import Build
from heapfit import _engine
from heapfit.comparison.costs.code_table import (
    CODES,
    FURTHER,
    INSTRUCTION_COLUMNS,
    INSTRUCTIONS,
)
from heapfit.comparison.costs.instruction_model import MeasuredCode
from heapfit.plan.allocators import find_allocators, takes
from heapfit.plan.plan import Plan, Pool

SHIPPED_BUILD: Final = Build("Os", 1, checks_words=False)  # as a generated README has it
COUNTED_BUILD: Final = Build("Os", 1)  # loads and stores as the host counts them

_LABEL: Final = re.compile(r"(?P<name>\w+)(:(?P<choices>[^ ]+))?(?P<far> \(pools searched\))?")
_ABOVE_ZERO: Final = 1000  # for "tunable>0", or the most that the tunable can be
_NEAR: Final = tuple(Pool(size, 8, True) for size in (16, 24, 40, 104, 200, 512))
_FAR: Final = Pool(1 << 20, 1, False)  # no table reaches as far
_CODE_COLUMNS: Final = (
    *("code", "bytes", "stack", *FURTHER),
    *("mean_off", "mean_off_worst", "longest_off", "longest_off_worst"),
)
_HEAD: Final = """\
# SPDX-License-Identifier: Apache-2.0
# Made by scripts/measure_calls.py: emulated Cortex-M4, arm-none-eabi-gcc 12.2.1, -Os.
"""


def plan_of_code(label: str) -> Plan:
    """A plan with this label.

    >>> plan_of_code("tlsf:second_level>0,probes=0")
    Plan(allocator='tlsf', scalars={'second_level': 5, 'probes': 0}, pools=(), shared=None)
    """
    first, _, rest = label.partition(" > ")
    parts = _LABEL.fullmatch(first)
    assert parts is not None, label
    choices = (parts["choices"] or "").split(",")
    (info,) = find_allocators([parts["name"]])
    scalars = dict(_parse_choice(choice, info) for choice in choices if choice)
    pools = (*_NEAR, _FAR) if parts["far"] else _NEAR if takes(info, "pools") else ()
    shared = plan_of_code(rest) if rest else None
    return Plan(
        info.name, scalars, pools, shared, {n + 1: n + 1 for n in range(scalars.get("tags", 0))}
    )


def _parse_choice(choice: str, info: _engine.AllocatorInfo) -> tuple[str, int]:
    name, sign, value = re.split(r"(>0$|=)", choice)
    highest = next(tunable.highest for tunable in info.tunables if tunable.name == name)
    return name, min(highest, _ABOVE_ZERO) if sign == ">0" else int(value)


def save_codes(folder: Path, codes: Mapping[str, MeasuredCode]) -> None:
    """Writes codes.csv and instructions.csv."""
    ordered = sorted(codes.items())
    sizes = (
        [
            *(
                label,
                code.size or "",
                code.stack or "",
                *(code.adds.get(name, "") for name in FURTHER),
            ),
            *(*_numbers(code.mean_off), *_numbers(code.longest_off)),
        ]
        for label, code in ordered
    )
    lines = (
        [label, operation, *map(_number, (line.base, line.per_load, line.per_store))]
        for label, code in ordered
        for operation, line in sorted(code.lines.items())
    )
    _save(folder / CODES, _CODE_COLUMNS, sizes)
    _save(folder / INSTRUCTIONS, INSTRUCTION_COLUMNS, lines)


def _numbers(off: tuple[float, float] | None) -> tuple[str, str]:
    return ("", "") if off is None else (_number(off[0]), _number(off[1]))


def _number(value: float) -> str:
    return f"{value:.9g}"  # more than the figures that are shown can tell apart


def _save(path: Path, columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(_HEAD)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
