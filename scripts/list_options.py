# SPDX-License-Identifier: Apache-2.0
"""Counts the options of all commands and fails on a name that has two meanings.

An option has one meaning if its kind of value, its placeholder and its help are the same wherever
it stands, as those of one declaration of cli/arguments.py are. Whether it may be left out or
repeated, and what it is then, may differ. The help of --output says what a command writes.
`--list` prints each name with its commands.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from heapfit.cli.arguments import OUTPUT_HELP
from heapfit.cli.main import all_commands, options_of

HELP = ("--help", "--help-all")  # of every command, and not counted


@dataclass(frozen=True, slots=True)
class Entry:
    """An option of a command."""

    command: str
    name: str
    meaning: str


@dataclass(frozen=True, slots=True)
class OptionCounts:
    """What there is of options in all commands together."""

    commands: int
    entries: int
    names: int
    ambiguous: tuple[str, ...]  # names with two meanings


def list_entries() -> Iterator[Entry]:
    """The options of all commands, without help."""
    for command, declared in all_commands().items():
        for one in options_of(declared):
            if one.name and one.name not in HELP:
                meaning = f"{one.kind.__name__} {one.metavar} {trim_help(one.help)}"
                yield Entry(command, one.name, meaning)


def trim_help(text: str) -> str:
    """The part of an option's help that is to be the same in all commands.

    >>> trim_help("A plan file."), trim_help("Where to write the C [code beside PLAN].")
    ('A plan file.', 'Where to write')
    """
    return OUTPUT_HELP if text.startswith(OUTPUT_HELP) else text


def count_options() -> OptionCounts:
    """The counts of the commands as they are."""
    meanings = _list_meanings()
    ambiguous = sorted(name for name, several in meanings.items() if len(several) > 1)
    entries = sum(len(commands) for several in meanings.values() for commands in several.values())
    return OptionCounts(len(all_commands()), entries, len(meanings), tuple(ambiguous))


def describe() -> Iterator[str]:
    """Each name with its commands, and each meaning where there are two."""
    for name, meanings in sorted(_list_meanings().items()):
        for meaning, commands in meanings.items():
            yield f"{name}: {', '.join(commands)}"
            if len(meanings) > 1:
                yield f"    {meaning}"


def describe_ambiguous() -> Iterator[str]:
    """The names with two meanings alone."""
    for name, meanings in sorted(_list_meanings().items()):
        if len(meanings) > 1:
            yield f"{name} has two meanings:"
            yield from (f"    {', '.join(commands)}: {text}" for text, commands in meanings.items())


def _list_meanings() -> dict[str, dict[str, list[str]]]:
    """Of each name its meanings, and of each of these the commands."""
    meanings: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in list_entries():
        meanings[one.name][one.meaning].append(one.command)
    return meanings


def main() -> None:
    """Prints the counts; exit status 1 if a name has two meanings."""
    if sys.argv[1:] == ["--list"]:
        print("\n".join(describe()))
    counts = count_options()
    print(f"{counts.commands} commands, {counts.entries} option entries, {counts.names} names")
    for line in describe_ambiguous():
        print(line)
    sys.exit(1 if counts.ambiguous else 0)


if __name__ == "__main__":
    main()
