# SPDX-License-Identifier: Apache-2.0
"""The formats that can be imported, listed once, and how a file's format is detected."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.importers import networks
from heapfit.importers.own_lines import suggest_own_lines
from heapfit.importers.packets import PacketSource, is_packets
from heapfit.importers.source import ImportOptions, OwnLines, Reader, ReaderSource, Source
from heapfit.importers.stream import HEAD, ByteStream

STORED_MAGIC = b"PAR1"  # of a stored trace, which needs no import

_TEXT_LINE = re.compile(rb"[ \t]*[acmrf][ \t]+[0-9]")
_TEXT_HEADER = re.compile(rb"#[ \t]*heap-events[ \t]")
_HEAPTRACK_LINE = re.compile(rb"v [0-9a-f]+( [0-9a-f]+)?$")
# Profiles that people take for recordings.
_FOREIGN = (
    (b"heap_v2/", "a heap profile of jemalloc, which has samples"),
    (b"heap profile:", "a heap profile of tcmalloc, which has sums"),
    (b"desc: --", "a file of valgrind's massif, which has snapshots"),
    (b'{"dhatFileVersion"', "a file of valgrind's DHAT, which has sums"),
)
# Lines of a log of free bytes, of which most lines are; in a log of calls at most half are frees.
_FREE_BYTES = re.compile(
    rb"(?<![a-z])free(?![a-z])[^\n]{0,40}?\b[0-9][0-9,]{2,}|[0-9,]{3,}[^\n]{0,20}\bfree\b",
    re.IGNORECASE,
)
_MOST = 2 / 3
_REP_LINE = re.compile(rb"[ \t]*[0-9]+[ \t]*$")


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file: how it is detected, and the source that reads it."""

    name: str
    title: str
    matches: Callable[[bytes], bool]  # by the first bytes of the content
    open: Callable[[ByteStream, ImportOptions], Source]


def _first_line(head: bytes) -> bytes:
    """The first line that is neither blank nor a comment."""
    lines = (line for line in head.split(b"\n") if line.strip() and not line.startswith(b"#"))
    return next(lines, b"").removesuffix(b"\r")


def _is_text(head: bytes) -> bool:
    return bool(_TEXT_HEADER.match(head) or _TEXT_LINE.match(_first_line(head)))


def _begins_with(line: re.Pattern[bytes]) -> Callable[[bytes], bool]:
    return lambda head: bool(line.match(_first_line(head)))


def _columns(head: bytes) -> set[bytes]:
    """The names in the line that names the columns of a table, if it is one."""
    line = _first_line(head).replace(b'"', b"").lower()
    return {name.strip() for name in re.split(rb"[,;\t]", line)}


def _is_lifetimes(head: bytes) -> bool:
    columns = _columns(head)
    begins, ends = columns & {b"lower", b"begin", b"start"}, columns & {b"upper", b"end"}
    return bool(begins and ends) and b"size" in columns


def read_by(
    reader: Callable[[bool], Reader], *, is_late: bool = False
) -> Callable[[ByteStream, ImportOptions], Source]:
    """Opens a file for a reader, which may drop events of unknown objects or raise an error.

    A recorder or heaptrack may be attached late, a log may begin late, and lines or frames may be
    lost: their events of unknown objects are always dropped, and counted.
    """
    return lambda stream, options: ReaderSource(
        reader(is_late or options.drop_unknown), stream, options
    )


def _read_log(stream: ByteStream, options: ImportOptions) -> Source:
    own = options.own_lines
    if own is None:
        return read_by(_engine.HeapLogTrace, is_late=True)(stream, options)
    reader = _engine.HeapLogTrace(own.line, own.free, own.resize, own.frees_newest)
    return ReaderSource(reader, stream, options)


PACKETS = "packets"
FRAMES = Format(
    "frames",
    "log with frames of the recorder for targets (recorder/target/FRAMES.md)",
    _engine.has_frame,
    read_by(_engine.FrameTrace, is_late=True),
)
LOG = Format("log", "log or list of a heap in one of 15 forms", _engine.has_heap_log, _read_log)
KNOWN_LIFETIMES = ("minimalloc", "tflm", "tflite", "onnx")  # known before they begin
FORMATS = (
    Format(
        "wire",
        "recording by heapfit record (recorder/WIRE.md)",
        lambda head: head.startswith(b"hfitwire"),
        read_by(_engine.WireTrace, is_late=True),
    ),
    Format("tflite", "TFLite model", networks.is_tflite, networks.read_by(networks.read_tflite)),
    Format(PACKETS, "pcap, pcapng, snoop, ERF or a packet table", is_packets, PacketSource),
    FRAMES,
    Format(
        "heaptrack",
        "file of heaptrack, raw or not",
        _begins_with(_HEAPTRACK_LINE),
        read_by(_engine.HeaptrackTrace, is_late=True),
    ),
    Format("text", "text form (a c m r f lines)", _is_text, read_by(_engine.TextTrace)),
    Format("rep", "CS:APP malloc-lab .rep", _begins_with(_REP_LINE), read_by(_engine.RepTrace)),
    Format(
        "csv",
        "CSV with a header line naming op, object, size, ...",
        lambda head: {b"op", b"object"} <= _columns(head),
        read_by(_engine.CsvTrace),
    ),
    Format(
        "minimalloc",
        "CSV with columns lower, upper, size (alignment, gaps)",
        _is_lifetimes,
        read_by(_engine.LifetimeTrace),
    ),
    Format(
        "tflm",
        "memory plan printed by TFLite Micro",
        networks.is_planner_dump,
        networks.read_by(networks.read_planner_dump),
    ),
    Format("onnx", "ONNX model", networks.is_onnx, networks.read_by(networks.read_onnx)),
    LOG,
)


def format_of(stream: ByteStream, own_lines: OwnLines | None = None) -> Format:
    """The format of a file's content; HeapfitError lists the known formats if it is none.

    Long text may be a log whose first event lies beyond what is looked at here.
    """
    if not stream.head:
        raise HeapfitError(f"{stream.path}: is empty")
    if own_lines is not None:
        return LOG
    for known in FORMATS:
        if known.matches(stream.head):
            return known
    _reject_foreign(stream)
    if len(stream.head) >= HEAD and b"\0" not in stream.head:
        return LOG
    _reject_free_bytes(stream)
    names = ", ".join(known.name for known in FORMATS)
    raise HeapfitError(
        f"{stream.path}: its format is unknown (known: {names}; other logs are read by `heapfit "
        "import --line`, and `heapfit record` records a program)",
        suggest_own_lines(stream.path, stream.head),
    )


def _reject_foreign(stream: ByteStream) -> None:
    for magic, foreign in _FOREIGN:
        if stream.head.startswith(magic):
            raise HeapfitError(
                f"{stream.path}: is {foreign}, not events: no heap can be replayed from it (record "
                "the program: heapfit record -- PROGRAM)"
            )


def _reject_free_bytes(stream: ByteStream) -> None:
    lines = [line for line in stream.head.splitlines() if line.strip() and line[:1] != b"#"]
    if sum(bool(_FREE_BYTES.search(line)) for line in lines) > _MOST * len(lines):
        raise HeapfitError(
            f"{stream.path}: is a log of free bytes, without requests (heapfit forecast "
            f"{shlex.quote(str(stream.path))} says whether memory falls)"
        )
