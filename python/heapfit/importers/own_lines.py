# SPDX-License-Identifier: Apache-2.0
"""Which lines of a log in no known form look like calls, and the descriptions that read them.

A line's shape is its text with numbers left out. Its verb says what it is: an allocation, a resize,
a free. Of an allocation's numbers one is the block's address, which others free, and one the size:
what source lines, pools, owners and threads have is neither. In a log without addresses words tell
calls, and frees have the sizes of those allocations. What is found is read before it is shown, and
changed where another reading explains more: verbs may be of any language.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, permutations, product, zip_longest
from pathlib import Path
from typing import NamedTuple

from heapfit.fact_files import read_rules
from heapfit.grouping import group
from heapfit.importers.log_lines import split_prefix
from heapfit.importers.source import FedReader, OwnLines, read_calls
from heapfit.importers.stream import HEAD
from heapfit.importers.told_names import FIELD

_SIGN = read_rules(__file__, "own_lines.toml")
_WORD = r"(?<![\w{}])[^\W\d]\w*(?![\w{}])"
_OFFSET = 1 << 16  # below it a number beside an address is no address
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
_SHOWN, _WIDTH = 3, 76  # lines, and characters of each
# Shapes that are read otherwise, too; pairs of an allocation and a free that are; places of words
# that may name tasks, and different ones there.
_MOST_CHANGED, _MOST_PAIRS, _MOST_NAMED, _NAMES = 12, 100, 3, range(2, 17)
_MOST_LINES, _LONGEST = 5_000, 400  # that are looked at, and characters of each


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
                    text += self.text[at : number.start()] + fields.get(
                        i,
                        "{caps}" if _SIGN["caps"].search(self.text, 0, number.start()) else "{any}",
                    )
                    at = number.end()
            text += self.text[at : (*after, len(self.text))[0]].rstrip() if is_long else ""
            text = _SIGN["no_words"].sub("", text)
            if text != "{address}" and _find_verb(text) == self.verb:
                break
        return text if is_long or text != "{address}" else self.describe(fields, is_long=True)


def _find_verb(text: str) -> str:
    return next((verb for verb, rule in _VERBS if rule.search(text)), "")


_Group = list[_Line]
_Calls = list[tuple[_Group, str, str]]  # the lines of a shape, an option and its text
_Score = tuple[int, int]  # lines read, less two of each that makes no sense; texts, negated


def suggest_own_lines(path: Path, head: bytes) -> tuple[str, ...]:
    """What to show below an error that says that a file's form is unknown; () if nothing helps."""
    texts = head.decode("utf-8", "replace").replace("\t", " ").splitlines()[:_MOST_LINES]
    lines = [
        _make_line(text)
        for text in texts
        if len(text) <= _LONGEST and text.isprintable() and not FIELD.search(text)
    ]
    return max(
        (
            _suggest(path, head, [_make_line(line.raw, task) for line in lines])
            for task in (-1, *_find_tasks(lines))
        ),
        key=lambda one: one[0],
    )[1]


def _suggest(path: Path, head: bytes, lines: Sequence[_Line]) -> tuple[_Score, tuple[str, ...]]:
    """The best description of the calls in some lines, in words."""
    seen = [line for line in lines if line.addresses]
    groups = _group(seen)
    others = (
        one
        for one in groups
        if one[0].verb != "free" and one[0].sizes  # and whose address is no time since 1970, say
        if any(one[0].verb == "free" for one in groups)
        or any(not at.isdecimal() for at in _values(one, one[0].addresses))
    )
    served = [
        one for one in groups if one[0].verb in ("alloc", "zeroed") and one[0].sizes
    ] or sorted(others, key=len)[-1:]
    if not served:  # no addresses: without frees it would tell nothing, so both must be there
        seen = [
            line
            for line in lines
            if line.numbers and not line.addresses and line.verb in ("alloc", "free")
        ]
        groups = _group(seen)
        served = sorted((one for one in groups if one[0].verb == "alloc"), key=len)[-1:]
    if not served:
        return (0, 0), ()
    told = [
        (_judge(head, own), own)
        for is_long in (False, True)
        for own in [_describe_calls(groups, served, is_long)]
    ]
    own = _improve(head, groups, *max(told, key=lambda one: one[0]))[1]
    best, own = max(
        ((_judge(head, one), one) for one in (_name_askers(own), own)), key=lambda one: one[0]
    )
    return best, _describe(path, head, own, len(seen)) if best[0] else ()


def _improve(
    head: bytes, groups: Sequence[_Group], best: _Score, own: _Calls
) -> tuple[_Score, _Calls]:
    """The calls with shapes read otherwise, or not at all, by which more lines fit.

    It begins with an allocation and a free of the most frequent shapes, too.
    """
    frequent = sorted(groups, key=len, reverse=True)[:_MOST_CHANGED]
    texts = [(one, *text) for one in frequent for text in _read_otherwise(one, groups)]
    pairs = [
        [one, other]
        for one, other in permutations(texts, 2)
        if (one[1], other[1]) == ("--line", "--free") and one[0] is not other[0]
    ]
    for tried in pairs[:_MOST_PAIRS] if best[0] < sum(map(len, groups)) else ():
        if (score := _judge(head, tried)) > best:
            best, own = score, tried
    for one in 2 * frequent:
        rest = [call for call in own if call[0] is not one]
        for call in ([], *([text] for text in texts if text[0] is one)):
            if best[0] < sum(map(len, groups)) and (score := _judge(head, rest + call)) > best:
                best, own = score, rest + call
    return best, own


def _read_otherwise(group: _Group, groups: Sequence[_Group]) -> Iterator[tuple[str, str]]:
    """What else the lines of a shape may be, by its verb or any, each as an option and its text.

    Its blocks are those of other lines, too.
    """
    line, verb = group[0], group[0].verb
    others = {at for one in groups if one is not group for at in _values(one, one[0].addresses)}
    # A time may look like an address of digits alone.
    found = [i for i in line.addresses if any(not at.isdecimal() for at in _values(group, [i]))]
    known = [i for i in (found or line.addresses)[:3] if _values(group, [i]) & others]
    for i, is_long in product(known, (False, True)):
        if verb in ("", "free"):
            yield "--free", line.describe({i: "{address}"}, is_long)
        if verb in ("", "alloc", "zeroed") and line.sizes:
            yield "--line", _describe_allocation(group, i, is_long)
    for old, new in product(known, found[:3]) if verb in ("", "resize") and line.sizes else ():
        size = _size_place(line, _order_sizes(line.sizes, new))
        yield "--line", line.describe({new: "{address}", old: "{old}", size: "{size}"})


def _find_tasks(lines: Sequence[_Line]) -> list[int]:
    """Places of words that may name tasks, as a table's column does: few differ there."""
    words = (re.findall(_WORD, line.text) for line in lines if line.addresses)
    found = enumerate({*one} - {""} for one in zip_longest(*words, fillvalue=""))
    return [
        *islice(
            (i for i, one in found if len(one) in _NAMES and not any(map(_find_verb, one))),
            _MOST_NAMED,
        )
    ]


def _make_line(raw: str, task: int = -1) -> _Line:
    """The line with the fields that its words tell: when, in which source line, of which task."""
    text = " ".join(split_prefix(raw)[1].split())  # columns differ in blanks
    text = _SIGN["source"].sub("{site}", _SIGN["clock"].sub("{time:s}", text), 1)
    if task >= 0:
        text = re.sub(rf"^((?>.*?{_WORD}){{{task}}}(?>.*?(?={_WORD}))){_WORD}", r"\1{task}", text)
    return _Line(raw, text, (*_SIGN["number"].finditer(text),))


def _group(lines: Iterable[_Line]) -> list[_Group]:
    """The lines of each shape, which names behind the last number do not change.

    Those with most addresses first: NULL looks like a size.
    """
    return [
        sorted(one, key=lambda line: -len(line.addresses))
        for one in group(
            ((_SIGN["number"].sub("#", line.text[: line.numbers[-1].end()]), line.verb), line)
            for line in lines
        ).values()
    ]


def _describe_calls(groups: Sequence[_Group], served: Sequence[_Group], is_long: bool) -> _Calls:
    """The calls by their verbs, the most frequent allocation first."""
    rest = [one for one in groups if one not in served]
    released = {at for one in rest if one[0].verb == "free" for at in _values(one, one[0].keys)}
    places = [_block_place(one, released) for one in served]
    given = {at for one, i in zip(served, places, strict=True) for at in _values(one, [i])}
    texts = [_describe_allocation(one, i, is_long) for one, i in zip(served, places, strict=True)]
    placed = [(one, _block_place(one, given)) for one in rest if one[0].verb != "resize"]
    return [
        *(
            (one, "--line", text)
            for one, text in sorted(zip(served, texts, strict=True), key=lambda one: -len(one[0]))
        ),
        *(  # without words it may be an address in any other line
            (one, "--free", text)
            for one, i in placed
            if 2 * len(_values(one, [i]) & given) >= len(_values(one, [i]))
            for text in [one[0].describe({i: one[0].key}, is_long)]
            if text != one[0].key
        ),
    ]


def _name_askers(calls: _Calls) -> _Calls:
    """The calls with who asked, where their lines end in names that differ, behind one sign."""
    tails = (
        line.text[line.numbers[-1].end() :]
        for one, option, text in calls
        if option == "--line" and text.endswith("}")
        for line in one
    )
    askers = {asker and asker.groups() for asker in map(_SIGN["asker"].search, tails)}
    signs = {asker and asker[0] for asker in askers}
    told = "".join(f"{one}{{site}}" for one in signs) * (len(signs) == 1 < len(askers))
    return [
        (one, option, text + told * (option == "--line" and text.endswith("}")))
        for one, option, text in calls
    ]


def _join_calls(calls: _Calls) -> OwnLines:
    """The descriptions of calls; what has more fields counts first."""
    texts = dict.fromkeys(
        one[1:]
        for one in sorted(calls, key=lambda one: ("{old}" in one[2], "{count}" not in one[2]))
    )
    line, free = (
        "\n".join(text for one, text in texts if one == option) for option in ("--line", "--free")
    )
    return OwnLines(line, free)


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
        count = next(
            (i for i in sizes if _SIGN["told_count"].search(line.text[: line.numbers[i].start()])),
            sizes[0],
        )
        size = _size_place(line, [i for i in sizes if i != count])
        fields[count] = "{count}"
    elif "memalign" in line.text:
        size = _size_place(line, sizes[::-1])
    callers = {  # digits alone, or behind 0x, are read as they are
        i: "{site}"
        if all(at.isdecimal() or "x" in at.lower() for at in _values(group, [i]))
        else "{site:x}"
        for i in line.addresses
        if i != address and _SIGN["caller"].search(line.text[: line.numbers[i].start()])
    }
    return line.describe({**callers, **fields, size: _size_field(line, size)}, is_long)


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


def count_unpaired(
    reader: FedReader | None, signs: Sequence[str] = ("unknown", "replaced")
) -> tuple[int, ...]:
    """The frees of unknown blocks, and the blocks given again, that a reader reports."""
    return tuple(
        sum(
            int(one[1].replace(",", ""))
            for one in map(_SIGN[sign].match, reader.notes if reader else ())
            if one
        )
        for sign in signs
    )


def _judge(head: bytes, calls: _Calls) -> _Score:
    """How well the descriptions read a log's beginning; 0 if they make no sense."""
    own = _join_calls(calls)
    reader = read_calls(head, own) if own.line else None
    unknown, replaced, resized, refused = count_unpaired(
        reader, ("unknown", "replaced", "unknown_resizes", "refused")
    )
    events = reader.events - replaced if reader else 0  # without frees that no line tells
    is_unpaired = unknown + resized > _MOST_UNKNOWN * (events + unknown)
    if (
        reader is None
        or not (own.has_addresses or own.free)
        # Other lines look alike, beside one that is cut.
        or events > (len(head) >= HEAD) + sum(len(one) for one, *_ in calls)
        or is_unpaired
        or not reader.live_peak
    ):
        return 0, 0
    return events - 2 * (unknown + replaced + resized + refused), -len({text for *_, text in calls})


def _describe(path: Path, head: bytes, calls: _Calls, lines: int) -> tuple[str, ...]:
    """What the descriptions read, in words."""
    own = _join_calls(calls)
    reader = read_calls(head, own)
    if reader is None:
        return ()
    served, others = calls[0][0], sorted(calls[1:], key=lambda one: one[1])
    shown = [*served[:2], *([one[0][0] for one in others[:1]] or served[2:3])]
    words = [
        word
        for option, texts in (("--line", own.line), ("--free", own.free))
        for text in texts.splitlines()
        for word in (option, text)
    ]
    return (
        "These lines look like calls:",
        *(f"  {line.raw.strip()[:_WIDTH]}" for line in shown[:_SHOWN]),
        f"This reads {reader.events:,} of {lines:,} "
        f"{'lines that may be calls' if len(head) < HEAD else 'such lines in 64 KiB'}, with a peak "
        f"of {reader.live_peak:,} B:",
        f"  {shlex.join(['heapfit', 'import', str(path), *words])}",
    )
