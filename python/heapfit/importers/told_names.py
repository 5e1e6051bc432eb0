# SPDX-License-Identifier: Apache-2.0
"""Names that a log of calls itself tells: of callers, decoded by a monitor, and of tasks."""

from __future__ import annotations

import re
from pathlib import Path

from heapfit import _engine
from heapfit.importers.stream import read_chunks

# An address with its function, as idf.py's monitor decodes it; a caller by name, which wolfSSL,
# SystemView and glibc print, or that stands behind a request; a task.
_TOLD = re.compile(
    rb"(?P<at>0x[0-9a-fA-F]{6,16}): (?P<place>\S+ at \S+:\d+)"
    rb"|\bat (?P<caller>\w+:\d+)|^/(?P<line>\S+:\d+)\s*$"
    rb"|\((?P<function>[^\s+]{1,400}+)\+0x\w+\)\[0x"
    rb"|\) (?:= |returned )0x\w+[ \t,;(\[]+(?:caller(?: |=|: )|called from |from |by |@ )"
    rb"(?P<asker>[A-Za-z_][^\s,;)\]}|\"]{0,200}+(?<!:))(?=[ \t\r]{0,400}(?:$|[(,;\[)\]|]))"
    rb"|(?:from task \"|alloc_thread=)(?P<task>[^\s\"]+)",
    re.MULTILINE,
)

_OWN_NAME = re.compile(r"\{(?:memory|task|site)\}")
FIELD = re.compile(r"\{[a-z:\d]+\}")


def read_told_names(log: Path, lines: str = "") -> dict[int, str]:
    """The names in a log by the numbers that its trace has for them; none in a pipe.

    `lines`: what its lines look like, where they are of the user's own form.
    """
    if not log.is_file():
        return {}
    rules = [
        _TOLD,
        *(
            _describe_own(line[: name.start()], line[name.end() :])
            for line in lines.splitlines()
            for name in _OWN_NAME.finditer(line)
        ),
    ]
    found = dict.fromkeys(
        (one.groupdict().get("at"), one.groupdict().get("place") or one[one.lastgroup or ""])
        for chunk in read_chunks(log)
        for rule in rules
        for one in rule.finditer(chunk)
    )
    return {
        _engine.number_of_name(text) if at is None else int(at, 16) & 0xFFFFFFFF: text.decode(
            errors="replace"
        )
        for at, text in found
    }


def _describe_own(before: str, behind: str) -> re.Pattern[bytes]:
    """What finds the name between texts of the user's own form: other fields are any text.

    In 10 us a character at most: of text, name and blanks no more is looked at than a line has.
    """
    first, *words, end = (
        re.sub(r"(?:\\ )+", r"(?<![ \\t])[ \\t]{1,400}+", re.escape(one))
        for one in (*FIELD.split(before), FIELD.split(behind)[0])
    )
    rule = first + "".join(rf"(?>.{{0,400}}?{one})" for one in words)
    # No name has blanks: before one it ends where its characters do.
    rule += rf'(?P<task>[^\s,;)\]}}|"]{{1,200}}{"+" * end.startswith("(?<!")})(?<!:)(?={end})'
    return re.compile(rule.encode())
