# SPDX-License-Identifier: Apache-2.0
"""Names with values as people type them: "tlsf", "first_fit:coalesce=0,alignment=4"."""

from __future__ import annotations

from collections.abc import Sequence

from heapfit.errors import HeapfitError
from heapfit.plan.quantities import parse_size


def parse_values(typed: str, settings: str, what: str) -> dict[str, int]:
    """The values in "coalesce=0,alignment=4", the part of `typed` after its colon.

    They may also be parted by colons, as in the names of rows.

    >>> parse_values("fixed_pool:block_size=2K", "block_size=2K", "TUNABLE")
    {'block_size': 2048}
    >>> parse_values("tlsf:second_level=2:probes=0", "second_level=2:probes=0", "TUNABLE")
    {'second_level': 2, 'probes': 0}
    """
    values = {}
    for setting in filter(None, settings.replace(":", ",").split(",")):
        name, _, value = setting.partition("=")
        try:
            values[name] = parse_size(value)
        except HeapfitError as error:
            raise HeapfitError(f"{typed}: {setting} is not {what}=NUMBER") from error
    return values


def split_names(typed: str) -> list[str]:
    """The names in a list; a comma also parts the values of one name.

    >>> split_names("tlsf,first_fit:coalesce=0,alignment=4,lea")
    ['tlsf', 'first_fit:coalesce=0,alignment=4', 'lea']
    """
    names: list[str] = []
    for part in filter(None, typed.split(",")):
        if "=" in part and ":" not in part and names:
            names[-1] += f",{part}"
        else:
            names.append(part)
    return names


def expand_names(typed: Sequence[str], known: Sequence[str]) -> list[str]:
    """The names in lists, in their order; "all" means every known one.

    >>> expand_names(["lea,tlsf", "tlsf:alignment=4"], ["tlsf", "lea"])
    ['lea', 'tlsf', 'tlsf:alignment=4']
    >>> expand_names(["all"], ["tlsf", "lea"])
    ['tlsf', 'lea']
    """
    named = [one for text in typed for one in split_names(text)]
    return list(known) if named == ["all"] else named
