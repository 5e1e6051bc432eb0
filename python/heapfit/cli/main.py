# SPDX-License-Identifier: Apache-2.0
"""The `heapfit` program: finds its commands, and turns errors into messages and exit codes.

heapfit.cli.commands has what commands take and say; what one does is a module of this folder, which
is imported when it runs. So help needs none of the libraries that commands do.
Exit codes: 0 done, 1 failed (one line on stderr), 2 wrong usage, 3 a check failed,
130 interrupted.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import heapfit
from heapfit.cli.commands import comparisons, fitting, memories, pools, recordings
from heapfit.cli.printing import console
from heapfit.cli.printing.help_screen import HelpCommand
from heapfit.cli.printing.wording import reword, reword_message
from heapfit.errors import HeapfitError, SeveralFaultsError, did_you_mean
from heapfit.outputs import ours

# By task, in the order of `--help`.
GROUPS: Mapping[str, Sequence[type]] = {
    "Fit a heap": (*fitting.COMMANDS, memories.PlaceCommand),
    "Get and look at recordings": recordings.COMMANDS,
    "Compare and prove": comparisons.COMMANDS,
    "Size packet pools": pools.COMMANDS,
}
COMMANDS = tuple(command for group in GROUPS.values() for command in group)
# Commands of earlier versions, and what replaces them.
REPLACED = {
    "design": "fit --plans FOLDER",
    "front": "fit --front FOLDER",
    "size traffic": "size FILE",
    "size settings": "settings",
}
EXTERNAL_GROUP = "The papers"
# Other packages add theirs as entry points of this group: NAME = "PACKAGE.commands:CLASS".
ENTRY_POINT_GROUP = "heapfit.commands"

_ENTRY = re.compile(r"^(\S+) *= *(\S+):(\w+)$", re.MULTILINE)

_UsageError: Any = typer.BadParameter.__base__  # of the parser that typer brings
_CHOICE = re.compile(r"'([^']*)' is not one of (.*)")

_STYLE: dict[str, Any] = {
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
# Parameters that name files and folders to write.
_OUTPUT_PARAMETERS = {"output", "plans_folder", "front_folder", "report"}
_SIMILAR = 0.7  # at least, of a suggestion: `fast` is not `flash`
_FAILED = 1
_USAGE = 2
_INTERRUPTED = 130


def _print_version(is_asked: bool) -> None:
    if is_asked:
        console.print_line(f"heapfit {heapfit.__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Fit a heap to a program."""


class CommandGroup(TyperGroup):
    """The commands by name; what one does is imported when it runs."""

    @cached_property
    def declared(self) -> dict[str, type]:
        """The class that declares each command, by its name on the command line."""
        own = {command_name(one): one for one in COMMANDS}
        others = {}
        for name, module, declared in external_commands():
            # Of which there may be none.
            others[name] = getattr(import_module(module), declared)
        return own | others

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands, in the order of `--help`."""
        return list(self.declared)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command; None if there is none of that name."""
        if cmd_name not in self.declared:
            return None
        alone = typer.Typer(add_completion=False, **_STYLE)
        declared: Any = self.declared[cmd_name]
        alone.command(cmd_name, cls=HelpCommand)(declared)
        command = typer.main.get_command(alone)
        reword(command)
        command.epilog = _epilog(declared.EXAMPLES)
        command.callback = _run_with(command.callback, module_of(declared))
        if _OUTPUT_PARAMETERS & {param.name for param in command.params}:
            command.params.append(_make_option(_force))
            command.callback = _check_outputs_before(cmd_name, command.callback)
        command.params.append(_make_option(_help_all))
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first word names, and the words after it."""
        name = args[0]
        if name == "help":
            return self._help(ctx, args[1:])
        for old in (name, " ".join(args[:2])):
            if old in REPLACED:
                return ctx.fail(f"{old} is now `heapfit {REPLACED[old]}`")
        if name in self.declared:
            return name, self.get_command(ctx, name), args[1:]
        return ctx.fail(f"No such command: {name} ({did_you_mean(name, self.declared)})")

    def _help(self, ctx: Any, words: list[str]) -> Any:
        """`heapfit help COMMAND` is `heapfit COMMAND --help`."""
        if not words:
            for line in ctx.get_help().splitlines():
                console.print_line(line)
            ctx.exit()
        return self.resolve_command(ctx, [*words, "--help"])

    def invoke(self, ctx: Any) -> Any:
        """Runs the command; usage errors are printed in heapfit's words, not in the parser's."""
        try:
            return super().invoke(ctx)
        except _UsageError as error:
            if isinstance(error, typer.BadParameter):
                said = reword_message(error.message.removeprefix("Value error, "))
                error.message = _add_suggestion(said)
            _fail_in_json(_USAGE, [error.format_message()])
            raise

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the commands in groups by task."""
        others = [one for one in self.declared.values() if one not in COMMANDS]
        width = max(map(len, self.declared))
        for title, commands in (*GROUPS.items(), (EXTERNAL_GROUP, others)):
            rows = [(command_name(one).ljust(width), _summary(one)) for one in commands]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def _run_with(declare: Any, module: str) -> Callable[..., None]:
    """A callback that passes what was typed to the function `run` of a module."""

    def run_command(**values: Any) -> None:
        # What the command does takes the libraries that its help does without.
        import_module(module).run(declare(**values))

    return run_command


def _epilog(examples: Sequence[str]) -> str:
    """The examples as an epilog, whose lines help does not wrap."""
    return "\n".join(["\b", "Examples:", *(f"  {one}" for one in examples)]) if examples else ""


def _check_outputs_before(name: str, callback: Callable[..., Any]) -> Callable[..., Any]:
    """A callback that rejects outputs it must not replace before the command begins."""

    def check_and_call(**values: Any) -> Any:
        given = [values[one] for one in _OUTPUT_PARAMETERS & values.keys() if values[one]]
        paths = [Path(path) for one in given for path in (one if isinstance(one, list) else [one])]
        with ours.mark_outputs_of(name) as replaced:
            for path in paths:
                if path.is_symlink() or path.is_file():
                    ours.require_replaceable(path)
            try:
                return callback(**values)
            finally:
                for path in replaced:
                    console.note(f"{path}: replaces what an earlier `heapfit {name}` wrote there.")

    return check_and_call


def _replace_all(ctx: typer.Context, is_asked: bool) -> None:
    ctx.with_resource(ours.allow_replacing(is_asked))


def _force(
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            callback=_replace_all,
            expose_value=False,
            help="Replace also recordings, edited files and files that heapfit did not write.",
        ),
    ] = False,
) -> None:
    """The --force option of every command that writes; no command asks for its value."""
    raise AssertionError(force)


def _print_all_options(ctx: Any, is_asked: bool) -> None:
    if is_asked:
        ctx.command.shows_all = True
        for line in ctx.get_help().splitlines():
            console.print_line(line)
        ctx.exit()


def _help_all(
    show: Annotated[
        bool,
        typer.Option(
            "--help-all",
            callback=_print_all_options,
            is_eager=True,
            expose_value=False,
            help="Show all options and exit.",
        ),
    ] = False,
) -> None:
    """The --help-all option of every command; no command asks for its value."""
    raise AssertionError(show)


def _make_option(declaration: Callable[..., None]) -> Any:
    alone = typer.Typer(add_completion=False)
    alone.command()(declaration)
    (option,) = typer.main.get_command(alone).params
    return option


def _add_suggestion(message: str) -> str:
    """The message with the choice that is most similar to an invalid word, if there is one.

    >>> _add_suggestion("'memry' is not one of 'memory', 'time'.")
    "'memry' is not one of 'memory', 'time'; did you mean 'memory'?"
    """
    match = _CHOICE.search(message)
    known = re.findall(r"'([^']*)'", match[2]) if match else []
    similar = get_close_matches(match[1], known, 1, _SIMILAR) if match else []
    return f"{message.rstrip('.')}; did you mean '{similar[0]}'?" if similar else message


def external_commands() -> Iterator[tuple[str, str, str]]:
    """Name, module and class of each command of other packages, from their entry points.

    importlib.metadata would do, but takes longer to load than all the rest of `--help`.
    """
    for folder in map(Path, sys.path):
        for file in sorted(folder.glob("*.dist-info/entry_points.txt")):
            text = file.read_text(encoding="utf-8")
            _, _, group = text.partition(f"[{ENTRY_POINT_GROUP}]\n")
            yield from _ENTRY.findall(group.partition("[")[0])


def command_name(declared: type) -> str:
    """The name on the command line of the command that a class declares.

    >>> command_name(recordings.ImportCommand)
    'import'
    """
    return declared.__name__.removesuffix("Command").lower()


def module_of(declared: type) -> str:
    """The module whose function `run` runs a command: its name's, beside `commands`.

    >>> module_of(recordings.ImportCommand)
    'heapfit.cli.import_'
    """
    package, name = declared.__module__.partition(".commands")[0], command_name(declared)
    return f"{package}.{name}{'_' * iskeyword(name)}"


def _summary(declared: type) -> str:
    """The first line of a command's help."""
    return (declared.__doc__ or "").partition("\n")[0]


def make_app() -> typer.Typer:
    """The program with all its commands."""
    return typer.Typer(
        name="heapfit",
        cls=CommandGroup,
        callback=_options,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        **_STYLE,
    )


def run() -> None:
    """Runs the program on the process's arguments and exits."""
    if sys.stdout is None:
        console.fail("stdout is closed: nothing was done (give it somewhere to write)")
        sys.exit(_FAILED)
    with ours.collect_outputs() as written:
        _run(written)
    sys.exit(_FAILED)


def _run(written: Sequence[Path]) -> None:
    """Runs the program and exits, or prints an error; `written`: files kept on Ctrl-C."""
    try:
        make_app()(prog_name="heapfit")
    except SeveralFaultsError as error:
        _fail(error.messages)
    except HeapfitError as error:
        _fail([str(error)], error.status)
        for line in error.below:
            console.note(line)
        sys.exit(error.status)
    except MemoryError:
        _fail(["out of memory"])
    except OSError as error:  # of the result's own output: all others come as HeapfitError
        console.fail(f"{error.filename or 'output'}: {error.strerror or error}")
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):
            _end_by_closed_pipe()
        if ended.code == _INTERRUPTED:
            console.fail(
                f"interrupted; {_describe_written([path for path in written if path.exists()])}"
            )
        raise
    finally:
        _drop_unread_output()


def _end_by_closed_pipe() -> None:
    """Ends as other programs do whose reader has left (`heapfit ... | head`): by SIGPIPE."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)


def _fail(messages: Sequence[str], status: int = _FAILED) -> None:
    """Prints each message in a line, and in the JSON if that was asked for."""
    _fail_in_json(status, messages)
    for message in messages:
        console.fail(message)


def _fail_in_json(status: int, messages: Sequence[str]) -> None:
    if "--json" in sys.argv[1:]:
        console.print_json({"error": {"status": status, "messages": list(messages)}})


def _describe_written(written: Sequence[Path]) -> str:
    """A sentence on the files that an interrupted command leaves.

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
