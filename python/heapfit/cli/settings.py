# SPDX-License-Identifier: Apache-2.0
"""`heapfit settings`: what users of embedded systems set by hand."""

from __future__ import annotations

from collections.abc import Sequence

from heapfit.cli.commands.pools import SettingsCommand
from heapfit.cli.printing.console import print_result
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.running import import_options
from heapfit.drawing.parts import Column, Fields, Line, Part, Table, columns, object_of
from heapfit.errors import HeapfitError
from heapfit.results.sized_pools import RUN_OUT
from heapfit.sizing.settings import Setting, Settings, as_text
from heapfit.sizing.systems import SettingsOptions, settings_for


def run(command: SettingsCommand) -> None:
    importing = import_options(command.queue)
    options = SettingsOptions(command.admission, *_parse_assumptions(command.assume or []))
    with progress_bar() as progress:
        settings = settings_for(command.system, command.sources, options, importing, progress)
    print_result(_parts(settings, as_text(settings)), command.as_json)


def _parse_assumptions(given: Sequence[str]) -> tuple[dict[str, int], dict[int, str]]:
    """Values by the names of assumptions, and names of pools by their sizes."""
    values, names = {}, {}
    for text in given:
        left, _, right = text.partition("=")
        if _is_number(left) and right.isidentifier():
            names[_size(left)] = right
        elif left and not _is_number(left) and _is_number(right):
            values[left.removeprefix("CONFIG_")] = int(right)  # as Kconfig prints it
        else:
            raise HeapfitError(
                f"--assume {text}: is neither NAME=NUMBER nor SIZE=SETTING, as 160=MEMP_NUM_TCP_PCB"
            )
    return values, names


def _size(text: str) -> int:
    if not 0 < int(text) < 2**31:
        raise HeapfitError(f"--assume: {text} bytes: is not a block size")
    return int(text)


def _is_number(text: str) -> bool:
    return text.isdecimal() and text.isascii()


_SETTING: tuple[Column[Setting], ...] = (
    Column("name"),
    Column("value"),
    Column("default", value=lambda one: one.standard),
    Column("run_out", value=lambda one: one.run_out and object_of(RUN_OUT, one.run_out)),
)


def _parts(settings: Settings, text: str) -> list[Part]:
    """The text to copy."""
    return [
        Fields(object_of(columns("system", "admission", "memory"), settings)),
        Table(_SETTING, settings.settings, "settings"),
        Fields(object_of(columns("choices", "assumptions", "remarks"), settings) | {"text": text}),
        *(Line(line, is_copied=True) for line in text.splitlines()),
    ]
