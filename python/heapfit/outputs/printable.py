# SPDX-License-Identifier: Apache-2.0
"""Names as text that can be printed: they come from files and may be hostile."""

from __future__ import annotations

import re
import unicodedata

# Controls, format characters (bidirectional overrides among them), surrogates, line separators.
_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_RAW_BYTE = re.compile("[\udc80-\udcff]")  # of a name that is not UTF-8, as Python keeps it


def printable(text: str) -> str:
    r"""The text with what could steer a terminal, end a line or is no character written out.

    >>> print(printable("a\x1b[2Jb\u202ec"), printable("caf\udce9"))
    a\x1b[2Jb\u202ec caf\xe9
    """
    if text.isascii() and text.isprintable():
        return text
    text = _RAW_BYTE.sub(lambda found: f"\\x{ord(found[0]) - 0xDC00:x}", text)
    return "".join(
        character.encode("unicode_escape").decode("ascii")
        if unicodedata.category(character) in _UNPRINTABLE
        else character
        for character in text
    )
