# SPDX-License-Identifier: Apache-2.0
"""A log as the states of its heaps, whatever form it is written in.

    lines --> samples --> states of each heap --> what is free, by all that the log says of it

A state begins with the first line that repeats a figure of the one before: what firmware prints of
one moment may take one line or several. Of several heaps the internal ones come first.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, pairwise
from math import inf, isnan
from operator import attrgetter
from pathlib import Path

import numpy as np

from heapfit.errors import HeapfitError
from heapfit.forecast.log.dump import read_dump
from heapfit.forecast.log.figures import UnclearFigureError, settle
from heapfit.forecast.log.forms import Form, Printed, make_forms, read_bare, read_lines_by
from heapfit.forecast.log.heaps import find_setting
from heapfit.forecast.log.states import Clock, Field, HeapState, Sample, TelemetryLog
from heapfit.forecast.log.words import LONGEST_NAME, MAIN, SIGN, find_memory, read_figures, spell
from heapfit.grouping import group
from heapfit.importers.formats import find_foreign
from heapfit.importers.log_lines import (
    BEHIND,
    LONGEST_LINE,
    LineReader,
    LogLine,
    find_devices,
    order_dates,
)
from heapfit.importers.own_lines import suggest_own_lines
from heapfit.importers.stream import ByteStream

MOST_STATES = 2_000_000
_MOST_BYTES = 1 << 30
_STDIN = Path("/dev/stdin")
_CLOCKS = (Clock.DATE, Clock.YEAR, Clock.UPTIME, Clock.DAY)  # the better one first
_SET_BACK = 2  # times that a clock may be set back in a log
_NEAR = 5  # lines between a failed request and the state that is printed of it
_FEW, _APART = 3, 4.0  # steps between tags; times as far as with time: they are of devices
_MOST_HEAPS = 16  # of one device; more that differ in digits are one
_MOST_JUDGED = 1024  # heaps of all devices
_TORN = 20  # times as many states has another heap, of whose name a cut one is
_JUMP = 20 * 365 * 86_400.0  # seconds that no device is off and no log leaves out
_FIRST, _FAR = 2, 5.0  # steps of a boot, or a tenth; times as long as most: its clock is set there
_ZONE, _FRESH = 1800.0, 60.0  # seconds: by which zones differ; of a clock that has just begun
_IN_RHYTHM = 0.02  # of a step: gaps are whole numbers of steps
_LOOKED_AT = 5_000  # lines, by which a stack is known


_NOTHING = (
    "none of its lines, {:,} in all, shows free bytes (say what they look like: --line "
    "'free {{free}} largest {{largest}}')"
)
# Why figures that stand alone give no date.
_ALONE = (
    (
        Field.LEAST,
        "the least ever free falls with every burst, so that alone gives no date (print the free "
        "bytes, too)",
    ),
    (
        Field.SHARE,
        "per cent alone give no date, as they are too coarse (print the free bytes, or used bytes "
        "and the heap's size)",
    ),
)


def read_log(path: Path, lines: str | Sequence[str] | None = None) -> TelemetryLog:
    """The states of the first heap that a log shows, with those of others; HeapfitError if none.

    `lines`: what its lines look like, such as 'free {free} largest {largest}'; None: found by what
    firmware, CSV, JSON lines and Prometheus text look like.
    """
    name = "standard input" if path == Path("-") else str(path)
    content, damage = _read_content(path, name)
    texts = [
        (number, line.decode("utf-8", "replace"))
        for number, line in enumerate(content.splitlines(), 1)
        if len(line) <= LONGEST_LINE
    ]
    if not any(line.strip() for _, line in texts):
        why = (
            "is empty"
            if len(content) <= LONGEST_LINE
            else f"has no line of at most {LONGEST_LINE:,} B"
        )
        raise HeapfitError(f"{name}: {why} (give a log of free bytes)")
    ordered, supposed = order_dates([text for _, text in texts])
    is_hexadecimal = lines is None and any(
        re.search("(?i)[a-f]", digits)
        for text in ordered
        for _, digits in SIGN["padded"].findall(text)
    )
    texts = [
        (number, SIGN["padded"].sub(r"\g<1>0x\g<2>", text) if is_hexadecimal else text)
        for (number, _), text in zip(texts, ordered, strict=True)
    ]
    log = read_dump(name, texts) if lines is None else None
    if log is None:
        given = [lines] if isinstance(lines, str) else lines or ()
        forms = (("lines as given", read_lines_by(given)),) if given else make_forms()
        log = _read_lines(name, texts, forms)
    hexadecimal = "figures padded with zeros are hexadecimal, by their letters" * is_hexadecimal
    return replace(log, damage=damage, notes=[*filter(None, (supposed, hexadecimal)), *log.notes])


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
        what, do = find_foreign(bytes(content[: 1 << 16]))
        raise HeapfitError(f"{name}: is {what or 'a binary file'} ({do or 'give a log as text'})")
    return bytes(content), stream.damage


def _read_lines(
    name: str, lines: Sequence[tuple[int, str]], forms: Sequence[tuple[str, Form]]
) -> TelemetryLog:
    """The log of the first heap, with the others."""
    samples, form = _read_samples(lines, forms)
    head = "\n".join(text for _, text in lines[:_LOOKED_AT])
    tags, is_turned = _find_devices(dict(lines), samples), _is_newest_first(samples)
    if tags or is_turned:
        turned = zip(lines, lines[::-1] if is_turned else lines, strict=True)
        texts = [(number, text) for (number, _), (_, text) in turned]
        samples, form = _read_samples(texts, forms, tags)
    if not samples and len(forms) > 1:
        samples, form = _read_samples(lines, (("bare numbers", read_bare),))
    joined = _join(samples)
    found = [one for one in joined if one.values.keys() & {*MAIN}]
    usual = [one for one in found if _find_held(one) is None] or found
    states = usual or _read_alone(name, joined)
    said = read_figures(spell(dict(lines)[samples[0].line])) if samples and len(forms) == 1 else ()
    heaps, notes = _leave_torn(_split_heaps(states))
    told = {
        "only the largest block is printed: it stands for what is free": not usual,
        "its dates fall, so its lines are read, and counted, from the end": is_turned,
        f"{', '.join(sorted(tags))} in brackets are taken as devices": bool(tags),
        "words are taken as 4 B, those of 32 bit": bool(SIGN["words_free"].search(head)),
        "its lines tell of other free bytes, too (one more --line for each heap reads them)": sum(
            one.field is Field.FREE for one in said
        )
        > sum(one.line == samples[0].line for one in samples),
    }
    notes += [note for note, holds in told.items() if holds]
    if len(states) > MOST_STATES:
        raise HeapfitError(f"{name}: more than {MOST_STATES:,} states (give every tenth)")
    logs, doubts = [], []
    for heap, found in heaps:
        try:
            logs.append(_make_log(form, heap, found, head))
        except UnclearFigureError as doubt:
            doubts += [doubt] * (len(found) > 1 or not logs)  # of one line others say enough
    if not logs:
        calls = () if doubts else suggest_own_lines(Path(name), head.encode())
        raise HeapfitError(f"{name}: {doubts[0] if doubts else _NOTHING.format(len(lines))}", calls)
    notes += [f"another heap is left out: {doubt}" for doubt in doubts[:1]]
    notes += [f"{len(logs) - _MOST_JUDGED:,} heaps are left out"] * (len(logs) > _MOST_JUDGED)
    first, *others = logs[:_MOST_JUDGED]
    return replace(
        first,
        other_heaps=others,
        notes=[*first.notes, *notes],
        holders=_make_holders(first, joined if usual is not found else ()),
    )


def _find_held(one: Sample) -> float | None:
    """The bytes that a row tells a task or a pool to hold, of a heap that other lines tell of."""
    known = one.values.keys()
    if (
        not (one.is_whole and one.names and one.memory)
        or find_memory(one.memory)
        or known & {Field.FREE, Field.AVAILABLE, Field.TOTAL}
    ):
        return None
    # A bare "heap" that a peak stands beside is what is used.
    return one.values.get(
        Field.ALLOCATED, one.values.get(Field.HEAP) if Field.MOST in known else None
    )


def _make_holders(heap: TelemetryLog, found: Sequence[Sample]) -> list[TelemetryLog]:
    """What each task leaves of a heap."""
    rows = [
        (one, used)
        for one in found
        if (used := _find_held(one)) is not None and used >= 0  # NaN is no number
    ]
    size = int(max((used for _, used in rows), default=0)) + max(one.free for one in heap.states)
    for one, used in rows:
        one.values = {Field.FREE: size - used}
    return [
        replace(_make_log(heap.form, name, states, ""), region=size)
        for name, states in group((one.memory, one) for one, _ in rows).items()
    ]


def _is_newest_first(samples: Sequence[Sample]) -> bool:
    """True if dates never rise, and fall more than a clock that is set once or twice."""
    dates = [one.moments.get(Clock.DATE, one.moments.get(Clock.YEAR, -inf)) for one in samples]
    return dates == sorted(dates, reverse=True) and len({*dates}) > _SET_BACK + 1


def _rank(heap: tuple[str, Sequence[Sample]]) -> tuple[bool, bool, bool, int]:
    """Internal memory first; external, packets and what is never free last; else the fullest."""
    name, found = heap
    return (
        all(one.values.get(Field.FREE) == 0 for one in found),
        find_memory(name) != "internal",
        find_memory(name) in ("PSRAM", "packets"),
        -sum(len(one.values) for one in found),
    )


def _read_alone(name: str, found: Sequence[Sample]) -> list[Sample]:
    """The states that print the largest block and nothing else of what is free.

    HeapfitError where another figure alone is printed, which gives no date.
    """
    blocks = [one for one in found if Field.LARGEST in one.values]
    for one in blocks:
        one.values[Field.FREE] = one.values[Field.LARGEST]
    for field, why in _ALONE if not blocks else ():
        if any(field in one.values for one in found):
            raise HeapfitError(f"{name}: {why}")
    return blocks


def _find_devices(texts: Mapping[int, str], samples: Sequence[Sample]) -> set[str]:
    """The tags that are devices: between them figures step further than in each with time."""
    named = [
        (min(tag), value)
        for one, tag in zip(
            samples, find_devices([texts[one.line] for one in samples], None), strict=True
        )
        if one.memory == samples[0].memory
        for value in [one.values[field] for field in MAIN if field in one.values][:1]
    ]
    owns = [np.abs(np.diff(values)) for values in group(named).values()]
    across = [abs(a[1] - b[1]) for a, b in pairwise(named) if a[0] != b[0]]
    is_apart = len(across) > _FEW and np.median(across) > _APART * np.median(np.concatenate(owns))
    tags = {tag for tag, _ in named}
    return tags if is_apart and "" not in tags and len(tags) <= _MOST_HEAPS else set()


def _read_samples(
    lines: Sequence[tuple[int, str]],
    forms: Sequence[tuple[str, Form]],
    tags: Collection[str] = (),
) -> tuple[list[Sample], str]:
    """The samples of all lines, and the form of most of them; `tags` are of devices."""
    readers, printed, found, counts, above = (
        defaultdict[str, LineReader](LineReader),
        defaultdict[str, Printed](Printed),  # whose headings are each device's
        list[Sample](),
        Counter[str](),
        dict[str, LogLine](),  # the last one with a time, of each device
    )
    for i, (number, text), device in (
        (i, line, device)
        for i, (line, devices) in enumerate(
            zip(lines, find_devices([text for _, text in lines], tags), strict=True), 1
        )
        for device in devices
    ):
        reader = readers[device]
        line = reader.read(number, spell(text), [behind for _, behind in lines[i : i + BEHIND]])
        if line.moments or line.is_start:
            above[device] = line
        for name, read in forms:
            if samples := (printed[device] if isinstance(read, Printed) else read)(line):
                counts[name] += len(samples)
                break
        else:
            continue
        for one in samples:
            # A row may have its own time, of its own device.
            own = readers[f"{device}/{one.memory}"] if one.moments is not line.moments else reader
            if own is not reader:
                one.moments = own.advance(number, one.moments)
            one.line, one.boot, one.program = number, max(reader.boot, own.boot), reader.program
            one.above = above[device].moments if device in above else {}
            one.memory = " ".join(filter(None, (device, one.memory)))
        found += samples
    return found, counts.most_common(1)[0][0] if counts else ""


def _join(samples: Sequence[Sample]) -> list[Sample]:
    """The samples of each moment together, and each failed request with a state near it."""
    states: list[Sample] = []
    last: dict[str, Sample] = {}
    failures = [one for one in samples if one.values.keys() == {Field.FAILED}]
    for sample in (one for one in samples if one.values.keys() != {Field.FAILED}):
        state = last.get(sample.memory)
        if (
            state is None
            or (state.is_whole or sample.is_whole)
            or state.boot != sample.boot
            or sample.values.keys() & state.values.keys()
        ):
            states.append(sample)
            last[sample.memory] = sample
            continue
        state.values |= sample.values
        state.names |= sample.names
        state.moments = state.moments or sample.moments
    for one in failures:
        at = bisect_left(states, one.line, key=attrgetter("line"))
        beside = states[max(0, at - _NEAR) : at + _NEAR]
        beside.sort(key=partial(_find_distance, one), reverse=True)
        nearest = {state.memory: state for state in beside}.values()
        for state in sorted(nearest, key=partial(_rank_distance, one))[:1]:
            state.values[Field.FAILED] = max(
                one.values[Field.FAILED], state.values.get(Field.FAILED, 0.0)
            )
    return states


def _find_distance(failure: Sample, state: Sample) -> tuple[bool, int]:
    """How far a state is from a failure: one that is printed of it lies a few lines behind."""
    lines = state.line - failure.line
    return not (state.boot == failure.boot and 0 <= lines <= _NEAR), abs(lines)


def _rank_distance(failure: Sample, state: Sample) -> tuple[bool, bool, bool]:
    """How far a failed request is from a state: of another memory, that had room, of PSRAM."""
    known, size = state.values, failure.values[Field.FAILED]
    is_external, is_named = (find_memory(one.memory) == "PSRAM" for one in (state, failure))
    has_room = known.get(Field.LARGEST, known.get(Field.FREE, 0.0)) >= size
    return bool(failure.memory) and is_named != is_external, has_room, is_external


def _split_heaps(states: Sequence[Sample]) -> Mapping[str, list[Sample]]:
    """The states of each heap by its name: its memory's, and the words before its free bytes.

    Digits are part of a name where they are of a word, or where as many names come in turn.
    """
    words = [_name_words(one) for one in states]
    numbers = group(
        (SIGN["digits"].sub("#", one), tuple(SIGN["digits"].findall(one))) for one in words
    )
    taken = {shape for shape, found in numbers.items() if _come_in_turn(found)}
    names = [
        one if SIGN["digits"].sub("#", one) in taken else SIGN["digits"].sub("", one)
        for one in words
    ]
    digits = r"\d+" if len({*names}) > _MOST_HEAPS else r"(?!)"
    return group(
        (_name_heap(re.sub(digits, "", name), one), one)
        for name, one in zip(names, states, strict=True)
    )


def _leave_torn(
    heaps: Mapping[str, list[Sample]],
) -> tuple[list[tuple[str, list[Sample]]], list[str]]:
    """The heaps in order, but those of cut lines; a note of these.

    A name of few states that begins another heap's name, or begins as it, is of cut lines.
    """
    plain = {name: SIGN["figure_words"].sub("", name).strip() for name in heaps}
    torn = {
        name
        for other in [*heaps][:_MOST_HEAPS]
        for name, found in heaps.items()
        if plain[name] and plain[other] and _TORN * len(found) < len(heaps[other])
        if plain[other].startswith(plain[name]) or plain[name].startswith(plain[other])
    }
    return sorted((one for one in heaps.items() if one[0] not in torn), key=_rank), [
        f"left out, as of lines that were cut: {', '.join(sorted(torn)[:_FEW])}"
    ] * bool(torn)


def _name_heap(name: str, state: Sample) -> str:
    """The name of a heap: its memory, where the words before a figure do not say it, and these."""
    memory = "" if state.memory.lower() in name.lower() else state.memory
    words = re.sub(r"[:=;#*\"'|,(){}\[\]]+", " ", f"{memory} {name}").split()
    return " ".join(dict.fromkeys(words))


def _name_words(sample: Sample) -> str:
    """The words before what is free."""
    whole = next((sample.names[field] for field in MAIN if field in sample.names), "")
    end = SIGN["end_of_name"].search(whole[-4 * LONGEST_NAME :])  # whatever the numbers in it are
    return " ".join((end[0] if end else "").strip(" \t,;|").split())


def _come_in_turn(found: Sequence[tuple[str, ...]]) -> bool:
    """True if few numbers come again and again, none of them twice in a row."""
    count = len({*found})
    return (
        1 < count <= _MOST_HEAPS
        and len(found) >= 2 * count
        and not any(a == b for a, b in pairwise(found))
    )


def _make_log(form: str, name: str, found: list[Sample], head: str) -> TelemetryLog:
    """The log of one heap; UnclearFigureError if it does not tell what is free.

    `head`: the file's first lines, by which a stack is known.
    """
    wrong = [(one, field) for one in found for field, value in one.values.items() if isnan(value)]
    for one, field in wrong:
        del one.values[field]
    found, region, notes = settle(found)
    name = " ".join(SIGN["figure_words"].sub("", name).split()).rstrip("- .,")
    for before, one in pairwise([Sample(), *found]):  # or that of a line above, for itself alone
        one.moments = one.moments or (one.above if one.above is not before.above else {})
    clock = next((one for one in _CLOCKS if _is_clock(found, one)), None)
    for near, one in (*pairwise(found), *pairwise(found[::-1])):  # a line may lack its time
        if clock in near.moments and near.boot == one.boot:
            one.moments.setdefault(clock, near.moments[clock])
    states = [*_make_states(found, _set_clock(found, clock))]
    known = find_setting(name, head, is_row=found[0].is_whole and bool(found[0].names))
    return TelemetryLog(form, states, clock, len(wrong), (), region, "", name, notes, *known)


def _is_clock(found: Sequence[Sample], clock: Clock) -> bool:
    """True if nine of ten states have a time, which is no number of a line, state or task."""
    timed = [one for one in found if clock in one.moments]
    steps = [
        (round(1000 * (after.moments[clock] - before.moments[clock])), after.line - before.line)
        for before, after in pairwise(timed if clock is Clock.UPTIME else ())
        if before.boot == after.boot
    ]
    falls = sum(step < 0 for step, _ in steps)
    is_number = steps and all(step in (0, 1, lines) for step, lines in steps)
    is_still = len(timed) > 2 and len({one.moments[clock] for one in timed}) == 1
    return len(timed) >= 0.9 * len(found) and not (
        is_number or is_still or falls > 0.1 * len(steps)
    )


def _set_clock(found: Sequence[Sample], clock: Clock | None) -> Iterator[float | None]:
    """The times by a clock that is set while it runs: as if it always were.

    A jump takes as long as most steps do. One is by twenty years, or back by a reset; or it is far
    above them among a boot's first states, where the clock began at a full half hour, by its zone,
    and the states come in another rhythm than before. What keeps the rhythm is a gap.
    """
    times = [one.moments[clock] for one in found if clock in one.moments]
    steps = np.diff(times)
    usual = float(np.median(np.abs(steps))) if len(steps) else 0.0
    is_jump, begin = np.abs(steps) > _JUMP, 0
    for _, boot in groupby((one for one in found if clock in one.moments), attrgetter("boot")):
        count = len([*boot])
        first = slice(begin, begin + min(count - 1, max(_FIRST, count // 10)))
        turns = np.abs(steps[first]) / (usual or inf)
        is_set = (turns > _FAR) & (np.abs(turns - np.round(turns)) > _IN_RHYTHM)
        if clock is not Clock.UPTIME and times[begin] % _ZONE < _FRESH and is_set.any():
            is_jump[first] |= turns > _FAR
        begin += count
    steps[is_jump] = usual
    moved = np.cumsum([0.0, *steps])
    last = int(np.argmax(times)) if times else 0
    told = iter((moved + (times[last] - moved[last])).tolist() if is_jump.any() else times)
    return (next(told) if clock in one.moments else None for one in found)


def _make_states(found: Sequence[Sample], times: Iterable[float | None]) -> Iterator[HeapState]:
    first = found[0].boot
    for one, seconds in zip(found, times, strict=True):
        free, least, largest, failed, failures = (
            None if value is None else int(value)
            for value in map(
                one.values.get,
                (Field.FREE, Field.LEAST, Field.LARGEST, Field.FAILED, Field.FAILURES),
            )
        )
        yield HeapState(
            one.line,
            one.boot - first,
            seconds,
            free or 0,
            least,
            largest,
            failed or None,
            failures,
            one.program,
        )
