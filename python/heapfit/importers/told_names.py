# SPDX-License-Identifier: Apache-2.0
"""Names that a log of calls itself tells: of callers, decoded by a monitor, and of tasks."""

from __future__ import annotations

import re
from pathlib import Path

from heapfit.importers.stream import ByteStream

# An address with its function, as idf.py's monitor decodes it; a caller by name, which wolfSSL and
# SystemView print; a task.
_TOLD = re.compile(
    rb"(?P<at>0x[0-9a-fA-F]{6,16}): (?P<place>\S+ at \S+:\d+)"
    rb"|\bat (?P<caller>\w+:\d+)|^/(?P<line>\S+:\d+)\s*$"
    rb"|(?:from task \"|alloc_thread=)(?P<task>[^\s\"]+)",
    re.MULTILINE,
)

_OWN_NAME = re.compile(r"\{(?:memory|task|site)\}")
_FIELD = re.compile(r"\{[a-z:]+\}")


def read_told_names(log: Path, lines: str = "") -> dict[int, str]:
    """The names in a log by the numbers that its trace has for them; none in a pipe.

    `lines`: what its lines look like, where they are of the user's own form.
    """
    if not log.is_file():
        return {}
    rules = [_TOLD, *(_describe_own(line) for line in lines.splitlines() if _OWN_NAME.search(line))]
    with ByteStream(log) as stream:
        found = dict.fromkeys(
            (one.groupdict().get("at"), one.groupdict().get("place") or one[one.lastgroup or ""])
            for chunk in stream.chunks()
            for rule in rules
            for one in rule.finditer(chunk)
        )
    return {
        _hash(text) if at is None else int(at, 16) & 0xFFFFFFFF: text.decode(errors="replace")
        for at, text in found
    }


def _describe_own(line: str) -> re.Pattern[bytes]:
    """What finds the name in a line of the user's own form: other fields are any text."""
    before = _OWN_NAME.split(line)[0]
    words = [r"[ \t]+".join(map(re.escape, one.split(" "))) for one in _FIELD.split(before)]
    return re.compile(rf'{".*?".join(words)}(?P<task>[^\s,;)\]}}|"]*[^\s,;:)\]}}|"])'.encode())


def _hash(name: bytes) -> int:
    """FNV-1a, as the engine's log_pattern.cpp has it."""
    number = 0x811C9DC5
    for byte in name:
        number = (number ^ byte) * 0x01000193 & 0xFFFFFFFF
    return number
