# SPDX-License-Identifier: Apache-2.0
"""The `heapfit` program: finds its commands, and turns errors into messages and exit codes.

heapfit.cli.commands has what commands take and say; what one does is a module of this folder, which
is imported when it runs. So help needs none of the libraries that commands do.
Exit codes: 0 done, 1 failed (one line on stderr), 2 wrong usage, 3 a check failed,
130 interrupted.
"""

import os
import re
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from types import ModuleType
from typing import Annotated

import heapfit
from heapfit.cli.arguments import list_options
from heapfit.cli.parser import Option, UsageError, read_command, reject_removed, split_words
from heapfit.cli.printing.help_screen import describe, describe_usage, list_help, list_terms
from heapfit.cli.printing.lines import fail, note, print_line
from heapfit.errors import HeapfitError, did_you_mean
from heapfit.outputs import ours

# By task, in the order of `--help`: the modules of heapfit.cli.commands and their commands.
GROUPS: Mapping[str, Mapping[str, str]] = {
    "Fit a heap": {"fitting": "Fit Check Verify Run Generate Place"},
    "Get and look at recordings": {"recordings": "Record Import Workload Profile Sites Forecast"},
    "Compare and prove": {"comparisons": "Compare Bounds Allocators"},
    "Size packet pools": {"pools": "Size Settings Simulate"},
}
EXTERNAL_GROUP = "The papers"
# Other packages add theirs as entry points of this group: NAME = "PACKAGE.commands:CLASS".
ENTRY_POINT_GROUP = "heapfit.commands"

_ENTRY = re.compile(r"^(\S+) *= *(\S+):(\w+)$", re.MULTILINE)
_FORCE = Option(
    "--force", "Replace also recordings, edited files and files that heapfit did not write."
)
_HELP_ALL = Option("--help-all", "Show all options and exit.")
_HELP = Option("--help", "Show this message and exit.", short="-h")
_FAILED = 1
_USAGE = 2
_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class _Program:
    """Fit a heap to a program."""

    version: Annotated[bool, Option("--version", "Print the version.")] = False
    completion: Annotated[
        str | None,
        Option(
            "--show-completion",
            "Print a script that completes commands and options in a shell.",
            choices=["bash", "zsh", "fish"],
        ),
    ] = None


_PROGRAM_OPTIONS = (*list_options(_Program), _HELP)


@cache
def _homes() -> Mapping[str, Sequence[str]]:
    """The group of each command, and the module and name of the class that declares it."""
    own = {
        name.lower(): (title, f"heapfit.cli.commands.{module}", f"{name}Command")
        for title, some in GROUPS.items()
        for module, names in some.items()
        for name in names.split()
    }
    return own | {name: (EXTERNAL_GROUP, *home) for name, *home in external_commands()}


def find_command(name: str) -> type:
    """The class that declares a command, whose module alone is imported."""
    _, module, declared = _homes()[name]
    found: type = getattr(_load(module), declared)
    return found


def _load(module: str) -> ModuleType:
    """A module that the words call for."""
    # Help and other commands do without the libraries that it takes.
    return import_module(module)


def commands_by_group() -> Mapping[str, Mapping[str, type]]:
    """The classes that declare the commands, by their names, under the titles of `--help`."""
    homes, titles = _homes().items(), [*GROUPS, EXTERNAL_GROUP]
    return {one: {name: find_command(name) for name, at in homes if at[0] == one} for one in titles}


def all_commands() -> dict[str, type]:
    """The class that declares each command, by its name on the command line."""
    return {name: find_command(name) for name in _homes()}


def options_of(declared: type) -> list[Option]:
    """The options and arguments of a command, with those that all commands have."""
    own = list_options(declared)
    return [*own, *([_FORCE] if any(one.is_output for one in own) else []), _HELP_ALL, _HELP]


def help_of(name: str, is_all: bool = False) -> Iterator[str]:
    """The lines of a command's help; of the program's if the name is empty."""
    if name:
        declared = find_command(name)
        options = options_of(declared)
        yield from list_help(describe_usage(name, options), declared, options, is_all)
        return
    yield from list_help("[OPTIONS] COMMAND [ARGS]...", _Program, _PROGRAM_OPTIONS)
    width = max(map(len, _homes()))
    for title, commands in commands_by_group().items():
        terms = [(one.ljust(width), describe(of)[0]) for one, of in commands.items()]
        yield from list_terms(title, terms)


def external_commands() -> Iterator[tuple[str, str, str]]:
    """Name, module and class of each command of other packages, from their entry points.

    importlib.metadata would do, but takes longer to load than all the rest of `--help`.
    """
    for folder in map(Path, sys.path):
        for file in sorted(folder.glob("*.dist-info/entry_points.txt")):
            _, _, group = file.read_text("utf-8").partition(f"[{ENTRY_POINT_GROUP}]\n")
            yield from _ENTRY.findall(group.partition("[")[0])


def module_of(declared: type) -> str:
    """The module whose function `run` runs a command: its name's, beside `commands`.

    >>> module_of(find_command("import"))
    'heapfit.cli.import_'
    """
    package, name = declared.__module__.partition(".commands")[0], declared.__name__.lower()
    name = name.removesuffix("command")
    return f"{package}.{name}{'_' * iskeyword(name)}"


def run() -> None:
    """Runs the program on the process's arguments and exits."""
    if sys.stdout is None:
        fail("stdout is closed: nothing was done (give it somewhere to write)")
        sys.exit(_FAILED)
    sys.exit(main(sys.argv[1:]))


def main(words: Sequence[str]) -> int:
    """Runs the program on these words and tells its exit status, once an error is printed."""
    has_json = "--json" in words
    with ours.collect_outputs() as written:
        try:
            status = _run(words)
            sys.stdout.flush()
        except BrokenPipeError:  # it ends as others do whose reader has left: heapfit ... | head
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGPIPE)
        except HeapfitError as error:
            hint = "; see --help" if isinstance(error, UsageError) else ""
            status = _fail(error.status, error.messages, has_json, hint)
            for line in error.below:
                note(line)
        except MemoryError:
            status = _fail(_FAILED, ["out of memory"], has_json)
        except OSError as error:  # of the result's own output: all others come as HeapfitError
            status = _fail(_FAILED, [f"{error.filename or 'output'}: {error.strerror or error}"])
        except KeyboardInterrupt:
            status = _INTERRUPTED
        if status == _INTERRUPTED:
            fail(f"interrupted; {_describe_written([*filter(Path.exists, written)])}")
        _drop_unread_output()
    return status


def _run(words: Sequence[str]) -> int:
    """Does what the words say and tells the exit status."""
    if not words:
        for line in help_of(""):
            note(line)
        return _USAGE
    name, *rest = [*words[1:], "--help"] if words[0] == "help" else words
    if name.startswith("-"):
        return _run_program([name, *rest])
    reject_removed(name)
    reject_removed(" ".join([name, *rest[:1]]))
    if name not in _homes():
        raise UsageError(
            f"No such command: {name} ({did_you_mean(name, [*_homes(), '--version'])})"
        )
    return _run_command(name, rest)


def _run_program(words: Sequence[str]) -> int:
    """Prints what an option of the program itself asks for."""
    typed, _ = split_words("", words, _PROGRAM_OPTIONS)
    asked = read_command(
        _Program, list_options(_Program), [one for one in typed if one[0].field], []
    )
    lines: Iterable[str] = help_of("")
    if asked.version:
        lines = [f"heapfit {heapfit.__version__}"]
    elif asked.completion:
        options = {name: options_of(declared) for name, declared in all_commands().items()}
        lines = _load("heapfit.cli.completion").completion_lines(asked.completion, options)
    _print_lines(lines)
    return 0


def _run_command(name: str, words: Sequence[str]) -> int:
    """Prints the command's help if it is asked for, else runs it."""
    declared = find_command(name)
    typed, rest = split_words(name, words, options_of(declared))
    switches = [option for option, _ in typed if not option.field]
    if _HELP in switches or _HELP_ALL in switches:
        _print_lines(help_of(name, _HELP_ALL in switches))
        return 0
    command: object = read_command(
        declared, list_options(declared), [one for one in typed if one[0].field], rest
    )
    with ours.allow_replacing(_FORCE in switches), ours.mark_outputs_of(name) as replaced:
        for path in _outputs_of(command):
            if path.is_symlink() or path.is_file():
                ours.require_replaceable(path)
        try:
            _load(module_of(declared)).run(command)
        except SystemExit as ended:
            return int(ended.code or 0)
        finally:
            # Without --force there is no output, and they are scratch files.
            for path in replaced if _FORCE in options_of(declared) else ():
                note(f"{path}: replaces what an earlier `heapfit {name}` wrote there.")
    return 0


def _outputs_of(command: object) -> Iterator[Path]:
    """The files and folders that a command is to write."""
    for one in list_options(type(command)):
        given = getattr(command, one.field) if one.is_output else None
        if given is not None:
            yield from given if one.is_many else [given]


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        print_line(line)


def _fail(status: int, messages: Sequence[str], has_json: bool = False, hint: str = "") -> int:
    """Prints each message in a line, and in the JSON if that was asked for."""
    if has_json:
        _load("heapfit.cli.printing.console").print_json(
            {"error": {"status": status, "messages": list(messages)}}
        )
    for message in messages:
        fail(f"{message}{hint}")
    return status


def _describe_written(written: Sequence[Path]) -> str:
    """What is kept after an interrupt, as a clause.

    >>> _describe_written([]), _describe_written([Path("out/a"), Path("out/b"), Path("out/c")])
    ('nothing was written', 'out/a and 2 more are kept')
    """
    if not written:
        return "nothing was written"
    more = f" and {len(written) - 1} more are" if len(written) > 1 else " is"
    return f"{written[0]}{more} kept"


def _drop_unread_output() -> None:
    """Discards what is left of stdout if it cannot be written: Python would report it."""
    try:
        if sys.__stdout__ is not None:
            sys.__stdout__.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
