# SPDX-License-Identifier: Apache-2.0
"""The formats that can be imported, listed once, and how a file's format is detected."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.fact_files import read_facts
from heapfit.importers import networks
from heapfit.importers.own_lines import suggest_own_lines
from heapfit.importers.packets import PacketSource, is_packets
from heapfit.importers.source import ImportOptions, OwnLines, Reader, ReaderSource, Source
from heapfit.importers.stream import HEAD, ByteStream

STORED_MAGIC = b"PAR1"  # of a stored trace, which needs no import

SNAPSHOT = "heapfit snapshot"  # begins a file that images/snapshot.py wrote
CORE_DUMP = rb"(?s)\A(\x7fELF.{12}(\x04\0|\0\x04)|ZE[\x01-\x0f])"  # Zephyr's own form, too
# Rows as in foreign.toml, of files that are known elsewhere, too.
_OWN = (
    {
        "rule": CORE_DUMP.decode(),
        "what": "a core dump, which has memory and no requests",
        "do": "heapfit import CORE --program FIRMWARE.elf lists the heap that lies in it",
    },
    {
        "rule": rf'\A\{{"{SNAPSHOT}"',
        "what": "a snapshot of a heap at one moment, from which no size follows",
        "do": "heapfit profile shows it; {program}",
    },
)
# The names of a CSV's columns, which are not those of a trace.
_COLUMN_NAMES = re.compile(rb'"?[A-Za-z_]\w*"?([,;] ?"?[A-Za-z_][\w ]*"?)+\r?\n')
_OTHER_COLUMNS = ", a table whose columns are not op, object, size, or lower, upper, size"
# Lines of a log of free bytes, of which most lines are; in a log of calls at most half are frees.
_FREE_BYTES = re.compile(
    rb"(?<![a-z])free(?![a-z])[^\n]{0,40}?\b[0-9][0-9,]{2,}|(?<![0-9,])[0-9,]{3,}[^\n]{0,20}\bfree\b",
    re.IGNORECASE,
)
_MOST = 2 / 3


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file: how it is detected, and the source that reads it."""

    name: str
    title: str
    matches: Callable[[bytes], object]  # true by the first bytes of the content
    open: Callable[[ByteStream, ImportOptions], Source]


def _first_line(head: bytes) -> bytes:
    """The first line that is neither blank nor a comment."""
    lines = (line for line in head.split(b"\n") if line.strip() and not line.startswith(b"#"))
    return next(lines, b"").removesuffix(b"\r")


def _begins_with(line: bytes, start: bytes = rb"(?!)") -> Callable[[bytes], bool]:
    """True if a head's first line is like this, or the head begins so."""
    return lambda head: bool(re.match(start, head) or re.match(line, _first_line(head)))


def is_lifetimes(head: bytes) -> bool:
    """True for a table of buffers, as minimalloc has it."""
    line = _first_line(head).replace(b'"', b"").lower()
    columns = {name.strip() for name in re.split(rb"[,;\t]", line)}
    begins, ends = columns & {b"lower", b"begin", b"start"}, columns & {b"upper", b"end"}
    return bool(begins and ends) and b"size" in columns


def read_by(
    reader: Callable[[bool], Reader], *, is_late: bool = False
) -> Callable[[ByteStream, ImportOptions], Source]:
    """Opens a file for a reader, which may drop events of unknown objects or raise an error.

    A recorder or heaptrack may be attached late, a log may begin late, and lines or frames may be
    lost: their events of unknown objects are always dropped, and counted.
    """
    return lambda stream, options: ReaderSource(reader(is_late or options.drop_unknown), stream)


def _read_log(stream: ByteStream, options: ImportOptions) -> Source:
    if options.own_lines is None:
        return read_by(_engine.HeapLogTrace, is_late=True)(stream, options)
    return ReaderSource(options.own_lines.open(), stream)


PACKETS = "packets"
FRAMES = Format(
    "frames",
    "log with frames of the recorder for targets (recorder/target/FRAMES.md)",
    _engine.has_frame,
    read_by(_engine.FrameTrace, is_late=True),
)
LOG = Format("log", "log or list of a heap in one of 15 forms", _engine.has_heap_log, _read_log)
_NETWORKS = (
    ("tflm", "memory plan printed by TFLite Micro"),
    ("tflite", "TFLite model"),
    ("onnx", "ONNX model"),
)
KNOWN_LIFETIMES = ("minimalloc", *(name for name, _ in _NETWORKS))  # known before they begin
FORMATS = (
    Format(
        "wire",
        "recording by heapfit record (recorder/WIRE.md)",
        lambda head: head.startswith(b"hfitwire"),
        read_by(_engine.WireTrace, is_late=True),
    ),
    *(
        Format(name, title, matches, networks.read_network_by(read))
        for (name, title), (matches, read) in zip(_NETWORKS, networks.NETWORKS, strict=True)
    ),
    Format(PACKETS, "pcap, pcapng, snoop or ERF", is_packets, PacketSource),
    FRAMES,
    Format(
        "heaptrack",
        "file of heaptrack, raw or not",
        _begins_with(rb"v [0-9a-f]+( [0-9a-f]+)?$"),
        read_by(_engine.HeaptrackTrace, is_late=True),
    ),
    Format(
        "text",
        "text form (a c m r f lines)",
        _begins_with(rb"[ \t]*[acmrf][ \t]+[0-9]", start=rb"#[ \t]*heap-events[ \t]"),
        read_by(_engine.TextTrace),
    ),
    Format(
        "rep",
        "CS:APP malloc-lab .rep",
        _begins_with(rb"[ \t]*[0-9]+[ \t]*$"),
        read_by(_engine.RepTrace),
    ),
    Format(
        "csv",
        "CSV with a header line naming op, object, size, ...",
        lambda head: _engine.names_calls(_first_line(head)),
        read_by(_engine.CsvTrace),
    ),
    Format(
        "minimalloc",
        "CSV with columns lower, upper, size (alignment, gaps)",
        is_lifetimes,
        read_by(_engine.LifetimeTrace),
    ),
    LOG,
)


def format_of(stream: ByteStream, own_lines: OwnLines | None = None) -> Format:
    """The format of a file's content; HeapfitError lists the known formats if it is none.

    Long text may be a log whose first event lies beyond what is looked at here.
    """
    if not stream.head:
        raise HeapfitError(f"{stream.path}: is empty (record again, or check the path)")
    if own_lines is not None:
        return LOG
    for known in FORMATS:
        if known.matches(stream.head):
            return known
    _reject_foreign(stream)
    if len(stream.head) >= HEAD and b"\0" not in stream.head:
        return LOG
    calls = suggest_own_lines(stream.path, stream.head)
    if "{address}" not in "".join(calls):  # calls may tell what is free, too
        _reject_free_bytes(stream)
    table = _OTHER_COLUMNS if _COLUMN_NAMES.match(stream.head) else ""
    raise HeapfitError(
        f"{stream.path}: its format is unknown{table} (docs/import-formats.md lists what is read; "
        "other logs are by `heapfit import --line`, and `heapfit record` records a program)",
        calls,
    )


def find_format(path: Path, own_lines: OwnLines | None = None) -> Format | None:
    """The format of a file; None of a stored trace, of no file, and of what is not known."""
    if not path.is_file():
        return None
    with suppress(HeapfitError), ByteStream(path) as stream:
        return None if stream.head.startswith(STORED_MAGIC) else format_of(stream, own_lines)
    return None


def _reject_foreign(stream: ByteStream) -> None:
    what, do = find_foreign(stream.head)
    if what:
        raise HeapfitError(f"{stream.path}: is {what}: no heap can be replayed from it ({do})")


def find_foreign(head: bytes) -> tuple[str, str]:
    """What a file of another tool is, and what to do with it; "" if nobody knows."""
    return next(((what, do) for rule, what, do in _read_foreign() if rule.search(head)), ("", ""))


@cache
def _read_foreign() -> tuple[tuple[re.Pattern[bytes], str, str], ...]:
    """Of each foreign kind how a file begins, what it is, and what to do with it."""
    facts = read_facts(__file__, "foreign.toml")
    return tuple(
        (
            re.compile(one["rule"].encode(), re.MULTILINE),
            one["what"],
            one.get("do", "{program}").format(**facts["advice"]),
        )
        for one in (*_OWN, *facts["file"])
    )


def _reject_free_bytes(stream: ByteStream) -> None:
    lines = [line for line in stream.head.splitlines() if line.strip() and line[:1] != b"#"]
    if sum(bool(_FREE_BYTES.search(line)) for line in lines) > _MOST * len(lines):
        raise HeapfitError(
            f"{stream.path}: is a log of free bytes, without requests (heapfit forecast "
            f"{shlex.quote(str(stream.path))} says whether memory falls)"
        )
