# SPDX-License-Identifier: Apache-2.0
"""A heap profile for pprof: the fields of its profile.proto by their numbers, gzipped.

Kinds of values are those of Go's heap profiles: all that was asked for, and what a view holds.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator

from heapfit.trace.exports.protobuf import message, number, numbers
from heapfit.trace.exports.samples import Frame, SampledBlocks

_KINDS = (
    ("alloc_objects", "count"),
    ("alloc_space", "bytes"),
    ("inuse_objects", "count"),
    ("inuse_space", "bytes"),
)
_TYPE, _SAMPLE, _LOCATION, _FUNCTION, _STRING = 1, 2, 4, 5, 6  # of Profile
_TIME_SPAN, _COMMENT, _DEFAULT = 10, 13, 14


class _Names:
    """Values by the order in which they were first asked for."""

    def __init__(self, first: int, *given: object) -> None:
        self.places: dict[object, int] = {}
        self._first = first
        for value in given:
            self.place(value)

    def place(self, value: object) -> int:
        return self.places.setdefault(value, self._first + len(self.places))


def write_profile(holdings: SampledBlocks) -> bytes:
    """The samples as a gzipped profile; the same bytes for the same recording."""
    return gzip.compress(b"".join(_parts(holdings)), mtime=0)


def _parts(holdings: SampledBlocks) -> Iterator[bytes]:
    strings, frames, program = _Names(0, ""), _Names(1), holdings.program
    for kind, unit in _KINDS:
        yield message(_TYPE, number(1, strings.place(kind)), number(2, strings.place(unit)))
    for one, stack in holdings.by_stack():
        yield message(
            _SAMPLE,
            numbers(1, map(frames.place, stack)),
            numbers(2, (one.requests, one.requested, one.blocks, one.size)),
        )
    for frame, place in frames.places.items():
        assert isinstance(frame, Frame)
        yield message(
            _LOCATION, number(1, place), message(4, number(1, place), number(2, frame.line))
        )
        name, file = strings.place(frame.name), strings.place(frame.file)
        yield message(_FUNCTION, number(1, place), number(2, name), number(4, file))
    yield number(_TIME_SPAN, 1000 * int(holdings.viewed.times[-1]))
    yield number(_COMMENT, strings.place(f"inuse: the view {holdings.viewed.view} of {program}"))
    yield number(_DEFAULT, strings.place(_KINDS[-1][0]))
    for string in strings.places:
        yield message(_STRING, str(string).encode(errors="replace"))
