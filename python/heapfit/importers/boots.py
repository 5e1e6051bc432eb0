# SPDX-License-Identifier: Apache-2.0
"""The boots of a log of calls, or of the recorder's frames: each is a recording of its own.

What the device says when it starts, or a clock that falls, cuts lines (log_lines.py); frames are
cut where the device began another recording.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, repeat
from pathlib import Path
from typing import Any

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.grouping import group
from heapfit.importers.formats import FRAMES, LOG, Format
from heapfit.importers.log_lines import (
    BEHIND,
    LineReader,
    find_devices,
    may_tell_start,
    order_dates,
)
from heapfit.importers.own_lines import count_unpaired
from heapfit.importers.source import OwnLines, read_calls
from heapfit.importers.stream import read_chunks

_LARGEST = 64 << 20  # bytes of a file that is looked at for boots
_MOST_LINES = 20_000  # of more only those are looked at that tell a start
# Lines without partners that lost ones explain, or one in so many; times fewer of devices apart.
_ODD, _OFTEN, _FEWER = 3, 40, 4


def cut_boots(
    source: Path, form: Format | None, folder: Path, own: OwnLines | None = None
) -> list[Path]:
    """The boots that have calls, each as a file in `folder`; the source itself if it has one."""
    if form not in (LOG, FRAMES) or not source.is_file() or source.stat().st_size > _LARGEST:
        return [source]
    cut = _cut_frames if form is FRAMES else partial(_cut_lines, own=own)
    whole = [one for one in cut(b"".join(read_chunks(source))) if read_calls(one, own)]
    if len(whole) < 2:
        return [source]
    files = [folder / f"{source.stem}-boot{i}{source.suffix}" for i in range(1, len(whole) + 1)]
    for file, piece in zip(files, whole, strict=True):
        file.write_bytes(piece)
    return files


def find_boot(
    files: list[Path], own: OwnLines | None = None, number: int | None = None
) -> tuple[Path, str]:
    """The boot of this number from 1, or the one with the most events, and a sentence on others.

    It is "" if there is one alone. HeapfitError if there is none of this number.
    """
    if number is not None and not 0 < number <= len(files):
        raise HeapfitError(f"--boot {number}: boots with calls in the log: {len(files)}")
    if len(files) == 1:
        return files[0], ""
    counts = [boot.events for one in files if (boot := read_calls(one.read_bytes(), own))]
    taken = number or counts.index(max(counts)) + 1
    return files[taken - 1], (
        f"The log has {len(files)} boots: this is number {taken}{', the longest' * (not number)}; "
        f"{sum(counts) - counts[taken - 1]:,} events of others are left out (heapfit import --boot "
        "takes another, fit reads all)."
    )


def read_frames(log: Path) -> tuple[_engine.FrameTrace, dict[str, Any]]:
    """The first boot of a log of frames with the places of blocks, and its columns.

    HeapfitError if the log cannot be read.
    """
    reader = _engine.FrameTrace(drop_unknown=True)
    reader.keep_addresses()
    for chunk in read_chunks(log):
        reader.feed(chunk)
    reader.finish()
    return reader, reader.take()


def _cut_lines(content: bytes, own: OwnLines | None) -> Iterator[bytes]:
    """The lines of each boot of each device."""
    lines = content.splitlines(keepends=True)
    texts: Sequence[str] = [line.decode("utf-8", "replace").rstrip() for line in lines]
    starts = [*map(may_tell_start, lines if may_tell_start(content) else repeat(b"", len(lines)))]
    if len(lines) <= _MOST_LINES:  # a clock that a field tells is read, and none is guessed
        times = getattr(own and read_calls(content, own), "times", {})
        texts = (
            [
                f"[{times[i] / 1000} ms] call" if i in times else text * is_start
                for i, (text, is_start) in enumerate(zip(texts, starts, strict=True), 1)
            ]
            if times
            else order_dates(texts)[0]
        )
    known = [*zip(lines, texts, starts, strict=True)]
    readers, pieces = defaultdict[str, LineReader](LineReader), dict[tuple[str, int], list[bytes]]()
    for number, ((line, text, is_start), devices) in enumerate(
        zip(known, _find_devices(known, own), strict=True), 1
    ):
        for device in devices:
            reader = readers[device]
            if is_start or len(lines) <= _MOST_LINES:
                reader.read(number, text, texts[number : number + BEHIND])
            pieces.setdefault((device, reader.boot), []).append(line)
    yield from map(b"".join, pieces.values())


def _find_devices(lines: Sequence[tuple[bytes, str, bool]], own: OwnLines | None) -> list[set[str]]:
    """The devices that each line is of: tags in brackets, too, where it explains addresses.

    One device gives no address twice and frees none of another; lines that are lost may look so.
    `lines`: each with its text, and whether it may tell a start.
    """
    raws, texts, starts = zip(*lines, strict=True)
    known, tagged = find_devices(texts), find_devices(texts, None)
    named = [*zip(accumulate(starts), tagged, raws, strict=True)]
    together, apart = (
        sum(sum(count_unpaired(read_calls(b"".join(part), own))) for part in group(keyed).values())
        for keyed in (
            ((start, line) for start, _, line in named),
            (((start, one), line) for start, among, line in named for one in among),
        )
    )
    return tagged if together > min(_ODD, len(lines) / _OFTEN) + _FEWER * apart else known


def _cut_frames(content: bytes) -> Iterator[bytes]:
    while content:
        reader = _engine.FrameTrace(True)
        reader.feed(content)
        end = int(reader.damage.split()[1].rstrip(":")) if reader.damage else len(content)
        yield content[:end]
        content = content[end:]
