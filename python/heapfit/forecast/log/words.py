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

from heapfit.forecast.log.states import LARGEST_VALUE, Field


class Figure(NamedTuple):
    """A number of a line, and what it is."""

    field: Field
    value: float  # NaN where no number is printed
    memory: str  # "" where no word says it
    name: str  # the text before it


# What nobody could know, and how everybody else would write it: a form is a row.
_SPELLINGS = tuple(
    (re.compile(rule), plain)
    for rule, plain in (
        # MicroPython's mem_info (py/gc.c), in blocks of 16 B
        (r"max (?:free sz|new split): (\d+)", r"largest free block: \1 paragraphs"),
        # Tasmota's state (support_tasmota.ino), and its status, of whose flash is Free
        (r'"Heap": ?(\d{1,19})(?=.{1,400}"LoadAvg":)', r'"free heap":"\1 KB"'),
        (r'(?<!Flash)"Free":\d+,"Heap":(\d+)', r'"free heap":"\1 KB"'),
        # Moonraker's notify_proc_stat_update
        (r'"(total|available|used)": ?(\d{1,19})(?=.{1,400}"units": ?"kB")', r'"\1":"\2 KB"'),
        (r"^\+SYSRAM:(\d+),(\d+)", r"free \1, minimum free \2"),  # ESP-AT
        (r"^\+SYSRAM:(\d+)$", r"free \1"),  # RT-Thread's AT server
        (r"Heap size: (\d+) / (\d+)", r"heap used \1 of \2"),  # Mbed OS' guide
        # TizenRT's heapinfo
        (r"Allocated \(Current / Peak\) *: (\d+).*? / (\d+).*", r"used \1, most used \2"),
        # Pelion's client for Mbed OS; its TotalSize adds what was freed
        (r"CurSize: (\d+), MaxSize: (\d+),.* ResSize: ", r"used \1, most used \2, total "),
        (r"space in free ordinary blocks", "free bytes"),  # mallinfo's fordblks by the manual
        (r"\bPM \{(.{1,200}?)\bMem : ", r"PM {\1free : "),  # ArduPilot's dataflash log
        (r"^\[HEAP\](?=\|)", ""),  # AliOS Things' dumpsys mm_info
        # What is free behind words of other memories, as of each task's stack
        (
            r"(?i)\b(stack|flash|swap|disk|spiffs|littlefs)([ :=]{1,3}\d+(?: ?bytes)?) free\b",
            r"\1\2",
        ),
        # esp-alloc's HeapStats, whose heading is above and whose total counts what was freed, too
        (r"^(Memory Layout:|Total allocated: \d+)\s*$|\| [█░]+ \|", ""),
        (r"(?<!\d)(\d{1,20}) bytes in \d+ free blocks?\b.*", r"\1 bytes free"),  # Arm's __heapstats
        (r"\bavl: (\d+), blocks \d+, alloc: \d+, free: \d+", r"free: \1"),  # counts of calls
        (r"\bcalloc\(\d+, ?\d+\)", "calloc"),  # whose bytes are none of the two
        (r"\bfreemem ?: ?\d+, freemem32 ?: ?(\d+)", r"free: \1"),  # MAVLink's MEMINFO, mavlogdump
    )
)
# What a number is by the words before it; the first row that matches counts. None: it says nothing
# of the heap.
_LABELS: tuple[tuple[Field | None, str], ...] = (
    # Counts of both, as of mbedTLS; the largest block in use; an address.
    (
        None,
        r"alloc\w*\W{1,3}free\w*\W*$|max blk sz|(largest|max\w*)\W*used\W*block|\bat\W*$"
        r"|\b(tx|rx|fifo|queue|slots?)\W*free\b|\bfree\W*(tx|rx|fifo|queue|slots?)\b"
        r"|\bfree in \w* ?buf",
    ),
    (
        None,
        r"flash|freed\b|sketch|stack|spiffs|littlefs|frag|smallest|diff|delta|since|integrity|\btasks?\b"
        r"|swap|percent|pct|disk|temperature|rssi|\bcpu|cached?\b|shared|buff\W?cache|\bfs\b|\bsd\b"
        r"|\b(clients?|version|ids?|line|code|errno|status|caps|prio|threads?|loop|port|seq|interval)\W*$",
    ),
    (
        Field.FAILURES,
        r"fail\w*\W*(count|cnt|requests?\b|alloc(s|ations?)?\W*(:|=|cnt|count|total|$)|times|total)"
        r"|alloc\w*\W*(fail|fails|failures|err|errors)\W*$|^\W*err(ors?)?\W*$",
    ),
    (Field.FAILED, r"fail\w*\W*$|out of memory|unable to alloc"),
    (
        Field.MOST,
        r"(max\w*|peak|most|highest)\W*(ever\W*)?(heap\W*|mem\w*\W*)?"
        r"(used?\b|alloc\w*ed|usage|in use|utili[sz]ed)"
        r"|peak|high\W*water|used\W*(max|peak)|max\W?used",
    ),
    (
        Field.LARGEST,
        r"larg|bigg|ma[iy]or\b|größt|grand\W*bloc|最大|mxordblk|max\w*\W*(free\W*)?(heap\W*)?(block|chunk|blk|segment|alloc|contig)|contig"
        r"|max\W?free|free\W*(block|blk)\W*max|longest",
    ),
    (None, r"blocks|number|count|calls|frees|success|\bn(used|free)|times\b|objects"),
    (
        Field.LEAST,
        r"(min(?!imal)\w*|least|lowest|ever|worst)\b.*(free|heap|remain|water|avail|mem|ram)|low\W*water"
        r"|最小|最低|free.*\b(min\w*|lowest|least|ever)\b|min_?(free|heap|mem|ram)|(heap|mem|ram)\W*min\b|free\W*watermark",
    ),
    (
        Field.FREE,
        r"\bfree\b|free(heap|mem|ram|space|size|bytes)|(heap|mem|ram)free|unused|remain"
        r"|\bfreie?[rs]?\b|\b(libres?|liber[aio]|livres?|vrij\w*|ledig\w*|woln[aey])\b|свободн|剩[余餘]|空[闲閒]?|可用|\bfordblks",
    ),
    (Field.FREE, r"\bleft\W*$|(heap|mem(ory)?|ram) (is )?low\W*$"),
    (
        Field.ALLOCATED,
        r"allocated|\bused?\b|usage|utili[sz]ed|occupied|consum|已用|(heap|mem|ram)used|used(heap|mem|ram)|\buordblks"
        r"|\bmem alloc\(\)\W*$",
    ),
    (Field.AVAILABLE, r"avail"),
    (
        Field.TOTAL,
        r"total|总|總|capacity|system bytes|\bsize\b|^\W*(out )?of\W*$|(heap|mem|ram)size|limit"
        r"|\barena\W*$",
    ),
    (Field.HEAP, r"\b(\w*heap|mem(ory)?|\w?ram)\W*(now|cur\w*|is)?\W*$|\binternal\W*[=:]\W*$"),
)
_RULES = tuple((field, re.compile(rule)) for field, rule in _LABELS)
# What else a number is behind a figure of the same moment.
_BEHIND = (
    (Field.ALLOCATED, Field.MOST, re.compile(r"^\W*(max|maximum|peak)\W*$")),
    (Field.HEAP, Field.LEAST, re.compile(r"\b(min|minimum|lowest|least)\W*$")),
    (Field.FREE, Field.LEAST, re.compile(r"\b(min|minimum|lowest|low|least|ever)\W*$")),
    (Field.FREE, Field.LARGEST, re.compile(r"\b(max|maximum|chunk|block|blk|piece)\W*$")),
)
# A line of a request that failed, and the words of its size.
_FAILS = re.compile(
    r"fail|unable|cannot|\bcan'?t\b|could ?n.?t|\bno (?:mem|heap|room)|returned (?:null|0x0\b)"
    r"|out of|exhaust|\boom\b|not enough|insufficient|too small|too big|missing",
    re.IGNORECASE,
)
_ASKED = re.compile(
    r"alloc|size|bytes?\b|request|need|want|asked|len|\bnew\b|malloc|calloc|for\W*$|of\W*$|^\W*$"
)
_NO_REQUEST = re.compile(r"code|errno|line|status|caps|addr|\btasks?\b|avail|missing|error")
# Memories and pools that a line may name; PSRAM is another memory than the heap's own.
MEMORY = re.compile(
    r"(?P<PSRAM>ps_?ram|spi_?ram|spi ram|extram|ext(ernal)?\W*(heap|mem|ram)|\bexternal\b)"
    r"|(?P<internal>\binternal\b|\bint\W*(heap|mem|ram)\b)|(?P<DMA>\bdma\b)"
    r"|(?P<system>\bsystem free\b)"  # beside LVGL's pool
    r"|(?P<byte>(?<![a-z\d])8.?bit\b)|(?P<IRAM>\biram\b)|(?P<DRAM>\bdram\b)|(?P<SRAM>\bsram\d?\b)|(?P<CCM>\bd?t?ccm?\b)",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![\w.])(?P<value>0[xX][0-9a-fA-F]+|-?\d+,\d{1,2}(?=\s?[kKmM]i?[bB])"
    r"|\d{1,3}(?: \d{3})+(?=\s?(?:B|bytes?|octets?)\b)"
    r"|-?(?:\d{1,3}(?:[,'’_\u00a0\u202f]\d{3})+|\d{1,3}(?:\.\d{3}){2,}|\d+)(?:\.\d+)?(?:[eE]\+?\d{1,2})?"
    r"|-?nan|-?inf)(?!\.\d)"
    r"(?:(?:i(?=[,\s]))?\s?(?P<unit>(?:%|bytes?|paragraphs|words|[kmKM]i?[bB](?:ytes?)?|[kmbKMB])(?!=\d))?(?![\w%]|-[A-Za-z])"
    r"|(?=[A-Za-z]*[g-zG-Z]\w{4}))"  # a word that follows without a blank
)
_ADDRESS = re.compile(r"0[xX]0*[1-9a-fA-F][0-9a-fA-F]{7,}")  # 256 MiB and above
_COUNTED = re.compile(
    r"\s*(blocks?|chunks?|fragments?(?=\W*[,;)])|allocs|allocations|times|items?|objects?|tasks?|threads?|clients?|pages?"
    r"|connections?|packets?|bufs?|buffers?|ms|s|sec|h|hours?|days?|dbm|v|mv|hz|[km]hz|°\w?)\b(?!\s*[:=])",
    re.IGNORECASE,
)
_WORD = re.compile("[A-Za-z]{2}")
_SEPARATOR = re.compile(
    r"[,;|\]}\[{&]|\((?!\))|(?<!\()\)|::|\s[-–]\s|\s->\s|(?<=\w)\s{2,}(?=[A-Za-z])|[.!]\s(?=[A-Z])"
    r"|\b(?=(out )?of\s*$)"
)
_LISTED = re.compile(r"^\s*[,;|]\s*([A-Za-z][^,;|]*)[,;|]\s*$")  # a name between two numbers
_PAIR = re.compile(r"^\s*(/|of|out of)\s*$")
_LABEL_UNIT = re.compile(r"(?<![a-z])([km])i?b(ytes?)?(?![a-z])")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
LONGEST_NAME = 60  # characters
_MOST_FIGURES = 64  # of a line that are looked at
_LABELS_KEPT = 4096  # labels whose meaning is kept: lines of a log repeat them
_UNITS = {"k": 1024, "m": 1024**2, "p": 16, "w": 4}  # by the first letter; B without one
_WEAK = (None, Field.HEAP, Field.TOTAL)
MAIN = (
    Field.FREE,
    Field.AVAILABLE,
    Field.HEAP,
    Field.ALLOCATED,
)  # of which a heap has one at least


def _normalise(label: str) -> str:
    return _CAMEL.sub(" ", label[-LONGEST_NAME:]).replace("_", " ").lower()


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
    whole = 0 <= size <= LARGEST_VALUE
    return nan if not whole else size if factor == 1 else float(round(size))


def read_figures(text: str, memory: str = "", before: Field | None = None) -> Iterator[Figure]:
    """The figures of a line without its prefix.

    `memory`: what the lines before say; `before`: the figure that another line of the moment had.
    """
    found = islice(_NUMBER.finditer(text), _MOST_FIGURES)
    numbers = [one for one in found if not _ADDRESS.fullmatch(one["value"])]
    ends = [0, *(number.end() for number in numbers)]
    starts = [*(number.start() for number in numbers), len(text)]
    between = tuple(text[end:start] for end, start in zip(ends, starts, strict=True))
    told = _find_meanings(between, tuple(number["unit"] for number in numbers), memory, before)
    first = next((one[1] for one in told if one is not None), "")
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
            yield Figure(field, value, own, text[: starts[i]] if own == first else between[i])


_Meaning: TypeAlias = tuple[Field, str, str]  # with the memory, and the unit


@lru_cache(_LABELS_KEPT)
def _find_meanings(
    between: tuple[str, ...], units: tuple[str | None, ...], memory: str, before: Field | None
) -> tuple[_Meaning | None, ...]:
    """What each number of a line is, by the texts between them; None: nothing of a heap."""
    is_failure = bool(_FAILS.search("#".join(between)))
    own, last, found = memory, before, list[_Meaning | None]()
    for i, (head, tail) in enumerate(_label(between, units)):
        is_counted = units[i] is None and _COUNTED.match(between[i + 1])
        named = find_memory(head) or find_memory(tail)
        own = named or (memory if re.search("heap|mem|ram", _normalise(head)) else own)
        field = _name(head, tail, last)
        if is_failure and field in (*_WEAK, Field.ALLOCATED) and _is_asked(head, tail):
            field, is_failure = Field.FAILED, False
            own = named or find_memory(between[i + 1]) or own
        if units[i] == "%":
            is_bare = last is Field.ALLOCATED and not _WORD.search(head + tail)
            field = Field.SHARE if field is Field.ALLOCATED or is_bare else None
        last = field if field in MAIN or (field is Field.LARGEST and last is None) else last
        is_bytes = field is not None and (not is_counted or field is Field.FAILURES)
        is_paired = units[i] is None and i + 1 < len(units) and _PAIR.match(between[i + 1])
        unit = (units[i + 1] if is_paired else units[i]) or read_unit(head)
        found.append((field, own, unit) if field and is_bytes else None)
    return tuple(found)


def find_memory(text: str) -> str:
    """The memory that a text names; "" if it names none."""
    found = MEMORY.search(text)
    return found.lastgroup or "" if found else ""


def read_unit(label: str) -> str:
    """The letter of the unit that a text before a number tells; "" for bytes."""
    found = _LABEL_UNIT.search(_normalise(label))
    return found[1] if found else ""


def _is_asked(head: str, tail: str) -> bool:
    words, clause = _normalise(head), _normalise(_SEPARATOR.split(head)[-1])
    return bool(_ASKED.search(words) or tail) and not _NO_REQUEST.search(clause)


def _name(head: str, tail: str, last: Field | None) -> Field | None:
    """What a number is by the words before and behind it, and by the figure before it."""
    clause = _SEPARATOR.split(head)[-1].rstrip(" :=\t").rpartition(": ")[2]
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
    is_behind = not _WORD.search(between[0]) and _ends_in_words(between)
    for i, words in enumerate((_LISTED.sub(r"\1", one) for one in between[1:]), 1):
        cuts = [*_SEPARATOR.finditer(words)]
        tails.append(words[: cuts[0].start()] if cuts else words if is_behind else "")
        heads.append(words[cuts[-1].end() :] if cuts else "" if is_behind else words)
        if cuts:
            is_behind = not _WORD.search(heads[i]) and _ends_in_words(between[i:])
    tails[-1] = tails[-1] or _SEPARATOR.split(between[-1])[0]
    for i in range(1, len(units)):
        both = {(one or "")[:1].lower() for one in units[i - 1 : i + 1]}
        if _PAIR.match(between[i]) and both == {"b", "k"}:  # the same in KB
            heads[i], tails[i + 1] = "", ""
        elif _PAIR.match(between[i]) and not _PAIR.match(between[i - 1]):
            ends = (j for j in range(i, len(units)) if not _PAIR.match(between[j]))
            _share(heads, tails, i - 1, next(ends, len(units)) - i + 1)
        elif (
            not _WORD.search(_COUNTED.sub("", heads[i]))
            and (units[i - 1] == "%" or _COUNTED.match(between[i]))
            and classify(tails[i + 1]) is None
        ):
            heads[i] = f"{heads[i - 1]} {tails[i]}"
    return [(heads[i], tails[i + 1]) for i in range(len(units))]


def _ends_in_words(between: Sequence[str]) -> bool:
    """True if a clause that begins with a number has the words of each behind it."""
    end = next(filter(_SEPARATOR.search, between[1:]), between[-1])
    return classify(_SEPARATOR.split(end)[0]) is not None


def _share(heads: list[str], tails: list[str], first: int, count: int) -> None:
    """Gives numbers that strokes part, such as 100/200, the words that strokes part, or a total."""
    names = heads[first].split("/")
    behind, tails[first + count] = tails[first + count], ""
    if len(names) < count or classify(heads[first]) is None:
        names = [heads[first], *["of"] * (count - 1)] if len(names) == 1 else [heads[first]] * count
        tails[first + 1] = behind
    heads[first : first + count] = names[-count:]
