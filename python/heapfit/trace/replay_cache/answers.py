# SPDX-License-Identifier: Apache-2.0
"""Cached answers in a database: a few numbers each, by a hash of all that decides them.

Several processes may read and write at once. What cannot be read is as if it were not there: a
damaged file, a damaged row, a folder that may not be written, a database that is busy for long.
A folder may come from somebody else: what is no plain file, or a database with more in it than our
table, is left alone, and a row that no heapfit writes is no answer.
"""

from __future__ import annotations

import hashlib
import re
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
_TABLE = "CREATE TABLE answer (key BLOB PRIMARY KEY, row TEXT) WITHOUT ROWID"
_LONGEST_ROW = 200  # characters
_ROW = re.compile(r"-?[0-9]{1,20}(?: -?[0-9]{1,20})* [0-9]{1,10}")

Numbers = tuple[int, ...]


@cache
def engine_hash() -> str:
    """A hash of the installed engine, allocators included; another engine gives other answers."""
    return hashlib.sha256(Path(_engine.__file__).read_bytes()).hexdigest()


def answer_key(*parts: object) -> bytes:
    """The key of an answer: a hash of everything that decides it, the engine included."""
    text = "\0".join([engine_hash(), *map(str, parts)])
    return hashlib.sha256(text.encode()).digest()[:20]


@dataclass
class Answers:
    """The answers in a folder; `close` writes the new ones."""

    folder: Path
    found: int = 0  # of those asked for
    _new: dict[bytes, str] = field(default_factory=dict)
    _database: sqlite3.Connection | None = None
    _is_usable: bool = True

    def get(self, key: bytes) -> Numbers | None:
        """The numbers under a key; None if there are none, or they are damaged."""
        row = self._new.get(key) or self._read(key)
        numbers = None if row is None else _numbers(row, key)
        self.found += numbers is not None
        return numbers

    def keep(self, key: bytes, numbers: Sequence[int]) -> None:
        """Stores numbers under a key."""
        self._new[key] = _row(numbers, key)
        if len(self._new) >= _AT_ONCE:
            self._write()

    def close(self) -> None:
        """Writes the new answers, if that is possible."""
        if self._new:
            self._write()
        if self._database is not None:
            self._database.close()
            self._database = None

    def _read(self, key: bytes) -> str | None:
        database = self._open()
        if database is None:
            return None
        try:
            asked = "SELECT row FROM answer WHERE key = ? AND length(row) <= ?"
            rows = database.execute(asked, (key, _LONGEST_ROW)).fetchall()
        except sqlite3.Error as error:
            self._give_up(error)
            return None
        return str(rows[0][0]) if rows else None

    def _give_up(self, error: sqlite3.Error) -> None:
        """Continues without the database; a damaged one is deleted."""
        if self._database is not None:
            self._database.close()
        self._database, self._is_usable = None, False
        if not isinstance(error, sqlite3.OperationalError):  # busy or not writable, but whole
            _throw_away(self.folder)

    def _write(self) -> None:
        database = self._open()
        if database is not None:
            with suppress(sqlite3.Error), database:
                database.executemany(
                    "INSERT OR REPLACE INTO answer VALUES (?, ?)", self._new.items()
                )
        self._new.clear()

    def _open(self) -> sqlite3.Connection | None:
        if self._database is None and self._is_usable:
            try:
                self._database = _connect(self.folder)
            except sqlite3.Error as error:
                self._give_up(error)
            except OSError:
                pass
            self._is_usable = self._database is not None
        return self._database


def _connect(folder: Path) -> sqlite3.Connection | None:
    """Opens the database; None where a file of its name is not ours."""
    folder.mkdir(parents=True, exist_ok=True)
    if not all(map(_is_plain_or_new, _files(folder))):
        return None
    database = sqlite3.connect(folder / _NAME, timeout=_PATIENCE)
    try:
        if not _has_our_table_alone(database):
            database.close()
            return None
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
    except sqlite3.Error:
        database.close()
        raise
    return database


def _is_plain_or_new(file: Path) -> bool:
    """True unless the file is a link, which leaves the folder, or a pipe, which may block."""
    return not file.is_symlink() and (file.is_file() or not file.exists())


def _has_our_table_alone(database: sqlite3.Connection) -> bool:
    """True if our table is all there is; creates it in an empty database."""
    if not _list_tables(database):
        with database:
            database.execute("BEGIN IMMEDIATE")  # another process may be making it
            if not _list_tables(database):
                database.execute(_TABLE)
    return _list_tables(database) == [(_TABLE,)]


def _list_tables(database: sqlite3.Connection) -> list[tuple[str]]:
    return database.execute("SELECT sql FROM sqlite_master").fetchall()


def _files(folder: Path) -> list[Path]:
    """The database, and the files that SQLite puts next to it."""
    return [folder / f"{_NAME}{suffix}" for suffix in ("", "-wal", "-shm", "-journal")]


def _throw_away(folder: Path) -> None:
    for file in _files(folder):
        with suppress(OSError):
            file.unlink(missing_ok=True)


def _row(numbers: Sequence[int], key: bytes) -> str:
    text = " ".join(str(int(one)) for one in numbers)
    return f"{text} {zlib.crc32(key + text.encode())}"


def _numbers(row: str, key: bytes) -> Numbers | None:
    """The numbers of a row; None if its checksum is wrong or its form is not ours."""
    text, _, check = row.rpartition(" ")
    is_whole = _ROW.fullmatch(row) and check == str(zlib.crc32(key + text.encode()))
    return tuple(map(int, text.split())) if is_whole else None
