# SPDX-License-Identifier: Apache-2.0
"""Functions by address from text that a toolchain printed: a list of nm, or a linker's map.

For whoever has no ELF file at hand. A site has the function whose bytes hold the call, or none. A
map of GNU ld has no static functions but in sections of their own: behind a symbol is said so.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.programs.executable import ELF, explain_elf_errors

_LARGEST = 64 << 10  # bytes of a function whose size is not printed
_FORMS = tuple(
    re.compile(form, re.MULTILINE)
    for form in (
        # nm, with -S or without: 08008520 00000094 T cfg_load
        rb"^(?P<at>[0-9a-fA-F]{8,16}) (?:(?P<size>[0-9a-fA-F]{8,16}) )?[tTwW] (?P<name>[^\t\r\n]+)",
        # GNU ld's map: a section of a function, which may take two lines; else a symbol in one.
        # Static functions behind a symbol have none of their own.
        rb"^ \.text\.(?:(?:startup|unlikely|hot|exit)\.)?(?!(?:startup|unlikely|hot|exit)\s)"
        rb"(?P<name>\S+)\s{1,40}0x(?P<at>[0-9a-f]+) +0x(?P<size>[0-9a-f]+) ",
        rb"^ {16}0x(?P<at>[0-9a-f]{8,16}) {16}(?P<before>[A-Za-z_][^=\r\n]*)\r?$",
        # Arm's armlink: main    0x08000131   Thumb Code    40  main.o(i.main)
        rb"^ {0,8}(?P<name>\S(?:[^\r\n]{0,400}?\S)?) {1,80}0x(?P<at>[0-9a-fA-F]{8}) +"
        rb"(?:Thumb|ARM) Code +(?P<bytes>\d{1,10}) ",
        # IAR's ilink: main    0x800'0131   0x28  Code  Gb  main.o [1]
        rb"^(?P<name>\S+)\s{1,80}0x(?P<at>[0-9a-fA-F][0-9a-fA-F']*) +0x(?P<size>[0-9a-fA-F']+) +"
        rb"Code ",
    )
)


def find_functions(path: Path, sites: Collection[int]) -> dict[int, str] | None:
    """The function of each site in such a text; None if the file is ELF.

    HeapfitError if it names no function.
    """
    with explain_elf_errors(path), path.open("rb") as file:
        if (text := file.read(len(ELF))) == ELF:
            return None
        text += file.read()
    found = sorted(_read_symbol(one) for form in _FORMS for one in form.finditer(text))
    known = {at: (size, name) for at, size, name in found if at}  # the sized one of an address
    if not known:
        raise HeapfitError(
            f"{path}: is empty, damaged or no ELF file, and names no function as nm or a map of "
            "GNU ld, armlink or IAR does"
        )
    starts = [*known]
    rows = [
        (at, at + (size or min(following - at, _LARGEST)), name)
        for (at, (size, name)), following in zip(known.items(), [*starts[1:], 1 << 32], strict=True)
    ]
    calls = ((site, (site | 1) - 2) for site in sites)  # before where it returns, Thumb's bit off
    return {
        site: name
        for site, call in calls
        for at, end, name in [rows[bisect_right(starts, call) - 1]]
        if at <= call < end
    }


def _read_symbol(found: re.Match[bytes]) -> tuple[int, int, str]:
    """The address, its lower half, the bytes, 0 if unknown, and the name."""
    texts = {name: text.replace(b"'", b"") for name, text in found.groupdict(b"").items()}
    size = int(texts.get("size") or "0", 16) or int(texts.get("bytes") or "0")
    return (
        int(texts["at"], 16) % 2**32,
        size,
        (texts.get("name") or b"in or after " + texts["before"]).decode(errors="replace"),
    )
