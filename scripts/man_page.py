# SPDX-License-Identifier: Apache-2.0
"""Prints the manual page of heapfit, or with `bash` its completion, from what --help is made of."""

import sys
from collections.abc import Iterator

import typer
from typer.core import TyperCommand

from heapfit import _engine
from heapfit.cli.commands.pools import System
from heapfit.cli.main import EXTERNAL_GROUP, GROUPS, CommandGroup, command_name
from heapfit.comparison.incumbents.heaps import list_heap_names
from heapfit.plan.allocators import find_allocators

ALLOCATORS = [info.name for info in find_allocators()]
WORKLOADS = [info.name for info in _engine.workloads()]
# What may stand where a command has arguments of its own, beside files.
WORDS = {
    "compare": list_heap_names(),
    "allocators": ALLOCATORS,
    "workload": WORKLOADS,
    "settings": [system.value for system in System],
}
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


def command_lines(name: str, command: TyperCommand) -> Iterator[str]:
    """The section of a command."""
    context = typer.Context(command, info_name=f"heapfit {name}")
    yield f".SS {escaped(' '.join(command.get_usage(context).split()[1:]))}"
    yield from map(escaped, (command.help or "").splitlines())
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is not None:
            yield ".TP"
            yield f".B {escaped(record[0])}"
            yield escaped(record[1])
    yield from (".PP", "Examples:", ".nf")
    yield from (escaped(line) for line in (command.epilog or "").splitlines()[2:])
    yield ".fi"


def groups() -> Iterator[tuple[str, list[str]]]:
    """The titles of --help, with the commands under each."""
    left = list(CommandGroup().declared)
    for title, commands in GROUPS.items():
        names = [command_name(one) for one in commands]
        left = [name for name in left if name not in names]
        yield title, names
    yield EXTERNAL_GROUP, left


def manual() -> Iterator[str]:
    """The page, line by line."""
    yield '.\\" SPDX-License-Identifier: Apache-2.0'
    yield f'.TH HEAPFIT 1 "" "heapfit {_engine.version}"'
    yield from (".SH NAME", "heapfit \\- fit a heap to a program")
    yield from (".SH SYNOPSIS", ".B heapfit", "COMMAND [OPTIONS] ...")
    for title, names in groups():
        yield f".SH {title.upper()}"
        for name in names:
            yield from command_lines(name, CommandGroup().get_command(None, name))
    yield ".SH EXIT STATUS"
    for status, meaning in EXIT_CODES:
        yield from (".TP", f".B {status}", meaning)


def completion() -> Iterator[str]:
    """A script for bash: commands, their options, and the names that they know."""
    names = list(CommandGroup().declared)
    yield "# SPDX-License-Identifier: Apache-2.0"
    yield "# bash completion of heapfit: source it."
    yield "_heapfit() {"
    yield '    local word="${COMP_WORDS[COMP_CWORD]}" words'
    yield '    case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in'
    for name in sorted(names, key=len, reverse=True):  # those of two words first
        command = CommandGroup().get_command(None, name)
        options = [one for param in command.params for one in param.opts if one.startswith("--")]
        pattern = f'"{name}"' if " " in name else f'"{name} "*'
        yield f'        {pattern}) words="{" ".join([*options, *WORDS.get(name, [])])}" ;;'
    yield f'        *) words="{" ".join(dict.fromkeys(name.split()[0] for name in names))}" ;;'
    yield "    esac"
    yield (
        '    [ "$COMP_CWORD" -gt 1 ] || words="'
        + " ".join(dict.fromkeys(name.split()[0] for name in names))
        + '"'
    )
    yield '    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"; compgen -f -- "$word")'
    yield "}"
    yield "complete -o filenames -F _heapfit heapfit"


if __name__ == "__main__":
    for line in completion() if sys.argv[1:] == ["bash"] else manual():
        print(line)
