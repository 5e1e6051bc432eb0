# SPDX-License-Identifier: Apache-2.0
"""Answers in a database of a few numbers each, by a hash of all that decides them.

Several processes may read and write at once. What cannot be read is as if it were not there: a
damaged file, a damaged row, a folder that may not be written, a database that is busy for long.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from heapfit import _engine

_NAME = "heapfit-answers.sqlite"  # ours by its name: thrown away where it is damaged
_PATIENCE = 5.0  # seconds for another process to be done with writing
_AT_ONCE = 5000  # answers are written together: a write each would take longer than replaying
_TABLE = "CREATE TABLE IF NOT EXISTS answer (key BLOB PRIMARY KEY, row TEXT) WITHOUT ROWID"

Numbers = tuple[int, ...]


@cache
def build() -> str:
    """A hash of the engine as it is installed, allocators and all: another one, other answers."""
    return hashlib.sha256(Path(_engine.__file__).read_bytes()).hexdigest()


def key_of(*parts: object) -> bytes:
    """Of all that decides an answer, beside the build."""
    text = "\0".join([build(), *map(str, parts)])
    return hashlib.sha256(text.encode()).digest()[:20]


@dataclass
class Answers:
    """Those kept in a folder; `close` writes what is new."""

    folder: Path
    found: int = 0  # of those asked for
    _new: dict[bytes, str] = field(default_factory=dict)
    _database: sqlite3.Connection | None = None
    _is_usable: bool = True

    def get(self, key: bytes) -> Numbers | None:
        """The numbers kept under a key; None if there are none, or they are damaged."""
        row = self._new.get(key) or self._read(key)
        numbers = None if row is None else _numbers(row, key)
        self.found += numbers is not None
        return numbers

    def keep(self, key: bytes, numbers: Sequence[int]) -> None:
        """From now on these are under the key."""
        self._new[key] = _row(numbers, key)
        if len(self._new) >= _AT_ONCE:
            self._write()

    def close(self) -> None:
        """Writes what is new, if that can be done."""
        if self._new:
            self._write()
        if self._database is not None:
            self._database.close()
            self._database = None

    def _read(self, key: bytes) -> str | None:
        database = self._opened()
        if database is None:
            return None
        try:
            rows = database.execute("SELECT row FROM answer WHERE key = ?", (key,)).fetchall()
        except sqlite3.Error as error:
            self._give_up(error)
            return None
        return str(rows[0][0]) if rows else None

    def _give_up(self, error: sqlite3.Error) -> None:
        """Goes on without the database; one that is damaged makes room for another next time."""
        if self._database is not None:
            self._database.close()
        self._database, self._is_usable = None, False
        if not isinstance(error, sqlite3.OperationalError):  # busy or not writable, but whole
            _throw_away(self.folder)

    def _write(self) -> None:
        database = self._opened()
        if database is not None:
            with suppress(sqlite3.Error), database:
                database.executemany(
                    "INSERT OR REPLACE INTO answer VALUES (?, ?)", self._new.items()
                )
        self._new.clear()

    def _opened(self) -> sqlite3.Connection | None:
        if self._database is None and self._is_usable:
            try:
                self._database = _connected(self.folder)
            except sqlite3.Error as error:
                self._give_up(error)
            except OSError:
                self._is_usable = False
        return self._database


def _connected(folder: Path) -> sqlite3.Connection:
    folder.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(folder / _NAME, timeout=_PATIENCE)
    try:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute(_TABLE)
    except sqlite3.Error:
        database.close()
        raise
    return database


def _throw_away(folder: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        with suppress(OSError):
            (folder / f"{_NAME}{suffix}").unlink(missing_ok=True)


def _row(numbers: Sequence[int], key: bytes) -> str:
    text = " ".join(str(int(one)) for one in numbers)
    return f"{text} {zlib.crc32(key + text.encode())}"


def _numbers(row: str, key: bytes) -> Numbers | None:
    """None where a number is not what was written."""
    text, _, check = row.rpartition(" ")
    is_whole = check == str(zlib.crc32(key + text.encode()))
    return tuple(map(int, text.split())) if is_whole else None
