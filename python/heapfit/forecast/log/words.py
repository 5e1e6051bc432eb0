# SPDX-License-Identifier: Apache-2.0
"""What a number in a line is, by the words beside it.

    "Heap: 100/200 bytes free, largest 64"  -->  free 100, total 200, largest 64

The words before a number count, up to a comma or bracket, else those behind it. A row of a table is
one way to say it, with who prints it so where it is not what everybody writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from math import nan
from typing import NamedTuple, TypeAlias

from heapfit.fact_files import read_facts, read_rules
from heapfit.forecast.log.states import LARGEST_VALUE, Field


class Figure(NamedTuple):
    """A number of a line, and what it is."""

    field: Field
    value: float  # NaN where no number is printed
    memory: str  # "" where no word says it
    name: str  # the text before it


_FACTS = read_facts(__file__, "words.toml")
SIGN = read_rules(__file__, "words.toml")
_SPELLINGS = tuple((re.compile(one["rule"]), one["plain"]) for one in _FACTS["spelling"])
_RULES = tuple(
    (Field(one["field"]) if "field" in one else None, re.compile("".join(one["rule"])))
    for one in _FACTS["label"]
)
# What else a number is behind a figure of the same moment.
_BEHIND = (
    (Field.ALLOCATED, Field.MOST, re.compile(r"^\W*(max|maximum|most|highest|peak)\W*$")),
    (Field.HEAP, Field.LEAST, re.compile(r"^(?!.*stack).*\b(min|minimum|lowest|least)\W*$")),
    (
        Field.FREE,
        Field.LEAST,
        re.compile(r"^(?!.*stack).*\b(min|minimum|lowest|low|least|ever)(\Wsize)?\W*$"),
    ),
    (Field.AVAILABLE, Field.LEAST, re.compile(r"^(?!.*stack).*\b(min|minimum|lowest|least)\W*$")),
    (Field.FREE, Field.LARGEST, re.compile(r"\b(max|maximum|chunk|block|blk|piece)\W*$")),
)
LONGEST_NAME = 60  # characters
_MOST_FIGURES = 64  # of a line that are looked at
_LABELS_KEPT = 4096  # labels whose meaning is kept: lines of a log repeat them
_UNITS = {
    "k": 1024,
    "m": 1024**2,
    "g": 1024**3,
    "p": 16,
    "w": 4,
}  # by the first letter; B without one
_WEAK = (None, Field.HEAP, Field.TOTAL)
MAIN = (
    Field.FREE,
    Field.AVAILABLE,
    Field.HEAP,
    Field.ALLOCATED,
)  # of which a heap has one at least


def _normalise(label: str) -> str:
    return SIGN["camel"].sub(" ", label[-LONGEST_NAME:]).replace("_", " ").lower()


def spell(line: str) -> str:
    """A line in everybody's words.

    >>> spell("+SYSRAM:148408,84044")
    'free 148408, minimum free 84044'
    """
    for rule, plain in _SPELLINGS:
        line = rule.sub(plain, line)
    return line


def classify(label: str) -> Field | None:
    """What the number behind these words is; None: nothing of a heap.

    >>> classify("largest_free_block"), classify("number of free blocks: ")
    (<Field.LARGEST: 'largest'>, None)
    """
    words = _normalise(label)
    return next((field for field, rule in _RULES if rule.search(words)), None)


def parse_bytes(value: str, unit: str | None = "") -> float:
    """The bytes that a number stands for; NaN if there can be none.

    >>> parse_bytes("10.5", "KB"), parse_bytes("-4"), parse_bytes("1,024"), parse_bytes("138.700")
    (10752.0, nan, 1024.0, 138700.0)
    """
    factor = _UNITS.get((unit or "")[:1].lower(), 1)
    digits = re.sub(r"[ ,'’_\u00a0\u202f](?=\d{3}(?!\d))", "", value).replace(",", ".")
    if factor == 1 and re.fullmatch(r"\d{1,3}(\.\d{3})+", digits):  # no byte has a fraction
        digits = digits.replace(".", "")
    try:
        size = (int(digits, 16) if digits[:2] in ("0x", "0X") else float(digits)) * factor
    except ValueError:
        return nan
    whole = 0 <= size <= LARGEST_VALUE * factor  # of the number as it was printed
    return nan if not whole else size if factor == 1 else float(round(size))


def read_figures(text: str, memory: str = "", before: Field | None = None) -> Iterator[Figure]:
    """The figures of a line without its prefix.

    `memory`: what the lines before say; `before`: the figure that another line of the moment had.
    """
    found = islice(SIGN["number"].finditer(text := SIGN["clock"].sub("", text)), _MOST_FIGURES)
    numbers = [one for one in found if not SIGN["address"].fullmatch(one["value"])]
    ends = [0, *(number.end() for number in numbers)]
    starts = [*(number.start() for number in numbers), len(text)]
    between = tuple(
        SIGN["span"].sub("", text[end:start]) for end, start in zip(ends, starts, strict=True)
    )
    told = _find_meanings(between, tuple(number["unit"] for number in numbers), memory, before)
    shown, said = 0.0, ""  # of the free or used bytes ahead: the number, and its unit
    for i, meaning in enumerate(told):
        if meaning is not None:
            field, own, unit = meaning
            value = parse_bytes(numbers[i]["value"], unit)
            if field in MAIN:
                shown, said = parse_bytes(numbers[i]["value"]), unit
            # Of the same unit, as "135 KB (min 131)": few bytes are no block.
            elif field in (Field.LEAST, Field.LARGEST) and not unit and value <= shown:
                value = parse_bytes(numbers[i]["value"], said)
            yield Figure(field, value, own, text[: starts[i]])


_Meaning: TypeAlias = tuple[Field, str, str]  # with the memory, and the unit


@lru_cache(_LABELS_KEPT)
def _find_meanings(
    between: tuple[str, ...], units: tuple[str | None, ...], memory: str, before: Field | None
) -> tuple[_Meaning | None, ...]:
    """What each number of a line is, by the texts between them; None: nothing of a heap."""
    is_failure = bool(SIGN["fails"].search("#".join(between)))
    own, last, found = memory, before, list[_Meaning | None]()
    for i, (head, tail) in enumerate(_label(between, units)):
        is_paired = (
            units[i] is None and i + 1 < len(units) and bool(SIGN["pair"].match(between[i + 1]))
        )
        is_counted = units[i] is None and SIGN["counted"].match(between[i + 1 + is_paired])
        clause = SIGN["separator"].split(head)[-1]
        is_heap = bool(re.search("heap|mem|ram", _normalise(clause)))
        named = find_memory(clause if is_heap else head) or find_memory(tail)
        own = named or (memory if is_heap or own == "packets" else own)
        field = _name(head, tail, last)
        if is_failure and field in (*_WEAK, Field.ALLOCATED) and _is_asked(head, tail):
            field, is_failure = Field.FAILED, False
            own = named or find_memory(between[i + 1]) or own
        if units[i] == "%":
            is_bare = last is Field.ALLOCATED and not SIGN["word"].search(head + tail)
            field = Field.SHARE if field is Field.ALLOCATED or is_bare else None
        last = field if field in MAIN or (field is Field.LARGEST and last is None) else last
        is_bytes = field is not None and (not is_counted or field is Field.FAILURES)
        unit = (units[i + 1] if is_paired else units[i]) or read_unit(head)
        found.append((field, own, unit) if field and is_bytes else None)
    return tuple(found)


def find_memory(text: str) -> str:
    """The memory that a text names; "" if it names none."""
    found = SIGN["memory"].search(text)
    return found.lastgroup or "" if found else ""


def read_unit(label: str) -> str:
    """The letter of the unit that a text before a number tells; "" for bytes."""
    found = SIGN["label_unit"].search(_normalise(label))
    return found[1] if found else ""


def _is_asked(head: str, tail: str) -> bool:
    words, clause = _normalise(head), _normalise(SIGN["separator"].split(head)[-1])
    return bool(SIGN["asked"].search(words) or tail) and not SIGN["no_request"].search(clause)


def _name(head: str, tail: str, last: Field | None) -> Field | None:
    """What a number is by the words before and behind it, and by the figure before it."""
    clause = SIGN["separator"].split(head)[-1].rstrip(" :=\t").rpartition(": ")[2]
    found, behind = classify(clause) or classify(head), classify(tail)
    if found in _WEAK and behind not in (None, Field.HEAP):
        found = behind
    return find_behind(found, head, last) if found in (*_WEAK, Field.MOST) else found


def find_behind(found: Field | None, words: str, last: Field | None) -> Field | None:
    """What a number is behind the figure `last` of the same moment, by the words before it."""
    spelt = _normalise(words)
    return next((field for of, field, rule in _BEHIND if of is last and rule.search(spelt)), found)


def _label(between: Sequence[str], units: Sequence[str | None]) -> list[tuple[str, str]]:
    """The words before each number that belong to it, and those behind it."""
    heads, tails = [between[0]], [""]
    is_behind = not SIGN["word"].search(between[0]) and _ends_in_words(between)
    for i, words in enumerate((SIGN["listed"].sub(r"\1", one) for one in between[1:]), 1):
        cuts = [*SIGN["separator"].finditer(words)]
        tails.append(words[: cuts[0].start()] if cuts else words if is_behind else "")
        heads.append(words[cuts[-1].end() :] if cuts else "" if is_behind else words)
        if cuts:
            is_behind = not SIGN["word"].search(heads[i]) and _ends_in_words(between[i:])
    tails[-1] = tails[-1] or SIGN["separator"].split(between[-1])[0]
    for i in range(1, len(units)):
        both = {(one or "")[:1].lower() for one in units[i - 1 : i + 1]}
        if SIGN["pair"].match(between[i]) and both == {"b", "k"}:  # the same in KB
            heads[i], tails[i + 1] = "", ""
        elif SIGN["pair"].match(between[i]) and not SIGN["pair"].match(between[i - 1]):
            ends = (j for j in range(i, len(units)) if not SIGN["pair"].match(between[j]))
            _share(heads, tails, i - 1, next(ends, len(units)) - i + 1)
        elif (
            not SIGN["word"].search(SIGN["counted"].sub("", heads[i]))
            and (units[i - 1] == "%" or SIGN["counted"].match(between[i]))
            and classify(tails[i + 1]) is None
        ):
            heads[i] = f"{heads[i - 1]} {tails[i]}"
    return [(heads[i], tails[i + 1]) for i in range(len(units))]


def _ends_in_words(between: Sequence[str]) -> bool:
    """True if a clause that begins with a number has the words of each behind it."""
    end = next(filter(SIGN["separator"].search, between[1:]), between[-1])
    return classify(SIGN["separator"].split(end)[0]) is not None


def _share(heads: list[str], tails: list[str], first: int, count: int) -> None:
    """Gives numbers that strokes part, such as 100/200, the words that strokes part, or a total."""
    names = heads[first].split("/")
    behind, tails[first + count] = tails[first + count], ""
    if len(names) < count or classify(heads[first]) is None:
        names = [heads[first], *["of"] * (count - 1)] if len(names) == 1 else [heads[first]] * count
        tails[first + 1] = behind
    heads[first : first + count] = names[-count:]
