# SPDX-License-Identifier: Apache-2.0
"""A log as the states of one heap, whatever form it is written in.

A state begins with the first line that repeats a figure of the one before: what firmware prints of
one moment may take one line or several. Where the log speaks of several heaps, the one is read of
which it says most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path

from heapfit.errors import HeapfitError
from heapfit.forecast.log.dump import read_dump
from heapfit.forecast.log.forms import LineReader, find_form, read_by_pattern
from heapfit.forecast.log.states import Clock, Field, HeapState, Sample, TelemetryLog
from heapfit.importers.stream import ByteStream

LONGEST_LINE = 4096  # bytes; what is longer is skipped
MOST_STATES = 2_000_000
_MOST_BYTES = 1 << 30
_STDIN = Path("/dev/stdin")
_DAY = 86_400.0
_WRAP = 2.0**32 / 1000  # seconds where a counter of milliseconds begins again, after 49.7 days


def read_log(path: Path, pattern: str | None = None) -> TelemetryLog:
    """The states that a log shows; HeapfitError if it shows none.

    `pattern`: the form of its lines, such as 'free {free} largest {largest}'; None: found by what
    firmware, CSV, JSON lines and Prometheus text look like.
    """
    name = "standard input" if path == Path("-") else str(path)
    content, damage = _read_content(path, name)
    lines = [
        (number, line.decode("utf-8", "replace"))
        for number, line in enumerate(content.splitlines(), 1)
        if len(line) <= LONGEST_LINE
    ]
    texts = [line for _, line in lines if line.strip()]
    if not texts:
        is_long = len(content) > LONGEST_LINE
        why = f"has no line of at most {LONGEST_LINE:,} B" if is_long else "is empty"
        raise HeapfitError(f"{name}: {why} (give a log of free bytes)")
    log = read_dump(name, lines) if pattern is None else None
    return replace(log or _read_lines(name, lines, texts, pattern), damage=damage)


def _read_content(path: Path, name: str) -> tuple[bytes, str]:
    """The text, unpacked and in UTF-8, and where its file is cut; HeapfitError if it is no text."""
    content = bytearray()
    with ByteStream(_STDIN if path == Path("-") else path) as stream:
        for chunk in stream.chunks():
            content += chunk
            if len(content) > _MOST_BYTES:
                raise HeapfitError(
                    f"{name}: is larger than 1 GiB (give the lines with free bytes alone)"
                )
    if b"\0" in content[: 1 << 16]:
        raise HeapfitError(f"{name}: is a binary file (give a log as text)")
    return bytes(content), stream.damage


def _read_lines(
    name: str, lines: Sequence[tuple[int, str]], texts: Sequence[str], pattern: str | None
) -> TelemetryLog:
    """The log of the heap of which most is said."""
    form, read = (
        find_form(texts) if pattern is None else ("lines as given", read_by_pattern(pattern))
    )
    found = [one for one in _join(lines, read) if Field.FREE in one.values]
    if not found:
        raise HeapfitError(
            f"{name}: none of its lines, {len(lines):,} in all, shows free bytes "
            "(say what they look like: --line 'free {free} largest {largest}')"
        )
    heaps: Counter[str] = Counter()
    for one in found:
        heaps[one.heap] += len(one.values)
    heap = heaps.most_common(1)[0][0]
    states = [one for one in found if one.heap == heap]
    wrong = [(one, field) for one in states for field, value in one.values.items() if isnan(value)]
    for one, field in wrong:
        del one.values[field]
    valid = [one for one in states if Field.FREE in one.values]
    if not valid:
        raise HeapfitError(
            f"{name}: line {states[0].line}: free bytes are negative, too large or no number, as "
            f"in all of {len(states):,} states (print them unsigned, in decimal)"
        )
    if len(valid) > MOST_STATES:
        raise HeapfitError(f"{name}: more than {MOST_STATES:,} states (give every tenth)")
    clock = _find_clock(valid)
    others = [other for other in heaps if other != heap]
    numbered = [*_number_boots(valid, clock)]
    return TelemetryLog(form, numbered, clock, len(wrong), others, len(found) - len(states))


def _join(lines: Iterable[tuple[int, str]], read: LineReader) -> list[Sample]:
    """The samples of each moment together."""
    states = [Sample()]
    for number, line in lines:
        sample = read(line)
        if sample is None:
            continue
        state = states[-1]
        sample.line, sample.boot = number, state.boot + sample.is_start
        if sample.is_start or sample.is_whole or sample.values.keys() & state.values.keys():
            states.append(sample)
            continue
        state.line = state.line if state.values else number
        state.moment = state.moment or sample.moment
        state.heap = sample.heap or state.heap
        state.values |= sample.values
    return states


def _find_clock(found: Sequence[Sample]) -> Clock | None:
    """The clock of at least nine of ten states."""
    clocks = Counter(one.moment.clock for one in found if one.moment)
    return next((clock for clock, count in clocks.items() if count >= 0.9 * len(found)), None)


def _number_boots(found: Sequence[Sample], clock: Clock | None) -> Iterator[HeapState]:
    """The states with the boot that each belongs to.

    A boot ends where the program says so, where the time falls, or where the least ever free rises.
    """
    said, boot, added = found[0].boot, 0, 0.0
    last: float | None = None
    least: int | None = None
    for one in found:
        is_said = one.boot != said
        if is_said and clock is Clock.UPTIME:  # nothing is known of the time between two starts
            last, added = None, 0.0
        seconds = one.moment.seconds + added if one.moment and one.moment.clock is clock else None
        if seconds is not None and last is not None and seconds < last:
            lost = _find_lost(clock, last - added, seconds - added)
            added, seconds = added + lost, seconds + lost
        fell = seconds is not None and last is not None and seconds < last
        values = {field: int(value) for field, value in one.values.items()}
        before, least = least, _find_least(values)
        boot += is_said or fell or (least is not None and before is not None and least > before)
        said, last = one.boot, last if seconds is None else seconds
        yield HeapState(
            one.line,
            boot,
            seconds,
            values[Field.FREE],
            least,
            values.get(Field.LARGEST),
            values.get(Field.FAILED) or None,
            values.get(Field.FAILURES),
        )


def _find_lost(clock: Clock | None, last: float, seconds: float) -> float:
    """What a counter loses where it begins again by itself; 0 where it does not."""
    if clock is Clock.DAY and last - seconds > _DAY / 2:
        return _DAY
    return _WRAP if clock is Clock.UPTIME and _WRAP * 0.99 < last <= _WRAP else 0.0


def _find_least(values: dict[Field, int]) -> int | None:
    """The least ever free: as printed, or what the most ever allocated leaves."""
    allocated, most = values.get(Field.ALLOCATED), values.get(Field.MOST)
    if Field.LEAST in values or allocated is None or most is None or most < allocated:
        return values.get(Field.LEAST)
    return max(0, values[Field.FREE] + allocated - most)
