# SPDX-License-Identifier: Apache-2.0
"""A short name for a source, fit for a folder, from its file name."""

from __future__ import annotations

import re
from pathlib import Path

_ENDINGS = re.compile(
    r"(\.(heap|pkt|rep|csv|txt|trace|parquet|pcap|pcapng|cap|wire|gz))+$", re.IGNORECASE
)
_LONGEST = 64


def source_name(source: Path) -> str:
    """The file's name without its endings; what is not a letter, digit, "." or "-" becomes "_".

    >>> source_name(Path("captures/lwip echo.nsec.pcap"))
    'lwip_echo.nsec'
    """
    stem = _ENDINGS.sub("", source.name)
    name = re.sub(r"[^A-Za-z0-9.-]", "_", stem).strip("._-")
    return name[:_LONGEST] or "trace"


def different_names(sources: list[Path]) -> list[str]:
    """A name for each source; the second of equal names ends in "-2", and so on.

    >>> different_names([Path("a/echo.pcap"), Path("b/echo.pcap")])
    ['echo', 'echo-2']
    """
    names: list[str] = []
    for source in sources:
        name = first = source_name(source)
        count = 1
        while name in names:
            count += 1
            name = f"{first}-{count}"
        names.append(name)
    return names
