# SPDX-License-Identifier: Apache-2.0
"""Which lines of a log in no known form look like calls, and the description that would read them.

A line's shape is its text with numbers left out. Allocations have a shape with an address and one
more number; frees one whose addresses those allocations gave. In a log without addresses words tell
them, and frees have the sizes of those allocations.
"""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from heapfit.importers.source import OwnLines

_NUMBER = re.compile(
    r"0[xX][0-9a-fA-F]+|(?<![\w.])[0-9a-fA-F]{6,16}(?!\w)|(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w.,])"
    r"|(?<![\w.])\d+(?:(?=B\b)|(?![\w.]))"
)
_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{4,}|(?=.*[a-fA-F])[0-9a-fA-F]{6,16}|\d{8,}")
_STAMP = re.compile(r"\S*\d\S*\s+")  # a word with digits, as times have
_TOLD_SIZE = re.compile(r"(?i)(size|len|bytes)\W*$|^\W*(byte|B\b)")
_SERVED = re.compile(r"(?i)alloc|(?<![a-z])(new|get)(?![a-z])")
_RESIZED = re.compile(r"(?i)realloc|resize")
_FREED = re.compile(r"(?i)free|\bdel|release")
_FIELD = re.compile(r"\{[a-z:]+\}")  # no text that a description can hold
_NO_WORDS = re.compile(r"^(\{any\}|[ %])+")  # that a description cannot begin with
_SHOWN = 3  # lines
_MOST_LINES = 5_000
_LONGEST = 400  # characters of a line that is looked at
_WIDTH = 76


class Guess(NamedTuple):
    """Lines that look like calls, and how to read them."""

    shown: tuple[str, ...]
    own: OwnLines


class _Line(NamedTuple):
    text: str
    numbers: tuple[re.Match[str], ...]

    @property
    def address(self) -> int | None:
        """Which of the numbers is an address; None if none is."""
        places = range(len(self.numbers))
        return next((i for i in places if _ADDRESS.fullmatch(self.numbers[i][0])), None)

    def describe(self, fields: dict[int, str]) -> str:
        """The text from the word before the first field to the last, other numbers as {any}."""
        first, last = self.numbers[min(fields)], self.numbers[max(fields)]
        stamps = _STAMP.finditer(self.text[: first.start()])
        start = max((stamp.end() for stamp in stamps), default=0)
        text, at = "", start
        for i, number in enumerate(self.numbers):
            if start <= number.start() <= last.start():
                text += self.text[at : number.start()] + fields.get(i, "{any}")
                at = number.end()
        return _NO_WORDS.sub("", text)


def guess_own_lines(head: bytes) -> Guess | None:
    """What would read a log that begins so; None if no lines look like allocations."""
    lines = [
        _Line(text, tuple(_NUMBER.finditer(text)))
        for text in head.decode("utf-8", "replace").replace("\t", " ").splitlines()[:_MOST_LINES]
        if len(text) <= _LONGEST and text.isprintable() and not _FIELD.search(text)
    ]
    groups = _group(line for line in lines if line.address is not None)
    sized = (group for group in groups if len(group[0].numbers) > 1)
    served = max(
        sized, key=lambda group: (bool(_SERVED.search(group[0].text)), len(group)), default=None
    )
    if served is None:
        return _guess_by_sizes(lines)
    frees = (group for group in groups if group is not served and _are_frees(group, served))
    freed = max(frees, key=len, default=[])
    free = freed[0].describe({freed[0].address or 0: "{address}"}) if freed else ""
    if free == "{address}":  # no words, which may be an address in any other line
        freed, free = [], ""
    return Guess(_show(served, freed), OwnLines(_describe_allocation(served[0]), free))


def _group(lines: Iterable[_Line]) -> list[list[_Line]]:
    """The lines of each shape."""
    shapes: dict[str, list[_Line]] = defaultdict(list)
    for line in lines:
        shapes[_NUMBER.sub("#", line.text)].append(line)
    return [*shapes.values()]


def _show(served: list[_Line], freed: list[_Line]) -> tuple[str, ...]:
    shown = [*served[:2], *(freed[:1] or served[2:3])]
    return tuple(line.text.strip() for line in shown[:_SHOWN])


def _guess_by_sizes(lines: list[_Line]) -> Guess | None:
    """Of a log without addresses: without frees it would tell nothing, so both must be there."""
    groups = _group(
        line
        for line in lines
        if line.numbers and (_SERVED.search(line.text) or _FREED.search(line.text))
    )
    freed = [group for group in groups if _FREED.search(group[0].text)]
    served = [group for group in groups if group not in freed]
    if not (served and freed):
        return None
    most, least = max(served, key=len), max(freed, key=len)
    own = OwnLines(_describe_size(most[0]), _describe_size(least[0]))
    are_paired = {_size(line) for line in least} <= {_size(line) for line in most}
    is_apt = are_paired and "{size}" not in (own.line, own.free)
    return Guess(_show(most, least), own) if is_apt else None


def _size_place(line: _Line, among: Sequence[int]) -> int:
    """Which of some numbers of a line is the size: one beside a word that says so, or the first."""
    near = (
        i
        for i in among
        if _TOLD_SIZE.search(line.text[: line.numbers[i].start()])
        or _TOLD_SIZE.match(line.text[line.numbers[i].end() :])
    )
    return next(near, among[0])


def _size(line: _Line) -> str:
    return line.numbers[_size_place(line, range(len(line.numbers)))][0]


def _describe_size(line: _Line) -> str:
    return line.describe({_size_place(line, range(len(line.numbers))): "{size}"})


def _addresses(group: list[_Line]) -> set[str]:
    return {line.numbers[line.address][0] for line in group if line.address is not None}


def _are_frees(group: list[_Line], served: list[_Line]) -> bool:
    own = _addresses(group)
    is_resize = _RESIZED.search(group[0].text)
    return not is_resize and 2 * len(own & _addresses(served)) >= len(own)


def _describe_allocation(line: _Line) -> str:
    address = line.address or 0
    others = [i for i in range(len(line.numbers)) if i != address]
    beside = [i for i in reversed(others) if abs(i - address) == 1]
    size = _size_place(line, [*beside, *others])
    return line.describe({address: "{address}", size: "{size}"})


def suggest_own_lines(path: Path, head: bytes) -> tuple[str, ...]:
    """What to show below an error that says that a file's form is unknown; () if nothing helps."""
    guess = guess_own_lines(head)
    if guess is None:
        return ()
    lines = [f"  {line[:_WIDTH]}" for line in guess.shown]
    free = ["--free", guess.own.free] if guess.own.free else []
    command = shlex.join(["heapfit", "import", str(path), "--line", guess.own.line, *free])
    return ("These lines look like calls:", *lines, "This would read them:", f"  {command}")
