# SPDX-License-Identifier: Apache-2.0
"""What the engine's readers of recordings make of bytes that are fed in pieces."""

from typing import Any

from heapfit import _engine


def read_by(reader: Any, content: bytes, step: int = 1 << 20) -> tuple[Any, list[Any], Any]:
    """The reader at the end of `content`, its (op, object, size) rows, and its columns."""
    for at in range(0, len(content), step):
        reader.feed(content[at : at + step])
    reader.finish()
    columns = reader.take()
    rows = zip(*(columns[name].tolist() for name in ("op", "object", "size")), strict=True)
    return reader, list(rows), columns


def read_wire(content: bytes, drop_unknown: bool = False, step: int = 1 << 20) -> Any:
    return read_by(_engine.WireTrace(drop_unknown), content, step)


def read_frames(content: bytes, step: int = 1 << 20) -> Any:
    return read_by(_engine.FrameTrace(True), content, step)


def read_log(content: bytes, step: int = 1 << 20) -> Any:
    return read_by(_engine.HeapLogTrace(True), content, step)
