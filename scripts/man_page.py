# SPDX-License-Identifier: Apache-2.0
"""Prints the manual page of heapfit, or with `bash` its completion, from what --help is made of."""

import sys
from collections.abc import Iterator

from heapfit import _engine
from heapfit.cli.completion import completion_lines
from heapfit.cli.main import all_commands, commands_by_group, options_of
from heapfit.cli.printing.help_screen import (
    describe,
    describe_option,
    describe_usage,
    list_examples,
)

EXIT_CODES = (
    ("0", "done"),
    ("1", "failed: one line on stderr says what, where and what to do"),
    ("2", "wrong usage"),
    ("3", "check or verify found that a heap does not hold"),
    ("130", "interrupted: one line on stderr says what is kept"),
)


def escaped(text: str) -> str:
    """Text in which nothing is a request of roff.

    >>> escaped(".so it's -o\\\\n")
    "\\\\&.so it's \\\\-o\\\\en"
    """
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


def command_lines(name: str, declared: type) -> Iterator[str]:
    """The section of a command."""
    options = options_of(declared)
    yield f".SS heapfit {escaped(describe_usage(name, options))}"
    yield from map(escaped, "\n\n".join(describe(declared)).splitlines())
    for term, text in map(describe_option, options):
        yield from (".TP", f".B {escaped(term)}", escaped(text))
    yield from (".PP", "Examples:", ".nf")
    yield from map(escaped, list_examples(declared))
    yield ".fi"


def manual() -> Iterator[str]:
    """The page, line by line."""
    yield '.\\" SPDX-License-Identifier: Apache-2.0'
    yield f'.TH HEAPFIT 1 "" "heapfit {_engine.version}"'
    yield from (".SH NAME", "heapfit \\- fit a heap to a program")
    yield from (".SH SYNOPSIS", ".B heapfit", "COMMAND [OPTIONS] ...")
    for title, commands in commands_by_group().items():
        yield f".SH {title.upper()}"
        for name, declared in commands.items():
            yield from command_lines(name, declared)
    yield ".SH EXIT STATUS"
    for status, meaning in EXIT_CODES:
        yield from (".TP", f".B {status}", meaning)


def completion() -> Iterator[str]:
    """A script for bash: commands, their options, and the names that they know."""
    options = {name: options_of(declared) for name, declared in all_commands().items()}
    return completion_lines("bash", options)


if __name__ == "__main__":
    for line in completion() if sys.argv[1:] == ["bash"] else manual():
        print(line)
