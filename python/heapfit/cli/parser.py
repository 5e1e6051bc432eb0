# SPDX-License-Identifier: Apache-2.0
"""What may be typed after a command, declared by the fields of its record, and what was.

    source: Annotated[Path, Option("", "A recording.")]               heapfit bounds SOURCE
    search: Annotated[int, Option("--search", "Steps.")] = 50             [--search NUMBER]

A field's type says how words are read: a path, a number, a word of an enumeration, True where an
option is a switch, and with list[...] any number of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from getopt import GetoptError, gnu_getopt
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from heapfit.cli.removed import REMOVED
from heapfit.errors import HeapfitError, RemovedError, find_similar
from heapfit.grouping import group
from heapfit.trace.kinds import SourceKind

_VALUES = {Path: "PATH", str: "TEXT", int: "NUMBER", float: "NUMBER"}
_REASONS = {int: "must be a whole number", float: "must be a number"}
_LARGEST_PRINTED = 2**32  # a limit above is only there for the machine
_SIMILAR = 0.7  # at least, of a suggestion: `fast` is not `flash`

_Record = TypeVar("_Record")


class UsageError(HeapfitError):
    """Words that a command does not take."""

    status = 2


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a command, or without a name an argument; the last five are its field's."""

    name: str
    help: str
    group: str | None = None  # of options that --help-all alone shows
    short: str = ""
    metavar: str = ""
    choices: Sequence[str] = ()
    parser: Callable[[str], Any] | None = None  # of a value, instead of its kind
    kinds: Sequence[SourceKind] = ()  # of files, if it takes no others
    min: float | None = None
    max: float | None = None
    hint: str = ""  # behind the choices, where a word is none of them
    is_output: bool = False  # names what the command writes
    field: str = ""
    kind: type[Any] = bool
    is_many: bool = False
    default: Any = False
    is_required: bool = False

    @property
    def names(self) -> list[str]:
        """What may be typed for it, the short name first; empty for an argument."""
        return [name for name in (self.short, self.name) if name]

    @property
    def value(self) -> str:
        """What stands for its value in help: FILE..., ram|time; empty for a switch."""
        if self.name:
            return self.metavar or "|".join(self.choices) or _VALUES.get(self.kind, "")
        name = self.metavar or self.field.removesuffix("s" if self.is_many else "").upper()
        return f"{name}..." if self.is_many and not name.endswith("...") else name

    def limits(self) -> str:
        """The numbers that it takes, as help has them; empty if it takes any.

        >>> [Option("", "", min=1, max=most).limits() for most in (1024, 2**63)]
        ['1 to 1,024', 'at least 1']
        """
        is_least = self.min is not None and self.parser is None
        is_most = self.max is not None and self.parser is None and self.max <= _LARGEST_PRINTED
        if is_least and is_most:
            return f"{self.min:,} to {self.max:,}"
        return f"at least {self.min:,}" if is_least else f"at most {self.max:,}" if is_most else ""

    def read(self, texts: Sequence[str]) -> object:
        """The value of the words that were typed for it; UsageError if it does not take one."""
        if not self.value:
            return not self.default
        values = [one for text in texts for one in self._read(text)]
        return values if self.is_many else values[-1]

    def _read(self, text: str) -> list[object]:
        if not text and self.name and self.value != _VALUES[str]:
            raise self._refuse("'' is empty")  # as of a shell's variable that is not set
        if not self.kinds:
            return [self._read_value(text)]
        # Help needs no importers, which load pyarrow.
        many = import_module("heapfit.importers.many")
        return [*many.read_paths(text, self.kinds, is_one=not self.is_many)]

    def _read_value(self, text: str) -> object:
        try:
            value: Any = (self.parser or self.kind)(text)
        except (HeapfitError, ValueError) as error:
            raise self._refuse(self._reason(text, error)) from None
        if self.choices and str(value) not in self.choices:
            raise self._refuse(self._reason(text))
        if self.min is not None and not value >= self.min:
            raise self._refuse(f"must be at least {self.min:,}")
        if self.max is not None and not value <= self.max:
            raise self._refuse(f"must be at most {self.max:,}")
        return value

    def _refuse(self, why: str) -> UsageError:
        names = " / ".join(f"'{name}'" for name in self.names or [self.value])
        return UsageError(f"Invalid value for {names}: {why}")

    def _reason(self, text: str, error: Exception | None = None) -> str:
        if self.choices:
            known = ", ".join(f"'{one}'" for one in self.choices)
            what = "is a file, and not" if Path(text).is_file() else "is not"
            why = add_similar(f"'{text}' {what} one of {known}", text, self.choices)
            return why if "did you mean" in why else f"{why}{self.hint}"
        return str(error) if self.parser else _REASONS[self.kind]

    def missing(self) -> str:
        """What to say where it is required and was not typed."""
        what = "option" if self.name else "argument"
        choices = f". Choose from: {', '.join(self.choices)}" if self.choices else ""
        typed = f"{self.name} {self.metavar}".strip() or self.value.rstrip(".")
        return f"Missing {what} '{typed}'{choices}"


def split_words(
    command: str, words: Sequence[str], options: Iterable[Option]
) -> tuple[list[tuple[Option, str]], list[str]]:
    """The options that were typed, each with the text of its value, and the words beside them."""
    named = {name: one for one in options for name in one.names}
    takes = {name: bool(one.value) for name, one in named.items()}
    short = "".join(name[1:] + ":" * takes[name] for name in named if name[1] != "-")
    long = [name[2:] + "=" * takes[name] for name in named if name[1] == "-"]
    try:
        typed, rest = gnu_getopt(list(words), short, long)
    except GetoptError as error:
        name = f"-{error.opt}" if len(error.opt) == 1 else f"--{error.opt}"
        if name in named:
            what = "requires an argument" if takes[name] else "does not take a value"
            raise UsageError(f"Option '{name}' {what}") from None
        reject_removed(command, name)
        meant = {f"--{one.metavar.lower()}": one.name for one in named.values() if one.metavar}
        wanted = meant.get(name, name)
        raise UsageError(add_similar(f"No such option: {name}", wanted, named)) from None
    for name, _ in typed:
        if not any(word.startswith(name) for word in words):
            raise UsageError(f"Option '{name}' is to be typed whole")
    return [(named[name], text) for name, text in typed], rest


def read_command(
    declared: type[_Record],
    options: Sequence[Option],
    typed: Iterable[tuple[Option, str]],
    words: Sequence[str],
) -> _Record:
    """The record of a command from what was typed; UsageError if a word does not fit."""
    texts = group((option.field, text) for option, text in typed)
    left = list(words)
    for one in options:
        if not one.name and left:
            count = len(left) if one.is_many else 1
            texts[one.field], left = left[:count], left[count:]
    values = {one.field: one.read(texts[one.field]) for one in options if one.field in texts}
    if left:
        raise UsageError(f"Got unexpected extra arguments ({' '.join(left)})")
    for one in options:
        if one.is_required and one.field not in values:
            raise UsageError(one.missing())
    return declared(**values)


def reject_removed(command: str, option: str = "") -> None:
    """RemovedError with what does its work now if there was such a command or option of one."""
    if (command, option) in REMOVED:
        name = f"{command} {option}".strip()
        raise RemovedError(f"{name} is gone: {REMOVED[command, option]}")


def add_similar(message: str, word: str, known: Iterable[str]) -> str:
    """The message with the known word that is most similar to a wrong one, if there is one.

    >>> add_similar("no such preference", "memry", ["memory", "time"])
    "no such preference (did you mean 'memory'?)"
    """
    similar = find_similar(word, known, _SIMILAR)
    return f"{message} (did you mean '{similar}'?)" if similar else message
