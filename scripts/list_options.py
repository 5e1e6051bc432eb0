# SPDX-License-Identifier: Apache-2.0
"""Counts the options of all commands and fails on a name that has two meanings.

An option has one meaning if its kind of value, its placeholder and its help are the same wherever
it stands, as those of one declaration of cli/arguments.py are. Whether it may be left out or
repeated, and what it is then, may differ, and further sentences of its help fit the command. The
help of --output says what a command writes.
`--list` prints each name with its commands.
"""

import re
import sys
from collections import defaultdict

from heapfit.cli.arguments import OUTPUT_HELP
from heapfit.cli.main import all_commands, options_of

HELP = ("--help", "--help-all")  # of every command, and not counted


def list_meanings() -> dict[str, dict[str, list[str]]]:
    """Of each option's name its meanings, and of each of these the commands; without help."""
    meanings: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for command, declared in all_commands().items():
        for one in options_of(declared):
            if one.name and one.name not in HELP:
                meaning = f"{one.kind.__name__} {one.metavar} {trim_help(one.help)}"
                meanings[one.name][meaning].append(command)
    return meanings


def trim_help(text: str) -> str:
    """The part of an option's help that is to be the same in all commands: its first sentence.

    >>> trim_help("Fresh runs [10]. They are simulated."), trim_help("Where to write the C.")
    ('Fresh runs', 'Where to write')
    """
    return OUTPUT_HELP if text.startswith(OUTPUT_HELP) else re.split(r" \[|\. |\.$", text)[0]


def list_ambiguous() -> list[str]:
    """The names with two meanings."""
    return sorted(name for name, several in list_meanings().items() if len(several) > 1)


def count_entries() -> int:
    """How many options all commands have together."""
    return sum(len(some) for several in list_meanings().values() for some in several.values())


def main() -> None:
    """Prints the counts; exit status 1 if a name has two meanings."""
    meanings, ambiguous = list_meanings(), list_ambiguous()
    for name in sorted(meanings) if sys.argv[1:] == ["--list"] else ambiguous:
        for meaning, commands in meanings[name].items():
            told = f": {meaning}" if name in ambiguous else ""
            print(f"{name}: {', '.join(commands)}{told}")
    print(
        f"{len(all_commands())} commands, {count_entries()} option entries, {len(meanings)} names"
    )
    sys.exit(bool(ambiguous))


if __name__ == "__main__":
    main()
