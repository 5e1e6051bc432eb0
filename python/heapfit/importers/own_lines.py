# SPDX-License-Identifier: Apache-2.0
"""Which lines of a log in no known form look like calls, and the descriptions that read them.

A line's shape is its text with numbers left out. Its verb says what it is: an allocation, a resize,
a free. Of an allocation's numbers one is the block's address, which others free, and one the size:
what source lines, pools, owners and threads have is neither. In a log without addresses words tell
calls, and frees have the sizes of those allocations. What is found is read before it is shown.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from heapfit.fact_files import read_rules
from heapfit.grouping import group
from heapfit.importers.log_lines import CALLS, split_prefix
from heapfit.importers.source import FedReader, OwnLines, read_calls
from heapfit.importers.stream import HEAD
from heapfit.importers.told_names import FIELD

_SIGN = read_rules(__file__, "own_lines.toml")
_OFFSET = 1 << 16  # below it a number beside an address is no address
_TASK = re.compile(
    rf"(?<!\S)\[(?!(?i:info|debug|warn|err|trace|verbose|notice)|{CALLS}\])([A-Za-z_]\w*)\](?= )"
)
# What a line is, by the first of these verbs that it has.
_VERBS = (
    ("resize", re.compile(r"(?i)realloc|resize|(?-i:\bR\b(?=\W+0x))")),
    (
        "free",
        re.compile(
            r"(?i)free(?!=\d+\b|s[:=] ?\d)|\bdel|release|dealloc|\bput\b|\bgave\b|(?-i:\bF\b)"
        ),
    ),
    ("zeroed", re.compile(r"(?i)calloc")),
    (
        "alloc",
        re.compile(r"(?i)alloc|(?<![a-z])(new|get|got)(?![a-z])|memalign|\bmake"),
    ),
    ("resize", re.compile(r"(^|\s)~\s?(?=\d)")),
    ("free", re.compile(r"(^|\s)-\s?(?=\d|@|0x|$)")),
    ("alloc", re.compile(r"(^|\s)\+\s?(?=\d)")),
)
_MOST_UNKNOWN = 0.2  # of the events: more frees of blocks that nobody gave are no frees
_SHOWN = 3  # lines
_MOST_MORE = 4  # shapes without a verb that are tried as allocations beside those with one
_MOST_LINES = 5_000
_LONGEST = 400  # characters of a line that is looked at
_WIDTH = 76


class _Line(NamedTuple):
    raw: str
    text: str  # without a logger's prefix
    numbers: tuple[re.Match[str], ...]

    @property
    def addresses(self) -> list[int]:
        """Which of the numbers are addresses: of small and large ones the large."""
        like = [i for i, one in enumerate(self.numbers) if _SIGN["address"].fullmatch(one[0])]
        return [i for i in like if int(self.numbers[i][0], 16) >= _OFFSET] or like

    @property
    def keys(self) -> Sequence[int]:
        """Which of the numbers may tell the block: addresses, or sizes where there are none."""
        return self.addresses or range(len(self.numbers))

    @property
    def key(self) -> str:
        """The field of what tells the block."""
        return "{address}" if self.addresses else "{size}"

    @property
    def sizes(self) -> list[int]:
        """Which of the numbers may be sizes or counts of them."""
        first = int(bool(_SIGN["first"].match(self.text)))
        others = (i for i in range(first, len(self.numbers)) if i not in self.addresses)
        return [
            i for i in others if not _SIGN["no_size"].search(self.text[: self.numbers[i].start()])
        ]

    @property
    def verb(self) -> str:
        """What the line is; "" if no word says it."""
        return _find_verb(self.text)

    def describe(self, fields: dict[int, str], is_long: bool = False) -> str:
        """The text from the word before the first field to the last, other numbers as {any}.

        `is_long`: from the first word to the next number, which tells it from shorter lines.
        """
        first, last = self.numbers[min(fields)], self.numbers[max(fields)]
        stamps = [stamp.end() for stamp in _SIGN["stamp"].finditer(self.text[: first.start()])]
        after = [one.start() for one in self.numbers if one.start() > last.start()]
        # Behind what changes, if words are left.
        for start in (0,) if is_long else (max(stamps, default=0), 0):
            text, at = "", start
            for i, number in enumerate(self.numbers):
                if start <= number.start() <= last.start():
                    text += self.text[at : number.start()] + fields.get(i, "{any}")
                    at = number.end()
            text += self.text[at : (*after, len(self.text))[0]].rstrip() if is_long else ""
            text = _SIGN["no_words"].sub("", text)
            if text != "{address}" and _find_verb(text) == self.verb:
                break
        return text if is_long or text != "{address}" else self.describe(fields, is_long=True)


def _find_verb(text: str) -> str:
    return next((verb for verb, rule in _VERBS if rule.search(text)), "")


_Group = list[_Line]


def suggest_own_lines(path: Path, head: bytes) -> tuple[str, ...]:
    """What to show below an error that says that a file's form is unknown; () if nothing helps."""
    texts = head.decode("utf-8", "replace").replace("\t", " ").splitlines()[:_MOST_LINES]
    tasks = {one[1] for text in texts for one in _TASK.finditer(text)}
    lines = [
        _make_line(text, len(tasks) > 1)
        for text in texts
        if len(text) <= _LONGEST and text.isprintable() and not FIELD.search(text)
    ]
    seen = [line for line in lines if line.addresses]
    groups = _group(seen)
    calls = [one for one in groups if one[0].verb in ("alloc", "zeroed") and one[0].sizes]
    others = [one for one in groups if one[0].verb != "free" and one[0].sizes]
    others = others if any(one[0].verb == "free" for one in groups) else [*filter(_has_hex, others)]
    served = calls or sorted(others, key=len)[-1:]
    if not served:  # no addresses: without frees it would tell nothing, so both must be there
        seen = [
            line
            for line in lines
            if line.numbers and not line.addresses and line.verb in ("alloc", "free")
        ]
        groups = _group(seen)
        served = sorted((one for one in groups if one[0].verb == "alloc"), key=len)[-1:]
    if not served:
        return ()
    # Of two logs in a file one may have no verbs.
    more = [[*served, one] for one in others if one not in served and not one[0].verb]
    told = [
        _try(path, head, *_describe_calls(groups, calls, is_long), len(seen))
        for calls in (served, *more[:_MOST_MORE])
        for is_long in (False, True)
    ]
    return max(told, key=lambda one: one[0])[1]


def _make_line(raw: str, has_tasks: bool) -> _Line:
    """The line with the fields that its words tell: when, which task, in which source line."""
    text = " ".join(split_prefix(raw)[1].split())  # columns differ in blanks
    text = _TASK.sub("[{task}]", text, 1) if has_tasks else text
    text = _SIGN["source"].sub("{site}", _SIGN["clock"].sub("{time:s}", text), 1)
    return _Line(raw, text, (*_SIGN["number"].finditer(text),))


def _group(lines: Iterable[_Line]) -> list[_Group]:
    """The lines of each shape, which names behind the last number do not change.

    Those with most addresses first: NULL looks like a size.
    """
    shapes = group(
        ((_SIGN["number"].sub("#", line.text[: line.numbers[-1].end()]), line.verb), line)
        for line in lines
    )
    return [sorted(one, key=lambda line: -len(line.addresses)) for one in shapes.values()]


def _describe_calls(
    groups: Sequence[_Group], served: Sequence[_Group], is_long: bool
) -> tuple[Sequence[_Group], OwnLines]:
    """The groups of calls, allocations first, and their descriptions."""
    rest = [one for one in groups if one not in served]
    released = {at for one in rest if one[0].verb == "free" for at in _values(one, one[0].keys)}
    places = [_block_place(one, released) for one in served]
    given = {at for one, i in zip(served, places, strict=True) for at in _values(one, [i])}
    texts = [_describe_allocation(one, i, is_long) for one, i in zip(served, places, strict=True)]
    tails = (line.text[line.numbers[-1].end() :] for one in served for line in one)
    askers = {asker and asker.groups() for asker in map(_SIGN["asker"].search, tails)}
    signs = {asker and asker[0] for asker in askers}
    if not is_long and len(signs) == 1 < len(askers):
        texts = [f"{text}{sign}{{site}}" for sign in signs for text in texts]
    resized = [one for one in rest if one[0].verb == "resize" and len(one[0].addresses) > 1]
    resizes = [text for one in resized if (text := _describe_resize(one, given))]
    given |= {at for one in resized for at in _values(one, one[0].addresses)}
    freed = []
    for one in rest:
        i = _block_place(one, given)
        values = _values(one, [i])
        text = one[0].describe({i: one[0].key}, is_long)
        # Without words it may be an address in any other line.
        is_known = 2 * len(values & given) >= len(values)
        if one[0].verb != "resize" and is_known and text != one[0].key:
            freed.append((one, text))
    texts.sort(key=lambda text: "{count}" not in text)  # what has more fields counts first
    line, free = (
        "\n".join(dict.fromkeys(_join_tasks(one)))
        for one in (texts + resizes, [text for _, text in freed])
    )
    most, *fewer = sorted(served, key=len, reverse=True)
    return [most, *(one for one, _ in freed), *fewer, *resized], OwnLines(line, free)


def _join_tasks(texts: Sequence[str]) -> list[str]:
    """The descriptions; those that differ in the word before a call alone, as of tasks, as one."""
    named = [
        one for text in texts if (one := _SIGN["of_task"].match(text)) and _find_verb(one["call"])
    ]
    calls = Counter(one["call"] for one in named)
    signs = Counter(one["sign"] + one["call"] for one in named)  # blanks may make names alike long
    joined = {
        one[0]: one["call"] if signs[one["sign"] + one["call"]] < count else f"{{task}}{one[2]}"
        for one in named
        if (count := calls[one["call"]]) > 1
    }
    return [joined.get(text, text) for text in texts]


def _has_hex(group: _Group) -> bool:
    """True if an address is written as one, not as a time since 1970, say."""
    return any(not one.isdecimal() for one in _values(group, group[0].addresses))


def _values(group: _Group, places: Sequence[int]) -> set[str]:
    return {line.numbers[i][0] for line in group for i in places if i < len(line.numbers)}


def _block_place(group: _Group, known: set[str]) -> int:
    """Which number is the block's address: others name it too, and it differs line by line.

    The size, where there are no addresses.
    """
    if not group[0].addresses:
        return _size_place(group[0], group[0].keys)
    return max(
        group[0].keys,
        key=lambda i: (
            len(_values(group, [i]) & known),
            not _SIGN["caller"].search(group[0].text[: group[0].numbers[i].start()]),
            not _SIGN["no_size"].search(group[0].text[: group[0].numbers[i].start()]),
            not group[0].numbers[i][0].isdecimal(),
            len(_values(group, [i])),
            -i,
        ),
    )


def _describe_allocation(group: _Group, address: int, is_long: bool) -> str:
    line = group[0]
    if not line.addresses:
        return line.describe({address: line.key}, is_long)
    sizes = (
        [  # without flags, which are always 0, or hexadecimal
            i
            for i in line.sizes
            if len(values := _values(group, [i])) > 1 or min(values)[:2] not in ("0", "0x")
        ]
        or line.sizes
    )
    fields = {address: "{address}"}
    size = _size_place(line, _order_sizes(sizes, address))
    between = line.text[line.numbers[sizes[0]].end() : line.numbers[sizes[-1]].start()]
    # Behind a count and a size a third one is their product.
    is_whole = any(
        _SIGN["told_size"].search(line.text[: line.numbers[i].start()]) for i in sizes[2:]
    )
    if line.verb == "zeroed" and len(sizes) > 1 and "alloc" not in between and not is_whole:
        told = (
            i for i in sizes if _SIGN["told_count"].search(line.text[: line.numbers[i].start()])
        )
        count = next(told, sizes[0])
        size = _size_place(line, [i for i in sizes if i != count])
        fields[count] = "{count}"
    elif "memalign" in line.text:
        size = _size_place(line, sizes[::-1])
    callers = {
        i: "{site}"
        for i in line.addresses
        if i != address and _SIGN["caller"].search(line.text[: line.numbers[i].start()])
    }
    return line.describe({**callers, **fields, size: _size_field(line, size)}, is_long)


def _describe_resize(group: _Group, given: set[str]) -> str:
    """A resize, described: the old address is of a block given before; "" without a size."""
    line = group[0]
    if not line.sizes:
        return ""
    old, new = sorted(line.addresses[:2], key=lambda i: -len(_values(group, [i]) & given))
    size = _size_place(line, _order_sizes(line.sizes, new))
    return line.describe({old: "{old}", new: "{address}", size: "{size}"})


def _order_sizes(places: Sequence[int], address: int) -> list[int]:
    """Numbers that may be a block's size: first those beside its address."""
    return sorted(places, key=lambda i: (abs(i - address) != 1, -i))


def _size_field(line: _Line, place: int) -> str:
    """The field of a size: in words of four bytes where the line says so."""
    return "{size:w4}" if _SIGN["words"].match(line.text[line.numbers[place].end() :]) else "{size}"


def _size_place(line: _Line, among: Sequence[int]) -> int:
    """Which of some numbers of a line is the size: one beside a word that says so, or the first."""
    near = (
        i
        for i in among
        if _SIGN["told_size"].search(line.text[: line.numbers[i].start()])
        or _SIGN["told_size"].match(line.text[line.numbers[i].end() :])
    )
    return next(near, among[0])


def count_unpaired(reader: FedReader | None) -> tuple[int, ...]:
    """The frees of unknown blocks, and the blocks given again, that a reader reports."""
    return tuple(
        sum(
            int(one[1].replace(",", ""))
            for one in map(rule.match, reader.notes if reader else ())
            if one
        )
        for rule in (_SIGN["unknown"], _SIGN["replaced"])
    )


def _try(
    path: Path, head: bytes, groups: Sequence[_Group], own: OwnLines, lines: int
) -> tuple[int, tuple[str, ...]]:
    """How many lines the descriptions read of a log's beginning, less two of each that makes no
    sense, and that in words; 0 and () if it does not.
    """
    reader = read_calls(head, own)
    if reader is None:
        return 0, ()
    unknown, replaced = count_unpaired(reader)
    events = reader.events - replaced  # without frees that no line tells
    is_more = events > sum(map(len, groups))  # other lines look alike
    is_blind = not own.has_addresses and not own.free
    is_unpaired = unknown > _MOST_UNKNOWN * (events + unknown)
    if is_blind or is_more or is_unpaired or not reader.live_peak:
        return 0, ()
    served, others = groups[0], [group[0] for group in groups[1:]]
    shown = [*served[:2], *(others[:1] or served[2:3])]
    words = [
        word
        for option, texts in (("--line", own.line), ("--free", own.free))
        for text in texts.splitlines()
        for word in (option, text)
    ]
    return events - 2 * (unknown + replaced), (
        "These lines look like calls:",
        *(f"  {line.raw.strip()[:_WIDTH]}" for line in shown[:_SHOWN]),
        f"This reads {events:,} of {lines:,} "
        f"{'lines that may be calls' if len(head) < HEAD else 'such lines in 64 KiB'}, with a peak "
        f"of {reader.live_peak:,} B:",
        f"  {shlex.join(['heapfit', 'import', str(path), *words])}",
    )
