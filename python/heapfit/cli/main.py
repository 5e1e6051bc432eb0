# SPDX-License-Identifier: Apache-2.0
"""The `heapfit` program: its commands, and what becomes of their errors.

Exit codes: 0 done, 1 failed (one line on stderr), 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Annotated

import typer

from heapfit.cli import console
from heapfit.errors import HeapfitError

# In the order of `--help`. Each is a module of this folder with a function `command`; where its
# name is a Python keyword, the module's ends in "_".
COMMANDS = (
    "fit",
    "record",
    "import_",
    "workload",
    "profile",
    "sites",
    "design",
    "front",
    "bounds",
    "adversary",
    "compare",
    "size",
    "generate",
    "simulate",
    "slotbuf",
    "reproduce",
    "allocators",
)

_FAILED = 1
_INTERRUPTED = 130


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from heapfit import _engine

        console.out(f"heapfit {_engine.version}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Tell the version."),
    ] = False,
) -> None:
    """Fit a heap to a program."""


def make_app() -> typer.Typer:
    """The program with all its commands."""
    app = typer.Typer(
        name="heapfit",
        callback=_options,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in COMMANDS:
        app.command(name.rstrip("_"))(import_module(f"heapfit.cli.{name}").command)
    return app


def run() -> None:
    """Runs the program on the process's arguments and exits."""
    try:
        make_app()(prog_name="heapfit")
    except HeapfitError as error:
        console.fail(str(error))
    except MemoryError:
        console.fail("out of memory")
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    finally:
        _drop_unread_output()
    sys.exit(_FAILED)


def _drop_unread_output() -> None:
    """Sends what is left of stdout nowhere if its reader is gone: Python would complain."""
    try:
        if sys.__stdout__ is not None:
            sys.__stdout__.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
