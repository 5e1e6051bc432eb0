# SPDX-License-Identifier: Apache-2.0
"""Sizes, percents and shares as people type them, read the same way everywhere."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from enum import StrEnum
from typing import Final

from heapfit.errors import HeapfitError, did_you_mean

LARGEST_REGION: Final = 2**32 - 1  # bytes; metadata are 32-bit offsets
MOST_MARGIN: Final = 1000  # percent

LARGEST_NUMBER: Final = 2**64 - 1  # that the engine holds

_SIZE = re.compile(r"([0-9]{1,19}) ?(?:([KMG])i?B?|B)?", re.IGNORECASE)
_BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_PERCENT = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,9})?) ?%?")
NO_BREAK: Final = "\N{NO-BREAK SPACE}"
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|[KMG]iB|KB|B|bits?|bytes|ms|s)(?!\w)|±)|(?<=±) ")
_SHARE = re.compile(r"((?:[0-9]{1,4}\.?[0-9]{0,17}|\.[0-9]{1,17})(?:e-[0-9]{1,2})?)")


def round_up(size: int, unit: int) -> int:
    """The least multiple of a unit that is not below a size.

    >>> round_up(17, 8), round_up(16, 8)
    (24, 16)
    """
    return -(-size // unit) * unit


def parse_size(text: str) -> int:
    """The bytes of a size.

    >>> [parse_size(text) for text in ("65536", "64K", "64KiB", "64KB", "1M")]
    [65536, 65536, 65536, 65536, 1048576]
    """
    number = _SIZE.fullmatch(text)
    size = int(number[1]) * _BYTES[(number[2] or "").upper()] if number else LARGEST_NUMBER + 1
    if size > LARGEST_NUMBER:
        raise HeapfitError(f"{text[:40]} is not a size in bytes, such as 65536, 64K, 64KiB or 1M")
    return size


def parse_address(words: str) -> int:
    """An address of memory, such as 0x20000000; ValueError if it is none.

    >>> parse_address("0x20000000") == parse_address("536870912")
    True
    """
    if not re.fullmatch(r"0x[0-9a-fA-F]{1,16}|[0-9]{1,19}", words):
        raise ValueError(f"{words[:40]} is no address such as 0x20000000")
    return int(words, 0)


def parse_sizes(text: str) -> tuple[int, ...]:
    """The bytes of each of several sizes, with commas between.

    >>> parse_sizes("64,512,2K")
    (64, 512, 2048)
    """
    return tuple(map(parse_size, text.split(",")))


def parse_percent(text: str) -> float:
    """The number of a percentage, with its sign or without.

    >>> parse_percent("5%"), parse_percent("2.5")
    (5.0, 2.5)
    """
    number = _PERCENT.fullmatch(text)
    if number is None:
        raise HeapfitError(f"{text[:40]} is not a percentage from 0 to 9999, such as 5% or 2.5")
    return float(number[1])


def parse_share(text: str) -> float:
    """The share from 0 to 1, from such a number or a percentage with its sign.

    >>> parse_share("0.999"), parse_share("99.9%")
    (0.999, 0.999)
    """
    percent = _PERCENT.fullmatch(text) if text.endswith("%") else None
    share = _SHARE.fullmatch(text)
    value = float(f"{percent[1]}e-2") if percent else float(text) if share else math.nan
    if not 0 <= value <= 1:
        raise HeapfitError(f"{text[:40]} is not a share from 0 to 1, such as 0.999 or 99.9%")
    return value


def keep_units(text: str) -> str:
    """The text in which no line breaks between a figure and its unit or its deviation.

    >>> keep_units("1,027 ± 118 B for 8 blocks, 5 %").replace(NO_BREAK, "_")
    '1,027_±_118_B for 8 blocks, 5_%'
    """
    return _BEFORE_UNIT.sub(NO_BREAK, text)


def format_share(share: float) -> str:
    """A share of one in percent, to a tenth; below one to two digits, down to 0.0001.

    >>> [format_share(one) for one in (0, 1, 0.0345, -0.2, 0.0052, 1e-6, 1e-100)]
    ['0 %', '100 %', '3.5 %', '-20.0 %', '0.52 %', '0.0001 %', '<0.0001 %']
    """
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    if 0 < share < 1e-6:
        return "<0.0001 %"
    return f"{100 * share:.2g} %" if abs(share) < 0.01 else f"{100 * share:.1f} %"


def format_saving(saved: float) -> str:
    """A share that is saved of something, in words; one below 0 is needed on top of it.

    >>> format_saving(0.12), format_saving(-0.034)
    ('12.0 % less', '3.4 % more')
    """
    return f"{format_share(abs(saved))} {'less' if saved >= 0 else 'more'}"


def format_count(count: int, noun: str) -> str:
    """A number of things, whose noun has its plural with an s.

    >>> format_count(1, "event"), format_count(2_000, "event")
    ('1 event', '2,000 events')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def format_event(index: int) -> str:
    """The name of an event of a trace by its index from 0: texts count from 1, as files' lines.

    >>> format_event(0), format_event(10_985)
    ('event 1', 'event 10,986')
    """
    return f"event {index + 1:,}"


def require_alignment(alignment: object) -> None:
    """HeapfitError unless blocks may have this alignment.

    >>> require_alignment(7)
    Traceback (most recent call last):
    heapfit.errors.HeapfitError: alignment=7: blocks are aligned to 4, 8 or 16 bytes
    """
    if type(alignment) is not int or alignment not in (4, 8, 16):
        raise HeapfitError(f"alignment={alignment!r}: blocks are aligned to 4, 8 or 16 bytes")


def require_number(name: str, value: object, least: int) -> None:
    """HeapfitError unless an argument is None or a number of at least `least`.

    >>> require_number("peak", "64K", 1)
    Traceback (most recent call last):
    heapfit.errors.HeapfitError: peak='64K': give a number (65536)
    """
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise HeapfitError(f"{name}={value!r}: give a number{_hint_number(value)}")
    if not value >= least:
        raise HeapfitError(f"{name}={value!r}: must be at least {least}")


def _hint_number(value: object) -> str:
    """The number that a text means, in brackets; empty if it means none."""
    for parse in (parse_size, parse_percent):
        with suppress(HeapfitError):
            return f" ({parse(str(value)):.9g})"
    return ""


def require_choice(name: str, value: object, kind: type[StrEnum]) -> None:
    """HeapfitError unless an argument is None or one of an enumeration's names."""
    if value is not None and value not in [*kind]:
        hint = did_you_mean(str(value), [str(one) for one in kind])
        raise HeapfitError(f"{name}={value!r}: no such {name} ({hint})")
