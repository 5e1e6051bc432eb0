# SPDX-License-Identifier: Apache-2.0
"""Files of object stores, such as s3://bucket/a.parquet, as paths that open where they are read.

So whatever takes a path takes them, workers of a cluster, too, each with its own credentials: those
of its environment, as pyarrow.fs has them (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL, ...).
"""

from __future__ import annotations

import os
import re
import stat
import sys
from functools import cache
from typing import Any, Self

from pyarrow import BufferReader, fs

from heapfit.errors import HeapfitError, first_line

if sys.platform == "win32":
    from pathlib import WindowsPath as _SystemPath
else:
    from pathlib import PosixPath as _SystemPath

_READ_AT_ONCE = 8 << 20  # bytes
_SCHEMES = ("s3", "gs", "abfs", "abfss")


def is_address(word: str) -> bool:
    """True for a word with a scheme; HeapfitError if it is of no store.

    >>> is_address("s3://bucket/runs"), is_address("out/runs")
    (True, False)
    """
    scheme = re.match(r"([A-Za-z][\w+.-]+)://", word)
    if scheme and scheme[1] not in _SCHEMES:
        raise HeapfitError(
            f"{word}: files are read from here and from {', '.join(_SCHEMES)} (download it first)"
        )
    return scheme is not None


class StoreFile(_SystemPath):
    """A file of an object store: a path whose first part is the scheme with its colon.

    Where it is read it has to be as long as the listing said: else it was replaced since.
    """

    size: int | None = None  # bytes, where a listing told them

    def __str__(self) -> str:
        scheme, *parts = self.parts
        return f"{scheme}//{'/'.join(parts)}"

    @classmethod
    def list(cls, address: str) -> list[Self]:
        """The file of an address, or all files below it in their order; HeapfitError if none is."""
        system, place = _system_of(address)
        try:
            found = fs.FileSelector(place, recursive=True, allow_not_found=True)
            infos = system.get_file_info(found) or [system.get_file_info(place)]
        except OSError as error:
            raise HeapfitError(f"{address}: {first_line(error)}") from error
        files = []
        scheme = address.partition(":")[0]
        for info in sorted((one for one in infos if one.is_file), key=lambda one: str(one.path)):
            files.append(cls(f"{scheme}:/{info.path}"))
            files[-1].size = info.size
        if not files:
            raise HeapfitError(f"{address}: no such file in the store, and none below it")
        return files

    def open(self, *_: object, **__: object) -> Any:  # noqa: ANN401
        """The open file, to read its bytes; a small one is read at once, by one request."""
        system, place = _system_of(str(self))
        file = system.open_input_file(place)
        if self.size not in (None, file.size()):
            raise HeapfitError(f"{self}: has changed since it was listed (run this again)")
        return file if file.size() > _READ_AT_ONCE else BufferReader(file.read())

    def stat(self, **_: object) -> os.stat_result:
        """A file's, of which the size alone is known."""
        try:
            if self.size is None:
                with self.open() as file:
                    self.size = file.size()
        except OSError as error:
            raise HeapfitError(f"{self}: {first_line(error)}") from error
        return os.stat_result((stat.S_IFREG, 0, 0, 1, 0, 0, self.size, 0, 0, 0))


def _system_of(address: str) -> tuple[Any, str]:
    """The file system of an address, made once for each store, and the path there."""
    scheme, _, place = address.partition("://")
    return _make_system(f"{scheme}://{place.partition('/')[0]}"), place.rstrip("/")


@cache
def _make_system(store: str) -> Any:  # noqa: ANN401
    try:
        return fs.FileSystem.from_uri(store)[0]
    except (OSError, ValueError) as error:
        raise HeapfitError(f"{store}: {first_line(error)}") from error
