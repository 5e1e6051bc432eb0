# SPDX-License-Identifier: Apache-2.0
"""A short name for a source, fit for a folder, from its file name."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from pathlib import Path

_ENDINGS = re.compile(
    r"(\.(heap|pkt|rep|csv|txt|bin|trace|parquet|pcap|pcapng|cap|wire|gz|bz2|xz|zst))+$",
    re.IGNORECASE,
)
_LONGEST = 64


def source_name(source: Path) -> str:
    """The file's name without its endings; what is not a letter, digit, "." or "-" becomes "_".

    >>> source_name(Path("captures/lwip echo.nsec.pcap"))
    'lwip_echo.nsec'
    >>> source_name(Path("v2.4-site02.bin")), source_name(Path("boot.csv.xz"))
    ('v2.4-site02', 'boot')
    """
    name = re.sub(r"[^A-Za-z0-9.-]", "_", _ENDINGS.sub("", source.name)).strip("._-")
    return name[:_LONGEST] or "trace"


def program_word(program: str) -> str:
    """The word that a program's name begins with: of its builds and runs others may differ.

    >>> program_word("/usr/bin/lwip-echo"), program_word("gateway-2"), program_word("sqlite3")
    ('lwip', 'gateway', 'sqlite')
    """
    return re.split(r"[^a-z]", Path(program).name.lower())[0]


def distinct_source_names(sources: Sequence[Path]) -> list[str]:
    """A distinct name for each source; the second of equal names ends in "-2", and so on.

    >>> distinct_source_names([Path("a/echo.pcap"), Path("b/echo.pcap")])
    ['echo', 'echo-2']
    """
    return make_distinct([source_name(source) for source in sources])


def make_distinct(names: Sequence[str]) -> list[str]:
    """The names made distinct: each but the first of equal ones ends in a number."""
    different: dict[str, itertools.count[int]] = {}  # in their order, with what counts its repeats
    for name in names:
        candidate = name
        while candidate in different:
            candidate = f"{name}-{next(different[name])}"
        different[candidate] = itertools.count(2)
    return [*different]
