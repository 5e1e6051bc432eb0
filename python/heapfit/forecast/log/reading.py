# SPDX-License-Identifier: Apache-2.0
"""A log as the states of one heap, whatever form it is written in.

A state begins with the first line that repeats a figure of the one before: what firmware prints of
one moment may take one line or several. Where the log speaks of several heaps, the one is read of
which it says most.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import isnan
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.forecast.log.clock import Clock, Moment, Timeline
from heapfit.forecast.log.dump import read_dump
from heapfit.forecast.log.states import Field, HeapState, Sample, TelemetryLog
from heapfit.forecast.log.tables import find_separator, read_csv, read_json
from heapfit.forecast.log.text import (
    Lines,
    is_prometheus,
    make_line_reader,
    read_bare,
    read_printed,
    read_prometheus,
)
from heapfit.importers.stream import ByteStream

LONGEST_LINE = 4096  # bytes; what is longer is skipped
MOST_STATES = 2_000_000
_MOST_BYTES = 1 << 30
_LOOKED_AT = 50  # lines, by which the form is found
_STDIN = "-"


@dataclass(slots=True)
class _Open:
    """A state whose lines are being read."""

    line: int
    moment: Moment | None
    name: str
    boot: int
    values: dict[Field, float]


def read_log(path: Path, pattern: str | None = None) -> TelemetryLog:
    """The states that a log shows; HeapfitError if it shows none.

    `pattern`: the form of its lines, such as 'free {free} largest {largest}'; None: found by what
    firmware, CSV, JSON lines and Prometheus text look like.
    """
    name = "standard input" if str(path) == _STDIN else str(path)
    content, damage = _read_content(path, name)
    return replace(_parse(name, content, pattern), damage=damage)


def _parse(name: str, content: bytes, pattern: str | None) -> TelemetryLog:
    lines = [*_short_lines(content)]
    is_long = len(content) > LONGEST_LINE
    if not any(line.strip() for _, line in lines):
        why = f"has no line of at most {LONGEST_LINE:,} B" if is_long else "is empty"
        raise HeapfitError(f"{name}: {why} (give a log of free bytes)")
    dump = read_dump(name, lines) if pattern is None else None
    if dump is not None:
        return dump
    if pattern is not None:
        form, samples = "lines as given", [*make_line_reader(pattern)(lines)]
    else:
        form, samples = _read_known(lines)
    found = [*_join(samples)]
    if not any(Field.FREE in one.values for one in found):
        raise HeapfitError(
            f"{name}: none of its lines, {len(lines):,} in all, shows free bytes "
            "(say what they look like: --line 'free {free} largest {largest}')"
        )
    return _make_log(name, form, found)


def _read_content(path: Path, name: str) -> tuple[bytes, str]:
    """The text, unpacked and in UTF-8, and where its file is cut; HeapfitError if it is no text."""
    damage = ""
    if str(path) == _STDIN:
        content = sys.stdin.buffer.read(_MOST_BYTES + 1)
    else:
        with ByteStream(path) as stream:
            content = b"".join(_until(_MOST_BYTES, stream.chunks()))
            damage = stream.damage
    if len(content) > _MOST_BYTES:
        raise HeapfitError(f"{name}: is larger than 1 GiB (give the lines with free bytes alone)")
    if b"\0" in content[: 1 << 16]:
        raise HeapfitError(f"{name}: is a binary file (give a log as text)")
    return content, damage


def _until(most: int, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Chunks until they have more than `most` bytes."""
    for chunk in chunks:
        yield chunk
        most -= len(chunk)
        if most < 0:
            return


def _short_lines(content: bytes) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(content.splitlines(), 1):
        if len(line) <= LONGEST_LINE:
            yield number, line.decode("utf-8", "replace")


def _read_known(lines: list[tuple[int, str]]) -> tuple[str, list[Sample]]:
    """The form's name and the samples, by the first lines."""
    head = [line.strip() for _, line in lines[:_LOOKED_AT] if line.strip()]
    separator = find_separator(head[0])
    readers: dict[str, Callable[[Lines], Iterator[Sample]]] = {"printed lines": read_printed}
    if head[0].startswith("{"):
        readers = {"JSON lines": read_json}
    elif separator is not None:
        readers = {"CSV": partial(read_csv, separator=separator)}
    elif any(map(is_prometheus, head)):
        readers = {"Prometheus text": read_prometheus}
    else:
        readers["bare numbers"] = read_bare
    for form, reader in readers.items():
        samples = [*reader(lines)]
        if any(one.figures for one in samples):
            return form, samples
    return "", []


def _join(samples: Iterable[Sample]) -> Iterator[_Open]:
    """The samples of each moment together."""
    boot = 0
    current: _Open | None = None
    for sample in samples:
        fields = {one.field: one for one in sample.figures}
        if current is not None and (
            sample.is_start or sample.is_whole or fields.keys() & current.values.keys()
        ):
            yield current
            current = None
        boot += sample.is_start
        if not fields:
            continue
        if current is None:
            current = _Open(sample.line, sample.moment, "", boot, {})
        current.moment = current.moment or sample.moment
        current.name = fields[Field.FREE].name if Field.FREE in fields else current.name
        current.values |= {field: one.value for field, one in fields.items()}
    if current is not None:
        yield current


def _make_log(name: str, form: str, found: list[_Open]) -> TelemetryLog:
    with_free = [one for one in found if Field.FREE in one.values]
    heaps: Counter[str] = Counter()
    for one in with_free:
        heaps[one.name] += len(one.values)
    heap = heaps.most_common(1)[0][0]
    of_heap = [one for one in with_free if one.name == heap]
    invalid = sum(map(_drop_invalid, of_heap))
    valid = [one for one in of_heap if Field.FREE in one.values]
    if not valid:
        raise HeapfitError(
            f"{name}: line {of_heap[0].line}: free bytes are negative, too large or no number, as "
            f"in all of {len(of_heap):,} states (print them unsigned, in decimal)"
        )
    if len(valid) > MOST_STATES:
        raise HeapfitError(f"{name}: more than {MOST_STATES:,} states (give every tenth)")
    clock = _clock_of(valid)
    return TelemetryLog(
        form,
        [*_number_boots(valid, clock)],
        clock,
        invalid,
        [other for other in heaps if other != heap],
        len(with_free) - len(of_heap),
    )


def _drop_invalid(one: _Open) -> int:
    """Drops the numbers of a state that are none, and says how many."""
    wrong = [field for field, value in one.values.items() if isnan(value)]
    for field in wrong:
        del one.values[field]
    return len(wrong)


def _clock_of(found: list[_Open]) -> Clock | None:
    """The clock of at least nine of ten states."""
    clocks = Counter(one.moment.clock for one in found if one.moment)
    clock, count = clocks.most_common(1)[0] if clocks else (None, 0)
    return clock if count >= 0.9 * len(found) else None


def _number_boots(found: Iterable[_Open], clock: Clock | None) -> Iterator[HeapState]:
    """The states with the boot that each belongs to.

    A boot ends where the program says so, where the time falls, or where the least ever free rises.
    """
    timeline = Timeline(clock) if clock else None
    boot, said, least = 0, None, None
    for one in found:
        is_said = said is not None and one.boot != said
        if is_said and timeline:
            timeline.restart()
        seconds, fell = timeline.follow(one.moment) if timeline else (None, False)
        state = _state(one, seconds, boot)
        rose = state.least is not None and least is not None and state.least > least
        if is_said or fell or rose:
            boot += 1
            state = _state(one, seconds, boot)
        said, least = one.boot, state.least
        yield state


def _state(one: _Open, seconds: float | None, boot: int) -> HeapState:
    def bytes_of(field: Field) -> int | None:
        return int(one.values[field]) if field in one.values else None

    failed = bytes_of(Field.FAILED) or None

    free, least = int(one.values[Field.FREE]), bytes_of(Field.LEAST)
    allocated, most = bytes_of(Field.ALLOCATED), bytes_of(Field.MOST)
    if least is None and allocated is not None and most is not None and most >= allocated:
        least = max(0, free + allocated - most)
    return HeapState(
        one.line,
        boot,
        seconds,
        free,
        least,
        bytes_of(Field.LARGEST),
        failed,
        bytes_of(Field.FAILURES),
    )
