# SPDX-License-Identifier: Apache-2.0
"""`heapfit size settings`: what users of lwIP, Zephyr, OpenThread and FreeRTOS set by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated

import typer

from heapfit.cli.arguments import (
    Admission,
    AsJson,
    DropUnknown,
    PointerBitsOption,
    QueueOfCapture,
    Source,
    import_options,
)
from heapfit.cli.printing.parts import (
    Column,
    Fields,
    Line,
    Note,
    Part,
    Table,
    object_of,
    out_result,
)
from heapfit.cli.printing.progress import progress_bar
from heapfit.cli.printing.run_out import RUN_OUT
from heapfit.errors import HeapfitError
from heapfit.importers import opened_trace
from heapfit.sizing.demand import require_queue
from heapfit.sizing.settings import Setting, Settings, as_text
from heapfit.sizing.systems import SettingsOptions, settings_for


class System(StrEnum):
    """Whose settings are printed."""

    LWIP = "lwip"
    ZEPHYR = "zephyr"
    OPENTHREAD = "openthread"
    FREERTOS = "freertos"


_WORK = {"import": 20, "demand": 40, "region": 40}  # of the time, measured on the lwIP example


def command(
    system: Annotated[System, typer.Argument(help="The system whose settings are printed.")],
    source: Source,
    admission: Admission = 0.999,
    assume: Annotated[
        list[str] | None,
        typer.Option("--assume", help="NAME=VALUE that replaces an assumption about the system."),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option("--name", help="SIZE=SETTING: blocks of SIZE bytes have a pool of that name."),
    ] = None,
    sent: Annotated[
        bool, typer.Option("--sent", help="The packets are sent, not received.")
    ] = False,
    queue: QueueOfCapture = None,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    as_json: AsJson = False,
) -> None:
    """Print a system's settings to copy, each with its chance to run out."""
    importing = import_options(queue, drop_unknown, pointer_bits)
    with progress_bar(_WORK) as progress, opened_trace(source, importing, progress) as trace:
        require_queue(source, trace, queue)
        options = SettingsOptions(admission, _values(assume), _names(name), sent)
        settings = settings_for(system.value, trace, options, progress)
    out_result(_parts(settings, as_text(settings, trace.info, source.name)), as_json)


def _values(given: Sequence[str] | None) -> dict[str, int]:
    values = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not sign or not value.isdecimal() or not value.isascii():
            raise HeapfitError(f"assume: {text} is not NAME=NUMBER")
        values[name] = int(value)
    return values


def _names(given: Sequence[str] | None) -> dict[int, str]:
    names = {}
    for text in given or ():
        size, sign, name = text.partition("=")
        if not sign or not (size.isdecimal() and size.isascii()) or not name.isidentifier():
            raise HeapfitError(f"name: {text} is not SIZE=SETTING, as 160=MEMP_NUM_TCP_PCB")
        if not 0 < int(size) < 2**31:
            raise HeapfitError(f"name: {size} bytes are no size of a block")
        names[int(size)] = name
    return names


_SETTING: tuple[Column[Setting], ...] = (
    Column("name"),
    Column("value"),
    Column("default", value=lambda one: one.standard),
    Column("run_out", value=lambda one: one.run_out and object_of(RUN_OUT, one.run_out)),
)


def _parts(settings: Settings, text: str) -> Iterator[Part]:
    """The text to copy on stdout, what else is known on stderr."""
    yield Fields(
        {"system": settings.system, "admission": settings.admission, "memory": settings.memory}
    )
    yield Table(_SETTING, settings.settings, "settings")
    yield Fields({"choices": settings.choices, "assumptions": settings.assumptions})
    yield Fields({"remarks": settings.remarks, "text": text})
    for line in text.splitlines():
        yield Line(line, is_copied=True)
    for one in settings.choices:
        yield Note(f"{one.buffer_size:,} B buffers: {one.count:,} of them, {one.memory:,} B")
    yield from map(Note, settings.remarks)
