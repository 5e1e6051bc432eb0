# SPDX-License-Identifier: Apache-2.0
"""TOML read strictly: every key is taken once and checked.

An error names the file, the key and what to do. It is raised at once, or errors are collected
and raised together, where a reader asks for that and reads by `read_or_note`.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, TypeVar

from heapfit import _engine
from heapfit.errors import HeapfitError, SeveralFaultsError, did_you_mean, read_error_reason

Value = TypeVar("Value")
Number = TypeVar("Number", int, float)
Arguments = ParamSpec("Arguments")

LARGEST_COUNT = 2**63 - 1  # TOML's own
_LARGEST_FILE = 1 << 20  # bytes; a plan of 4,096 pools has 200 KB
# A key such as a.b.c of more parts: each makes a table, so a file of dots took 9.6 GB.
_MOST_PARTS = 32
_MOST_DOTS = 1 << 16  # of a file, those of numbers included; half a million keys took 523 MiB
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')"""
_ANY = re.compile(".*")
_IN_WORDS = {
    RecursionError: "nested too deeply, or too many dots",
    UnicodeDecodeError: "it is not UTF-8 text",
}
_DEEP_KEY = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{_MOST_PARTS}}}")


@dataclass(frozen=True, slots=True)
class FileKind:
    """The kind of a file, for error messages."""

    name: str  # "plan"
    page: str  # which lists its keys


def read_document(path: Path, kind: FileKind) -> dict[str, Any]:
    """The content of a TOML file; HeapfitError if it cannot be read, is too large or no TOML."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise HeapfitError(f"{path}: {read_error_reason(error)}") from error
    if len(content) > _LARGEST_FILE:
        raise HeapfitError(f"{path}: larger than {_LARGEST_FILE:,} bytes, so not a {kind.name}")
    try:
        text = content.decode("utf-8")
        if text.count(".") > _MOST_DOTS or _DEEP_KEY.search(text):
            raise RecursionError
        return tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        reason = _IN_WORDS.get(type(error)) or str(error)
        raise HeapfitError(f"{path}: not TOML: {reason} (is this a {kind.name}?)") from error


class TomlTable:
    """One TOML table while it is read: every key is taken once, and `finish` rejects the rest."""

    def __init__(self, path: Path, kind: FileKind, where: str, entries: dict[str, Any]) -> None:
        self._path = path
        self._kind = kind
        self._where = where
        self._entries = dict(entries)
        self._absent: list[str] = []  # keys asked for that are not there: may be misspelt
        self._errors: list[str] | None = None

    def collect_errors(self) -> None:
        """Collects the errors of `read_or_note` from now on, here and in the tables inside."""
        self._errors = []

    def raise_collected(self) -> None:
        """HeapfitError with all collected errors, if there are any."""
        if self._errors:
            raise (
                SeveralFaultsError(self._errors)
                if self._errors[1:]
                else HeapfitError(*self._errors)
            )

    def read_or_note(
        self,
        otherwise: Value,
        read: Callable[Arguments, Value],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Value:
        """The value that `read` returns; `otherwise` if that fails while errors are collected."""
        if self._errors is None:
            return read(*args, **kwargs)
        try:
            return read(*args, **kwargs)
        except HeapfitError as error:
            self._errors.append(str(error))
            return otherwise

    def reject(self, key: str, reason: str) -> NoReturn:
        """Raises HeapfitError for the key."""
        raise HeapfitError(f"{self._path}: {self._place(key)}: {reason}")

    def require_version(self, known: int, advice: str = "") -> None:
        """HeapfitError, with the advice, unless the file's `schema` is the known one."""
        schema = self.whole("schema", 0, 2**63 - 1)
        if schema != known:
            reads = f"heapfit {_engine.version} reads {known}{advice}"
            self.reject("schema", f"the {self._kind.name} has version {schema}, {reads}")

    def has(self, key: str) -> bool:
        """True if the key is there and not yet taken."""
        is_there = key in self._entries
        if not is_there:
            self._absent.append(key)
        return is_there

    def whole(self, key: str, lowest: int, highest: int) -> int:
        """A whole number in this range."""
        return self._check(int, key, self._take(key), lowest, highest)

    def number(self, key: str, lowest: float, highest: float) -> float:
        """A number in this range, whole or not; never NaN."""
        return self._check(float, key, self._take(key), lowest, highest)

    def numbers(self, key: str, lowest: float, highest: float) -> tuple[float, ...]:
        """One or more numbers in this range."""
        return tuple(self._check(float, key, one, lowest, highest) for one in self.items(key))

    def wholes(self, key: str, lowest: int, highest: int) -> tuple[int, ...]:
        """One or more whole numbers in this range."""
        return tuple(self._check(int, key, one, lowest, highest) for one in self.items(key))

    def text(
        self, key: str, longest: int = 200, *, form: re.Pattern[str] = _ANY, must: str = ""
    ) -> str:
        """One line of text, of a form; `must` says which, and may name the value as {}."""
        value = self._take(key)
        if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= longest:
            self.reject(key, f"must be 1 to {longest} printable characters, not {show(value)}")
        if not form.fullmatch(value):
            self.reject(key, f"must {must}".format(show(value)))
        return value

    def word(self, key: str, known: Iterable[str], what: str) -> str:
        """One of the known words; an error says `what` they name."""
        value, words = self.text(key), list(known)
        if value not in words:
            self.reject(key, f"no {what} {show(value)} ({did_you_mean(value, words)})")
        return value

    def weights(self, key: str, count: int, what: str) -> tuple[float, ...]:
        """Numbers that are not all 0, one for each `what`, of which there are `count`."""
        weights = self.numbers(key, 0, 1e15)
        if len(weights) != count:
            self.reject(key, f"must be {count} numbers, one for each {what}")
        if not sum(weights) > 0:
            self.reject(key, "must not all be 0")
        return weights

    def file(self, key: str, folder: Path) -> Path:
        """A file that is there; its path is relative to `folder`."""
        path = folder / self.text(key)
        if not path.is_file():
            self.reject(key, f"no such file: {path}")
        return path

    def truth(self, key: str) -> bool:
        """True or false."""
        value = self._take(key)
        if not isinstance(value, bool):
            self.reject(key, f"must be true or false, not {show(value)}")
        return value

    def table(self, key: str) -> TomlTable:
        """A table inside this one."""
        value = self._take(key)
        if not isinstance(value, dict):
            self.reject(key, f"must be a table, not {show(value)}")
        return self._inside(self._place(key), value)

    def tables(self, key: str) -> list[TomlTable]:
        """A list of tables inside this one."""
        value = self._take(key)
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.reject(key, f"must be a list of tables, not {show(value)}")
        return [self._inside(f"{self._place(key)}[{i}]", item) for i, item in enumerate(value)]

    def finish(self) -> None:
        """HeapfitError if a key was not taken."""
        for key in self._entries:
            similar = difflib.get_close_matches(key, self._absent, 1)
            what_to_do = f"did you mean {show(similar[0])}?" if similar else "remove it;"
            reason = f"unknown key ({what_to_do} {self._kind.page} lists the keys)"
            self.read_or_note(None, self.reject, key, reason)

    def keys(self) -> list[str]:
        """The keys that are not yet taken."""
        return list(self._entries)

    def _check(
        self, kind: type[Number], key: str, value: object, lowest: float, highest: float
    ) -> Number:
        """A value in this range, which is whole if `kind` is int."""
        is_truth = isinstance(value, bool)  # which is an int in Python, not in TOML
        if not isinstance(value, int | kind) or is_truth or not lowest <= value <= highest:
            what, form = ("whole number", "") if kind is int else ("number", "g")
            wanted = f"a {what} from {lowest:{form}} to {highest:{form}}"
            self.reject(key, f"must be {wanted}, not {show(value)}")
        return kind(value)

    def items(self, key: str, least: int = 1) -> list[object]:
        """A list of at least one value of any kind; of none, too, if `least` is 0."""
        value = self._take(key)
        if not isinstance(value, list) or len(value) < least:
            self.reject(key, f"must be a list of at least one, not {show(value)}")
        return value

    def _inside(self, where: str, entries: dict[str, Any]) -> TomlTable:
        inside = TomlTable(self._path, self._kind, where, entries)
        inside._errors = self._errors
        return inside

    def _take(self, key: str) -> object:
        if key not in self._entries:
            similar = difflib.get_close_matches(key, self._entries, 1)
            hint = f"did you mean {show(similar[0])}? " if similar else ""
            self.reject(key, f"missing ({hint}{self._kind.page} lists the keys)")
        return self._entries.pop(key)

    def _place(self, key: str) -> str:
        shown = key if re.fullmatch(r"[\w-]{1,60}", key) else show(key)
        return f"{self._where}.{shown}" if self._where else shown


def show(value: object) -> str:
    """A value in a message, shortened."""
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."
