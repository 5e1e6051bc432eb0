# SPDX-License-Identifier: Apache-2.0
"""The unpacked sizes of a stored table's pages, checked before any of them is unpacked.

A reader of Parquet makes room for a page as the page's own header says, whatever the footer says of
its column: 50 KB of one page become 1 GB. So the headers are read first, and a column whose pages
say more than the footer is refused. A header is a struct in Thrift's compact form:

    | field, kind | value | field, kind | value | ... | 0 | packed bytes of the page | header ...
"""

from __future__ import annotations

from collections.abc import Collection
from io import SEEK_CUR, BytesIO
from pathlib import Path
from typing import BinaryIO

import pyarrow.parquet as pq

from heapfit.errors import HeapfitError

_UNPACKED, _PACKED = 2, 3  # fields of a page's header: bytes
_MOST_OF_HEADER = 4096  # bytes; one of integers with their least and largest takes some 60
_DEEPEST = 8  # structs in structs
_BOOLEANS, _BYTE, _INTEGERS, _DOUBLE, _BINARY, _STRUCT = (1, 2), 3, (4, 5, 6), 7, 8, 12


def require_true_pages(path: Path, metadata: pq.FileMetaData, columns: Collection[str]) -> None:
    """Refuses a table in which pages of these columns unpack to more than the footer says.

    Reads a header a page, some 50 for each column of a million events.
    """
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    with path.open("rb", buffering=0) as file:
        for i, group in enumerate(groups):
            chunks = map(group.column, range(group.num_columns))
            for chunk in (one for one in chunks if one.path_in_schema in columns):
                _require_true(path, file, i, chunk)


def _require_true(path: Path, file: BinaryIO, group: int, chunk: pq.ColumnChunkMetaData) -> None:
    where = f"{path}: row group {group}, column {chunk.path_in_schema}"
    try:
        unpacked = _sum_page_sizes(file, chunk)
    except (IndexError, ValueError) as error:
        raise HeapfitError(f"{where}: a page's header is damaged") from error
    if unpacked > chunk.total_uncompressed_size:
        raise HeapfitError(
            f"{where}: its pages unpack to {unpacked:,} B, where the footer says "
            f"{chunk.total_uncompressed_size:,} B (a decompression bomb?)"
        )


def _sum_page_sizes(file: BinaryIO, chunk: pq.ColumnChunkMetaData) -> int:
    """The sum of the unpacked sizes in the page headers; IndexError or ValueError if damaged."""
    at = min(chunk.dictionary_page_offset or chunk.data_page_offset, chunk.data_page_offset)
    end = at + chunk.total_compressed_size
    total = 0
    while at < end:
        file.seek(at)
        header = BytesIO(file.read(_MOST_OF_HEADER))
        numbers = _read_struct(header)
        unpacked, packed = numbers.get(_UNPACKED, -1), numbers.get(_PACKED, -1)
        if min(unpacked, packed) < 0:
            raise ValueError("no sizes")
        total += unpacked
        at += header.tell() + packed
    return total


def _read_struct(data: BinaryIO, depth: int = 0) -> dict[int, int]:
    """The integer fields of the struct that data begin with, by field number.

    IndexError where they end too soon, ValueError where they hold what no header does.
    """
    if depth > _DEEPEST:
        raise ValueError("too deep")
    numbers: dict[int, int] = {}
    field = 0
    while head := data.read(1)[0]:
        field = field + (head >> 4) if head >> 4 else _read_integer(data)
        if field in numbers:
            raise ValueError("a field twice")
        numbers[field] = _read_value(data, head & 15, depth)
    return numbers


def _read_value(data: BinaryIO, kind: int, depth: int) -> int:
    """The integer of a field; 0 for other kinds, which are skipped."""
    if kind in _INTEGERS:
        return _read_integer(data)
    if kind == _STRUCT:
        _read_struct(data, depth + 1)
    elif kind in (_BYTE, _DOUBLE, _BINARY):
        data.seek({_BYTE: 1, _DOUBLE: 8}.get(kind) or _read_plain(data), SEEK_CUR)
    elif kind not in _BOOLEANS:
        raise ValueError("a kind that no header has")
    return 0


def _read_plain(data: BinaryIO) -> int:
    """Reads an unsigned integer: seven bits a byte, the lowest first."""
    value = shift = 0
    while (byte := data.read(1)[0]) >= 128:
        value |= (byte & 127) << shift
        shift += 7
    return value | byte << shift


def _read_integer(data: BinaryIO) -> int:
    """Reads a signed integer: 0, -1, 1, -2 ... are stored as 0, 1, 2, 3 ..."""
    value = _read_plain(data)
    return (value >> 1) ^ -(value & 1)
